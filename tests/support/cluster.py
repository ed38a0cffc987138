"""A real Spark cluster on loopback, from the installed pyspark: one master and some workers."""

import os
import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import pyspark

from analysis.spark.java import find_java
from analysis.spark.session import LOOPBACK

_START_S: Final = 120.0
_POLL_S: Final = 0.1
_QUICK_JVM: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dspark.master.rest.enabled=false"


class Cluster:
    """A master and `workers` workers of one core each; use as a context manager."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder = folder
        self._count = workers
        self.workers: list[subprocess.Popen[bytes]] = []
        self._processes: list[subprocess.Popen[bytes]] = []
        self.address = ""

    def __enter__(self) -> Self:
        try:
            self._start_all()
        except BaseException:
            self.stop()
            raise
        return self

    def _start_all(self) -> None:
        master = ["org.apache.spark.deploy.master.Master", "--host", LOOPBACK, "--port", "0"]
        self._start("master", [*master, "--webui-port", "0"])
        self.address = self._await("master", r"Starting Spark master at (spark://\S+)")[0]
        for number in range(self._count):
            name = f"worker-{number}"
            options = ["--host", LOOPBACK, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            options += ["--work-dir", str(self._folder / name)]
            worker = "org.apache.spark.deploy.worker.Worker"
            self.workers.append(self._start(name, [worker, *options, self.address]))
        self._await("master", r"Registering worker \S+", times=self._count)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Kill the processes that still run."""
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _start(self, name: str, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        java = find_java()
        assert java is not None
        home = Path(pyspark.__file__).parent
        environment = os.environ | {
            "SPARK_HOME": str(home),
            "JAVA_HOME": str(java.home),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": _QUICK_JVM,
        }
        with self._log(name).open("wb") as log:
            process = subprocess.Popen(
                [home / "bin" / "spark-class", *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=self._folder,
            )
        self._processes.append(process)
        return process

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _await(self, name: str, pattern: str, times: int = 1) -> list[str]:
        """The matches of `pattern` in a log, as soon as there are `times` of them."""
        for _ in turns(f"{pattern} in the log of {name}"):
            log = self._log(name).read_text(errors="replace")
            assert all(process.poll() is None for process in self._processes), log
            found = re.findall(pattern, log)
            if len(found) >= times:
                return found
        raise AssertionError


def turns(what: str, seconds: float = _START_S) -> Iterator[None]:
    """Yield at intervals so that the caller can poll; fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(_POLL_S)
    raise AssertionError(f"timed out after {seconds} s waiting for {what}")
