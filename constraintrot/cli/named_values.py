"""Options that take ``NAME=VALUE``, as Inspect's -T and -M do."""

from __future__ import annotations

from typing import Any

from constraintrot.errors import ParameterError


def named_values(option: str, given: tuple[str, ...]) -> dict[str, Any]:
    """``name=value`` texts as a dictionary; a value is read as YAML, as Inspect reads it.

    Args:
        option: the option's name, for messages.
        given: the texts.

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
