"""Without a network nothing is missing: no context window, no vocabulary."""

import asyncio
import hashlib
from pathlib import Path

import pytest
import tiktoken.registry
from inspect_ai.model import get_model

from constraintrot import _tiktoken, tokens
from constraintrot.tokens import exact
from tests.conftest import Run
from tests.small_install import ROOT, python

pytestmark = pytest.mark.early

COMMAND = "inspect eval constraintrot/suite --model scripted/obedient --log-dir logs/suite"
OFFLINE = """
import socket

def refuse(*_):
    raise AssertionError("reached for the network")

socket.socket.connect = socket.getaddrinfo = refuse
from inspect_ai._cli.main import main
main()
"""


@pytest.fixture
def vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tiktoken finds its table, and has none yet."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    _tiktoken.share_vocabulary.cache_clear()
    tokens._counted.cache_clear()
    return tmp_path / "tiktoken" / _tiktoken.NAME


def test_the_readmes_suite_runs_without_a_network_and_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"$ {COMMAND}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("INSPECT_LOG_LEVEL", "warning")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.chdir(tmp_path)
    # Two families, one variant, and shorter histories: the rest says the same.
    less = ["-T", "variants=1", "-T", "context_tokens=300", "-T", "families=soft_email,hard_pii"]
    arguments = [*COMMAND.split()[1:], *less, "--display", "plain"]
    done = python(OFFLINE, *arguments, modules=[])
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0, said
    assert "6/6 100%" in said
    for complaint in ("Unable to determine", "WARNING", "AssertionError", "network"):
        assert complaint not in said


def test_a_model_without_a_counter_is_compacted_without_a_network(
    run: Run, vocabulary: Path
) -> None:
    log = run("soft_email", model="mockllm/model", variants=1, compactor="head_tail")
    assert log.status == "success", log.error
    assert hashlib.sha256(vocabulary.read_bytes()).hexdigest() == _tiktoken.SHA256


def test_inspects_own_count_is_what_it_would_be_with_a_network(vocabulary: Path) -> None:
    text = "Send email only to addresses at example.org. " * 20
    sent = exact(text)
    assert [path.name for path in vocabulary.parent.iterdir()] == [_tiktoken.NAME]
    counted = asyncio.run(get_model("mockllm/model").count_tokens(text))
    # Inspect adds a tenth, since other vocabularies are smaller.
    assert counted == int(sent * 1.1)


def test_a_table_that_is_there_stays(vocabulary: Path) -> None:
    vocabulary.parent.mkdir()
    vocabulary.write_bytes(b"somebody's")
    exact("text")
    assert vocabulary.read_bytes() == b"somebody's"


def test_a_cache_that_is_switched_off_stays_off(
    vocabulary: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.chdir(tmp_path)
    exact("text")
    assert not list(tmp_path.rglob(_tiktoken.NAME))


def test_a_folder_that_cannot_be_written_is_left_alone(vocabulary: Path) -> None:
    vocabulary.parent.write_text("a file")
    assert exact("text") == 1
    assert vocabulary.parent.read_text() == "a file"
