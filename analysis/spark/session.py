"""The one place where a Spark session is built."""

import os
import re
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from analysis.spark.class_archive import archive_options
from analysis.spark.connect import connect_session, is_connect_address, is_connected
from analysis.spark.java import find_java, missing_message
from sim.errors import MachineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK: Final = "127.0.0.1"
SPARK_MIN: Final = 4
"""The oldest Spark whose functions we use."""

SMALL_ROWS_MAX: Final = 3_000_000
"""Up to this many trace rows, Spark's and Java's optimisations cost more time than they save."""

_QUICK_JVM: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java compiles quickly rather than well, which pays off within the first minute only."""
_ROOT: Final = Path(__file__).resolve().parents[2]
"""The folder that our packages are imported from."""
_SHARED: Final = "spark.motejoin.importedFrom"
"""Spark setting: the folder that tasks import our packages from, as this process does."""
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
_MASTER_ANSWERS_S: Final = 4.0
"""How long a master may take to accept a connection."""
_LOG_LINES_SHOWN: Final = 10
_DRIVER_MEMORY_MIB_MAX: Final = 8192
_TASK_FAILURES_MAX: Final = 4
"""How often a task may fail: what Spark allows on clusters."""


def spark_session(
    master: str | None = None,
    *,
    rows: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> "SparkSession":
    """The session to use: the active one if there is one, else a new one.

    `master` is a Spark master address (`spark://…`, `yarn`, `k8s://…`, `local[4]`, or `sc://…`); None means the one
    that spark-submit gave us, or all cores of this machine. `rows` is about how many will be worked on, if
    known. `settings` add to `default_settings`. An active session is used as it is.

    Raises:
        MachineError: pyspark or Java is missing or too old, the master cannot be reached, or Spark does not start.
    """
    require_spark(master)
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    # A session that was started in another thread is not active in this one.
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if is_running() or (submitted and master is None):
        return SparkSession.builder.getOrCreate()
    if master is not None and is_connect_address(master):
        return connect_session(master, settings)
    chosen = master or "local[*]"
    check_master(chosen)
    # The JVM's own log goes to a temporary file: the terminal is for our table and messages.
    with tempfile.TemporaryFile() as log:
        try:
            return _start(default_settings(chosen, rows=rows) | dict(settings or {}), log)
        except (PySparkException, Py4JError, OSError, ValueError) as fault:
            raise MachineError(
                f"Spark does not start on {chosen!r}: {_first_line(fault)}{_tail(log)}"
            ) from fault


def is_running() -> bool:
    """Whether this process has a Spark already, whichever thread started it."""
    if "pyspark" not in sys.modules:
        return False
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def sweep_session(
    master: str | None = None,
    *,
    rows: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> "SparkSession":
    """The session for work whose tasks may die: on one machine too, a task is tried again.

    Raises:
        MachineError: as `spark_session`.
    """
    chosen = master
    if master is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        chosen = "local[*]"
    if chosen is not None and (cores := re.fullmatch(r"local(?:\[([^,\]]+)\])?", chosen)):
        # Spark repeats a task on one machine only if the master's address sets the number of attempts.
        chosen = f"local[{cores.group(1) or 1},{_TASK_FAILURES_MAX}]"
    return spark_session(chosen, rows=rows, settings=settings)


def sized(spark: "SparkSession", rows: int) -> "SparkSession":
    """A session of the same application with the settings for queries over `rows` rows.

    On few rows nearly all time goes into planning and compiling queries, so there we do little of both.
    """
    if rows > SMALL_ROWS_MAX or is_connected(spark):
        return spark
    small = spark.newSession()
    small.conf.set("spark.sql.adaptive.enabled", "false")
    small.conf.set("spark.sql.codegen.wholeStage", "false")
    small.conf.set(
        "spark.sql.shuffle.partitions", str(max(2, spark.sparkContext.defaultParallelism))
    )
    return small


def shares_folders(spark: "SparkSession") -> bool:
    """Whether tasks import from the same folders as this process: so it is where we started an embedded Spark."""
    if is_connected(spark):
        return False
    return spark.sparkContext.getConf().get(_SHARED, "") == str(_ROOT)


def default_settings(master: str, rows: int | None = None) -> dict[str, str]:
    """What we set on a new session for `master`; everything else is Spark's default."""
    java_options = f"-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()}"
    if rows is not None and rows <= SMALL_ROWS_MAX:
        java_options += f" {_QUICK_JVM}"
    settings = {
        "spark.app.name": "motejoin",
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.driver.memory": f"{_driver_memory_mib()}m",
        "spark.driver.extraJavaOptions": java_options,
    }
    if _is_on_loopback(master):
        settings |= {
            # Without these Spark asks for the machine's name, and stalls where it does not resolve.
            "spark.driver.host": LOOPBACK,
            "spark.driver.bindAddress": LOOPBACK,
        }
    if _is_local(master):
        settings |= {
            # Spark's default of 200 is meant for clusters; on one machine most would be empty.
            "spark.sql.shuffle.partitions": str(4 * (os.cpu_count() or 1)),
            # Past 32 files Spark lists them in a job with a task for each, which is meant for remote stores.
            "spark.sql.sources.parallelPartitionDiscovery.threshold": "1000000",
            _SHARED: str(_ROOT),
        }
    return settings


