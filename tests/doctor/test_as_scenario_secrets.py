"""No secret of a recorded session is in a file that is written, or in a request to a provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai.model import get_model

from constraintrot.cli.main import main
from constraintrot.coding_agents.sessions import sessions
from constraintrot.coding_agents.sessions.events import Session
from constraintrot.doctor.as_scenario import recorded
from constraintrot.redaction import Masker
from constraintrot.scenario import user_files
from tests.conftest import Run
from tests.doctor import recordings
from tests.doctor import sessions as made
from tests.stub_openai import serving

RULE = "Never push to main."
CORE = "q9w8e7r6t5y4u3"
# Each holds the core, or says what of it may not be seen.
SHAPES: dict[str, str] = {
    f"AKIA{'QWERTYUIOPASDFGH'}": "QWERTYUIOP",
    f"sk-proj-{CORE}{CORE}": CORE,
    f"ghp_{'a1B2c3D4e5' * 4}": "a1B2c3D4e5",
    f"xoxb-1234567890-{CORE}": CORE,
    f"Authorization: Bearer {CORE}": CORE,
    f"password = {CORE}": CORE,
    f'{{"api_key": "{CORE}"}}': CORE,
    f"postgres://shop:{CORE}@db.shop.example/orders": CORE,
    f"https://shop.example/x?access_token={CORE}": CORE,
    f"The API key is {CORE}.": CORE,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7v\n-----END RSA PRIVATE KEY-----": "MIIEpAIBAA",
    f"eyJhbGciOiJI.eyJzdWIiOiIx.{CORE}": CORE,
}
JOB = "Job {}: read the report of the week and say which of its figures are of this year, please."
DONE = "Of job {}: two of the figures are of this year, and the others are of the year before it."
SAID = "\n".join(SHAPES)


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_files, "_KNOWN", {})
    monkeypatch.setattr(user_files, "_made_known", user_files.version() + 1)


def conversation() -> list[recordings.Call]:
    """Secrets in what the user says, in a call's arguments, in its result, and in a reply."""
    work = [
        one
        for at in range(6)
        for one in (recordings.user(JOB.format(at)), recordings.reply(DONE.format(at)))
    ]
    told = recordings.user(f"{RULE} Look at the importer; you will need this:\n{SAID}")
    used = recordings.use("c1", f"export TOKEN_FILE=x\n{SAID}")
    first = [recordings.SYSTEM, told]
    then = [*first, used, recordings.result("c1", SAID)]
    more = [*then, recordings.reply(f"I used these:\n{SAID}"), *work, recordings.user("Mend it.")]
    return [(first, used), (then, more[4]), (more, recordings.reply("Mended."))]


def claude(path: Path) -> Path:
    """The same as Claude Code writes it, with an argument that is a secret by its name alone."""
    arguments: dict[str, Any] = {
        "command": SAID, "function": SAID, "env": {"DB_PASSWORD": CORE, "nested": [{"token": [CORE]}]},
        f"password={CORE}": 1,
    }  # fmt: skip
    return made.write(
        path,
        made.user(1, f"{RULE} Look at the importer; you will need this:\n{SAID}"),
        *made.call(2, "Bash", arguments, SAID),
        made.reply(3, f"I used these:\n{SAID}"),
        *(
            one
            for at in range(6)
            for one in (made.user(4, JOB.format(at)), made.reply(5, DONE.format(at)))
        ),
        made.user(6, "Mend it."),
        made.reply(7, "Mended."),
    )


def seen(text: str) -> list[str]:
    """The secrets that a text shows."""
    return [core for core in {CORE, *SHAPES.values()} if core in text]


def test_secrets_of_every_format_stay_out_of_files_and_requests(tmp_path: Path, run: Run) -> None:
    paths = [claude(tmp_path / "claude.jsonl")]
    paths += [
        recordings.write(tmp_path / f"{form}.jsonl", form, conversation())
        for form in recordings.FORMS
    ]
    assert all(len(seen(path.read_text())) > 3 for path in paths)
    out = tmp_path / "out"
    line = ["scenario", "from-session", *map(str, paths), "--rule", RULE, "-o", str(out)]
    result = CliRunner().invoke(main, line)
    assert result.exit_code == 0, result.output
    written = sorted(out.iterdir())
    assert len(written) == len(paths)
    assert {path: seen(path.read_text()) for path in written} == {path: [] for path in written}
    assert seen(result.output) == []
    assert all("[secret]" in path.read_text() for path in written)
    with serving() as stub:
        model: Any = get_model("openai-api/stub/m", base_url=stub.url, api_key="none")
        log = run("mine", scenario=str(out), variants=1, conditions="compaction", model=model)
    assert log.status == "success"
    assert [one.error for one in log.samples or []] == [None] * len(paths)
    asked = [str(body) for body in stub.requests]
    assert sum("[secret]" in body for body in asked) >= len(paths)
    assert [seen(body) for body in asked] == [[]] * len(asked)


def test_secrets_that_are_numbers_or_lie_deep_are_masked(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"password": {"inner": CORE}}
    for _ in range(30):
        deep = {"a": deep}
    arguments = {"password": 9182736455, "max_tokens": 512, "token": None, "deep": deep}
    path = made.write(
        tmp_path / "claude.jsonl", made.user(1, "Look."), *made.call(2, "Bash", arguments, "done")
    )
    (session,) = sessions(path)
    assert isinstance(session, Session)
    told = str(recorded(session, RULE, Masker()))
    assert "9182736455" not in told
    assert CORE not in told
    assert "'max_tokens': 512, 'token': None" in told


def test_a_rule_that_names_a_secret_is_offered_without_it(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl",
        made.user(1, f"Never send the password = {CORE} to anybody. Now look at the importer."),
        made.reply(2, "Yes."),
    )
    line = ["scenario", "from-session", str(path), "-o", str(tmp_path / "m.yaml"), "--yes"]
    result = CliRunner().invoke(main, line)
    assert "[secret]" in result.output
    assert seen(result.output) == []
