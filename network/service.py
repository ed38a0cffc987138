"""What motes do with messages that visit one after another: the part of a visit that the protocol above decides."""

from typing import Any

from network.message import Message
from sim.trace.tables import DropReason


class Service:
    """What a mote does with messages of one kind: its CPU serves them, and it sends them on. None goes to the sink.

    `target` and `body_bytes` are plain attributes, not returned by `onward`, so that a visit makes no object for them.
    """

    def __init__(self) -> None:
        self.target = 0
        """Where the message goes that `onward` spoke of last."""
        self.body_bytes = 0
        """How large its body is."""

    def serve(self, message: Message, start_us: int) -> float:
        """Serve a message from `start_us` on; returns how long the CPU takes, in microseconds."""
        raise NotImplementedError

    def onward(self, body: Any) -> str | None:  # noqa: ANN401
        """The kind of message that is sent on once the body is served; None if none is. Sets `target` and `body_bytes`."""
        raise NotImplementedError

    def end(self, body: Any, at_us: int) -> None:  # noqa: ANN401
        """Called if nothing is sent on; the CPU is done at `at_us`."""
        raise NotImplementedError

    def refuse(self, message: Message) -> None:
        """Called if the CPU has no room for the message."""
        raise NotImplementedError

    def lose(self, message: Message, reason: DropReason) -> None:
        """Called if the message did not arrive."""
        raise NotImplementedError
