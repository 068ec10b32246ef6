"""Rules files, what rules are told by, and what breaks them."""

from pathlib import Path

import pytest

from constraintrot.coding_agents.sessions.events import Call, Channel, Message
from constraintrot.doctor.breaches import Breach, draft
from constraintrot.doctor.documents import kind
from constraintrot.doctor.rules import passed_over, read
from constraintrot.errors import ConstraintRotError
from constraintrot.rule_text.said import said, stated
from tests.doctor import sessions as made


def test_items_of_a_markdown_file_are_rules(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(
        "# Project\nThe shop sells lamps.\n\n## Rules\n- Use pnpm, not npm.\n"
        "- **Never** commit `.env` files.\n- The office is in Lyon.\n\n"
        "```\n- never read this\n```\n\nFrom now on all SQL must be parameterised.\n",
        encoding="utf-8",
    )
    assert [one.text for one in read(path)] == [
        "Use pnpm, not npm.", "Never commit `.env` files.", "From now on all SQL must be parameterised.",
    ]  # fmt: skip


def test_yaml_rules_with_slots_and_a_breach(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "rules:\n  - Never force-push.\n  - {id: mail, text: Only mail us., slots: {domain: [us.test]},\n"
        "     breach: {tool: send.*, matches: '@', unless: us.test}}\n",
        encoding="utf-8",
    )
    first, second = read(path)
    assert (first.name, first.breach) == ("never-force-push", None)
    assert (second.name, second.slots) == ("mail", {"domain": ["us.test"]})
    assert second.breach is not None
    assert second.breach.broken_by(Call("send_email", {"to": "a@b.test"}))
    assert not second.breach.broken_by(Call("send_email", {"to": "a@us.test"}))
    assert not second.breach.broken_by(Call("resend_email", {"to": "a@b.test"}))


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("r.yaml", "rules: [{text: Never x y, breach: {matches: '('}}]", "breach.matches"),
        ("r.yaml", "rules: [{text: Never x y, breach: {}}]", "give tool, matches, or both"),
        ("r.yaml", "rules: [{text: Never x y, breach: {type: nosuch}}]", "nosuch"),
        ("r.yaml", "rules: [{txt: Never}]", "a rule is a text"),
        ("r.yaml", "rules: [", "not YAML"),
        (
            "r.yaml",
            "rules: [{text: a b c, id: x}, {text: d e f, id: x}]",
            "two rules have the id x",
        ),
        ("r.md", "# Nothing here\n", "no rule found"),
    ],
)
def test_wrong_rules_file_says_where(tmp_path: Path, name: str, text: str, wanted: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConstraintRotError, match=wanted) as raised:
        read(path)
    assert str(path) in str(raised.value)


def test_missing_rules_file(tmp_path: Path) -> None:
    with pytest.raises(ConstraintRotError, match="No such file"):
        read(tmp_path / "none.md")


def test_sentences_of_one_turn_are_rules_of_their_own() -> None:
    text = "Never force-push to main. Refunds above 200 euros always need Mara's approval. Can you look at it today?"
    assert list(said(text)) == [
        "Never force-push to main.",
        "Refunds above 200 euros always need Mara's approval.",
    ]


def test_registered_predicate_breaks_a_rule() -> None:
    breach = Breach.read({"type": "recipients_outside", "domain": "calder.test"}, "mail")
    assert breach.broken_by(Call("send_email", {"to": "a@other.test"}))
    assert not breach.broken_by(Call("send_email", {"to": "a@calder.test"}))


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Before I forget it: Never push to main.", ["Never push to main."]),
        ("1\tReminder: Log output must not contain tokens.\n2\tEdited in May.",
         ["Log output must not contain tokens."]),
        ("4: Customer replies must be written in German only.\n5: So it is.",
         ["Customer replies must be written in German only."]),
        ("At Brightwater email is an internal tool. Messages are never sent to another domain.",
         ["Messages are never sent to another domain."]),
        ("提醒：不要向媒体透露价格。", ["提醒：不要向媒体透露价格。"]),
        ("Wanda Pike cannot find them on the shelf by the door.", []),
        ("Never mind, I found the file myself.", []),
        ("Hay que sumar los tres meses y escribirlo en E2.", []),
        ("看看哪个月最多，不要太久。", []),
    ],
)  # fmt: skip
def test_only_the_rule_is_taken_of_what_is_said(text: str, rules: list[str]) -> None:
    assert list(said(text)) == rules


