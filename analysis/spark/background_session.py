"""A Spark session that starts in the background, or not at all if nobody needs it."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from threading import Thread
from typing import TYPE_CHECKING, Final

from analysis.spark.session import is_running, spark_session, sweep_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Session = Callable[[], "SparkSession"]
"""Gives the session; whoever has nothing to compute does not call it."""

PATIENCE_S: Final = 8.0
"""After this time a line says what is waited for."""


class StartingSession:
    """The session for a piece of work; `report` gets a line if it takes long to start.

    It starts when `begin` is called, in a thread of its own, so that imports and checks go on meanwhile: nearly
    all of its time is Java's. Without `begin` it starts when it is first asked for.
    """

    def __init__(
        self,
        master: str | None = None,
        *,
        rows: int | None = None,
        settings: Mapping[str, str] | None = None,
        tasks_may_die: bool = False,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._start = sweep_session if tasks_may_die else spark_session
        self._master, self._rows, self._settings = master, rows, settings
        self._report = report
        self._session: Future[SparkSession] | None = None

    def begin(self) -> None:
        """Start the session, unless it is starting already."""
        if self._session is not None:
            return
        self._session = Future()
        if is_running():
            # There is a session to find, and Spark finds it in the thread that made it.
            self._finish(self._session)
        else:
            Thread(target=self._finish, args=[self._session], daemon=True).start()

    def _finish(self, session: "Future[SparkSession]") -> None:
        try:
            session.set_result(self._start(self._master, rows=self._rows, settings=self._settings))
        except BaseException as fault:  # noqa: BLE001 - it is raised where the session is asked for
            session.set_exception(fault)

    def __call__(self) -> "SparkSession":
        """The session, as soon as it has started.

        Raises:
            MachineError: it cannot be started.
        """
        self.begin()
        assert self._session is not None
        if not wait([self._session], PATIENCE_S).done:
            self._report(_waiting(self._master))
        return self._session.result()


def _waiting(master: str | None) -> str:
    if master is None or not master.startswith("spark://"):
        return "Spark is still starting …"
    return (
        f"{master} accepts connections but does not answer yet: is it a Spark master of this version,"
        " with the same settings of spark.authenticate? Spark gives up after a minute"
    )
