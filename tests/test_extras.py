"""A small install does what it promises, and says what a larger one would do."""

import json
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from constraintrot import extras
from constraintrot.cli.main import main
from constraintrot.defenses.rampart import frame
from constraintrot.errors import MissingExtraError
from constraintrot.scenario.files import every
from constraintrot.scenario.schema import WORDINGS
from constraintrot.tokens import estimate, exact
from tests.small_install import ROOT, blocked, command, distributions, project, python

(_HARNESSES,) = project()["optional-dependencies"]["harnesses"]
FRAMEWORKS = sorted(Requirement(_HARNESSES).extras)
MODEL = ("--model", "scripted/obedient")
SEARCH = ("attack", "search", "soft_email", *MODEL, "--out", "found.jsonl")
TRANSFER = ("attack", "transfer", "found.jsonl", "--models", "scripted/obedient", "--out", "t")
# Every command that a small install refuses, and what it asks for.
REFUSED = {
    "show": (("show", "soft_email"), "eval"),
    "grade": (("grade", "soft_email", "--call", "-"), "eval"),
    "table": (("table", "logs"), "eval"),
    "compare": (("compare", "logs", "--a", "defense=none", "--b", "defense=pin"), "eval"),
    "qualify": (("qualify", *MODEL), "eval"),
    "report": (("report", "logs", "-o", "out"), "eval,report"),
    "demo": (("demo", *MODEL), "eval"),
    "harnesses": (("harnesses",), "eval"),
    "which-layer": (("which-layer",), "eval"),
    "scenario new": (("scenario", "new", "Never lie."), "eval"),
    "scenario check": (("scenario", "check", "mine.yaml"), "eval"),
    "scenario from-session": (
        ("scenario", "from-session", "session.jsonl", "-o", "mine.yaml"),
        "eval",
    ),
    "reproduce plan": (("reproduce", "plan", *MODEL), "eval,report"),
    "reproduce qualify": (("reproduce", "qualify", "."), "eval,report"),
    "reproduce play": (("reproduce", "play", "."), "eval,report"),
    "reproduce page": (("reproduce", "page", "."), "eval,report"),
    "agents list": (("agents", "list"), "eval"),
    "agents install": (("agents", "install", "codex"), "eval"),
    "agents check": (("agents", "check"), "eval"),
    "agents survey": (("agents", "survey"), "eval"),
    "sweep list": (("sweep", "list"), "eval,scale"),
    "sweep plan": (("sweep", "plan", "quick"), "eval,scale"),
    "sweep run": (("sweep", "run", "quick"), "eval,scale"),
    "sweep hawk": (("sweep", "hawk", "quick", "--out", "out"), "eval,scale"),
    "results export": (("results", "export", "logs", "-o", "out"), "eval"),
    "results check": (("results", "check", "out"), "eval"),
    "store add": (("store", "add", "store", "logs"), "eval,report"),
    "store list": (("store", "list", "store"), "eval,report"),
    "attack search": (SEARCH, "eval"),
    "attack report": (("attack", "report", "found.jsonl"), "eval"),
    "attack transfer": (TRANSFER, "eval"),
}
KEPT = {
    "doctor",
    "models list", "models path", "models pull",
    "operator keygen", "operator sign", "operator verify", "operator apply",
    "operator revoke", "pin export", "pin install", "pin status", "pin trust", "pin uninstall",
    "wiki init", "wiki ingest", "wiki query", "wiki lint", "wiki graph",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)


def leaves(group: click.Group, path: str = "") -> set[str]:
    found: set[str] = set()
    context = click.Context(group)
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        assert one is not None, name
        here = f"{path} {name}".strip()
        found |= leaves(one, here) if isinstance(one, click.Group) else {here}
    return found


def test_every_command_is_tried_below() -> None:
    assert leaves(main) == {*REFUSED, *KEPT}