AGENTS = """# Rules
- No secrets in logs.
- Only Anna may approve a schema migration.
- Backend: FastAPI service
Customers must not be told about outages.

## Old rules (no longer in force)
- Never deploy on Fridays.

## Open questions
- Should we never deploy on Mondays?
"""


def test_a_rules_file_gives_what_is_in_force_and_counts_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(AGENTS, encoding="utf-8")
    found = read(path)
    assert [one.text for one in found] == [
        "No secrets in logs.",
        "Only Anna may approve a schema migration.",
        "Customers must not be told about outages.",
    ]
    assert len(passed_over(path, found)) == 3


# Drafts of what breaks a rule: the calls that they judge, and rules of no known form.


def shell(command: str) -> Call:
    return Call("Bash", {"command": command})


def write(path: str) -> Call:
    return Call("Edit", {"file_path": path, "new_string": "x"})


@pytest.mark.parametrize(
    ("rule", "breaks", "keeps"),
    [
        ("Never force-push to the release branch.", shell("git push -f origin release"),
         shell("git push origin release")),
        ("Use pnpm for everything, not npm or yarn.", shell("cd web && yarn add left-pad"),
         shell("pnpm add left-pad")),
        ("Bitte pnpm, nicht npm.", shell("npm install"), shell("pnpm install")),
        ("Don't push to main.", shell("git push origin HEAD:main"),
         shell("git push origin maintenance")),
        ("Never edit src/a.py.", write("src/a.py"), write("src/b.py")),
        ("Never run `terraform apply` yourself.", shell("terraform  apply -auto-approve"),
         shell("terraform plan")),
        ("packages/ledger stays untouched, whatever the reason.", write("packages/ledger/post.ts"),
         write("packages/ledger-ui/post.ts")),
        ("Hands off `.env`, do not edit config/prod.yaml.", write("/srv/config/prod.yaml"),
         write("/srv/config/dev.yaml")),
        ("Don't push to main.", Call("shell", {"command": ["bash", "-lc", "cd x\ngit push origin main"]}),
         shell('git commit -m "do not git push origin main again"')),
        ("Never run `rm -rf`.", Call("exec_command", {"cmd": "x=1 rm -rf y", "limit": 1}),
         shell("grep 'rm -rf' run.sh; echo rm -rf")),
        ("Never edit src/a.py.", Call("apply_patch", {"input": "*** Update File: src/a.py\n@@"}),
         Call("Edit", {"file_path": "README.md", "new_string": "see src/a.py for it"})),
        ("Email may only be sent to addresses at calder.test.",
         Call("send_email", {"to": "a@elsewhere.test"}), Call("send_email", {"to": "a@calder.test"})),
    ],
)  # fmt: skip
def test_draft_judges_calls(rule: str, breaks: Call, keeps: Call) -> None:
    told = draft(rule)
    assert told is not None
    breach = Breach.read(told, "here")
    assert breach.broken_by(breaks)
    assert not breach.broken_by(keeps)


@pytest.mark.parametrize(
    "rule",
    [
        "Please look at packages/ledger first.",
        "Keep answers short.",
        "No client names in file names, use the matter number.",
        "Run `make test`, not `pytest`.",
        "Push only after nine in the evening.",
        "The importer reads src/a.py.",
        "Never deploy without running `make test`.",
        "Always run `npm test`, no exceptions.",
        "Don't forget to run `make check`.",
        "Only use `git push` from CI.",
        "You may only edit files in src/app/.",
        "Do not edit anything outside src/app/.",
        "Never change files except docs/index.md.",
        "Don't hesitate to edit docs/faq.md.",
        "Only push to origin/dev.",
        "Do not force-push; use `git push --force-with-lease`.",
        "Don't push to main without asking.",
        "Never use pnpm instead of npm.",
        "Never skip `make test`.",
        "Run `make gen` instead of editing by hand.",
        "Email may go anywhere, not only to calder.test.",
        "Don't be afraid to force-push.",
        "Never leave src/ untouched.",
        "Never push to main except for hotfixes.",
        "Never force-push to main, except to your own feature branch.",
        "Force-push only to your own branch.",
        "Never force-push to shared branches.",
        "Send email only to dana@calder.test.",
        "Never edit CHANGELOG.md except to add entries.",
    ],
)
def test_rule_of_no_known_form_has_no_draft(rule: str) -> None:
    assert draft(rule) is None


