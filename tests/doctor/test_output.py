"""The files and the screen; pins that the registry reads; secrets that are masked."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from constraintrot.coding_agents.pins.agents import AGENTS
from constraintrot.coding_agents.sessions.events import Call, Refused
from constraintrot.defenses.rampart.seeds import read as read_seeds
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.findings import Diagnosis
from constraintrot.doctor.output.data import data, html, junit
from constraintrot.doctor.output.pins import pins
from constraintrot.doctor.output.pins import write as write_pins
from constraintrot.doctor.output.terminal import summary
from constraintrot.doctor.states import conclude
from constraintrot.doctor.verdicts import observe
from constraintrot.doctor.wording import advice
from constraintrot.redaction import MASK, Masker, beginning
from constraintrot.rule_text.survival.states import SurvivalState
from tests.doctor import sessions as made

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
HANDBOOK = "Policy: email may only be sent to addresses at calder.test."


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[Diagnosis]:
    path = made.write(
        tmp_path_factory.mktemp("s") / "s.jsonl", made.user(1, made.FORCE_PUSH),
        *made.call(2, "mcp__office__handbook", {}, HANDBOOK),
        *made.compacted(3, f"{made.SUMMARY} The release branch was pushed."), made.reply(4, "ok"),
    )  # fmt: skip
    return [made.read(path, {"importer": ("lost", 0.04)})]


def test_summary_names_the_loss(found: list[Diagnosis]) -> None:
    lines = summary(found, [], str)
    assert (
        "2 of 2 rules did not survive the compaction of 14:03; 1 came by your turn, 1 came by MCP"
        in lines
    )
    assert any(made.FORCE_PUSH in line for line in lines)


def test_summary_of_many_sessions_fits_a_screen_and_counts_by_rule(found: list[Diagnosis]) -> None:
    lines = summary(
        found * 200, [Refused(Path(f"/tmp/{at}"), "it is empty") for at in range(9)], str
    )
    assert "400 losses at 200 of 200 compactions; they came 200 by your turn, 200 by MCP" in lines
    assert f'   200 of 200 "{made.FORCE_PUSH}"' in lines
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


def test_summary_counts_a_rule_where_it_was_said_and_not_before(tmp_path: Path) -> None:
    """Of the compactions before it was first said nothing is known of it."""
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH),
        *made.compacted(2, f"{made.SUMMARY} The release branch was pushed."), made.reply(3, "ok"),
        *made.call(4, "mcp__office__handbook", {}, HANDBOOK),
        *made.compacted(6, f"{made.SUMMARY} A mail is due."), made.reply(7, "ok"),
    )  # fmt: skip
    lines = summary([made.read(path, {"importer": ("lost", 0.04)})] * 2, [], str)
    assert "4 losses at 4 of 4 compactions; they came 2 by your turn, 2 by MCP" in lines
    assert f'     2 of 2 "{made.FORCE_PUSH}"' in lines
    assert any("2 of 2" in line and "calder.test" in line for line in lines)


def test_summary_without_losses_says_why() -> None:
    assert "no session was read" in "\n".join(summary([], [], str))


def test_first_line_names_the_reader_and_each_loss_has_an_advice(found: list[Diagnosis]) -> None:
    lines = summary(found, [], str, read_by="Read by scripted (as asked).", seeds="pins")
    assert lines[0] == "Read by scripted (as asked)."
    assert (
        sum(
            "-> put it into /srv/shop/CLAUDE.md, or constraintrot pin install claude --seeds pins"
            in line
            for line in lines
        )
        == 2
    )
    assert any(line.startswith("Not judged: ") and "2 of 2" in line for line in lines)
    assert not any("0 calls" in line for line in lines)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_a_loss_in_each_agent_that_can_be_pinned_names_the_pin(
    found: list[Diagnosis], agent: str
) -> None:
    diagnosis = replace(found[0], session=replace(found[0].session, format=agent))
    said = advice(diagnosis, diagnosis.histories[0], "pins")
    assert said.endswith(f"constraintrot pin install {agent} --seeds pins")
    other = replace(found[0], session=replace(found[0].session, format="langsmith"))
    assert "pin install" not in advice(other, other.histories[0], "pins")


def test_what_to_do_is_wrapped_and_never_cut(found: list[Diagnosis]) -> None:
    narrow = summary(found, [], str, seeds="a/folder/with/a/long/name/for/pins", width=60)
    assert max(map(len, narrow)) <= 60
    (at,) = [at for at, line in enumerate(narrow) if line.lstrip().startswith("->")][:1]
    told = " ".join(line.strip() for line in narrow[at : at + 4])
    assert advice(found[0], found[0].histories[0], "a/folder/with/a/long/name/for/pins") in told


def test_nothing_is_cut_in_a_pipe(found: list[Diagnosis]) -> None:
    wide = summary(found, [Refused(Path("/tmp/x"), "why " * 100)], str, width=None)
    assert not any("…" in line for line in wide)
    assert max(map(len, wide)) > 400


def test_what_was_confirmed_comes_first_then_what_was_lost(tmp_path: Path) -> None:
    push = {"command": "git push --force origin release"}
    path = made.lost_session(tmp_path / "s.jsonl", *made.call(6, "Bash", push, "ok"))
    found = made.read(path, {"importer": ("lost", 0.04)})
    assert not found.histories[0].judged
    assert "Not judged" in "\n".join(summary([found], [], str))
    found = observe(made.opened(path), None)
    assert [one.line for one in found.histories[0].drafted] == [7]
    found.histories[0].accept_draft()
    asyncio.run(conclude(found, made.Scripted({})))
    lines = summary([found], [], str)
    confirmed = lines.index("Confirmed: 1 call broke a rule that was lost before")
    assert "line 7: Bash: git push --force" in lines[confirmed + 1]
    assert lines[confirmed + 2].startswith("1 of 1 rules did not survive")
    assert not any(line.startswith("Not judged") for line in lines)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (("contradicted", 0.05), 'Revoked by you at line 3: "Never force-push'),
        (("cannot tell", 0.5), "Rules whose survival cannot be told: 1;"),
    ],
)
def test_revoked_and_untold_rules_are_told_apart(
    tmp_path: Path, answer: tuple[SurvivalState, float], says: str
) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), made.reply(2, "Yes."),
        made.user(3, "Force-push as you like."), *made.compacted(4, made.SUMMARY),
        made.reply(6, "ok"),
    )  # fmt: skip
    word = "as you like" if answer[0] == "contradicted" else "importer"
    found = [made.read(path, {word: answer})]
    assert says in "\n".join(summary(found, [], str, width=None))
    told = data(found, [], str)
    assert told["totals"]["lost"] == 0
    pytest.importorskip("jinja2")
    page = html(told)
    assert ("revoked by you at line 3" if word == "as you like" else "cannot be told") in page
    assert "to the end" not in page


def test_page_shows_before_and_after(found: list[Diagnosis]) -> None:
    pytest.importorskip("jinja2")
    page = html(data(found, [], str))
    assert "<del>" in page
    assert "<ins>" in page
    assert "the nearest that the new context says" in page
    assert "<h1>2 losses of rules at 1 compaction</h1>" in page


def test_junit_fails_for_each_loss(found: list[Diagnosis]) -> None:
    root = ElementTree.fromstring(junit(data(found, [], str)).encode())
    (suite,) = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "2", "2")
    assert {one.get("type") for one in suite.iter("failure")} == {"lost"}
    assert {one.get("message") for one in suite.iter("skipped")} == {
        "not judged: which call would break it is not known"
    }


def test_pins_read_as_seeds_and_leave_out_what_tools_brought(
    found: list[Diagnosis], tmp_path: Path
) -> None:
    nobody = pins(found, str)
    assert (nobody.rules, len(nobody.unconfirmed)) == ({}, 2)
    for one in found[0].histories:
        one.accepted = True
    chosen = pins(found, str)
    assert chosen.left_out == [HANDBOOK]
    path = write_pins(chosen, tmp_path / "pins")
    assert path is not None
    assert [(one.content, one.priority) for one in read_seeds(path)] == [(made.FORCE_PUSH, 80)]
    assert set(pins(found, str, from_tools=True).rules.values()) == {made.FORCE_PUSH, HANDBOOK}


def test_pins_of_any_id_read_back_and_show_no_secret(
    found: list[Diagnosis], tmp_path: Path
) -> None:
    history = found[0].histories[0]
    history.accepted = True
    for at, name in enumerate((f"a: {KEY}", "# x", "---")):
        named = replace(history, rule=replace(history.rule, name=name))
        one = [replace(found[0], histories=[named, found[0].histories[1]])]
        path = write_pins(pins(one, Masker()), tmp_path / str(at))
        assert path is not None
        assert KEY not in path.read_text()


@pytest.mark.parametrize("text", ["~~~ Never push to main", "<!-- Never push to main"])
def test_a_rule_that_would_hide_others_is_left_out(
    found: list[Diagnosis], tmp_path: Path, text: str
) -> None:
    first, second = found[0].histories[:2]
    first.accepted = second.accepted = True
    hostile = replace(first, rule=replace(first.rule, name="a", text=text))
    chosen = pins([replace(found[0], histories=[hostile, second])], str, from_tools=True)
    assert chosen.unreadable == [text]
    path = write_pins(chosen, tmp_path)
    assert path is not None
    assert [one.content for one in read_seeds(path)] == [second.rule.text]


def test_a_rule_that_is_lifted_twice_was_lifted_at_the_first_time(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), made.reply(2, "Yes."),
        made.user(3, "Force-push as you like."), *made.compacted(4, made.SUMMARY),
        made.reply(6, "ok"), made.user(7, "Force-push the release branch."), made.reply(8, "ok"),
    )  # fmt: skip
    lifts: tuple[SurvivalState, float] = ("contradicted", 0.04)
    found = made.read(path, {"as you like": lifts, "the release branch": lifts})
    history = found.histories[0]
    assert history.revoked is not None
    assert history.revoked.line == 3
    assert [one.changes[0].outcome for one in found.compactions] == ["revoked by you"]


@pytest.mark.parametrize("first", ["tool", "user"])
def test_a_tool_that_says_a_users_rule_takes_no_pin_away(tmp_path: Path, first: str) -> None:
    rest = (*made.compacted(3, made.SUMMARY), made.reply(4, "ok"))
    told = made.call(2, "mcp__office__handbook", {}, f"Policy: {made.FORCE_PUSH}")
    tool = made.write(tmp_path / "t.jsonl", made.user(1, "Look it up."), *told, *rest)
    user = made.write(tmp_path / "u.jsonl", made.user(1, made.FORCE_PUSH), *rest)
    both = [made.read(one, {"": ("lost", 0.04)}) for one in (tool, user)]
    for history in (history for one in both for history in one.histories):
        assert history.lost_at == 1
        history.accepted = True
    chosen = pins(both if first == "tool" else both[::-1], str)
    assert list(chosen.rules.values()) == [made.FORCE_PUSH]


def test_nothing_to_pin_writes_nothing(tmp_path: Path) -> None:
    assert write_pins(pins([], str), tmp_path / "pins") is None
    assert not (tmp_path / "pins").exists()


# Invented, one a kind; with what of each may not be left.
SECRETS = {
    "AWS key": ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
    "AWS secret": ("aws_secret_access_key = wJalrXUtnFEMIzK7MDENGxbPxRfiCY", "MDENG"),
    "GitHub": ("ghp_" + "a1B2c3D4e5" * 4, "a1B2c3"),
    "Slack": ("xoxb-123456789012-abcdefABCDEF", "abcdefABC"),
    "Stripe": ("sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39"),
    "model provider": ("sk-proj-Ab12Cd34Ef56Gh78Ij90", "Ab12Cd"),
    "Google": ("AIzaSyD4f5G6h7J8k9L0q1W2e3R4t5Y6u7I8o9P", "D4f5G6"),
    "JWT": ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl", "c2lnbm"),
    "URL": ("postgres://app:Tr0ub4dor3@db.test:5432/shop", "Tr0ub4dor3"),
    "private key": (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----",
        "b3BlbnNz",
    ),
    "bearer": ("Authorization: Bearer 9f8e7d6c5b4a39281706", "9f8e7d"),
    "basic": ("Authorization: Basic dXNlcjpodW50ZXIyaHVudGVy", "dXNlcj"),
    "environment": ("DB_PASSWORD=s3cr3t-Pa55", "s3cr3t"),
    "JSON": ('{"api_key": "q1w2e3r4t5y6u7i8o9p0"}', "q1w2e3"),
    "npm": ("npm_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF3gH6", "aB3dE6"),
    "PyPI": ("pypi-AgEIcHlwaS5vcmcCJDk0NzQ1ZjQ0CJDk0NzQ1ZjQ0CJDk0", "AgEIcH"),
    "GitLab": ("glpat-AbCdEf123456_7890xy", "AbCdEf"),
    "curl": ("curl -u admin:Sup3rS3cret! https://x.test", "Sup3rS3cret"),
    "Azure": ("AccountKey=Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zg==", "Zm9vYm"),
    "told": ("the password is Tr0ub4dor3xyz, as always", "Tr0ub4dor3"),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_secrets_are_masked_without_the_library_too(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, core = SECRETS[kind]
    mask = Masker()
    monkeypatch.setattr(mask, "library", False)
    told = mask(f"Please use {secret} here.")
    assert MASK in told
    assert core not in told
    assert told.startswith("Please use ")
    assert mask("The password is required, and a basic auth header is set.").count(MASK) == 0
    assert mask("Session tokens may never be written to logs.").startswith("Session tokens may")
    assert mask.masked == 1


def test_named_values_are_masked() -> None:
    assert Masker()('password: "hunter2hunter2"') == f'password: "{MASK}"'
    assert Masker()("https://sam:hunter22@git.example/x") == f"https://{MASK}@git.example/x"


def test_library_masks_what_has_no_known_form() -> None:
    pytest.importorskip("detect_secrets", reason="constraintrot[doctor] is not installed")
    mask = Masker()
    assert MASK in mask('"aGVsbG8gd29ybGQgdGhpcyBpcyBhIHNlY3JldA9x7"')
    assert mask(made.FORCE_PUSH) == made.FORCE_PUSH


@pytest.mark.parametrize("library", [True, False])
def test_a_secret_is_masked_before_it_is_compared_cut_or_named(
    library: bool, tmp_path: Path
) -> None:
    """The diff goes word by word, and a line is cut: a part of a secret looks like none."""
    rule = "Never deploy with the passphrase: correct-horse or token q1w2e3r4t5y6u7i8 to live."
    long = f"Never {'really ' * 11}share ghp_{'a1B2c3D4e5' * 4} with any other team at all."
    path = made.write(
        tmp_path / "s.jsonl",
        made.user(1, f"{rule}\n{long}"),
        *made.compacted(2, "Deploy with the passphrase: staple-battery and some token."),
    )
    found = [made.read(path, {"staple": ("lost", 0.04)})]
    mask = Masker(library=library)
    shown = json.dumps(data(found, [], mask)) + "\n".join(summary(found, [], mask))
    assert found[0].lost()
    for part in ("correct-horse", "correct horse", "staple-battery", "ghp_a1", "a1b2c3"):
        assert part not in shown
    assert '"diff"' in shown


def test_a_turn_and_a_call_are_cut_between_words(tmp_path: Path) -> None:
    lift = (
        f"You may force-push to the release branch. {'word ' * 400}"[:738]
        + f"{KEY} "
        + "word " * 200
    )
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), made.user(2, lift),
        *made.compacted(3, made.SUMMARY),
    )  # fmt: skip
    found = made.read(path, {"You may": ("contradicted", 0.05)})
    assert found.histories[0].revoked is not None
    breach = Breach.read({"matches": "git push.*"}, "here")
    why = breach.broken_by(Call("Bash", {"command": f"git push {'x' * 170} {KEY}{KEY}"}))
    assert KEY[:4] not in json.dumps(data([found], [], Masker())) + Masker()(why)
    assert beginning("\u4e0d" * 9, 5) == "\u4e0d" * 5
