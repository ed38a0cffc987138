"""Programs of the kinds that SimPy shows its users: on our kernel they print what they print on SimPy.

Each takes an environment and a place to print to, and runs itself.
"""

import random
from collections.abc import Callable, Generator
from typing import Any, NoReturn

import pytest
import simpy
from simpy.events import Event
from simpy.resources.resource import Preempted

from sim.kernel import Kernel

Env = simpy.Environment
Story = Generator[Event, Any, Any]
Say = Callable[[str], None]
Program = Callable[[Env, Say], None]

PROGRAMS: list[Program] = []


def program(function: Program) -> Program:
    PROGRAMS.append(function)
    return function


def lines(function: Program, env: Env) -> list[str]:
    """What a program prints, and when."""
    said: list[str] = []
    function(env, lambda text: said.append(f"{env.now:10.4f} {text}"))
    return said


def usage(interrupt: simpy.Interrupt) -> Preempted:
    """What was taken from whoever is interrupted."""
    assert isinstance(interrupt.cause, Preempted)
    return interrupt.cause


@program
def bank_with_impatient_customers(env: Env, say: Say) -> None:
    """One clerk; whoever waits too long leaves: a resource, and whichever of two events is first."""
    draw = random.Random(42)
    clerk = simpy.Resource(env, capacity=1)

    def customer(name: str) -> Story:
        arrived = env.now
        with clerk.request() as request:
            patience = draw.uniform(1, 3)
            happened = yield request | env.timeout(patience)
            waited = env.now - arrived
            if request not in happened:
                say(f"{name} leaves after {waited:.4f}")
                return
            say(f"{name} is served after {waited:.4f}")
            yield env.timeout(draw.expovariate(1 / 12.0))
            say(f"{name} is done")

    def door() -> Story:
        for number in range(12):
            env.process(customer(f"customer {number}"))
            yield env.timeout(draw.expovariate(1 / 10.0))

    env.process(door())
    env.run()
    say(f"queue {len(clerk.queue)}, busy {clerk.count}")


@program
def carwash(env: Env, say: Say) -> None:
    """Cars wait for a machine; a process waits for another."""
    draw = random.Random(1)
    machines = simpy.Resource(env, 2)

    def wash(car: str) -> Story:
        yield env.timeout(5)
        share = draw.randint(50, 99)
        say(f"{share} % of {car}'s dirt is gone")
        return share

    def visit(car: str) -> Story:
        say(f"{car} arrives")
        with machines.request() as request:
            yield request
            say(f"{car} drives in")
            share = yield env.process(wash(car))
            say(f"{car} leaves, {share} % cleaner")

    def street() -> Story:
        for number in range(4):
            env.process(visit(f"car {number}"))
        number = 4
        while True:
            yield env.timeout(draw.randint(5, 9))
            env.process(visit(f"car {number}"))
            number += 1

    env.process(street())
    env.run(until=40)
    say("closing time")


@program
def machine_shop(env: Env, say: Say) -> None:
    """Machines break while they work: interrupts, and a repairman with less urgent work (preemption)."""
    draw = random.Random(7)
    repairman = simpy.PreemptiveResource(env, capacity=1)

    class Machine:
        def __init__(self, name: str) -> None:
            self.name = name
            self.parts = 0
            self.broken = False
            self.work = env.process(self.produce())
            env.process(self.wear())

        def produce(self) -> Story:
            while True:
                left = draw.normalvariate(10.0, 2.0)
                while left:
                    started = env.now
                    try:
                        yield env.timeout(left)
                        left = 0.0
                    except simpy.Interrupt as interrupt:
                        self.broken = True
                        left -= env.now - started
                        say(f"{self.name}: {interrupt.cause}, {left:.4f} left to do")
                        with repairman.request(priority=1) as request:
                            yield request
                            yield env.timeout(30.0)
                        self.broken = False
                self.parts += 1

        def wear(self) -> Story:
            while True:
                yield env.timeout(draw.expovariate(1 / 150.0))
                if not self.broken:
                    self.work.interrupt("a belt is torn")

    def other_jobs() -> Story:
        while True:
            left = 30.0
            while left:
                with repairman.request(priority=2) as request:
                    yield request
                    started = env.now
                    try:
                        yield env.timeout(left)
                        left = 0
                    except simpy.Interrupt as interrupt:
                        left -= env.now - started
                        since = usage(interrupt).usage_since
                        say(f"job waits, it had him since {since:.4f}")

    machines = [Machine(f"machine {number}") for number in range(4)]
    env.process(other_jobs())
    env.run(until=1_000)
    for machine in machines:
        say(f"{machine.name} made {machine.parts}")


