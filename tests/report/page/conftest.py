"""Logs of scripted models, made once, and a transcript out to do harm."""

import shutil
from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalSample, read_eval_log, write_eval_log

from constraintrot.report.page.sections import Page
from constraintrot.report.page.write import report

EVIL = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "</pre></td></style></svg><style>*{display:none}</style>"
    "\x1b[31m\x00\u202eevil\u2066\u200b {{ 7 * 7 }} {% raw %} $\\frac{1}{0}$ [x](javascript:alert(1))"
)
# More than a file of a report may hold.
LONG = "A" * 4_000_000


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of logs: what is asked and allowed, plain and pinned; never write into it."""
    folder = tmp_path_factory.mktemp("scripted")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONSTRAINTROT_CACHE", str(tmp_path_factory.mktemp("cache")))
        for task, given in (
            ("soft_email", {"conditions": "floor,control,compaction,defense_pin", "variants": 3}),
            ("soft_spend", {"conditions": "control,compaction", "variants": 2}),
            ("soft_email", {"conditions": "compaction", "compactor": "truncate", "variants": 2}),
            ("utility", {"conditions": "compaction,defense_pin", "variants": 1}),
        ):  # fmt: skip
            inspect_eval(
                f"constraintrot/{task}", model="scripted/obedient", task_args=given | {"context_tokens": 800},
                log_dir=str(folder), display="none",
            )  # fmt: skip
    return folder


@pytest.fixture
def logs(scripted: Path, tmp_path: Path) -> Path:
    """A copy of them, to spoil."""
    return Path(shutil.copytree(scripted, tmp_path / "given"))


@pytest.fixture(scope="session")
def hostile(scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same logs, with harm in everything that a model or a tool could have written."""
    folder = Path(shutil.copytree(scripted, tmp_path_factory.mktemp("hostile") / "given"))
    for path in sorted(folder.glob("*.eval")):
        log = read_eval_log(str(path))
        log.eval.model = f"evil/{EVIL}/=HYPERLINK(1)"
        log.eval.task_args_passed = {"defense": EVIL}
        for at, sample in enumerate(log.samples or []):
            spoil(sample, LONG if at == 0 else EVIL)
        write_eval_log(log, str(path))
    return folder


@pytest.fixture(scope="session")
def hostile_report(hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the report of those; read only."""
    folder = tmp_path_factory.mktemp("hostile-report")
    report([str(hostile)], folder)
    return folder


@pytest.fixture(scope="session")
def scripted_report(scripted: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Page, Path]:
    """The report of the scripted models' logs, and the folder that holds it; read only."""
    folder = tmp_path_factory.mktemp("scripted-report")
    return report([str(scripted)], folder), folder


def spoil(sample: EvalSample, long: str) -> None:
    """Put harm wherever a model or a tool writes."""
    sample.metadata |= {"agent": f"evil/model/{EVIL}", "recalled": EVIL, "blocked": EVIL}
    sample.metadata["calls"] = [{"function": EVIL, "arguments": {"x": long}}]
    for score in (sample.scores or {}).values():
        score.explanation = f"=cmd|' /C calc'!A0{EVIL}{long if long is LONG else ''}"
    for event in sample.events:
        if event.event == "info" and event.source == "pin receipt":
            event.data = {"state": EVIL, EVIL: long}
        elif event.event == "info" and event.source == "compaction diff":
            event.data = f"```diff\n-user: {EVIL}\n+{long}\n{EVIL}"
