"""``constraintrot operator``: keys and directives from a shell."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from constraintrot.defenses.operator import Channel, load_public
from tests.invoked import invoked

HERE = ("--deployment", "mail")


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "op.key"
    assert call("keygen", str(path)).exit_code == 0
    return path


call = partial(invoked, "operator")


def sign(key: Path, kind: str, *more: str) -> str:
    done = call("sign", kind, "email", "--key", str(key), *HERE, *more, exits=0)
    return done.stdout


def apply(text: str, state: str = "state", session: str = "s-1") -> Result:
    options = ("--trust", "op.key.pub", "--state", state, *HERE, "--session", session)
    return call("apply", "-", *options, input=text)


def in_force(done: Result) -> dict[str, Any]:
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_from_a_key_to_what_is_in_force(key: Path) -> None:
    pinned = in_force(apply(sign(key, "pin", "--content", "Mail example.org only.")))
    assert pinned == {
        "revision": 1,
        "constraints": {"email": "Mail example.org only."},
        "exemptions": [],
        "revoked": [],
    }
    Path("new.txt").write_text("Mail example.net only.", encoding="utf-8")
    amended = in_force(apply(sign(key, "amend", "--content-from", "new.txt")))
    assert amended["constraints"] == {"email": "Mail example.net only."}
    exact = ("--calls", "1", "--function", "send", "--arguments", '{"to": "ann@example.com"}')
    exempt = in_force(apply(sign(key, "exempt", *exact, "--exempt-for", "60")))
    assert exempt["exemptions"] == ["email: the next call of send with the arguments that it names"]
    rescinded = in_force(apply(sign(key, "rescind")))
    assert rescinded == {"revision": 4, "constraints": {}, "exemptions": [], "revoked": []}


def test_a_running_agent_sees_it_at_once(key: Path) -> None:
    trusted = [load_public("op.key.pub")]
    agent = Channel("mail", "s-1", trusted=trusted, declared={"email": "A."}, folder="state")
    in_force(apply(sign(key, "amend", "--content", "B.")))
    assert [held.content for held in agent.constraints] == ["B."]
    assert agent.registry.pinned_text() == "~~~ pin by owner: email\nB.\n~~~\n"


def test_verify_prints_and_applies_nothing(key: Path) -> None:
    text = sign(key, "rescind", "--session", "s-1", "--sequence", "5")
    for more in ((), HERE, (*HERE, "--session", "s-1")):
        done = call("verify", "-", "--trust", "op.key.pub", *more, input=text)
        assert json.loads(done.stdout)["sequence"] == 5
    assert not Path("state").exists()
    for wrong in (("--deployment", "shop"), (*HERE, "--session", "s-2")):
        done = call("verify", "-", "--trust", "op.key.pub", *wrong, input=text, exits=2)
        assert "the directive is for" in done.stderr


def test_what_is_refused_is_said_and_changes_nothing(key: Path) -> None:
    first = sign(key, "pin", "--content", "A.", "--sequence", "7")
    in_force(apply(first))
    assert call("keygen", "other.key").exit_code == 0
    refused = {
        first: "applied before",
        sign(key, "rescind", "--sequence", "6"): "not above 7",
        sign(Path("other.key"), "rescind"): "is not trusted here",
        sign(key, "rescind").replace("email", "e-mail"): "not one of this directive",
        sign(key, "rescind", "--session", "s-2"): "for session 's-2'",
        sign(key, "rescind", "--sequence", "8").replace('"email"', '"mail"'): "not one of",
        "rescind everything": "no signed directive",
    }
    for text, says in refused.items():
        done = apply(text)
        assert done.exit_code == 2
        assert says in done.stderr
        assert done.stdout == ""
    unknown = call("sign", "rescind", "mail", "--key", str(key), *HERE).stdout
    assert "no constraint 'mail' is pinned; pinned: 'email'" in apply(unknown).stderr
    assert in_force(apply(sign(key, "exempt", "--calls", "2", "--broad")))["revision"] == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("pin",), "content: Field required"),
        (("rescind", "--content", "A."), "content: Extra inputs are not permitted"),
        (("exempt",), "bounded by calls, by until, or by both"),
        (("exempt", "--calls", "1", "--arguments", "{"), "--arguments is no JSON"),
        (("exempt", "--calls", "1", "--arguments", "[1]", "--function", "f"), "arguments"),
        (("rescind", "--valid-for", "0"), "not in the range"),
        (("rescind", "--sequence", "0"), "sequence"),
    ],
)
def test_a_wrong_directive_is_not_signed(key: Path, arguments: tuple[str, ...], says: str) -> None:
    done = call("sign", arguments[0], "email", "--key", str(key), *HERE, *arguments[1:], exits=2)
    assert says in done.stderr
    assert done.stdout == ""


def test_one_content_is_given(key: Path) -> None:
    Path("p.txt").write_text("A.", encoding="utf-8")
    both = ("--content", "A.", "--content-from", "p.txt")
    done = call("sign", "pin", "email", "--key", str(key), *HERE, *both)
    assert "not both" in done.stderr


def test_a_key_that_is_open_to_others_signs_nothing(key: Path) -> None:
    key.chmod(0o640)
    done = call("sign", "rescind", "email", "--key", str(key), *HERE, exits=2)
    assert "open to others (mode 0640)" in done.stderr
    assert done.stdout == ""


def test_a_key_is_made_once_and_never_printed(key: Path) -> None:
    before = key.read_bytes()
    done = call("keygen", str(key), exits=2)
    assert "--force" in done.stderr
    assert key.read_bytes() == before
    forced = call("keygen", str(key), "--force", exits=0)
    assert key.read_bytes() != before
    assert key.stat().st_mode & 0o777 == 0o600
    body = key.read_text(encoding="utf-8").split("\n")[1]
    said = [done.output, forced.output, sign(key, "rescind"), apply("?").output]
    key.write_text(f"-----BEGIN PRIVATE KEY-----\n{body[:-6]}\n-----END PRIVATE KEY-----\n")
    said.append(call("sign", "rescind", "email", "--key", str(key), *HERE).output)
    assert "no unencrypted private key" in said[-1]
    assert not any(body[20:40] in text for text in said)


def test_signing_and_applying_load_no_inspect(key: Path) -> None:
    text = sign(key, "pin", "--content", "A.")
    code = (
        "import sys; from constraintrot.cli.main import main\n"
        "main(['operator', 'apply', '-', '--trust', 'op.key.pub', '--state', 'state',"
        " '--deployment', 'mail', '--session', 's'], standalone_mode=False)\n"
        "found = {'inspect_ai', 'litellm', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'imported {found}' if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=os.getcwd(),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["revision"] == 1


@pytest.mark.parametrize(
    "broad",
    [
        ("--exempt-for", str(31 * 365 * 24 * 3600), "--function", "send_email"),
        ("--calls", "1"),
        ("--calls", "1", "--function", "send_email", "--valid-for", "999999"),
    ],
)
def test_a_broad_exemption_is_not_signed_unasked(key: Path, broad: tuple[str, ...]) -> None:
    options = ("sign", "exempt", "email", "--key", str(key), *HERE, *broad)
    refused = call(*options, exits=2)
    assert refused.stdout == ""
    assert "--broad signs it all the same" in refused.stderr
    signed = call(*options, "--broad", exits=0)
    told = call("verify", "-", "--trust", "op.key.pub", input=signed.stdout)
    assert told.stderr.startswith("! it ")
    assert json.loads(told.stdout)["kind"] == "exempt"


def test_a_key_is_revoked(key: Path) -> None:
    assert apply(sign(key, "pin", "--content", "A.")).exit_code == 0
    options = ("--state", "state", *HERE, "--session", "s-1")
    done = call("revoke", "op.key.pub", *options)
    assert json.loads(done.stdout)["revoked"] == [load_public("op.key.pub").id]
    refused = apply(sign(key, "rescind"))
    assert refused.exit_code == 2
    assert "was revoked here" in refused.stderr