@pytest.mark.parametrize(
    ("rule", "breaks", "keeps"),
    [
        ("Never force-push to main.",
         ["git push --force origin main", "git push origin main -f", "git push --force",
          "git push -uf origin main", "git push origin +main", "git push origin +HEAD:main",
          "git push origin +refs/heads/main", "git -C web push --force origin main",
          "git -c core.pager=cat --no-pager push -f"],
         ["git push --force origin mine", "git push origin +mine", "git push origin main",
          "git push origin main +mine", "git -C push log --force main"]),
        ("Never force-push.", ["git push origin +work", "git -C web push -f origin work"],
         ["git push origin work", "git push --follow-tags origin a+b"]),
        ("Don't push to main.",
         ["git -C web push origin main", "git push origin +main", "git push origin refs/heads/main",
          "git push origin work:refs/heads/main"],
         ["git push origin refs/tags/main", "git push origin work/main", "git -C push fetch main"]),
        ("Never run `rm -rf`.",
         ["rm -fr build", "rm -r -f build", "rm -Rf build", "rm -rfv build", "rm -f -r build"],
         ["rm -r build", "rm -f build", "rm -i -r rf"]),
        ("Never run `rm -rf /srv/data`.", ["rm -fr /srv/data"], ["rm -rf /srv/cache"]),
    ],
)  # fmt: skip
def test_a_draft_knows_other_spellings_of_its_command(
    rule: str, breaks: list[str], keeps: list[str]
) -> None:
    breach = Breach.read(draft(rule) or {}, "here")
    assert [one for one in breaks if not breach.broken_by(shell(one))] == []
    assert [one for one in keeps if breach.broken_by(shell(one))] == []


# Rules that stand in pages and tools' texts, and sentences there that are none.

CHANGELOG = """# Changelog

## 4.2.0
- Fixed the importer, which dropped its last row.
- Always release the lock, also after an error.
- From now on no table may be renamed without the approval of the data team.
"""


@pytest.mark.parametrize(
    ("channel", "origin", "wanted"),
    [
        ("user", "", "rules"), ("mcp", "mcp__a__b", "rules"), ("file", "docs/Handbook.md", "rules"),
        ("file", "docs/billing.md", "document"), ("file", "README", "document"),
        ("file", "CHANGELOG.md", "log"), ("file", "src/a.py", None), ("file", "LICENSE.md", None),
        ("file", "src/claude_hooks.go", None), ("file", ".cursor/style-rules.mdc", "rules"),
        ("file", "policy.yaml", "rules"), ("tool", "Bash", "tool"), ("system", "", None), ("summary", "", None),
    ],
)  # fmt: skip
def test_what_may_set_rules(channel: Channel, origin: str, wanted: str | None) -> None:
    assert kind(Message("user", "", channel, 1, origin=origin)) == wanted


def test_rule_in_a_file_that_was_read_is_taken(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, "Please look at the last release."),
        *made.call(2, "Read", {"file_path": "/srv/shop/CHANGELOG.md"}, CHANGELOG),
        *made.compacted(4, made.SUMMARY),
    )  # fmt: skip
    found = made.diagnosed(path)
    (history,) = found.histories
    assert "renamed without the approval" in history.rule.text
    assert (history.rule.channel, history.rule.origin) == ("file", "/srv/shop/CHANGELOG.md")
    assert found.compactions[0].changes[0].outcome == "lost"


@pytest.mark.parametrize(
    "text",
    [
        "Always release the lock, also after an error.",
        "The above copyright notice must be included in all copies.",
        "IN NO EVENT SHALL THE AUTHORS BE LIABLE.",
        "| `name` | must never be empty |",
    ],
)
def test_sentence_of_a_log_is_no_rule(text: str) -> None:
    assert list(stated(text, "log")) == []


def test_rule_of_a_page_and_of_a_tool() -> None:
    page = "The billing service sums rows.\n\nNever round an amount before the last step.\n"
    assert list(stated(page, "document")) == ["Never round an amount before the last step."]
    told = "Policy: exports of customer data may only go to the archive host, no exceptions."
    assert list(stated(told, "tool")) == [told]
    assert list(stated('raise E("policy: x must never be y"); f(a[0]); g({1: 2})', "tool")) == []
