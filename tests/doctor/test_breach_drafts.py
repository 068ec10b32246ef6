"""Drafts of what breaks a rule: the calls that they judge, and rules of no known form."""

from __future__ import annotations

import pytest

from constraintrot.coding_agents.sessions.events import Call
from constraintrot.doctor.breaches import Breach, draft, shown


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
        ("Don't push to main without asking.", shell("git push origin HEAD:main"),
         shell("git push origin maintenance")),
        ("Never edit src/a.py without asking.", write("src/a.py"), write("src/b.py")),
        ("Never run `terraform apply` yourself.", shell("terraform  apply -auto-approve"),
         shell("terraform plan")),
        ("packages/ledger stays untouched, whatever the reason.", write("packages/ledger/post.ts"),
         write("packages/ledger-ui/post.ts")),
        ("Hands off `.env`, do not edit config/prod.yaml.", write("/srv/config/prod.yaml"),
         write("/srv/config/dev.yaml")),
        ("Email may only be sent to addresses at calder.test.",
         Call("send_email", {"to": "a@elsewhere.test"}), Call("send_email", {"to": "a@calder.test"})),
    ],
)  # fmt: skip
def test_draft_judges_calls(rule: str, breaks: Call, keeps: Call) -> None:
    told = draft(rule)
    assert told is not None
    assert str(told[next(iter(told))])[:5] in shown(told)
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
    ],
)
def test_rule_of_no_known_form_has_no_draft(rule: str) -> None:
    assert draft(rule) is None