def test_a_command_without_its_extra_says_which() -> None:
    # One interpreter for all: they differ in what they ask for, not in what is there.
    code = """
import contextlib, io, json, sys
from constraintrot.cli.main import main

for arguments in json.loads(sys.stdin.read()):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(arguments, prog_name="constraintrot")
        except SystemExit as ended:
            status = ended.code
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""
    asked = json.dumps([arguments for arguments, _ in REFUSED.values()])
    done = python(code, modules=blocked(), stdin=asked)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for (name, (_, extra)), (status, out, err) in zip(REFUSED.items(), answers, strict=True):
        assert (status, out) == (2, ""), err
        assert err.startswith(f"constraintrot: constraintrot {name} needs inspect_ai, openai,")
        assert err.endswith(f": pip install 'constraintrot[{extra}]'\n")
        assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("modules", "arguments", "said"),
    [
        (["sqlglot"], REFUSED["show"][0], "show needs sqlglot: pip install 'constraintrot[eval]'"),
        (
            ["matplotlib"],
            REFUSED["report"][0],
            "report needs matplotlib: pip install 'constraintrot[report]'",
        ),
        (
            ["xllamacpp"],
            ("demo",),
            "the model local/qwen2.5-coder-1.5b needs xllamacpp:"
            " pip install 'constraintrot[local]'",
        ),
    ],
)
def test_what_is_there_is_not_asked_for(
    modules: list[str], arguments: tuple[str, ...], said: str
) -> None:
    done = command(*arguments, modules=modules)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].endswith(said)
    assert "Traceback" not in done.stderr


def test_weights_without_a_way_to_fetch_them_name_the_extra() -> None:
    done = command("models", "pull", "smollm2-135m", modules=["huggingface_hub", "pip"])
    assert done.returncode == 2
    assert "pip install 'constraintrot[local]'" in done.stderr


def test_a_small_install_keeps_keys_and_applies_directives(tmp_path: Path) -> None:
    modules = blocked()
    assert command("operator", "keygen", "key", modules=modules).returncode == 0
    signed = command(
        "operator", "sign", "pin", "email", "--key", "key", "--deployment", "mail",
        "--content", "Send email to example.org only.", modules=modules,
    )  # fmt: skip
    where = ("--trust", "key.pub", "--deployment", "mail")
    for more in (("verify", "-", *where), ("apply", "-", *where, "--session", "1", "--state", "s")):
        done = command("operator", *more, modules=modules, stdin=signed.stdout)
        assert done.returncode == 0, done.stderr
        assert "Send email to example.org only." in done.stdout
    listed = command("models", "list", modules=modules)
    assert "constraintrot models pull" in listed.stdout
    assert command("models", "path", "smollm2-135m", modules=modules).returncode == 1


def test_a_small_install_has_the_wiki(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Stock\n\nThe count is on Wednesday at two.\n")
    for more in (("init", "vault"), ("lint", "vault"), ("query", "vault", "stock count")):
        done = command("wiki", *more, modules=blocked())
        assert done.returncode == 0, done.stderr


def test_a_small_install_pins_rules_in_a_coding_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "rules.txt").write_text("Mail nobody.\n")
    for more in (("install", "claude", "--rules", "rules.txt"), ("status", "--no-play")):
        done = command("pin", *more, modules=blocked())
        assert done.returncode == 0, done.stderr
    assert "the hook answers in" in done.stdout


def test_a_small_install_pins_within_a_budget() -> None:
    code = """
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.defenses.rampart import PinOverflowError, Principal, Registry

operator = Principal("operator")
rules = Registry(operator)
rules.pin("Send email only to addresses at example.org.", by=operator)
assert 15 < rules.compile(budget=60).tokens < 60
try:
    rules.compile(budget=10)
except PinOverflowError as error:
    print(error)
"""
    done = python(code, modules=blocked())
    assert done.returncode == 0, done.stderr
    assert "10" in done.stdout


def test_a_small_install_says_what_embeddings_need() -> None:
    code = """
from constraintrot.defenses.rampart import EmbeddingError, Principal, Registry, embedder

owner = Principal("owner")
for made in (
    embedder,
    lambda: embedder("text-embedding-3-small"),
    lambda: Registry(owner, embedder=lambda texts: [[1.0]] * len(texts)),
):
    try:
        made()
    except EmbeddingError as error:
        print(error)
"""
    done = python(code, modules=["fastembed", "numpy"])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("the default embedder needs fastembed, numpy: pip install")
    assert lines[1:] == ["embeddings need numpy: pip install 'constraintrot[embed]'"] * 2


def test_a_history_is_never_measured_by_an_estimate() -> None:
    code = """
from constraintrot.errors import MissingExtraError
from constraintrot.tokens import count, exact

assert count("one two three") == 3
try:
    exact("one two three")
except MissingExtraError as error:
    print(error)
"""
    done = python(code, modules=["bpe_openai"])
    assert done.stdout == "counting tokens needs bpe_openai: pip install 'constraintrot[eval]'\n"


def test_inspect_alone_loads_the_plugin_and_a_task_names_the_extra() -> None:
    code = """
from constraintrot._registry import soft_email

try:
    soft_email()
except Exception as error:
    print(type(error).__name__, error)
