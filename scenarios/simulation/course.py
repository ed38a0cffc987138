"""The course of a simulation: from its first instant to its last, with the trace written along the way."""

from collections.abc import Callable

from scenarios.wiring.simulation import Simulation
from sim.trace.rows import death_row, energy_row, mote_row
from sim.trace.tables import SINK
from sim.units import US_PER_S, to_us

LOG_STEP_US = US_PER_S // 50
LOG_ROWS = 2_000
"""How often the log of the air is checked, and how long it must be to be processed."""

Progress = Callable[[Simulation], None]
"""Called once per simulated second."""


def simulate(simulation: Simulation, progress: Progress) -> None:
    """Run from 0 to the end of the scenario, and write the trace along the way."""
    scenario = simulation.world.scenario
    kernel, network = simulation.kernel, simulation.network
    end_us = to_us(scenario.duration_s)
    energy_every_us = to_us(scenario.trace.energy_every_s)
    network.churn.start()
    _record_motes(simulation)
    _record_energy(simulation)
    energy_due_us = energy_every_us
    kernel.process(simulation.rounds.run())
    simulation.sensing.start()
    simulation.tracking.start()
    while kernel.now_us < end_us:
        second_us = (kernel.now_us // US_PER_S + 1) * US_PER_S
        advance(simulation, min(second_us, energy_due_us, end_us))
        # Idle motes pay every second, whenever the trace looks at them: looking changes nothing.
        on_the_second = kernel.now_us in {second_us, end_us}
        if on_the_second and network.listening is not None:
            network.listening.settle()
        if kernel.now_us == energy_due_us:
            energy_due_us += energy_every_us
            if kernel.now_us < end_us:
                _record_energy(simulation)
        if on_the_second:
            _record_traffic(simulation, before_us=network.air.earliest_on_air_us())
            simulation.recorder.flush()
            progress(simulation)
    finish(simulation)


def advance(simulation: Simulation, until_us: int) -> None:
    """Advance the clock. A busy network's log is processed often: while it is small it stays in the CPU's cache."""
    kernel, log = simulation.kernel, simulation.network.air.log
    while kernel.now_us < until_us:
        kernel.advance(min(kernel.now_us + LOG_STEP_US, until_us))
        if len(log) > LOG_ROWS:
            _take_log(simulation)


def finish(simulation: Simulation) -> None:
    """Record what is still under way, write the rest of the trace, and check the totals."""
    now_us = simulation.kernel.now_us
    if simulation.queries is not None:
        simulation.queries.site.finish()
    simulation.sensing.write_taken()
    simulation.join.close(simulation.network.air.close())
    simulation.sink.finish()
    _record_traffic(simulation, before_us=now_us + US_PER_S)  # the run ends inside its last second
    _record_energy(simulation)
    deaths = simulation.recorder.rows("deaths")
    for at_us, node in simulation.ledger.deaths:
        deaths.append(death_row(at_us=at_us, node=node))
    simulation.ledger.assert_balanced()
    simulation.accounts.assert_complete()
    assert simulation.accounts.submitted == simulation.sensing.with_value
    for kind, (_, _, received, _, lost, addressed) in simulation.tally.totals.items():
        in_flight = addressed - received - lost
        assert in_flight >= 0, (kind, addressed, received, lost)


def _record_motes(simulation: Simulation) -> None:
    rows = simulation.recorder.rows("motes")
    battery_j = simulation.ledger.battery_j
    for node, (x_m, y_m) in enumerate(simulation.world.placement.motes_m.tolist()):
        rows.append(mote_row(node=node, x_m=x_m, y_m=y_m, battery_j=battery_j[node]))
    sink = simulation.world.scenario.sink
    rows.append(mote_row(node=SINK, x_m=sink.x_m, y_m=sink.y_m, battery_j=None))


def _record_energy(simulation: Simulation) -> None:
    rows = simulation.recorder.rows("energy")
    ledger, now_us = simulation.ledger, simulation.kernel.now_us
    spent_j = {f"{cause}_j": by_node_j for cause, by_node_j in ledger.by_cause_j.items()}
    for node in range(ledger.count):
        cells = {column: by_node_j[node] for column, by_node_j in spent_j.items()}
        residual_j = ledger.residual_j[node]
        rows.append(energy_row(at_us=now_us, node=node, residual_j=residual_j, **cells))


def _record_traffic(simulation: Simulation, before_us: int) -> None:
    _take_log(simulation)
    simulation.tally.write(before_us)


def _take_log(simulation: Simulation) -> None:
    """Count the transmissions that have ended, and hand them to the trace."""
    air = simulation.network.air
    simulation.tally.absorb(air.log, air.receptions)
    simulation.recorder.extend("messages", air.log.columns().cells)
    air.log.clear()
    air.receptions.clear()
