"""The standing constraints in a conversation's messages, and their places.

Two extractors of one shape, ``Extractor``: ``rules`` goes by words of force and
scope, ``by_model`` asks a model. Both give verbatim spans only, and both read
operator and user turns only, unless told otherwise. ``python -m
results.tools.extraction`` prints how well the rules do.
"""

from __future__ import annotations

from constraintrot.rule_text.extraction._types import TRUSTED, Extractor, Match, Role, Said
from constraintrot.rule_text.extraction.modelbased import by_model
from constraintrot.rule_text.extraction.rulebased import rules

__all__ = ["TRUSTED", "Extractor", "Match", "Role", "Said", "by_model", "rules"]
