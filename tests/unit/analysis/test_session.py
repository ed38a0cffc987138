import socket

import pytest

from analysis.spark.session import check_reachable
from sim.errors import MachineError


def test_a_master_that_nobody_runs_is_refused() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(MachineError, match=rf"--master spark://127.0.0.1:{port}: no Spark master"):
        check_reachable(f"spark://127.0.0.1:{port}")
    with pytest.raises(MachineError, match="expected spark://HOST:PORT"):
        check_reachable("spark://nowhere")


def test_any_of_several_masters_will_do_and_other_kinds_are_not_tried() -> None:
    with socket.socket() as master:
        master.bind(("127.0.0.1", 0))
        master.listen()
        port = master.getsockname()[1]
        check_reachable(f"spark://127.0.0.1:1,127.0.0.1:{port}")
    check_reachable("local[2]")
    check_reachable("yarn")
