"""What the README and the docs show as commands runs as written, where no real model is needed."""

import hashlib
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from inspect_ai._cli.eval import eval_command

from tests.invoked import invoked
from tests.small_install import ROOT

pytestmark = pytest.mark.early

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What a sequence needs that a test has not: weights, a key, a network, another package, a
# framework (tests/harnesses has those), a coding agent (tests/cli/test_pin.py), sessions
# (tests/doctor has those), Ray and Flow (tests/runs/sweep), a shell.
_NOT_HERE = re.compile(
    r"pip install|--model (?!scripted/)|\bharness=|\blocal/|[<>|]|badge"
    r"|constraintrot (?:doctor|sweep)|scout scan|attack (search|transfer|report)"
    r"|\bpin (?:install|status|uninstall|export|trust)|\bmodels\b|\.\.\.|^(?!\$ (inspect|constraintrot) )",
    re.MULTILINE,
)
# Minutes of a script, which tests/runs/reproduce plays in small.
_MINUTES = re.compile(r"^. constraintrot reproduce --model scripted/", re.MULTILINE)
# They run as tests of their own: tests/test_your_policy.py and tests/test_tutorials.py.
_TUTORIALS = (
    "docs/your-policy.md",
    "docs/tutorials/measure-your-model.md",
    "docs/tutorials/from-a-finding-to-a-gate.md",
)
_PAGES = (
    "README.md",
    *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")),
)


def sequences(page: str) -> list[list[str]]:
    """The commands of a page that belong together, as lists; comments and output left out."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = [block for found in _BLOCK.finditer(text) for block in found[1].split("\n\n")]
    shown = [[line for line in block.splitlines() if line.startswith("$ ")] for block in blocks]
    return [[re.sub(r"\s#\s.*", "", line) for line in lines] for lines in shown if lines]


RUNNABLE = {
    f"{page}:{at}": lines
    for page in _PAGES
    if page not in _TUTORIALS
    for at, lines in enumerate(sequences(page))
    if any(re.search("constraintrot/|^. constraintrot ", line) for line in lines)
    and not _NOT_HERE.search("\n".join(lines))
}


def run(line: str) -> Result:
    """Run a command line in this process."""
    words = shlex.split(line.removeprefix("$ "))
    if words[:2] == ["inspect", "eval"]:
        return CliRunner().invoke(eval_command, [*words[2:], "--display", "none"])
    assert words[0] == "constraintrot", line
    return invoked(*words[1:])


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the evaluations of a sequence left behind, by the sequence: two pages show the same."""
    return tmp_path_factory.mktemp("played")


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(lines, id=name, marks=[pytest.mark.soak] * bool(_MINUTES.search(lines[0])))
        for name, lines in RUNNABLE.items()
    ],
)
def test_commands_run_as_they_are_written(
    lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluations = "\n".join(line for line in lines if line.startswith("$ inspect "))
    kept = played / hashlib.sha256(evaluations.encode()).hexdigest()
    if again := kept.is_dir():
        shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    for line in lines:
        if again and line.startswith("$ inspect "):
            continue
        result = run(line)
        assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"
        if line.startswith("$ inspect ") and evaluations.endswith(line):
            shutil.copytree(tmp_path, kept)
        if " compare " in line and "--plan" not in line:
            assert result.output.rstrip().splitlines()[-1].startswith("HOLDS: ")


def test_the_gates_of_the_readme_and_the_docs_are_among_them() -> None:
    shown = [line for lines in RUNNABLE.values() for line in lines if " compare " in line]
    assert any("--margin" in line for line in shown)
    assert any("--plan" in line for line in shown)
    pages = {name.partition(":")[0] for name in RUNNABLE}
    assert {"README.md", "docs/gate.md", "docs/attacks.md"} <= pages
