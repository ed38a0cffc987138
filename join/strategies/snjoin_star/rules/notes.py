"""The sink's side of the probing rules: what it tells initiators, and whether a request is complete."""

from typing import Protocol

from join.contract import Value
from join.strategies.snjoin_star.request import ProbeRequest
from join.strategies.snjoin_star.rules.contract import Note
from join.strategies.snjoin_star.rules.directory import Directory, Holders
from join.strategies.snjoin_star.rules.recall_target import RecallTarget
from join.strategies.snjoin_star.rules.relevance import Weights, bucket_of, weights_of

NOTE_TOLERANCE = 0.5
"""How far the number of sensors at a holder may move before the directory sends a new note."""


class NoteWriter(Protocol):
    """Decides what the sink does with a request, apart from taking its result."""

    always: bool
    """Whether requests that found nothing must come to the sink, too."""

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Heads that the request should be sent past before it counts as a result."""

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """What to tell the initiator; None if nothing."""


class NoNotes:
    """Without feedback the sink keeps silent."""

    always = False

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Nothing is known to have been missed."""
        del request, now_us
        return ()

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """Nothing to say."""
        del request, now_us
        return None


class NoteEveryRequest:
    """Relevance feedback as in the paper: one note per request that probed somebody (SNJoin §4)."""

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
        self._told: dict[tuple[int, Value], tuple[int, Holders]] = {}
        """By initiator and value: the version of the last note, and what it said."""

    def missed(self, request: ProbeRequest, now_us: int) -> tuple[int, ...]:
        """Holders that the initiator did not know of and so could not choose.

        With a target recall: of all holders not asked, those that are needed to hold it.
        """
        self._directory.take(request.value, request.origin, request.initiator, request.at_us)
        if request.completed:
            return ()
        holders = self._directory.holders(request.value, now_us)
        asked = {request.initiator, *request.asked}
        if self._target is None:
            _, told = self._known_to(request)
            return tuple(sorted(head for head in holders if head not in asked and head not in told))
        unasked = {head: float(n) for head, n in holders.items() if head not in asked}
        bucket = bucket_of(request.value, self._buckets)
        return tuple(sorted(self._target.choose(bucket, request.found, unasked)))

    def note(self, request: ProbeRequest, now_us: int) -> Note | None:
        """Who holds the value, if that is news to the initiator."""
        holders = dict(self._directory.holders(request.value, now_us))
        holders.pop(request.initiator, None)
        version, told = self._known_to(request)
        if not self._is_news(told, holders):
            return None
        following = version % 255 + 1
        self._told[request.initiator, request.value] = (following, holders)
        sizes = tuple(request.counts[1:])
        return Note(
            request.value,
            request.asked,
            tuple(weights_of(sizes, Weights.CONTRIBUTION)),
            sizes,
            holders=tuple(sorted(holders.items())),
            version=following,
        )

    def _known_to(self, request: ProbeRequest) -> tuple[int, Holders]:
        """The last note to the initiator, and what it left the initiator knowing."""
        version, told = self._told.get((request.initiator, request.value), (0, {}))
        return (version, told) if request.version == version else (version, {})

    def _is_news(self, told: Holders, holders: Holders) -> bool:
        if told.keys() != holders.keys():
            return True
        return any(
            abs(count - told[head]) > self._tolerance * told[head]
            for head, count in holders.items()
        )
