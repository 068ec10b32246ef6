"""Which extra of the distribution brings which module, and the one error for a missing extra.

``pip install constraintrot`` is small: the registry, the pins and the operator
channel. Whoever needs more asks here first, so that the answer is a command to
run instead of ``No module named``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec

from constraintrot.errors import MissingExtraError

# Import names of what nothing works without; a test holds them to pyproject.toml.
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
        "statsmodels",
    ),
    "report": ("matplotlib", "jinja2", "pyarrow"),
    "local": ("xllamacpp",),
    "litellm": ("litellm",),
}


@cache
def installed(module: str) -> bool:
    """Whether a top-level module can be found; it is not imported."""
    return find_spec(module) is not None


def require(user: str, *extras: str) -> None:
    """See that extras are installed.

    Args:
        user: what needs them, as the message's first words: ``constraintrot show``.
        *extras: names in ``MODULES``.

    Raises:
        MissingExtraError: a module of theirs is missing; the message names the
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
