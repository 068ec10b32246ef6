"""``constraintrot operator``: keys and signed directives (``constraintrot.defenses.operator``)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from constraintrot.command_line import options

if TYPE_CHECKING:
    from constraintrot.defenses.operator import Channel, Directive

_HOUR = 3600
_TRUST = click.option(
    "--trust",
    multiple=True,
    required=True,
    type=click.Path(path_type=Path),
    help="Public key whose directives count; may be given again.",
)
_CHANNEL = options(
    click.option(
        "--state", required=True, type=click.Path(path_type=Path), help="The channel's folder."
    ),
    click.option("--deployment", required=True, help="Label of the deployment."),
    click.option("--session", required=True, help="Id of the conversation."),
)


@click.group()
def operator() -> None:
    """Sign directives about standing policies, and apply them outside of the conversation."""


@operator.command()
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite an existing key.")
def keygen(path: Path, force: bool) -> None:
    """Make a key: the private one in PATH, mode 0600, the public one in PATH.pub."""
    from constraintrot.defenses.operator import SigningKey

    key = SigningKey.generate()
    key.save(path, force=force)
    click.echo(f"{key.id}  {path}.pub")


@operator.command()
@click.argument("kind", type=click.Choice(["pin", "amend", "rescind", "exempt"]))
@click.argument("constraint")
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The private key.")
@click.option("--deployment", required=True, help="Label of the deployment it is for.")
@click.option("--session", help="Id of the one conversation it is for; by default all.")
@click.option("--content", help="The policy, verbatim (pin, amend).")
@click.option("--content-from", type=click.File(encoding="utf-8"), help="The same, from a file.")
@click.option("--calls", type=click.IntRange(1, 10_000), help="How many calls are exempt.")
@click.option(
    "--exempt-for", type=click.IntRange(1), help="Seconds from now that an exemption lasts."
)
@click.option("--function", help="The tool that is exempt; by default any.")
@click.option("--arguments", help="JSON object: the exact arguments that are exempt.")
@click.option(
    "--sequence", type=int, help="Number above the key's last; by default the time in ms."
)
@click.option(
    "--valid-for",
    type=click.IntRange(1),
    default=_HOUR,
    show_default=True,
    help="Seconds in which it can be applied.",
)
@click.option("--broad", is_flag=True, help="Sign an exemption of every tool, or for days.")
def sign(kind: str, constraint: str, key: Path, broad: bool, **given: Any) -> None:
    """Print a signed directive of KIND about the policy named CONSTRAINT."""
    from constraintrot.defenses.operator import DirectiveError, SigningKey, draft
    from constraintrot.defenses.operator.directive import broad as broadness

    signer, now = SigningKey.load(key), time.time()
    fields: dict[str, Any] = {
        "kind": kind,
        "constraint": constraint,
        "key": signer.id,
        "sequence": int(now * 1000) if given["sequence"] is None else given["sequence"],
        "issued": int(now),
        "expires": int(now) + given["valid_for"],
        "scope": {"deployment": given["deployment"], "session": given["session"]},
    }
    directive = draft(fields | _further(given, int(now)))
    if (far := broadness(directive)) and not broad:
        raise DirectiveError(f"not signed: {', and '.join(far)}; --broad signs it all the same")
    click.echo(signer.sign(directive))


@operator.command()
@click.argument("source", type=click.File("rb"))
@_TRUST
@click.option("--deployment", help="Refuse a directive for another deployment.")
@click.option("--session", help="Refuse a directive for another conversation.")
def verify(
    source: IO[bytes], trust: tuple[Path, ...], deployment: str | None, session: str | None
) -> None:
    """Check the directive in SOURCE (- for standard input) and print it, without applying it."""
    from constraintrot.defenses.operator.keys import load_public, opened

    text = source.read()
    keys = [load_public(path) for path in trust]
    scope = opened(text, keys).scope
    channel = _channel(trust, deployment or scope.deployment, session or scope.session or "any")
    directive = channel.check(text)
    _warn(directive)
    _print(directive.model_dump(mode="json"))


@operator.command()
@click.argument("source", type=click.File("rb"))
@_TRUST
@_CHANNEL
def apply(
    source: IO[bytes], trust: tuple[Path, ...], state: Path, deployment: str, session: str
) -> None:
    """Apply the directive in SOURCE (- for standard input) and print the policies then in force."""
    channel = _channel(trust, deployment, session, state)
    _warn(channel.apply(source.read()))
    _print_state(channel)


@operator.command()
@click.argument("key")
@_CHANNEL
def revoke(key: str, state: Path, deployment: str, session: str) -> None:
    """End the trust in KEY (an id, or the file of a public key), and its exemptions."""
    from constraintrot.defenses.operator import load_public

    channel = _channel((), deployment, session, state)
    channel.revoke(load_public(key).id if Path(key).exists() else key)
    _print_state(channel)


def _print_state(channel: Channel) -> None:
    now = channel.state
    _print(
        {
            "revision": now.revision,
            "constraints": {constraint.name: constraint.content for constraint in now.constraints},
            "exemptions": [f"{one.constraint}: {one}" for one in channel.exemptions],
            "revoked": list(now.revoked),
        }
    )


def _warn(directive: Directive) -> None:
    from constraintrot.defenses.operator import broad

    for far in broad(directive):
        click.echo(f"! {far}", err=True)


def _channel(
    trust: tuple[Path, ...], deployment: str, session: str, folder: Path | None = None
) -> Channel:
    from constraintrot.defenses.operator import Channel, load_public

    keys = [load_public(path) for path in trust]
    return Channel(deployment, session, trusted=keys, folder=folder)


def _further(given: dict[str, Any], now: int) -> dict[str, Any]:
    """Return the fields that only some kinds have; ``draft`` checks them against the kind."""
    from constraintrot.defenses.operator import DirectiveError

    if given["content"] is not None and given["content_from"] is not None:
        raise DirectiveError("give --content or --content-from, not both")
    try:
        arguments = None if given["arguments"] is None else json.loads(given["arguments"])
        text = given["content_from"].read() if given["content_from"] else given["content"]
    except (ValueError, RecursionError) as error:
        raise DirectiveError(f"--arguments is no JSON, or the content no UTF-8: {error}") from None
    lasts = given["exempt_for"]
    fields = {
        "content": text,
        "calls": given["calls"],
        "until": None if lasts is None else now + lasts,
        "function": given["function"],
        "arguments": arguments,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _print(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
