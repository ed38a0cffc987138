"""A real object store on loopback: moto's S3 server in a process of its own, one request after the other.

`python -m tests.support.object_store` serves one and prints its port. Requests are not served in parallel: the server
itself checks and writes in two steps, which S3 does in one.
"""

import os
import subprocess
import sys
from types import TracebackType
from typing import Final, Self

from analysis.store.contract import Store
from analysis.store.opening import store_at
from analysis.store.place import Place, place
from tests.support.places import ROOT

BUCKET: Final = "motejoin"


class ObjectStore:
    """A server with one bucket; as a context it sets the environment that clients find it by."""

    def __init__(self) -> None:
        self._before: dict[str, str | None] = {}
        self._process: subprocess.Popen[str] | None = None
        self.environment: dict[str, str] = {}

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.support.object_store"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._process.stdout is not None
        port = self._process.stdout.readline().strip()
        assert port, "the object store did not start"
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            # Nothing is to be asked of the network that a cloud's machines have.
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        self._before = {name: os.environ.get(name) for name in self.environment}
        os.environ.update(self.environment)
        _forget_clients()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        failure: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        for name, value in self._before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        _forget_clients()

    def at(self, name: str) -> Place:
        """An address in the bucket."""
        return place(f"s3://{BUCKET}/{name}")

    def store(self, name: str) -> Store:
        """The store at an address in the bucket."""
        return store_at(self.at(name))


def _forget_clients() -> None:
    """Have the next client made anew: it reads the environment once."""
    from analysis.store import objects

    objects._client.cache_clear()


def serve() -> None:
    """Serve an empty bucket on a free port and print the port."""
    import logging

    from moto.backends import get_backend
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    get_backend("s3")["123456789012"]["aws"].create_bucket(BUCKET, "us-east-1")
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, application, threaded=False)
    print(server.server_port, flush=True)  # noqa: T201 - whoever has started it reads this
    server.serve_forever()


if __name__ == "__main__":
    serve()