@program
def cinema(env: Env, say: Say) -> None:
    """Queues for several films at one counter; who waits when a film sells out goes away: a shared event."""
    draw = random.Random(3)
    counter = simpy.Resource(env, capacity=1)
    films = ("drama", "western", "cartoon")
    seats = dict.fromkeys(films, 20)
    sold_out = {film: env.event() for film in films}
    gone = dict.fromkeys(films, 0)

    def visitor(film: str, tickets: int) -> Story:
        with counter.request() as turn:
            happened = yield turn | sold_out[film]
            if turn not in happened:
                gone[film] += 1
                return
            if seats[film] < tickets:
                yield env.timeout(0.5)
                return
            seats[film] -= tickets
            if seats[film] < 2:
                say(f"{film} is sold out, {seats[film]} seats left")
                sold_out[film].succeed()
                seats[film] = 0
            yield env.timeout(1)

    def street() -> Story:
        while True:
            yield env.timeout(draw.expovariate(1 / 0.4))
            film = draw.choice(films)
            if seats[film]:
                env.process(visitor(film, draw.randint(1, 6)))

    env.process(street())
    env.run(until=60)
    for film in films:
        say(f"{film}: {gone[film]} went away, sold out {sold_out[film].triggered}")


@program
def petrol_station(env: Env, say: Say) -> None:
    """Cars draw from a tank that a tanker fills when it runs low: containers."""
    draw = random.Random(11)
    pumps = simpy.Resource(env, 2)
    tank = simpy.Container(env, capacity=200, init=200)

    def car(name: str) -> Story:
        arrived = env.now
        with pumps.request() as request:
            yield request
            wanted = 50 - draw.randint(5, 25)
            yield tank.get(wanted)
            yield env.timeout(wanted / 2)
            say(f"{name} took {wanted} in {env.now - arrived:.2f}")

    def tanker() -> Story:
        yield env.timeout(300)
        amount = tank.capacity - tank.level
        yield tank.put(amount)
        say(f"tanker brings {amount}")

    def watch() -> Story:
        while True:
            if tank.level / tank.capacity < 0.25:
                say(f"{tank.level} left: calling the tanker")
                yield env.process(tanker())
            yield env.timeout(10)

    def street() -> Story:
        for number in range(100):
            yield env.timeout(draw.randint(30, 300))
            env.process(car(f"car {number}"))

    env.process(watch())
    env.process(street())
    env.run(until=3_000)


@program
def letters_between_processes(env: Env, say: Say) -> None:
    """One-to-one and one-to-many: stores, one for each reader of what is said to all."""
    draw = random.Random(5)
    pipes: list[simpy.Store] = []

    def pipe() -> simpy.Store:
        pipes.append(simpy.Store(env, capacity=2))
        return pipes[-1]

    def sender() -> Story:
        for number in range(10):
            yield env.timeout(draw.randint(6, 10))
            yield env.all_of([each.put((env.now, f"letter {number}")) for each in pipes])

    def reader(name: str, inbox: simpy.Store) -> Story:
        while True:
            at, letter = yield inbox.get()
            if at < env.now:
                say(f"{name} reads {letter} late, it was sent at {at}")
            else:
                say(f"{name} reads {letter}")
            yield env.timeout(draw.randint(4, 12))

    env.process(reader("A", pipe()))
    env.process(reader("B", pipe()))
    env.process(sender())
    env.run(until=100)


