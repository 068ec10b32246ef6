"""The JSON schema that a call of the in-process provider is sampled under."""

from __future__ import annotations

import pytest
from inspect_ai.model import GenerateConfig, ResponseSchema
from inspect_ai.util import JSONSchema

from constraintrot.models.in_process.request import answer_schema


@pytest.mark.parametrize(("name", "most"), [("rules", None), ("at_most_4", 4)])
def test_a_schema_says_how_many_items_its_arrays_may_have(name: str, most: int | None) -> None:
    rules = JSONSchema(type="array", items=JSONSchema(type="string", minLength=16))
    wanted = JSONSchema(type="object", properties={"rules": rules, "id": JSONSchema(type="string")})
    config = GenerateConfig(response_schema=ResponseSchema(name=name, json_schema=wanted))
    schema = answer_schema([], "none", config)
    assert schema is not None
    properties = schema["properties"]
    assert properties["rules"].get("maxItems") == most
    assert properties["rules"]["items"]["minLength"] == 16
    assert properties["id"] == {"type": "string"}
