"""The modules that each extra installs, and the error for a missing extra.

``pip install constraintrot`` is small: the policy registry, the pins and the operator
channel. Code that needs more calls ``require`` first, so that the user reads an
install command instead of ``No module named``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec

from constraintrot.errors import MissingExtraError

# Import names of the modules without which an extra does not work. A test compares
# them with pyproject.toml.
MODULES: Mapping[str, tuple[str, ...]] = {
    "eval": (
        "inspect_ai",
        "openai",
        "lingua",
        "sqlglot",
        "text_to_num",
        "idna",
        "bpe_openai",
        "zstandard",
        "numpy",
        "pandas",
        "scipy",
    ),
    "report": ("matplotlib", "jinja2", "pyarrow"),
    "doctor": ("detect_secrets", "jinja2"),
    "local": ("xllamacpp",),
    "scale": ("ray", "inspect_flow", "fsspec", "uv"),
    "embed": ("fastembed", "numpy"),
    "litellm": ("litellm",),
    "pii": ("presidio_analyzer",),
}


@cache
def installed(module: str) -> bool:
    """Return whether a top-level module is installed; it is not imported."""
    return find_spec(module) is not None


def require(user: str, *extras: str) -> None:
    """Check that extras are installed.

    Args:
        user: the command or feature that needs them; it starts the error message:
            ``constraintrot show``.
        *extras: names in ``MODULES``.

    Raises:
        MissingExtraError: a module of these extras is missing. The message names the
            modules, and the command that installs them.
    """
    lacking = {
        extra: missing
        for extra in extras
        if (missing := [name for name in MODULES[extra] if not installed(name)])
    }
    if lacking:
        modules = ", ".join(name for missing in lacking.values() for name in missing)
        raise MissingExtraError(
            f"{user} needs {modules}: pip install 'constraintrot[{','.join(lacking)}]'"
        )


@contextmanager
def needing(user: str, extra: str) -> Iterator[None]:
    """Name the extra if a framework's module cannot be imported.

    The package index may have another package under a module's name, such as ``agents``.

    Raises:
        MissingExtraError: a module of another package is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "constraintrot").partition(".")[0] == "constraintrot":
            raise
        raise MissingExtraError(
            f"{user} needs {error.name}: pip install 'constraintrot[{extra}]'"
        ) from error
