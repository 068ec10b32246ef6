"""The parts that all commands share: errors without a traceback, missing extras, and options.

It is a layer below the packages that define commands.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar
from urllib.parse import urlsplit, urlunsplit

import click

from constraintrot import files
from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.extras import require
from constraintrot.report.untrusted import visible

if TYPE_CHECKING:
    from inspect_ai.model import Model

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def clear_errors() -> Generator[None]:
    """Print this package's errors, and the disk's, without a traceback; exit with status 2."""
    try:
        yield
    except BrokenPipeError:
        # The reader of the output has closed it; click handles that.
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        say(f"constraintrot: {where}{error.strerror or error}", err=True)
        sys.exit(2)
    except Exception as error:
        # Some are wrapped for Inspect's command line; the original is the cause.
        ours = error if isinstance(error, ConstraintRotError) else error.__cause__
        if not isinstance(ours, ConstraintRotError):
            raise
        say(f"constraintrot: {ours}", err=True)
        sys.exit(2)


def options(*given: Callable[[Any], Any]) -> Callable[[T], T]:
    """Return a decorator that adds options and arguments that several commands have."""

    def add(command: Any) -> Any:
        for option in reversed(given):
            command = option(command)
        return command

    return add


def at_terminal() -> bool:
    """Return whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def unasked(command: Callable[P, T]) -> Callable[P, T]:
    """Add the option that skips the question before a long run."""
    return click.option("--yes", is_flag=True, help="Ask nothing before a long run.")(command)


def write(option: str, path: Path, text: str) -> None:
    """Write the file that an option names, and make its folder.

    Raises:
        ConstraintRotError: the file cannot be written; the message names the option.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, text, ConstraintRotError)
    except (OSError, ConstraintRotError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        why = getattr(cause, "strerror", None) or error
        raise ConstraintRotError(f"{option} {path}: {why}; name another place") from error


def say(text: str, *, err: bool = False) -> None:
    """Print untrusted text (of a model, tool or log) without control characters."""
    click.echo(visible(text), err=err)


def name_unread(logs: Iterable[str | Path]) -> None:
    """Print a warning that names the logs in JSON, which are not read."""
    from constraintrot.report.frame import json_logs

    if found := json_logs(logs):
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        say(
            f"! not read, since it is in JSON: {', '.join(map(str, found[:3]))}{more}; write it"
            " anew with `inspect log convert --to eval`",
            err=True,
        )


class ClearGroup(click.Group):
    """A group whose commands all run within ``clear_errors``."""

    def invoke(self, ctx: click.Context) -> Any:
        with clear_errors():
            return super().invoke(ctx)


def needs(*extras: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorator: a command whose extras are missing prints how to install them, with status 2.

    Args:
        *extras: names in ``constraintrot.extras.MODULES``.
    """

    def wrap(command: Callable[P, T]) -> Callable[P, T]:
        @wraps(command)
        def checked(*args: P.args, **kwargs: P.kwargs) -> T:
            # Without the program's name, which depends on how it was started.
            path = click.get_current_context().command_path.partition(" ")[2]
            with clear_errors():
                require(f"constraintrot {path}", *extras)
            return command(*args, **kwargs)

        return checked

    return wrap


def named_model(option: str, name: str, *, memoize: bool = False, **model_args: Any) -> Model:
    """Return the model that an option names.

    Args:
        option: the option's name, for messages.
        name: the model, as Inspect names it.
        memoize: whether Inspect reuses this model for the same name and arguments, so that its
            weights are loaded once.
        **model_args: the model's arguments.

    Raises:
        ConstraintRotError: there is no such provider or model, it cannot be set up, or
            nothing listens at its address; the message says why.
    """
    from inspect_ai.model import get_model

    from constraintrot.models.config_errors import reason

    try:
        model = get_model(name, memoize=memoize, **model_args)
        # A provider may leave the address to its own client.
        client = getattr(model.api, "client", None)
        _check_listened_to(str(model.api.base_url or getattr(client, "base_url", "")))
    # A provider may raise whatever it likes: a missing package, key, file or argument.
    except Exception as error:
        raise ConstraintRotError(f"{option} {name}: {reason(error)}") from error
    return model


def _check_listened_to(address: str) -> None:
    """Refuse an address of this machine that nothing listens at: Inspect would retry forever.

    Other machines are not asked, because nothing is sent before the user agrees.

    Raises:
        ConstraintRotError: nothing listens there.
    """
    parts = urlsplit(address)
    if parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        return
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=5).close()
    except ConnectionRefusedError as error:
        # An address may hold a password.
        shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
        raise ConstraintRotError(
            f"nothing listens at {shown}; start the server there, or give another address"
        ) from error
    except OSError:
        # The server may still work; the first call tells.
        return


def model_in_role(role: str, name: str, *, memoize: bool, **model_args: Any) -> Model:
    """Return the model that ``--model-role`` gives to a role.

    Raises:
        UnknownNameError: there is no such role.
        ConstraintRotError: there is no such model.
    """
    from constraintrot.evaluation.roles import check

    check([role], others=False)
    return named_model(f"--model-role {role}", name, memoize=memoize, **model_args)


def named_roles(given: tuple[str, ...]) -> dict[str, str]:
    """Return model names by role, from ``--model-role ROLE=MODEL``; set up each model once.

    Raises:
        ParameterError: a text is of another form.
        UnknownNameError: there is no such role.
        ConstraintRotError: there is no such model.
    """
    pairs = [item.partition("=") for item in given]
    for role, equals, model in pairs:
        if not (role and equals and model):
            raise ParameterError(f"--model-role takes ROLE=MODEL, not {role + equals + model!r}")
        model_in_role(role, model, memoize=True)
    return {role: model for role, _, model in pairs}


def named_values(option: str, given: tuple[str, ...]) -> dict[str, Any]:
    """Return ``name=value`` texts as a dictionary, with values read as YAML, as Inspect does.

    Raises:
        ParameterError: a text is of another form.
    """
    import yaml

    found: dict[str, Any] = {}
    for item in given:
        name, equals, value = item.partition("=")
        if not (name.strip() and equals):
            raise ParameterError(f"{option} takes NAME=VALUE, not {item!r}")
        try:
            found[name.strip().replace("-", "_")] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ParameterError(
                f"{option} {name}: {value!r} is no value, being no YAML: {error}"
            ) from error
    return found