@program
def cable_with_latency(env: Env, say: Say) -> None:
    """What is put into a cable comes out later: processes that do nothing but wait."""
    store = simpy.Store(env)

    def latency(letter: str) -> Story:
        yield env.timeout(10)
        store.put(letter)

    def sender() -> Story:
        while True:
            yield env.timeout(5)
            env.process(latency(f"sent at {env.now}"))

    def receiver() -> Story:
        while True:
            letter = yield store.get()
            say(f"received what was {letter}")

    env.process(sender())
    env.process(receiver())
    env.run(until=100)


@program
def school_bells(env: Env, say: Say) -> None:
    """An event that is made anew each time, passed on by reference and awaited by many."""

    class School:
        def __init__(self) -> None:
            self.bell = env.event()
            for number in range(3):
                env.process(self.pupil(number))
            env.process(self.ring())

        def ring(self) -> Story:
            for number in range(3):
                yield env.timeout(45)
                self.bell.succeed(number)
                self.bell = env.event()

        def pupil(self, number: int) -> Story:
            for _ in range(3):
                hour = yield self.bell
                say(f"pupil {number} hears bell {hour}, {env.active_process is not None}")

    School()
    env.run()
    say(f"over, {env.active_process}")


@program
def electric_car(env: Env, say: Say) -> None:
    """Driving and charging; who charges can be interrupted, or waited for with other things at once."""

    def charge(minutes: int) -> Story:
        try:
            yield env.timeout(minutes)
            say("charged")
        except simpy.Interrupt as interrupt:
            say(f"charging ends early: {interrupt.cause}")
            return "early"
        return "full"

    def drive() -> Story:
        for trip in range(4):
            yield env.timeout(20 + trip)
            charging = env.process(charge(30))
            parking = env.timeout(25 + 4 * trip, value="parked")
            found = yield charging | parking
            if charging.is_alive:
                charging.interrupt(f"trip {trip}")
            say(f"trip {trip}: {list(found.values())} {charging.is_alive}")
            yield charging & parking
            say(f"trip {trip}: {charging.value}, {parking.value}")

    env.process(drive())
    env.run()


@program
def priorities(env: Env, say: Say) -> None:
    """Queues by priority, with and without preemption, and stores that sort or choose."""
    polite = simpy.PriorityResource(env, capacity=1)
    rough = simpy.PreemptiveResource(env, capacity=1)
    sorted_store = simpy.PriorityStore(env)
    chosen_from = simpy.FilterStore(env, capacity=2)

    def user(name: str, start: int, priority: int, *, preempt: bool) -> Story:
        yield env.timeout(start)
        for resource in (polite, rough):
            claim = (
                rough.request(priority=priority, preempt=preempt)
                if resource is rough
                else polite.request(priority=priority)
            )
            with claim as request:
                yield request
                say(f"{name} has it")
                try:
                    yield env.timeout(3)
                except simpy.Interrupt as interrupt:
                    lost = usage(interrupt)
                    say(f"{name} had it since {lost.usage_since}, {lost.resource is rough}")

    def fill() -> Story:
        for number in (3, 1, 2):
            yield sorted_store.put(simpy.PriorityItem(number, f"item {number}"))
            yield chosen_from.put(number)
            say(f"put {number}")

    def take() -> Story:
        yield env.timeout(1)
        even = yield chosen_from.get(lambda number: number % 2 == 0) | env.timeout(4)
        say(f"even: {list(even.values())}")
        odd = yield chosen_from.get(lambda number: number == 1)
        say(f"odd: {odd}")
        for _ in range(3):
            item = yield sorted_store.get()
            say(f"took {item.item}")

    for name, start, priority, preempt in (
        ("A", 0, 0, True),
        ("B", 1, 1, True),
        ("C", 2, -1, True),
        ("D", 4, -2, False),
        ("E", 5, -3, True),
    ):
        env.process(user(name, start, priority, preempt=preempt))
    env.process(fill())
    env.process(take())
    env.run()


