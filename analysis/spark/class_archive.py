"""An archive of the Java classes that Spark loads at its start, so that later starts need not load them one by one.

Java maps such an archive into memory instead (application class-data sharing). It belongs to one Java and one
Spark, which its name says, and lies in the user's cache folder. The first session finds none: it has one made in the
background, by a process of its own at the lowest priority, and starts without. An archive that does not fit is ignored
by Java, so it can never change a result. `MOTEJOIN_CLASS_ARCHIVE=off` switches all of this off.
"""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from analysis.spark.java import Java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLE: Final = "MOTEJOIN_CLASS_ARCHIVE"
_OFF: Final = "off"
_STALE_S: Final = 900.0
"""A process that makes an archive and is older than this has died."""
_EXIT_S: Final = 300.0
"""How long Java may take to write the archive."""


def archive_options(java: Java) -> str:
    """What to add to the options of Java so that it uses the archive; has one made if there is none."""
    if os.environ.get(VARIABLE, "") == _OFF:
        return ""
    archive = archive_of(java, cache_folder())
    if archive.is_file():
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:disable -Xlog:all=error:stderr"
    if _claim(archive):
        make_elsewhere(archive)
    return ""


def cache_folder() -> Path:
    """Where archives are kept: `XDG_CACHE_HOME`, or `.cache` in the user's home."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "motejoin"


def archive_of(java: Java, folder: Path) -> Path:
    """The archive for this Java and the Spark that is installed."""
    import pyspark

    # A Java that was updated in place has another file of modules.
    modules = (java.home / "lib" / "modules").stat()
    jars = Path(pyspark.__file__).parent / "jars"
    names = [
        (jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in sorted(jars.iterdir())
    ]
    known = repr((str(java.home), modules.st_size, modules.st_mtime_ns, str(jars), names))
    digest = hashlib.blake2b(known.encode(), digest_size=6).hexdigest()
    return folder / f"java-{java.version}-spark-{pyspark.__version__}-{digest}.jsa"


def _claim(archive: Path) -> bool:
    """Whether it is up to us to make it: nobody else does, and the folder can be written to."""
    mark = archive.with_suffix(".making")
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        if mark.exists() and time.time() - mark.stat().st_mtime > _STALE_S:
            mark.unlink(missing_ok=True)
        mark.touch(exist_ok=False)
    except OSError:
        return False
    return True


def make_elsewhere(archive: Path) -> "subprocess.Popen[bytes]":
    """Start a process that makes the archive, whatever becomes of this one."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
    return subprocess.Popen(
        [sys.executable, "-m", "analysis.spark.class_archive", str(archive)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {VARIABLE: _OFF, "PYTHONPATH": path},
        start_new_session=True,
    )


def make(archive: Path) -> None:
    """Start Spark, let it do a little of everything, and have Java write the archive when it exits."""
    from analysis.spark.session import default_settings, spark_session

    part = archive.with_suffix(f".{os.getpid()}.part")
    try:
        options = default_settings("local[1]", rows=0)["spark.driver.extraJavaOptions"]
        options += f" -XX:ArchiveClassesAtExit={part}"
        spark = spark_session(
            "local[1]", rows=0, settings={"spark.driver.extraJavaOptions": options}
        )
        process = spark.sparkContext._gateway.proc  # type: ignore[union-attr]
        _exercise(spark)
        spark.stop()
        # Java exits when its standard input is closed.
        process.stdin.close()
        process.wait(_EXIT_S)
        if part.is_file():
            part.replace(archive)
    finally:
        part.unlink(missing_ok=True)
        archive.with_suffix(".making").unlink(missing_ok=True)


def _exercise(spark: "SparkSession") -> None:
    """Load the classes of what our commands do: tasks in Python, Arrow to and fro, a query with a shuffle."""
    import pyarrow as pa

    spark.sparkContext.parallelize(range(2), 2).map(lambda number: number + 1).collect()
    frame = spark.createDataFrame(pa.table({"run": ["a", "b"], "value": [1.0, 2.0]}))
    frame.groupBy("run").sum("value").toArrow()


if __name__ == "__main__":
    os.nice(19)
    make(Path(sys.argv[1]))
