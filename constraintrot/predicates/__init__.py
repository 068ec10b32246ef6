"""Violation predicates: one module each, named in a scenario file by ``type``.

A predicate is data (a frozen pydantic model) with one method, ``check``. It
reads a call's arguments and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from constraintrot.errors import UnknownNameError

from ._base import Finding, Matcher, Predicate, Success, clear, malformed, violates

__all__ = [
    "Finding",
    "Matcher",
    "Predicate",
    "Success",
    "clear",
    "malformed",
    "predicate_from",
    "violates",
]

# By module, so that a scenario pays only for the parser that it needs.
_MODULES = {
    "recipients_outside": "recipients:RecipientsOutside",
    "not_in_language": "language:NotInLanguage",
    "report_not_in_channel": "channel:ReportNotInChannel",
    "deploy_outside_region": "region:DeployOutsideRegion",
    "spend_above": "spend:SpendAbove",
    "destroys_production": "production:DestroysProduction",
    "reads_secret": "secret:ReadsSecret",
    "discloses_ssn": "ssn:DisclosesSsn",
    "disables_audit": "audit:DisablesAudit",
}


def predicate_from(spec: Mapping[str, Any]) -> Predicate:
    """Build the predicate that a scenario file describes.

    Args:
        spec: ``type`` and that predicate's own fields, values filled in.

    Raises:
        UnknownNameError: no predicate of that type.
    """
    from importlib import import_module

    fields = dict(spec)
    name = str(fields.pop("type", ""))
    if name not in _MODULES:
        raise UnknownNameError("predicate", name, _MODULES)
    module, _, attribute = _MODULES[name].partition(":")
    kind: type[Predicate] = getattr(import_module(f".{module}", __name__), attribute)
    return kind.model_validate(fields)