@program
def failures(env: Env, say: Say) -> None:
    """Events that fail: caught by who waits, by conditions, by the caller of `run`, or defused."""

    def fails(after: int, text: str) -> Story:
        yield env.timeout(after)
        raise ValueError(text)

    def waits() -> Story:
        try:
            yield env.process(fails(3, "first"))
        except ValueError as error:
            say(f"caught {error}")
        try:
            yield env.timeout(10) & env.process(fails(3, "second"))
        except ValueError as error:
            say(f"caught {error}")
        broken = env.event()
        env.process(breaks(broken))
        try:
            yield broken
        except KeyError as error:
            say(f"caught {error!r}")
        env.process(fails(2, "third"))
        yield env.timeout(5)
        say("goes on")

    def breaks(event: Event) -> Story:
        yield env.timeout(1)
        event.fail(KeyError("broken"))

    env.process(waits())
    crashed(env, say)
    env.run()
    defused = env.event()
    defused.fail(ValueError("nobody minds"))
    defused.defused = True
    env.run()
    say("defused")
    event = env.event()
    event.fail(ValueError("asked for"))
    with pytest.raises(ValueError, match="asked for"):
        env.run(until=event)
    say("run says what an event failed with")


def crashed(env: Env, say: Say) -> None:
    try:
        env.run()
    except ValueError as error:
        say(f"the run ends: {error}")


@program
def runs_by_steps(env: Env, say: Say) -> None:
    """Run to a time, to an event, to the end, step by step, and go on after each."""

    def ticks() -> Story:
        for number in range(8):
            yield env.timeout(10)
            say(f"tick {number}")
        return "all ticked"

    clock = env.process(ticks())
    env.run(until=15)
    say(f"next at {env.peek()}")
    env.run(until=30)  # before what is due at 30
    say("on the tick")
    env.step()
    say(f"stepped, next at {env.peek()}")
    stop = env.timeout(5, value="stopped")
    stop.callbacks.append(lambda _: say("a callback before"))
    late = env.timeout(5)
    say(f"{env.run(until=stop)}, {late.processed}")
    say(f"{env.run(until=stop)} again")
    say(f"{env.run(until=clock)}")
    say(f"next at {env.peek()}")
    for refused in (
        lambda: env.run(until=env.now),
        env.step,
        env.step,
        lambda: env.run(until=env.event()),
    ):
        expects_error(refused, say)
    say(f"{env.run()}")


def expects_error(call: Callable[[], object], say: Say) -> None:
    try:
        call()
    except (ValueError, RuntimeError, simpy.core.EmptySchedule) as error:
        say(f"{type(error).__name__} {str(error).split('<')[0]}")
    else:
        say("no error")


@program
def stop_among_callbacks(env: Env, say: Say) -> None:
    """Whoever waits for the event that ends a run goes on when the run does."""
    event = env.timeout(3, value="now")

    def waits(name: str) -> Story:
        value = yield event
        say(f"{name} wakes: {value}")

    env.process(waits("early"))
    env.run(until=1)
    stopping = env.run(until=event)
    say(f"stopped: {stopping}")
    env.process(waits("after"))
    env.run()

    second = env.timeout(3, value="later")

    def follows(name: str) -> Story:
        value = yield second
        say(f"{name} wakes: {value}")

    def joins() -> Story:
        yield env.timeout(1)
        env.process(follows("late"))

    env.process(joins())
    say(f"stopped: {env.run(until=second)}")
    env.run()
    say("done")


@program
def misuse(env: Env, say: Say) -> None:
    """What SimPy refuses, the kernel refuses in the same words."""

    def yields_nonsense() -> Story:
        yield 5  # type: ignore[misc]

    def interrupts_itself() -> Story:
        process = env.active_process
        assert process is not None
        process.interrupt()
        yield env.timeout(1)

    def twice() -> NoReturn:
        event = env.event()
        event.succeed()
        event.succeed()
        raise AssertionError

    for story in (yields_nonsense, interrupts_itself):
        env.process(story())
        expects_error(env.run, say)
    expects_error(twice, say)
    expects_error(lambda: env.timeout(-1), say)
    expects_error(lambda: simpy.Resource(env, 0), say)
    expects_error(lambda: env.process(5), say)  # type: ignore[arg-type]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda each: each.__name__)
def test_a_program_prints_on_the_kernel_what_it_prints_on_simpy(function: Program) -> None:
    expected = lines(function, simpy.Environment())
    assert len(expected) >= 5
    assert lines(function, Kernel()) == expected
