"""The pool's bookkeeping over a Ray of this process: deaths, errors, servers, and what is refused.

Ray itself is in the drill (``make sweep-demo``).
"""

import socket
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from constraintrot.errors import ConstraintRotError
from constraintrot.runs.sweep import ray_cluster, ray_local, ray_pool, servers
from constraintrot.runs.sweep.cell import KEY, Cell
from constraintrot.runs.sweep.driver import drive
from constraintrot.runs.sweep.folder import FolderError, SweepFolder
from constraintrot.runs.sweep.play import Played
from constraintrot.runs.sweep.ray_cluster import lacking
from constraintrot.runs.sweep.ray_local import LocalCluster
from constraintrot.runs.sweep.ray_pool import RayPool
from tests.runs.sweep.fake_ray import FakeRay, RayError, RayTaskError
from tests.runs.sweep.pools import cell

SERVED = Cell(
    {**cell(3).task, "model": {"name": "vllm/x", "flow_metadata": {KEY: {"server": {"command": ["x"], "replicas": 2}}}}}
)  # fmt: skip


class Server:
    """A server that dies while its first cell is played."""

    starts = 0

    def __init__(self, server: Any) -> None:
        self.server = server

    def address(self) -> tuple[str, str]:
        return "http://127.0.0.1:1/v1", str(Server.starts)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    made = FakeRay()
    strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda **given: given)
    modules = {"ray": made, "ray.util.scheduling_strategies": strategies}
    monkeypatch.setattr(ray_pool, "import_module", modules.__getitem__)
    monkeypatch.setattr(ray_cluster, "import_module", modules.__getitem__)
    monkeypatch.setattr(ray_cluster, "version", lambda name: "1")
    monkeypatch.setattr(ray_pool, "ModelServer", Server)
    monkeypatch.setattr(Server, "starts", 0)
    return made


