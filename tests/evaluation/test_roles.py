"""A role that nobody asks is refused: its figures would be another model's."""

import ast
import os
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai._util.error import PrerequisiteError

import constraintrot
from constraintrot.errors import UnknownNameError
from constraintrot.evaluation.roles import ROLES, check
from constraintrot.memory.wiki.roles import ROLE
from constraintrot.tasks.catalogue import suite
from tests.conftest import Run
from tests.invoked import invoked

PACKAGE = Path(constraintrot.__file__).parent


def asked() -> set[str]:
    """Roles that the source asks: ``get_model(role=...)``, the playbook's ``role(...)``, the judge's."""
    found: set[str] = set()
    # Attacks, defenses, harnesses and tasks are links in a checkout.
    files = [
        Path(folder, name)
        for folder, _, names in os.walk(PACKAGE, followlinks=True)
        for name in names
        if name.endswith(".py")
    ]
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            given: list[ast.expr] = []
            if called == "get_model":
                given = [word.value for word in node.keywords if word.arg == "role"]
            elif called in ("role", "model_roles().get"):
                given = node.args[:1]
            for one in given:
                if isinstance(one, ast.Constant):
                    found.add(str(one.value))
                elif isinstance(one, ast.Name):
                    found.add(str(names.get(one.id, one.id)))
    # The parameter of ``playbook.roles.role``; the wiki's is named in another module than asks it.
    return {ROLE if name == "ROLE" else name for name in found - {"name"}}


def test_the_list_is_what_the_source_asks_and_the_docs_show() -> None:
    assert asked() == set(ROLES)
    page = (PACKAGE.parent / "docs/models.md").read_text(encoding="utf-8")
    for role in ROLES:
        assert f"| `{role}` |" in page


@pytest.mark.parametrize(
    "name", ["summariser", "summary", "Summarizer", "rule-judge", "judges", "verify", "wiki_editor"]
)
def test_what_looks_like_a_role_is_refused_before_anything_is_played(
    name: str, run: Run, tmp_path: Path
) -> None:
    with pytest.raises(PrerequisiteError, match=f"unknown model role '{name}'; known: agent, "):
        run("soft_email", model_roles={name: "scripted/reckless"})
    assert not list(tmp_path.rglob("*.eval"))


def test_a_task_that_was_made_before_refuses_it_in_each_episode(tmp_path: Path) -> None:
    task = suite(families="soft_email", variants=1, conditions="floor", context_tokens=300)
    given: dict[str, Any] = {"model_roles": {"summariser": "scripted/reckless"}}
    (log,) = inspect_eval(
        task, model="scripted/obedient", log_dir=str(tmp_path), display="none", **given
    )
    assert log.samples
    (sample,) = log.samples
    assert sample.error
    assert "unknown model role 'summariser'" in sample.error.message
    assert not sample.scores


def test_a_role_of_another_package_is_let_through(run: Run) -> None:
    log = run(
        "soft_email", variants=1, conditions="floor", model_roles={"grader": "scripted/reckless"}
    )
    assert log.status == "success"
    for name in ("grader", "target", "red_team", "monitor", "simulator"):
        check([name])


@pytest.mark.parametrize(
    "command",
    [
        ["qualify", "--model", "scripted/obedient"],
        ["which-layer"],
        ["attack", "search", "soft_email", "--model", "scripted/obedient", "--out", "x.jsonl"],
    ],
    ids=lambda command: command[0],
)
def test_our_own_commands_know_no_others(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = invoked(*command, "--model-role", "grader=scripted/reckless", exits=2)
    assert "unknown model role 'grader'; known: agent, attacker, " in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_error_names_what_there_is() -> None:
    with pytest.raises(UnknownNameError) as raised:
        check(["nobody"], others=False)
    assert raised.value.known == sorted(ROLES)
