"""The sink's side of the probing rules: the notes it sends to initiators, and whether a request is complete."""

from collections import OrderedDict
from typing import Final, Protocol

from join.contract import Value
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.directory import VALUES_PER_BUCKET, Directory
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import Weights, bucket_of, weights_of
from join.strategies.snjoin_star.rules.value_holders import Holders
from sim.units import US_PER_S

UNHEARD_US: Final = 600 * US_PER_S
"""How long the sink remembers its notes to an initiator that sends no more requests."""

NOTE_TOLERANCE = 0.5
"""How far the number of sensors at a holder may move before the directory sends a new note."""


class NoteWriter(Protocol):
    """Decides what the sink does with a request beside recording its result."""

    always: bool
    """Whether requests that found nothing must go to the sink, too."""

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Heads that the request must still visit before it counts as a result."""

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """The note for the initiator; None if none is sent."""


class NoNotes:
    """Without feedback the sink sends no notes."""

    always = False

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Nothing is known to have been missed."""
        del request, now_us
        return ()

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """No note."""
        del request, now_us
        return None


class NoteEveryRequest:
    """Relevance feedback as in the paper: one note per request that probed a head (SNJoin §4)."""

    always = True

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Nothing is known to have been missed."""
        del request, now_us
        return ()

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """How much each probed head contributed."""
        del now_us
        if not request.asked:
            return None
        sizes = tuple(request.counts[1:])
        weights = tuple(weights_of(sizes, self._weights))
        return Note(request.value, request.asked, weights, sizes)


_Sent = tuple[int, Holders]
"""The version of a note, and the holders in it."""


class DirectoryNotes:
    """Notes from the directory, sent when the initiator's knowledge is out of date.

    It is when the set of holders changed, when the number of sensors at a holder changed by more than
    `tolerance` of it, or when the request shows that an earlier note was lost.
    """

    always = True

    def __init__(
        self,
        *,
        window_us: int,
        tolerance: float,
        buckets: int = 1,
        target: RecallTarget | None = None,
    ) -> None:
        self._directory = Directory(window_us=window_us)
        self._tolerance = tolerance
        self._buckets = buckets
        self._target = target
        self._values_most = VALUES_PER_BUCKET * buckets
        self._sent: OrderedDict[int, OrderedDict[Value, _Sent]] = OrderedDict()
        """By initiator, the one longest unheard first, and value, the one with the oldest note first."""
        self._heard_us: dict[int, int] = {}
        """By initiator: when its last request came."""

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Holders that were in no note to the initiator, which therefore could not choose them.

        With a target recall: of all holders not probed, those that are needed to reach it.
        """
        self._hear(request.initiator, now_us)
        self._directory.take(
            request.value, request.origin, request.initiator, request.at_us, request.stamp
        )
        if request.completed:
            return ()
        holders = self._directory.holders(
            request.value, request.at_us, before=request.stamp, origin=request.origin
        )
        asked = {request.initiator, *request.asked}
        if self._target is None:
            _, known = self._known_to(request)
            missed = [head for head in holders if head not in asked and head not in known]
            missed.sort()
            return tuple(missed)
        unasked = {head: float(n) for head, n in holders.items() if head not in asked}
        bucket = bucket_of(request.value, self._buckets)
        return tuple(sorted(self._target.choose(bucket, request.found, unasked)))

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """A note with the holders of the value, if the initiator's knowledge is out of date."""
        self._hear(request.initiator, now_us)
        holders = self._directory.holders(request.value, now_us)
        holders.pop(request.initiator, None)
        version, known = self._known_to(request)
        if not self._is_outdated(known, holders):
            return None
        following = version % 255 + 1
        self._keep(request.initiator, request.value, (following, holders))
        sizes = tuple(request.counts[1:])
        return Note(
            request.value,
            request.asked,
            tuple(weights_of(sizes, Weights.CONTRIBUTION)),
            sizes,
            holders=tuple(sorted(holders.items())),
            version=following,
        )

    def _known_to(self, request: ProbeRequest) -> _Sent:
        """The version of the last note to the initiator, and the holders that the initiator knows."""
        version, known = self._sent[request.initiator].get(request.value, (0, {}))
        return (version, known) if request.version == version else (version, {})

    def _hear(self, initiator: int, now_us: int) -> None:
        """Note when an initiator's request came; those long unheard are no longer heads, and what they know is forgotten."""
        self._heard_us[initiator] = now_us
        self._sent.setdefault(initiator, OrderedDict())
        self._sent.move_to_end(initiator)
        for _ in range(2):  # for one that is heard, so that they do not pile up
            oldest = next(iter(self._sent))
            if now_us - self._heard_us[oldest] <= UNHEARD_US:
                break
            del self._sent[oldest], self._heard_us[oldest]

    def _keep(self, initiator: int, value: Value, sent: _Sent) -> None:
        """Remember a note, as long as the initiator has room for it."""
        notes = self._sent[initiator]
        notes[value] = sent
        notes.move_to_end(value)
        if len(notes) > self._values_most:
            notes.popitem(last=False)

    def _is_outdated(self, known: Holders, holders: Holders) -> bool:
        if known.keys() != holders.keys():
            return True
        for head, count in holders.items():
            then = known[head]
            if abs(count - then) > self._tolerance * then:
                return True
        return False