def test_deaths_errors_and_servers_are_told_apart(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = SweepFolder(str(tmp_path))
    cells = [cell(0), cell(1), SERVED]
    urls: list[str | None] = []
    notes: list[str] = []
    full = [FolderError("the log cannot be written: No space left on device")]

    def play(one: Cell, place: SweepFolder, options: object, url: str | None) -> Played:
        urls.append(url)
        if one.id == SERVED.id and not Server.starts:
            Server.starts += 1
            raise ConnectionError("refused")
        if one.id == cells[1].id:
            raise ValueError("no such thing")
        if full:
            raise full.pop()
        log = tmp_path / "made.eval"
        log.write_bytes(b"log")
        return Played(one.id, place.commit(one.id, str(log), {}))

    monkeypatch.setattr(ray_pool, "play", play)
    pool = RayPool(
        "auto", folder, {}, cells=cells, resources={"cpus": 1, "memory_gb": 2}, workers=None,
        store=str(tmp_path / "store"), tell=notes.append,
    )  # fmt: skip
    assert notes == [
        "the servers and a cell need 3 CPUs together, and the cluster has 2 CPUs: the sweep waits"
        " until it grows"
    ]
    ray.dying += [RayError("The worker died unexpectedly.")]

    def gone(*given: object, **more: object) -> None:
        raise ConstraintRotError("store x cannot be used")

    monkeypatch.setattr("constraintrot.runs.sweep.ray_pool.commit", gone)
    state = drive(cells, folder, pool, tries=2)
    assert state.finished == {cells[0].id, SERVED.id}
    assert state.poisoned[cells[1].id]["error"] == "ValueError: no such thing"
    assert (state.crashes, state.failures) == (3, 2), "worker, server, disk; the cell itself, twice"
    assert urls.count("http://127.0.0.1:1/v1") == 2
    task = next(one for one in ray.options if one.get("name", "").startswith("cell "))
    assert (task["max_retries"], task["num_cpus"], task["memory"]) == (0, 1, 2 * 2**30)
    assert pool.dashboard == "127.0.0.1:8265"
    pool.close()
    assert ray.shut


def test_what_cannot_be_meant_is_refused(ray: FakeRay, tmp_path: Path) -> None:
    folder = SweepFolder(str(tmp_path))
    with pytest.raises(ConstraintRotError, match="unknown resource gpu of a cell; known: cpus"):
        RayPool("auto", folder, {}, cells=[], resources={"gpu": 1})
    ray.dying += [RayTaskError("x\nModuleNotFoundError: No module named 'constraintrot'")]
    with pytest.raises(ConstraintRotError, match=r"worker w cannot load constraintrot \(Module"):
        RayPool("auto", folder, {}, cells=[])


def test_no_cluster_is_one_sentence(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**given: Any) -> Any:
        raise ConnectionError("Could not find any running Ray instance.\nmore")

    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(
        ConstraintRotError, match=r"--ray auto: no Ray cluster .*instance\.\); start"
    ):
        RayPool("auto", SweepFolder(str(tmp_path)), {}, cells=[])


def test_a_cluster_that_is_too_small_is_told_before_anything_waits() -> None:
    nodes = [
        {"Alive": True, "Resources": {"CPU": 4.0, "memory": 8.0 * 2**30}},
        {"Alive": True, "Resources": {"CPU": 4.0, "memory": 8.0 * 2**30}},
        {"Alive": False, "Resources": {"GPU": 8.0}},
    ]
    cell_need: dict[str, Any] = {"num_cpus": 1, "num_gpus": 0, "memory": None}
    assert lacking(nodes, cell_need, [cell_need] * 7) == ""
    assert "8.1 CPUs together, and the cluster has 8 CPUs" in lacking(
        nodes, cell_need, [cell_need] * 7 + [{"num_cpus": 0.1}]
    )
    assert "1 GPUs together, and the cluster has 0 GPUs" in lacking(nodes, {"num_gpus": 1}, [])
    assert lacking(nodes, {"memory": 12 * 2**30}, []) == (
        "a server or cell needs 12.0 GiB of memory, and no machine of the cluster has over 8.0 GiB"
        " of memory"
    )


RAY = """#!/bin/sh
for each; do case "$each" in --temp-dir=*) place="${each#--temp-dir=}";; esac; done
node=$place/session_1; mkdir $node; echo 1 > $node/gcs_server_port_ab12
while ! [ -e $node/dashboard_agent_listen_port_ab12 ]; do sleep 0.01; done
cat $node/dashboard_agent_listen_port_ab12
if [ -e {broken} ]; then echo; echo 'the node is tired'; exit 1; fi
echo 'Ray runtime started.'; exec sleep 60
"""


def test_a_cluster_of_this_machine_starts_and_ends_and_says_why_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, broken = tmp_path / "ray", tmp_path / "broken"
    program.write_text(RAY.replace("{broken}", str(broken)))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    for name in (*ray_local._SETTINGS, "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        # What the cluster sets for its children goes back with the patch.
        monkeypatch.setenv(name, "set")
    cluster = LocalCluster(2)
    assert Path(f"/proc/{cluster.pid}").exists()
    assert cluster.ended() == ""
    cluster._process.kill()
    cluster._process.wait()
    assert cluster.ended().endswith("Ray runtime started.")
    cluster.close()
    assert not Path(f"/proc/{cluster.pid}").exists()
    broken.touch()
    with pytest.raises(ConstraintRotError, match="it said: the node is tired"):
        LocalCluster()


def test_an_address_where_nobody_is_is_told_at_once(ray: FakeRay, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ConstraintRotError, match=rf"--ray {address}: no Ray .*refused"):
            RayPool(address, SweepFolder(str(tmp_path)), {}, cells=[])
        free.listen()
        RayPool(address, SweepFolder(str(tmp_path)), {}, cells=[]).close()


def test_a_cluster_that_is_gone_ends_the_sweep_with_a_sentence(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray waits for it a minute, and then ends the driver without one."""
    monkeypatch.setattr(ray_cluster, "_LOOK_SECONDS", 0.0)
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        there.listen()
        address = f"127.0.0.1:{there.getsockname()[1]}"
        pool = RayPool(address, SweepFolder(str(tmp_path)), {}, cells=[])
        assert pool.wait(0) == []
    # A moment of silence is no end.
    assert pool.wait(0) == []
    monkeypatch.setattr(ray_cluster, "_SILENT_SECONDS", 0.0)
    with pytest.raises(ConstraintRotError, match=rf"cluster at {address} does not answer any more"):
        pool.wait(0)
    pool.close()
    assert ray.shut


@pytest.mark.parametrize("number", [2, 4, 9])
@pytest.mark.parametrize("named", [True, False])
def test_a_cluster_that_dies_ends_the_sweep_within_a_minute_however_many_cells_are_left(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, named: bool
) -> None:
    """Nothing is asked of it meanwhile: Ray would wait, and end the driver after a minute."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with socket.create_server(("127.0.0.1", 0)) as there:
        ray.address = f"127.0.0.1:{there.getsockname()[1]}"
        pool = RayPool(ray.address if named else "auto", SweepFolder(str(tmp_path)), {}, cells=[])

    def wait(running: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], Any]:
        clock[0] += timeout
        return [], running

    def resources() -> dict[str, float]:
        assert not clock[0], "it was asked after it died"
        return {"CPU": 2.0}

    ray.hanging = {*range(1, 20)}
    monkeypatch.setattr(ray, "wait", wait)
    monkeypatch.setattr(ray, "cluster_resources", resources)
    with pytest.raises(ConstraintRotError, match=f"{ray.address} does not answer any more"):
        drive([cell(one) for one in range(number)], SweepFolder(str(tmp_path)), pool)
    assert clock[0] + ray_cluster._KNOCK_SECONDS < 60


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_cell_whose_worker_died_is_started_again_beside_cells_that_take_long(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    pool = RayPool("auto", SweepFolder(str(tmp_path)), {}, cells=[])
    cells, started = [cell(one) for one in range(number)], list[str]()
    waits: list[float] = []

    def play(one: Cell, place: SweepFolder, options: object, url: str | None) -> Played:
        started.append(one.id)
        raise KeyboardInterrupt

    def wait(running: list[Any], num_returns: int, timeout: float) -> tuple[list[Any], Any]:
        waits.append(timeout)
        return FakeRay.wait(ray, running, num_returns, timeout)

    monkeypatch.setattr(ray_pool, "play", play)
    monkeypatch.setattr(ray, "wait", wait)
    # The probe of the workers was the first task; all cells but the first go on and on.
    ray.hanging = {*range(ray.tasks + 2, ray.tasks + 1 + number)}
    ray.dying = [RayError("The worker died unexpectedly.")]
    with pytest.raises(KeyboardInterrupt):
        drive(cells, SweepFolder(str(tmp_path)), pool)
    assert started == [cells[0].id]
    assert sum(waits) < 60


def test_a_worker_ends_when_its_server_was_started_anew(
    ray: FakeRay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inspect would ask the old address again and again, after longer and longer waits."""
    left = threading.Event()

    def play(one: Cell, place: SweepFolder, options: object, url: str | None) -> Played:
        Server.starts += 1
        assert left.wait(30), "it waits for a server that is not there any more"
        raise ConnectionError("as if killed")

    monkeypatch.setattr(ray_pool, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(ray_pool, "play", play)
    monkeypatch.setattr("constraintrot.runs.sweep.ray_pool.os._exit", lambda status: left.set())
    pool = RayPool("auto", SweepFolder(str(tmp_path)), {}, cells=[SERVED])
    pool.start(SERVED)
    assert [one.crash for one in pool.wait(1)] == ["the server of vllm/x died"]


def test_a_server_whose_port_another_program_took_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:

        def speak() -> None:
            with taken.accept()[0] as known:
                known.sendall(b"\x00\x00\x12 no HTTP\r\n\r\n")

        threading.Thread(target=speak).start()
        assert not servers._answers(f"http://127.0.0.1:{taken.getsockname()[1]}/health")
