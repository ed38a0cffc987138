"""Fixtures that every test may use, and what becomes of skipped tests."""

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.support.requirements import pytest_runtest_makereport

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


__all__ = ["pytest_runtest_makereport"]

# A busy machine must not fail a test: how long an example takes says nothing about right or wrong.
settings.register_profile("motejoin", deadline=None)
settings.load_profile("motejoin")

# Tests start many Sparks at once: none of them is to make an archive of classes on the way.
os.environ["MOTEJOIN_CLASS_ARCHIVE"] = "off"

# What a shell starts in the background ignores Ctrl-C, and so would the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """One small Spark session for all tests of a process."""
    from pyspark import SparkContext

    from analysis.spark.session import default_settings, spark_session

    if SparkContext._active_spark_context is not None:
        SparkContext._active_spark_context.stop()  # of a command that an earlier test ran in this process
    # For tables of a few rows nearly all time goes into planning and compiling: do little of both.
    options = default_settings("local[2]")["spark.driver.extraJavaOptions"]
    session = spark_session(
        "local[2]",
        settings={
            "spark.driver.extraJavaOptions": f"{options} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.driver.memory": "1g",
            "spark.sql.adaptive.enabled": "false",
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.shuffle.partitions": "2",
        },
    )
    yield session
    session.stop()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests measured on the way, such as the size of an installation: `record_property("measured", …)`."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "measured":
                terminalreporter.write_line(f"measured: {value}")
