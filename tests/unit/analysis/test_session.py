import socket
import time

import pytest

from analysis.spark.session import spark_session
from sim.errors import MachineError


def test_a_master_that_nobody_runs_is_said_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    begun_s = time.monotonic()
    with pytest.raises(MachineError, match=rf"--master spark://127.0.0.1:{port}: no Spark master"):
        spark_session(f"spark://127.0.0.1:{port}")
    assert time.monotonic() - begun_s < 10
    with pytest.raises(MachineError, match="expected spark://HOST:PORT"):
        spark_session("spark://nowhere")
