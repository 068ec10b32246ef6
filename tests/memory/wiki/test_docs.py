"""The page's commands and code run; its figures and the claims are what the tables make of them."""

import shlex
import shutil
from pathlib import Path

import pytest

from results.tools import their_claims
from results.tools.wiki import attacked, claims, reach, wording
from tests.attacks.cases import IN_WIKI
from tests.test_commands import run, sequences

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"


def test_the_commands_run_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = [lines for lines in sequences("docs/wiki.md") if lines[0].startswith("$ echo ")]
    assert len(mine) == 2
    for line in [line for lines in mine for line in lines]:
        if line.startswith("$ echo "):
            _, _, text, sign, file = shlex.split(line)
            assert sign == ">"
            Path(file).write_text(f"{text}\n", "utf-8")
            continue
        done = run(line)
        assert done.exit_code == 0, f"{line}\n{done.output}"
    assert "A supplier of badges" in Path("vault/entities/acme.md").read_text("utf-8")


def verdicts(folder: Path) -> list[str]:
    part = claims.page(folder).partition("## What a query")[0]
    rows = [line for line in part.splitlines() if line.startswith("| ")][2:]
    return [row.rsplit("|", 2)[1].strip() for row in rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (claims.WORDING, claims.REACH, claims.GROWTH):
        shutil.copy(RESULTS / f"{name}.csv", tmp_path)
    return tmp_path


def answered(folder: Path, script: str, name: str = "x") -> None:
    """Write a committed script's answers as if a model had given them."""
    rows = (RESULTS / f"{claims.WORDING}.csv").read_text("utf-8").splitlines()
    mine = [row.replace(f"scripted/maintainer-{script}", f"local/{name}") for row in rows[1:]]
    kept = [row for row in mine if row.startswith(f"local/{name},")]
    (folder / f"{claims.WORDING}-{name}.csv").write_text("\n".join([rows[0], *kept]) + "\n")


def test_scripts_get_no_verdict_and_models_do(folder: Path) -> None:
    before = verdicts(folder)
    assert before[0] == before[1] == "not measured"
    # A claim about reading alone, which the committed table answers.
    assert [at for at, said in enumerate(before) if said != "not measured"] == [2]
    answered(folder, "heeding")
    assert verdicts(folder)[0] == "same"
    answered(folder, "forgetful", "y")
    assert verdicts(folder)[0] == "cannot tell"
    (folder / f"{claims.WORDING}-y.csv").unlink()
    mine = folder / f"{claims.WORDING}-x.csv"
    text = mine.read_text("utf-8").replace(",reminder,", ",was,")
    text = text.replace(",consequence,", ",reminder,").replace(",was,", ",consequence,")
    mine.write_text(text, "utf-8")
    assert verdicts(folder)[0] == "opposite"


def test_a_gate_that_hides_nothing_is_told(folder: Path) -> None:
    path = folder / f"{claims.REACH}.csv"
    rows = path.read_text("utf-8").splitlines()
    swapped = [
        row.replace(",gate,", ",was,").replace(",guide,", ",gate,").replace(",was,", ",guide,")
        for row in rows
    ]
    path.write_text("\n".join(swapped) + "\n", "utf-8")
    assert verdicts(folder)[2] == "opposite"
    path.write_text("\n".join(row for row in rows if ",gate," not in row) + "\n", "utf-8")
    assert verdicts(folder)[2] == "not measured"


def test_episodes_under_attack_are_told_where_they_were_played(folder: Path) -> None:
    assert "## Episodes under attack" not in claims.page(folder)
    shutil.copy(RESULTS / f"{claims.ATTACKS}.csv", folder)
    assert "| a page | `wiki_index_drift` | 0 of 18 | 18 of 18 | 0 |" in claims.page(folder)
    known = their_claims.read(folder / f"{claims.ATTACKS}.csv")
    found = list(attacked.rows("scripted/obedient", 2, known))
    assert [{name: str(value) for name, value in vars(row).items()} for row in found] == known
    assert {row.attack for row in found} == {"none", *IN_WIKI}


def test_measurements_go_on_where_they_stopped() -> None:
    (known,) = reach.read(their_claims.read(RESULTS / f"{claims.REACH}.csv")[:1])
    found = reach.read([vars(known) | {"obeyed": ""}, {k: str(v) for k, v in vars(known).items()}])
    assert found == [known]
    assert next(reach.rows(1, found)) == known
    titles = [source.title for source in wording.sources(20)]
    assert len({*titles}) == 20
    unread = {"model": "m", "wording": "reminder", "source": "0", "left": "", "fault": "no writes"}
    assert next(wording.contrasts([unread, {**unread, "wording": "consequence"}])).n == 0
