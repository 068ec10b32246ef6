"""The box of a coding agent: what it may see, and that nothing of it is left."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from constraintrot.coding_agents import box, inside
from constraintrot.coding_agents.box import PREFIX, Box, opened
from constraintrot.coding_agents.sandbox import without_network
from constraintrot.errors import EpisodeError, ParameterError
from tests.harnesses.coding.fakes import NETWORK, commands
from tests.helpers import soaked

NAMESPACES = pytest.mark.skipif(
    without_network(processes=False) is None, reason="this system has no network namespaces for us"
)
KILLS = [signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
REPOSITORY = Path(__file__).parents[3]
# Prints the folder of an open box with a daemon in it, and waits to be killed.
HOLDS = f"""
import sys, anyio
from constraintrot.coding_agents.box import opened
async def hold():
    async with opened({NETWORK!r}) as box:
        script = "sleep 611 & echo '{{}}'; exec sleep 611"
        await (await box.start("x", ["/bin/sh", "-c", script], {{}})).receive()
        print(box.folder, flush=True)
        await anyio.sleep(600)
anyio.run(hold)
"""


def within(do: Callable[[Box], Awaitable[Any]]) -> Any:
    async def go() -> Any:
        async with opened(NETWORK) as one:
            return await do(one)

    return anyio.run(go)


def ran(script: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    async def do(one: Box) -> dict[str, Any]:
        program = await one.start("a script", [sys.executable, "-c", script], env or {})
        return await program.receive()

    found: dict[str, Any] = within(do)
    return found


def test_a_program_sees_nothing_of_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    seen = ran("import os, json; print(json.dumps(dict(os.environ)))", {"OWN": "1"})
    assert seen.keys() - {"LC_CTYPE"} == {"HOME", "PATH", "TERM", "LANG", "TMPDIR", "OWN"}
    assert PREFIX in seen["HOME"]


@NAMESPACES
def test_a_program_reaches_no_network() -> None:
    seen = ran(
        "import socket, json\n"
        "try: socket.create_connection(('192.0.2.1', 80), 2); said = 'reached'\n"
        "except OSError as error: said = error.strerror\n"
        "names = [name for _, name in socket.if_nameindex()]\n"
        "print(json.dumps({'said': said, 'names': names}))"
    )
    assert seen == {"said": "Network is unreachable", "names": ["lo"]}


def test_a_program_that_cannot_start_or_ends_says_so() -> None:
    async def absent(one: Box) -> None:
        await (await one.start("it", ["/nowhere/at-all"], {})).receive()

    with pytest.raises(EpisodeError, match=r"it ended with -1: .*nowhere"):
        within(absent)

    async def ends(one: Box) -> None:
        script = "import sys; print('no json'); print('why', file=sys.stderr); sys.exit(4)"
        await (await one.start("it", [sys.executable, "-c", script], {})).receive()

    with pytest.raises(EpisodeError, match="it ended with 4: why"):
        within(ends)


def test_an_error_within_a_box_is_not_wrapped() -> None:
    async def fails(one: Box) -> None:
        raise KeyError(str(one.folder))

    with pytest.raises(KeyError) as raised:
        within(fails)
    assert not Path(raised.value.args[0]).exists()


@pytest.mark.parametrize("how", soaked(KILLS, [signal.SIGKILL]))
def test_a_killed_evaluation_leaves_no_process_and_no_folder(how: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    ) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        assert commands(folder)
        process.send_signal(how)
    until = time.monotonic() + 20
    while (commands(folder) or folder.exists()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not commands(folder)
    assert not folder.exists()


def test_there_is_no_folder_but_with_a_supervisor_that_removes_it(tmp_path: Path) -> None:
    # What a kill of the evaluation at the start of a box leaves: a standard input that ends.
    folder = tmp_path / "box"
    argv = [sys.executable, "-I", "-S", inside.__file__, str(folder)]
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert b'"port"' in ended.stdout
    assert list(tmp_path.iterdir()) == []
    folder.mkdir()
    (folder / "a user's").touch()
    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert ended.returncode != 0
    assert [path.name for path in folder.iterdir()] == ["a user's"]


def test_what_two_kills_left_behind_is_swept_and_what_is_in_use_is_not() -> None:
    left = Path(tempfile.mkdtemp(prefix=PREFIX))
    (left / "lock").touch()

    async def do(one: Box) -> bool:
        box.sweep()
        return one.folder.exists()

    assert within(do)
    assert not left.exists()


def test_a_folder_that_no_socket_can_be_in_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(ParameterError, match="name a shorter one, as TMPDIR=/tmp"):
        ran("")
    assert not list(deep.iterdir())


def test_a_supervisor_that_does_not_start_is_an_error_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As a limit of time it would leave the sample to be scored.
    monkeypatch.setattr(box, "without_network", lambda **_: (shutil.which("false"),))

    async def nothing() -> None:
        async with opened("none"):
            raise AssertionError("it is open")

    with pytest.raises(EpisodeError, match="could not be started"):
        anyio.run(nothing)


def test_without_namespaces_it_is_refused_unless_the_user_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(box, "without_network", lambda **_: None)
    with pytest.raises(ParameterError, match="give -T network=host"):
        box.check_network("none")
    with pytest.warns(UserWarning, match="with this machine's network within its reach"):
        box.check_network("host")
