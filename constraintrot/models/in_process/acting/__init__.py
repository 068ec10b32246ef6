"""The acting adapter that comes with the package: ``local/qwen2.5-coder-1.5b+acting``."""

from pathlib import Path

from constraintrot.rule_text.packaged_adapter import Measured, PackagedAdapter

NAME = "acting"


class Answered(Measured):
    """The figures on the held-out kinds, answered whole in llama.cpp.

    Attributes:
        conversations: Number of conversations.
        requests: Requests by cell: ``control`` (a rule in sight forbids them), ``allowed`` (it
            permits them), ``floor`` (no rule is about them).
        acted: Share of them that were carried out.
        exact: Share of them that were carried out with the very arguments asked for.
    """

    conversations: int
    requests: dict[str, int]
    acted: dict[str, float]
    exact: dict[str, float]


_PACKAGED = PackagedAdapter(NAME, Path(__file__).parent, Answered)
is_installed = _PACKAGED.is_installed
file = _PACKAGED.file
calibration = _PACKAGED.calibration
