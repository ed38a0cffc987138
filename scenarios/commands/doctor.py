"""`motejoin doctor`: checks that this machine has all that motejoin needs."""

import argparse
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from platform import python_version

from sim.compiled import why_interpreted
from sim.errors import MoteJoinError

Check = Callable[[], str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.epilog = "example:\n  motejoin doctor"
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Check each part; exit code 1 if something is missing."""
    del args
    checks: dict[str, Check] = {
        "Python": _python,
        "simulator": _simulator,
        "core": _core,
        "Java": _java,
        "Spark": _spark,
    }
    ready = True
    for name, check in checks.items():
        try:
            verdict, text = "ok", check()
        except MoteJoinError as fault:
            verdict, text, ready = "MISSING", str(fault), False
        print(f"{name:<10} {verdict:<8} {text}")
    if ready:
        print("ready")
    else:
        print(
            "not ready: see the lines marked MISSING; only compare, sweep and ask need Java and Spark"
        )
    return 0 if ready else 1


def _python() -> str:
    return f"{python_version()} at {sys.executable}"


def _simulator() -> str:
    packages = ["simpy", "numpy", "scipy", "networkx", "pyarrow", "pydantic", "matplotlib"]
    try:
        return ", ".join(f"{name} {version(name)}" for name in packages)
    except PackageNotFoundError as fault:
        raise MoteJoinError(f"{fault.name} is not installed") from None


def _core() -> str:
    why = why_interpreted()
    return "compiled" if why is None else f"interpreted, which is slower and gives the same: {why}"


def _java() -> str:
    from analysis.spark.java import find_java, missing_message

    java = find_java()
    if java is None:
        raise MoteJoinError(missing_message())
    return f"{java.version} at {java.home}"


def _spark() -> str:
    from analysis.spark.session import spark_session

    session = spark_session()
    try:
        total = session.range(1000).selectExpr("sum(id)").first()
        assert total is not None
        assert total[0] == 499_500, total
        return f"{session.version}, a small job ran"
    finally:
        session.stop()