"""
    done = python(code, modules=blocked("inspect"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PrerequisiteError the task soft_email needs openai, lingua,")
    assert done.stdout.endswith(": pip install 'constraintrot[eval]'\n")


def test_the_extras_modules_are_what_the_extras_install() -> None:
    by_module = packages_distributions()
    for extra, modules in extras.MODULES.items():
        declared = {
            canonicalize_name(Requirement(text).name)
            for name in ("inspect", extra)
            for text in project()["optional-dependencies"][name]
        }
        for module in modules:
            # Of a module that is not installed here, the distribution has its name.
            names = by_module.get(module, [module])
            assert declared & {canonicalize_name(name) for name in names}, module
        assert len(set(modules)) == len(modules)


@pytest.mark.parametrize("extra", FRAMEWORKS)
def test_a_frameworks_extra_does_not_bring_the_benchmark(extra: str) -> None:
    brought = distributions(extra)
    assert Requirement(project()["optional-dependencies"][extra][0]).name in brought
    assert not brought & {"inspect-ai", "lingua-language-detector", "statsmodels", "bpe-openai"}
    if extra == "langgraph":
        assert not brought & {"pandas", "scipy", "numpy"}


@pytest.mark.parametrize(
    "extra",
    [
        "inspect",
        "langgraph",
        *(pytest.param(name, marks=pytest.mark.soak) for name in FRAMEWORKS[1:]),
    ],
)
def test_a_frameworks_pins_need_its_extra_alone(extra: str) -> None:
    module = "defenses.pinning.compaction" if extra == "inspect" else extra.replace("-", "_")
    done = python(f"import constraintrot.{module}", modules=blocked(extra))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("name", "missing"), [
    ("openai-agents", "agents"), ("langchain", "langchain"), ("google-adk", "google"),
])  # fmt: skip
def test_a_frameworks_module_without_it_names_the_extra(name: str, missing: str) -> None:
    module = f"constraintrot.{name.replace('-', '_')}"
    done = python(f"import {module}", modules=[missing])
    assert f"MissingExtraError: {module} needs {missing}" in done.stderr
    assert done.stderr.endswith(f": pip install 'constraintrot[{name}]'\n")


def test_a_missing_module_of_this_package_is_no_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), extras.needing("it", "litellm"):
        import_module("constraintrot.no_such_module")


def test_an_install_without_extras_needs_nothing_heavy() -> None:
    assert distributions() <= {
        "annotated-types", "cffi", "click", "cryptography", "filelock", "packaging",
        "platformdirs", "pycparser", "pydantic", "pydantic-core", "pyyaml", "typing-extensions",
        "typing-inspection",
    }  # fmt: skip


def test_the_module_runs_as_a_command() -> None:
    code = "import runpy, sys; sys.argv[0] = 'x'; runpy.run_module('constraintrot', alter_sys=True)"
    done = python(code, "operator", "--help", modules=blocked())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Usage: constraintrot operator [OPTIONS]")


def test_an_unknown_module_is_not_installed() -> None:
    assert not extras.installed("no_such_module")
    assert extras.installed("constraintrot")
    with pytest.raises(KeyError):
        extras.require("somebody", "no-such-extra")
    extras.require("somebody", "eval", "report")


def test_the_message_names_only_the_extras_that_lack_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extras, "installed", lambda name: name not in ("pandas", "jinja2"))
    with pytest.raises(MissingExtraError) as raised:
        extras.require("it", "eval", "local", "report")
    assert str(raised.value) == "it needs pandas, jinja2: pip install 'constraintrot[eval,report]'"
    with pytest.raises(ImportError):
        extras.require("it", "report")


def test_an_estimate_is_rather_too_high() -> None:
    texts = [
        *((scenario.locale, scenario.variant(0).policy(wording))
          for scenario in every() for wording in WORDINGS),
        *(("docs", path.read_text(encoding="utf-8")) for path in (ROOT / "docs").glob("*.md")),
        *(("code", path.read_text(encoding="utf-8")) for path in (ROOT / "defenses").glob("*.py")),
    ]  # fmt: skip
    for kind in ("en", "es", "zh", "docs", "code"):
        whole = [text for one, text in texts if one == kind]
        assert whole
        assert 1 <= sum(map(estimate, whole)) / sum(map(exact, whole)) < 1.4, kind


def test_the_estimates_of_frames_add_up() -> None:
    frames = [frame("one", "\n\nNever.\n\n"), frame("two", "  x\n "), frame("three", "")]
    assert estimate("".join(frames)) == sum(map(estimate, frames))
