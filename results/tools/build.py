"""Generate the files of a folder of results; write them, or compare them with the committed ones."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from pathlib import Path

from pydantic import TypeAdapter

from constraintrot.errors import ConstraintRotError
from constraintrot.extras import require
from constraintrot.report.claims import declared as claims
from constraintrot.report.claims import qualified, verdicts
from constraintrot.report.page import design, primary
from constraintrot.report.page.qualified import applied
from constraintrot.report.page.sections import page
from constraintrot.report.page.write import texts
from constraintrot.report.qualified import read_all
from constraintrot.report.yaml_file import load
from results.tools import committed, contributed, other_papers, pages
from results.tools.pipeline import claims as pipeline_claims
from results.tools.playbook import claims as playbook_claims
from results.tools.playbook import collapse_steps
from results.tools.wiki import claims as wiki_claims

README = "README.md"
REPORT = "report"
PAGE_OF_CLAIMS = "reproduction.md"
QUALIFICATION = "qualification"
BEGIN = "<!-- runs: made by `make report` from runs.yaml; change that instead -->"
END = "<!-- end of runs -->"
_SHOWN = 12
_WIDTH = 200


def made(folder: Path) -> dict[str, str]:
    """The content of every generated file of a folder, by path relative to it.

    The bytes are the same on every machine with the locked packages: they depend neither
    on the current date nor on absolute paths nor on the order of a directory listing.

    Raises:
        ConstraintRotError: runs.yaml, reproduction.yaml or primary.yaml is wrong or does not match the
            frames.
        MissingExtraError: the extra ``report`` is not installed.
    """
    require("the report of results/", "report")
    runs = committed.read(folder)
    generated = {README: _indexed(folder / README, pages.index(runs))}
    generated |= {f"{one.run.name}.md": pages.run_page(one) for one in runs}
    joined = committed.joined(folder, runs)
    source = applied(joined, _qualifications(folder), qualified.LEVEL)
    rows, once = sum(len(one.frame) for one in runs), len(joined.frame)
    counted = pages.Episodes(rows, once, len(source.frame))
    frame = design.prepared(source.planned)
    listed = load(folder / claims.REPRODUCTION, TypeAdapter(claims.Claims))
    declared = primary.read(folder / primary.DEFAULT)
    answered, family = verdicts.answer(listed, frame, declared)
    qualifications = read_all(_qualifications(folder))
    reader = committed.string_reader(folder)
    claimed = pages.reproduction(answered, frame, counted, family, qualifications, reader)
    others = other_papers.section(folder)
    generated[PAGE_OF_CLAIMS] = f"{claimed}\n{others}" if others else claimed
    steps = playbook_claims.steps(folder)
    if steps:
        generated[playbook_claims.PAGE] = playbook_claims.page(folder)
    if (folder / f"{wiki_claims.REACH}.csv").is_file():
        generated[wiki_claims.PAGE] = wiki_claims.page(folder)
    if pipeline_claims.there(folder):
        generated[pipeline_claims.PAGE] = pipeline_claims.page(folder)
    more = [collapse_steps.section(steps)] if steps else []
    handed_in = contributed.section(folder)
    more += [handed_in] if handed_in else []
    report = texts(page(source, declared, family.further, more))
    return generated | {f"{REPORT}/{name}": text for name, text in report.items()}


def _qualifications(folder: Path) -> list[Path]:
    """The qualifications of a folder of results, as ``constraintrot qualify`` writes them."""
    return sorted((folder / QUALIFICATION).glob("*.json"))


def write(folder: Path) -> list[str]:
    """Write the generated files; returns the paths of those that changed."""
    changed: list[str] = []
    for name, text in made(folder).items():
        path = folder / name
        if _text(path) != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            changed.append(str(path))
    return changed


def differences(folder: Path) -> list[str]:
    """The differences between committed and generated files, as lines of text."""
    changes: list[str] = []
    wanted = made(folder)
    for name, text in wanted.items():
        current = _text(folder / name)
        if current is None:
            changes.append(f"{folder / name} is not there; run `make report` and commit it")
        elif current != text:
            changes.append(f"{folder / name} is not what its sources make; run `make report`:")
            changes += _diff(current, text)
    left = {f"{REPORT}/{path.name}" for path in (folder / REPORT).glob("*")} - set(wanted)
    return changes + [f"{folder / name} has no source; delete it" for name in sorted(left)]


def _diff(current: str, made: str) -> list[str]:
    lines = unified_diff(
        current.splitlines(), made.splitlines(), "committed", "made", "", "", 0, ""
    )
    return [f"  {line[:_WIDTH]}" for line in islice(lines, _SHOWN)]


def _text(path: Path) -> str | None:
    return path.read_bytes().decode("utf-8") if path.is_file() else None


def _indexed(path: Path, index: str) -> str:
    """The page with a new index between its marker lines."""
    text = _text(path) or ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ConstraintRotError(f"{path} has to hold the lines {BEGIN} and {END}, in this order")
    return f"{before}{BEGIN}\n\n{index}\n{END}{after}"
