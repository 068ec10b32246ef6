"""A server that was not started is a message. Inspect would wait for it with ever longer pauses."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path

import pytest

from constraintrot.command_line import named_model
from constraintrot.errors import ConstraintRotError
from tests.docs_code import DOCS
from tests.invoked import invoked
from tests.limit import limited

MODEL = "openai-api/llama/mine"
COMMANDS = {
    "demo": (),
    "qualify": ("--families", "soft_email", "--variants", "1"),
    "doctor": ("session.jsonl", "--yes"),
    "attack search": ("soft_email", "--out", "found.jsonl"),
    "scenario new": ("Never delete mail younger than 30 days.", "-o", "mine.yaml"),
}


@pytest.fixture(autouse=True)
def _unremembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspect_ai.model._model._models", {})


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> str:
    """An address that nothing listens at, and that the model's provider is told of."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    monkeypatch.setenv("LLAMA_BASE_URL", address)
    monkeypatch.setenv("LLAMA_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return address


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_that_nothing_listens(
    command: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(DOCS / "tutorials" / "session.jsonl", tmp_path)
    with limited(command, 60):
        done = invoked(*command.split(), *COMMANDS[command], "--model", MODEL, exits=2)
    assert f"--model {MODEL}: nothing listens at {address}; start the server there" in done.output


def test_a_client_of_the_providers_own_has_the_address(address: str) -> None:
    with pytest.raises(
        ConstraintRotError, match=f"--model openai/mine: nothing listens at {address}"
    ):
        named_model("--model", "openai/mine")


def test_the_message_hides_what_signs_in(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    signed = address.replace("://", "://me:s3cret-word@") + "?key=s3cret-word"
    monkeypatch.setenv("OPENAI_BASE_URL", signed)
    with pytest.raises(ConstraintRotError, match=f"nothing listens at {address}") as refused:
        named_model("--model", "openai/mine")
    assert "s3cret-word" not in str(refused.value)


def test_another_machine_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("it was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setenv("LLAMA_API_KEY", "none")
    monkeypatch.setenv("LLAMA_BASE_URL", "https://gpu.example.org/v1")
    assert named_model("--model", MODEL).api.base_url == "https://gpu.example.org/v1"
