"""Coding agents come from npm or PyPI, by a command that names their licence, and only then."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from constraintrot.coding_agents import install
from constraintrot.coding_agents.catalogue import PACKAGES, Package, package
from constraintrot.coding_agents.pins.checking import program_of
from constraintrot.errors import ConstraintRotError, ParameterError, UnknownNameError
from constraintrot.evaluation.harness import parse_harness
from constraintrot.harnesses import HARNESSES
from constraintrot.runs import survey
from constraintrot.runs.survey import check
from constraintrot.runs.survey_matrix import Cell, Change, Fate, changes, markdown
from tests.harnesses.coding.fakes import INSTALLED, NETWORK, PACKAGE, Fake
from tests.invoked import invoked

CODEX = package("codex")
# Writes what it was asked for where npm would put it.
NPM = """#!/bin/sh
[ "$1" = view ] && echo 0.170.0 && exit 0
echo "$@" >> asked
[ -f ../../slow ] && echo $$ > ../../slow && exec sleep 613
[ -f ../../refuse ] && echo "npm error 404 no such package" >&2 && exit 1
mkdir -p node_modules/.bin node_modules/@openai/codex
for last; do :; done
echo "{\\"version\\": \\"${last##*@}\\"}" > node_modules/@openai/codex/package.json
printf '#!/bin/sh\\n' > node_modules/.bin/codex
chmod +x node_modules/.bin/codex
"""


# Makes the folders that uv would, and prints the newest version.
UV = """#!/bin/sh
[ "$2" = compile ] && cat && echo "==1.17.0" && exit 0
[ -f ../../refuse ] && echo "error: no such version" >&2 && exit 1
[ "$1" = venv ] && mkdir -p bin lib/python3.12/site-packages && exit 0
for last; do :; done
echo "$@" > asked
mkdir lib/python3.12/site-packages/openhands-"${last##*==}".dist-info
printf '#!/bin/sh\\n' > bin/openhands
chmod +x bin/openhands
"""


@pytest.fixture(autouse=True)
def _no_agent_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    which = shutil.which
    programs = {one.program for one in PACKAGES}
    monkeypatch.setattr(
        shutil, "which", lambda name, **where: None if name in programs else which(name, **where)
    )


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Path:
    """A PATH with an npm in small and a node; the folder of the agents."""
    for name, text in {"npm": NPM, "uv": UV, "node": "#!/bin/sh\necho v22.1.0\n"}.items():
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(text)
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return cache / "agents"


agents = partial(invoked, "agents")


def test_the_licence_is_named_and_asked_for(npm: Path) -> None:
    refused = agents("install", "codex", input="n\n", exits=1)
    assert "Codex CLI 0.169.0, about 404 MB, from npm" in refused.output
    assert "licence: Apache-2.0" in refused.output
    assert not (npm / "codex").exists()
    accepted = agents("install", "codex", input="y\n", exits=0)
    program = npm / "codex/0.169.0/node_modules/.bin/codex"
    assert str(program) in accepted.output
    assert (npm / "codex/0.169.0/asked").read_text().split()[-1] == "@openai/codex@0.169.0"
    # What is there is not asked for again.
    again = agents("install", "codex")
    assert again.output == f"Codex CLI 0.169.0  {program}\n"


def test_no_is_the_answer_of_a_closed_input_and_yes_can_be_given_before(npm: Path) -> None:
    assert agents("install", "codex").exit_code == 1
    assert agents("install", "codex", "--yes").exit_code == 0
    assert str(npm) in agents("list").output


def test_what_npm_says_is_told_and_nothing_half_is_left(npm: Path) -> None:
    npm.mkdir(parents=True)
    (npm / "refuse").touch()
    failed = agents("install", "codex", "--yes", exits=2)
    assert "npm could not install @openai/codex@0.169.0:\nnpm error 404" in failed.output
    assert install.find(CODEX) is None
    assert not list(npm.glob("codex/*.partial"))
    (npm / "refuse").unlink()
    assert agents("install", "codex", "--yes").exit_code == 0


def test_the_user_s_own_agent_is_used_where_none_was_installed(
    npm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = npm.parent / "codex"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("#!/bin/sh\necho codex-cli 9.1.0-beta.2\n")
    own.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(own) if name == "codex" else None)
    assert f"your own 9.1.0-beta.2: {own}" in agents("list").output
    with pytest.warns(UserWarning, match=r"9\.1\.0-beta\.2, your own, is played; 0\.169\.0 is"):
        assert install.needed(CODEX).program == own
    assert program_of("codex") == own


def test_what_was_installed_to_measure_comes_before_the_user_s_own(npm: Path) -> None:
    assert agents("install", "codex", "--yes").exit_code == 0
    found = install.find(CODEX)
    assert found
    assert found.tried
    assert program_of("codex") == found.program


def test_a_program_that_does_not_run_is_no_agent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "codex"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(broken))
    assert install.of_user(CODEX) is None


def test_a_check_plays_an_episode_and_says_what_went_wrong() -> None:
    assert check(PACKAGE, NETWORK) is None
    assert "ended with 3: out of luck" in str(check(replace(PACKAGE, agent="dies"), NETWORK))


CELL = Cell("Codex CLI", "0.169.0", "auto", "user", "verbatim")


@pytest.mark.parametrize(("now", "status"), [("verbatim", 0), ("dropped", 1), ("error", 1)])
def test_the_newest_version_is_checked_beside_the_one_that_was_tried(
    npm: Path, monkeypatch: pytest.MonkeyPatch, now: Fate, status: int
) -> None:
    missing = agents("check", "--latest", "codex", exits=1)
    assert "not here; constraintrot agents install codex" in missing.output
    assert agents("install", "codex", "--yes").exit_code == 0
    played: list[tuple[str, str]] = []

    def compare(package: Package, newer: Package, *_: object, **__: object) -> list[Change]:
        played.append((package.version, newer.version))
        return changes([CELL, replace(CELL, version=newer.version, fate=now, error="why")])

    monkeypatch.setattr(survey, "compare", compare)
    done = agents("check", "--latest", "codex")
    assert done.exit_code == status, done.output
    assert played == [("0.169.0", "0.170.0")]
    assert str(npm / "codex/0.170.0/node_modules/.bin/codex") in done.output
    assert install.find(CODEX) == install.kept(CODEX)
    assert install.needed(CODEX).version == "0.169.0"
    said = {
        "verbatim": "same (verbatim)",
        "dropped": "differs (verbatim -> dropped; no longer held)",
    }
    assert f"auto, user's turn: {said.get(now, 'error')}" in done.output


def test_the_tried_version_may_be_the_newest(npm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert agents("install", "codex", "--yes").exit_code == 0
    monkeypatch.setattr(install, "newest", lambda package: package)
    done = agents("check", "--latest", "codex")
    assert done.output == "Codex CLI 0.169.0, which was tried, is the newest\n"
    assert done.exit_code == 0


def test_what_a_newer_version_no_longer_holds_is_told_row_by_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def misdeed(agent: Fake) -> str:
        return "deaf" if package("fake").version == "2.0.0" else ""

    monkeypatch.setattr(Fake, "misdeed", property(misdeed), raising=False)
    monkeypatch.setattr(
        install, "needed", lambda one: replace(INSTALLED, package=one, version=one.version)
    )
    told: list[str] = []
    changed = survey.compare(
        PACKAGE, PACKAGE.at("2.0.0"), told.append, channels=["system"], network=NETWORK
    )
    assert [(one.now.channel, one.kind, one.lost) for one in changed] == [
        ("system", "same", False),
        ("pin", "error", True),
    ]
    assert "without the pin" in changed[1].line
    assert len(told) == 4
    cells = [cell for one in changed for cell in (one.before, one.now)]
    assert "- Fake agent 1.2.3 -> 2.0.0, auto, system prompt: same (verbatim)" in markdown(cells)


def test_a_killed_installation_leaves_no_npm_and_is_begun_anew(npm: Path) -> None:
    npm.mkdir(parents=True)
    (npm / "slow").touch()
    code = (
        "from constraintrot.coding_agents import install, catalogue;"
        " install.install(catalogue.package('codex'))"
    )
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ) as process:
        until = time.monotonic() + 60
        while not (pid := (npm / "slow").read_text().strip()) and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
    until = time.monotonic() + 20
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(pid)
    assert install.find(CODEX) is None
    (npm / "slow").unlink()
    assert agents("install", "codex", "--yes").exit_code == 0
    assert not list(npm.glob("codex/*.partial"))


def _runs(pid: str) -> bool:
    try:
        return b"613" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def test_without_npm_or_with_an_old_node_it_says_what_to_do(
    npm: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin/node").write_text("#!/bin/sh\necho v12.0.0\n")
    with pytest.raises(ConstraintRotError, match=r"needs Node.js 16 or newer, and v12.0.0"):
        install.install(CODEX)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConstraintRotError, match=r"install Node\.js 20 or newer"):
        install.install(CODEX)


def test_an_agent_of_pypi_is_installed_by_uv(
    npm: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    npm.mkdir(parents=True)
    (npm / "refuse").touch()
    failed = agents("install", "openhands", "--yes")
    assert (
        "uv could not install openhands==1.16.0, which needs Python 3.12:\nerror: no such version"
        in failed.output
    )
    assert not list(npm.glob("openhands/*"))[1:]
    (npm / "refuse").unlink()
    done = agents("install", "openhands", "--yes")
    assert "from PyPI (openhands==1.16.0); licence: MIT" in done.output
    found = install.kept(package("openhands"))
    assert found
    assert (found.version, found.program) == ("1.16.0", npm / "openhands/1.16.0/bin/openhands")
    assert install.newest(found.package).version == "1.17.0"
    (tmp_path / "bin/uv").unlink()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(ConstraintRotError, match="pip install uv"):
        install.newest(found.package)


def test_a_harness_whose_agent_is_missing_names_the_command(cache: Path) -> None:
    with pytest.raises(ParameterError, match=r"constraintrot agents install codex$"):
        parse_harness("coding/codex")


def test_every_agent_is_a_harness_and_an_unknown_one_is_answered_with_the_known(
    cache: Path,
) -> None:
    names = {f"coding/{one.agent}" for one in PACKAGES}
    assert names <= set(HARNESSES.names())
    with pytest.raises(UnknownNameError, match="known: claude, codex"):
        package("nano")


def test_a_broken_installation_is_none(cache: Path) -> None:
    broken = Package("codex", "Codex", "@openai/codex", "0.169.0", "x", 1, "codex")
    folder = cache / "agents/codex/0.169.0/node_modules/@openai/codex"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": "0.169.0"}))
    assert install.find(broken) is None
