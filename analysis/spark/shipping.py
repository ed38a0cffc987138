"""Our own code as one file that Spark can send to executors: they need only the dependencies."""

import atexit
import hashlib
import io
import py_compile
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from analysis.spark.connect import is_connected
from analysis.spark.session import shares_folders

_FIRST_DATE: Final = (1980, 1, 1, 0, 0, 0)
"""The oldest date in zip files: with a fixed date, the same code gives the same file."""
_LEFT_OUT: Final = ("__pycache__",)
_BINARIES: Final = (".so", ".pyd")
DISTRIBUTION: Final = "motejoin"
_SHIPPED: Final[set[tuple[str, ...]]] = set()
"""What was sent to which applications of this process."""


def share_code(spark: SparkSession, packages: Sequence[str]) -> None:
    """Make `packages` importable in every task of the session, if they are not already."""
    application = spark.session_id if is_connected(spark) else spark.sparkContext.applicationId  # type: ignore[attr-defined]
    done = (application, *packages)
    if not shares_folders(spark) and done not in _SHIPPED:
        ship_code(spark, packages, DISTRIBUTION)
        _SHIPPED.add(done)


def ship_code(spark: SparkSession, packages: Sequence[str], distribution: str) -> str:
    """Make `packages` importable in every task of the session; returns a digest of the code.

    The archive includes the metadata of `distribution`, from which code reads its own version.
    """
    content = code_archive(packages, distribution)
    digest = hashlib.blake2b(content, digest_size=8).hexdigest()
    folder = Path(tempfile.mkdtemp(prefix="motejoin-code-"))
    file = folder / f"{distribution}-{digest}.zip"
    file.write_bytes(content)
    # Executors that start later fetch the file too: it is kept until this process ends.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if is_connected(spark):
        spark.addArtifacts(str(file), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(file))
    return digest


def code_archive(packages: Sequence[str], distribution: str) -> bytes:
    """A zip file of packages with all their data files, from which Python can import."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        for package in packages:
            root = _folder(package)
            for file in sorted(root.rglob("*")):
                if file.suffix in _BINARIES:
                    continue  # Python cannot load them from an archive: it runs the source
                if file.is_file() and not set(_LEFT_OUT) & set(file.parts):
                    name = f"{package}/{file.relative_to(root).as_posix()}"
                    _add(zipped, name, file.read_bytes())
                    if file.suffix == ".py":
                        _add_compiled(zipped, file, name)
        known = metadata.distribution(distribution)
        entry = f"{distribution}-{known.version}.dist-info/METADATA"
        text = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {known.version}\n"
        _add(zipped, entry, text.encode())
    return archive.getvalue()


def _add_compiled(zipped: zipfile.ZipFile, file: Path, name: str) -> None:
    """Put the compiled module beside its source: a Python of this version need not compile it anew."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "module.pyc"
        py_compile.compile(
            str(file),
            cfile=str(target),
            dfile=name,
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        _add(zipped, f"{name}c", target.read_bytes())


def _add(zipped: zipfile.ZipFile, name: str, content: bytes) -> None:
    zipped.writestr(zipfile.ZipInfo(name, _FIRST_DATE), content, zipfile.ZIP_DEFLATED)


def _folder(package: str) -> Path:
    file = import_module(package).__file__
    assert file is not None, package
    return Path(file).parent
