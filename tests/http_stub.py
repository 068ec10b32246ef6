"""A server on loopback whose answers are a function of the request."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

JSON = "application/json"
Answer = tuple[int, str, bytes]  # status, type and content


@contextmanager
def answering(answer: Callable[[str, bytes], Answer]) -> Iterator[str]:
    """The URL of a server that answers a path and a body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the base class calls it so
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            status, kind, content = answer(self.path, body)
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
