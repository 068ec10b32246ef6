"""A store in a bucket: a server that speaks S3, on this machine."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pandas as pd
import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import installed
from constraintrot.report.page import frames, source
from constraintrot.report.planned import planned_episodes
from constraintrot.report.store import Store
from tests.report.page.test_store import add, rows

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not (installed("moto") and installed("s3fs") and installed("flask")),
        reason="the S3 server: pip install 'moto[server]' s3fs",
    ),
]
PORT = 5_123


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """URL of a bucket of a server process, which ends with the tests."""
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(PORT)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{PORT}"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "invented",
            "AWS_SECRET_ACCESS_KEY": "invented", "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        try:
            _wait(address)
            fsspec: Any = import_module("fsspec")
            fsspec.filesystem("s3").mkdir("results")
            yield "s3://results"
        finally:
            server.kill()
            server.wait()


def _wait(address: str) -> None:
    for _ in range(200):
        try:
            urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.3)
    raise AssertionError("the S3 server did not start")


def test_a_bucket_reads_as_a_folder_does(bucket: str, tmp_path: Path) -> None:
    stores = [Store(f"{bucket}/same"), Store(tmp_path)]
    for store in stores:
        for cell in range(3):
            add(store, rows(cell, 120), f"cell {cell}")
        add(store, rows(0, 60), "cell 0")
    of_bucket, of_folder = (planned_episodes([store.url]) for store in stores)
    pd.testing.assert_frame_equal(of_bucket, of_folder)
    of_bucket, of_folder = (source.read([store.url]).frame for store in stores)
    pd.testing.assert_frame_equal(of_bucket, of_folder)


_WRITER = """
import sys
from pathlib import Path
from constraintrot.report.store import Store
store, content = Store(sys.argv[1]), Path(sys.argv[2]).read_bytes()
for cell in range(int(sys.argv[3]), int(sys.argv[4])):
    store.add(f"cell {cell}", content, rows=50, finished=50)
    print(cell, flush=True)
"""


def test_writers_that_are_killed_leave_whole_cells_and_their_cells_can_be_run_again(
    bucket: str, tmp_path: Path
) -> None:
    content = tmp_path / "frame.parquet"
    content.write_bytes(frames.parquet_bytes(frames.tidy(pd.DataFrame(rows(0, 50)))))
    url = f"{bucket}/killed"

    def start(first: int, last: int) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _WRITER, url, str(content), str(first), str(last)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})

    writers = [start(0, 1_000), start(500, 1_500)]
    said: list[int] = []
    for writer in writers:
        assert writer.stdout is not None
        said += [int(writer.stdout.readline()) for _ in range(8)]
        writer.kill()
        said += [int(line) for line in writer.stdout.read().split()]
        writer.wait()
    store = Store(url)
    found = {one.cell for one in store.commits()}
    # At most one cell of each was committed and not yet said.
    assert {f"cell {one}" for one in said} <= found
    assert len(found) <= len(set(said)) + 2
    assert all(len(one) for one in store.read(store.commits()).values())
    again = start(0, 10)
    assert again.wait(timeout=120) == 0
    assert len(store.commits()) == len(found | {f"cell {one}" for one in range(10)})


def test_a_bucket_that_cannot_be_reached_is_named(bucket: str) -> None:
    with pytest.raises(ConstraintRotError, match=r"store s3://nosuch.* cannot be used"):
        add(Store("s3://nosuch/results"), rows(0, 20), "cell")
