"""A way to an object store on which uploads are cut short, from a moment on, until it is mended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

_PER_CONNECTION = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Way:
    """What passes on to a store what it is asked, and back what that answers."""

    def __init__(self, endpoint: str) -> None:
        self.store = urlsplit(endpoint).netloc
        self.broken: re.Pattern[str] | None = None
        """Uploads to such paths do not arrive; None: all do."""
        self.cut: list[str] = []
        """The paths of uploads that did not arrive."""

    @contextmanager
    def broken_for(self, pattern: str) -> Iterator[None]:
        """Until the end of the block, uploads to such paths do not arrive; there must be one."""
        self.cut.clear()
        self.broken = re.compile(pattern)
        try:
            yield
        finally:
            self.broken = None
        assert self.cut, pattern

    def is_cut(self, method: str, path: str) -> bool:
        """Whether a request ends here."""
        is_cut = method in ("PUT", "POST") and self.broken is not None
        if is_cut and self.broken and self.broken.search(path):
            self.cut.append(path)
            return True
        return False


@contextmanager
def way_to(endpoint: str) -> Iterator[tuple[Way, str]]:
    """The way, and its own address, until the end of the block."""
    way = Way(endpoint)

    class Passing(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            if way.is_cut(self.command, self.path):
                # Half of it has come, and then nobody is there any more.
                self.rfile.read(length // 2)
                self.close_connection = True
                return
            onward = HTTPConnection(way.store, timeout=60)
            onward.request(self.command, self.path, self.rfile.read(length), dict(self.headers))
            answer = onward.getresponse()
            content = answer.read()
            self.send_response_only(answer.status, answer.reason)
            for name, value in answer.getheaders():
                if name.lower() not in _PER_CONNECTION:
                    self.send_header(name, value)
            is_bare = self.command == "HEAD"
            size = answer.getheader("Content-Length", "0") if is_bare else str(len(content))
            self.send_header("Content-Length", size)
            self.end_headers()
            self.wfile.write(content)
            onward.close()

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Passing)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield way, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
