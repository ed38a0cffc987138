"""Sessions through a Spark Connect server (`sc://host`): what is done by DataFrames works there, tasks of ours do not.

The client needs neither Java nor Spark's archives, only gRPC. The server must see the runs under the same paths.
"""

import socket
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sim.errors import MachineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SCHEME: Final = "sc://"
_PORT: Final = 15002
"""Where servers listen by default."""
_ANSWERS_S: Final = 4.0
"""How long a server may take to accept a connection."""
NO_TASKS: Final = (
    "Spark Connect runs DataFrames only, and this needs tasks of our own; expected --master spark://HOST:PORT,"
    " yarn, k8s://… or local[*]"
)


def is_connect_address(master: str | None) -> bool:
    """Whether a master is the address of a Spark Connect server."""
    return master is not None and master.startswith(_SCHEME)


def is_connected(spark: "SparkSession") -> bool:
    """Whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect.")


def connect_session(address: str, settings: Mapping[str, str] | None = None) -> "SparkSession":
    """A session on a Spark Connect server.

    Raises:
        MachineError: the client's packages are missing, or no server answers.
    """
    if find_spec("grpc") is None or find_spec("grpc_status") is None:
        raise MachineError(
            f"--master {address}: needs grpcio and others, which are not installed:"
            " python -m pip install 'motejoin[spark,connect]'"
        )
    check_server(address)
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(address)
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    try:
        session = builder.getOrCreate()
        session.sql("SELECT 1").collect()
    except (PySparkException, ValueError) as fault:
        first = str(fault).strip().splitlines()[0]
        raise MachineError(f"--master {address}: {first}") from fault
    return session


def check_server(address: str) -> None:
    """Check that a server can be reached: its client would try for minutes in silence.

    Raises:
        MachineError: none accepts connections there.
    """
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or _PORT
    except ValueError:
        host, port = "", 0
    if not host:
        raise MachineError(f"--master {address}: expected sc://HOST or sc://HOST:PORT")
    try:
        socket.create_connection((host, port), _ANSWERS_S).close()
    except OSError as fault:
        raise MachineError(
            f"--master {address}: no Spark Connect server answers there ({fault.strerror or fault});"
            " expected the address that it was started with"
        ) from fault
