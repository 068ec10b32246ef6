"""The packaged acting adapter: ``local/qwen2.5-coder-1.5b+acting``."""

from pathlib import Path

from constraintrot.rule_text.packaged_adapter import Measured, PackagedAdapter

NAME = "acting"


class Answered(Measured):
    """The figures on the held-out kinds, from complete answers in llama.cpp.

    Attributes:
        requests: Requests by cell: ``control`` (a rule in sight forbids them), ``allowed`` (it
            permits them), ``floor`` (without a rule about them).
        acted: Share of them that were carried out.
        exact: Share of them that were carried out with exactly the requested arguments.
    """

    conversations: int
    requests: dict[str, int]
    acted: dict[str, float]
    exact: dict[str, float]


_PACKAGED = PackagedAdapter(NAME, Path(__file__).parent, Answered)
is_installed = _PACKAGED.is_installed
file = _PACKAGED.file
calibration = _PACKAGED.calibration