def check_master(master: str) -> None:
    """Check that a standalone master can be reached: Spark itself would try for a minute in silence.

    Raises:
        MachineError: none of the addresses answers.
    """
    if not master.startswith("spark://"):
        return
    faults = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdecimal():
            raise MachineError(f"--master {master}: expected spark://HOST:PORT")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _MASTER_ANSWERS_S):
                return
        except OSError as fault:
            faults.append(f"{place}: {fault.strerror or fault}")
    raise MachineError(
        f"--master {master}: no Spark master answers there ({'; '.join(faults)}); expected the address"
        " that the master's log and its web page show"
    )


def require_spark(master: str | None = None) -> None:
    """Check that Spark can be started here, or, for a Spark Connect server, that its client can.

    Raises:
        MachineError: pyspark or Java is missing or too old, with how to install it.
    """
    try:
        import pyspark
    except ImportError as fault:
        raise MachineError(
            f"this needs pyspark {SPARK_MIN} or newer, and none is installed: "
            "python -m pip install 'motejoin[spark]'"
        ) from fault
    if int(pyspark.__version__.split(".")[0]) < SPARK_MIN:
        raise MachineError(
            f"this needs pyspark {SPARK_MIN} or newer, found {pyspark.__version__}: "
            "python -m pip install --upgrade 'motejoin[spark]'"
        )
    if is_connect_address(master) or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    if find_java() is None:
        raise MachineError(missing_message())


def _start(settings: Mapping[str, str], log: IO[bytes]) -> "SparkSession":
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    # Workers must run this interpreter: another one would not have our packages.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if _is_on_loopback(settings["spark.master"]):
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
    if _SHARED in settings:
        # Processes of tasks get the environment of the JVM, and that gets ours.
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([str(_ROOT), *_python_path()]))
    conf = SparkConf().setAll(list(settings.items()))
    # Under spark-submit, or after an earlier session of this process, the JVM already runs.
    if "PYSPARK_GATEWAY_PORT" in os.environ or SparkContext._gateway is not None:
        return SparkSession(SparkContext(conf=conf))
    java = find_java()
    if java is None:
        raise MachineError(missing_message())
    os.environ["JAVA_HOME"] = str(java.home)
    options = f"{settings['spark.driver.extraJavaOptions']} {archive_options(java)}".strip()
    conf.set("spark.driver.extraJavaOptions", options)
    streams: dict[str, Any] = {"stdout": log, "stderr": log}
    gateway = launch_gateway(conf, popen_kwargs=streams)  # type: ignore[no-untyped-call]
    return SparkSession(SparkContext(gateway=gateway, conf=conf))


def _python_path() -> list[str]:
    return [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]


def _is_local(master: str) -> bool:
    return master == "local" or master.startswith("local[")


def _is_on_loopback(master: str) -> bool:
    """Whether all of Spark is on this machine: embedded, or a cluster that listens on loopback only."""
    return _is_local(master) or re.match(r"spark://(127\.|localhost:)", master) is not None


def _driver_memory_mib() -> int:
    """A quarter of the machine's memory, as Java itself would take, between 1 and 8 GiB."""
    installed_mib = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    return max(1024, min(_DRIVER_MEMORY_MIB_MAX, installed_mib // 4))


def _first_line(fault: BaseException) -> str:
    return next(iter(str(fault).strip().splitlines()), type(fault).__name__)


def _tail(log: IO[bytes]) -> str:
    """The last errors that the JVM logged, or else its last lines, for an error message."""
    log.seek(0)
    lines = log.read().decode(errors="replace").splitlines()
    errors = [line for line in lines if " ERROR " in line]
    return "".join(f"\n  {line}" for line in (errors or lines)[-_LOG_LINES_SHOWN:])
