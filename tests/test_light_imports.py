"""No part of the package loads a heavy library, or a room that it may not depend on."""

import subprocess
import sys

import pytest

HEAVY = "inspect_ai litellm pandas scipy xllamacpp torch"
FRAMEWORKS = (
    "agent_framework agents autogen_core deepagents langchain langchain_core langgraph langmem"
)
MAIN = "from constraintrot.cli.main import main; main({}, standalone_mode=False)"
REGISTRY = """
import constraintrot.defenses.rampart as rampart, constraintrot.models.embedding.embedder
owner = rampart.Principal('owner')
registry = rampart.Registry(owner)
registry.pin('Be kind.', by=owner)
assert registry.compile().prompt
"""
HELP = """
from click.testing import CliRunner
from constraintrot.cli.main import main
said = CliRunner().invoke(main, ['operator', '--help']).output
assert all(name in said for name in ('keygen', 'sign', 'verify', 'apply'))
"""
STAGING = """
import constraintrot
constraintrot.stage(constraintrot.load('soft_email', 'en').variant(0), policy=True)
"""
LANGUAGE = """
from constraintrot.grading.predicates.not_in_language import NotInLanguage
NotInLanguage().check('send_email', {'body': 'Please see the attached lease.'})
"""


@pytest.mark.parametrize(
    ("code", "without"),
    [
        ("import constraintrot.scenario.schema", HEAVY),
        ("import constraintrot.scenario.distractors", "inspect_ai"),
        ("import constraintrot.cli.main", "matplotlib jinja2 pandas inspect_ai"),
        (MAIN.format(["--help"]), HEAVY),
        (MAIN.format(["show", "soft_email", "--json"]), HEAVY),
        (MAIN.format(["grade", "soft_email", "--call", "-"]), HEAVY),
        (MAIN.format(["models", "list"]), HEAVY),
        (HELP, "cryptography inspect_ai"),
        (REGISTRY, "numpy fastembed onnxruntime inspect_ai"),
        (STAGING, "constraintrot.memory"),
        (LANGUAGE, "lingua"),
        ("import constraintrot.episode.scaffold.answer_format", "inspect_ai xllamacpp"),
        ("import constraintrot.models.in_process.weights", "inspect_ai xllamacpp huggingface_hub"),
        # Else a scripted survival would be true by construction.
        ("import constraintrot.models.scripted.request_parser", "constraintrot.rule_text.survival"),
        ("from constraintrot.harnesses import HARNESSES; HARNESSES.names()", FRAMEWORKS),
        (
            "import constraintrot.report.page.write",
            "inspect_ai scipy.stats statsmodels matplotlib",
        ),
    ],
)
def test_a_part_loads_no_more_than_it_needs(code: str, without: str) -> None:
    code += (
        f"\nimport sys; found = set({without.split()}) & set(sys.modules)\nassert not found, found"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="[]", capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
