"""No test of the doctor asks the local model that may be on this machine."""

import pytest


@pytest.fixture(autouse=True)
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("constraintrot.doctor.reading.lacking", lambda: "no weights here")
