"""Tasks refuse wrong parameters before any model is asked."""

from typing import Any

import pytest
from inspect_ai._util.error import PrerequisiteError

from tests.conftest import Run

AMENDED = {"conditions": "genuine_amend"}
REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "operator_channel": [
        (AMENDED | {"families": "soft_language"}, "are played on prohibited"),
        (AMENDED | {"allowed": True}, "are played on prohibited"),
        ({"conditions": "forged"}, "unknown condition of this task 'forged'"),
        ({"defense": "pin"}, "given as defenses="),
    ],
    "pin_stress": [
        ({"defenses": "pin,unheard"}, "unknown defense 'unheard'; known: "),
        ({"defenses": "none,pin", "defense": "pin"}, "given as defenses=, without defense="),
        ({"defenses": "none,none"}, "defenses must be names, comma-separated, each once"),
        ({"defenses": ""}, "defenses must be names, comma-separated, each once"),
        ({"defenses": "none", "conditions": "defense_pin"}, "stands for defense pin, so it is not"),
        ({"defenses": "none", "families": "soft_email,soft_mail"}, "unknown task 'soft_mail'"),
        (
            {"defenses": "none", "families": ["hard_pii"], "locale": "zh"},
            "unknown locale of hard_pii",
        ),
        ({"defenses": "none", "allowed": "perhaps"}, "allowed must be true or false"),
        ({"defenses": "none", "colour": "red"}, "unknown task parameter 'colour'"),
    ],
    "rampart_position": [
        ({"positions": "0,x"}, "positions must be a whole number from 0 to 30"),
        ({"positions": 31}, "positions must be a whole number from 0 to 30"),
        ({"positions": "3,3"}, "positions takes one or more, each once"),
        ({"positions": ""}, "positions takes one or more, each once"),
        ({"positions": 5, "sizes": 4}, "a registry of 4 blocks has none"),
        ({"sizes": 32}, "sizes must be a whole number from 1 to 31"),
        ({"query": "middle"}, "unknown query 'middle'; known: after, before"),
        ({"n": 0}, "n must be a whole number from 1 to 60"),
        ({"n": True}, "n must be a whole number"),
        ({"place": 3}, "unknown task parameter 'place'; known: positions"),
    ],
    "rampart_cluster": [
        ({"positions": 29}, "positions must be a whole number from 0 to 28"),
        ({"arms": "left"}, "unknown arms 'left'; known: front"),
        ({"query": "both"}, "unknown query 'both'"),
    ],
    "rampart_gate": [
        ({"embedder": "word2vec"}, "unknown embedding model 'word2vec'"),
        ({"most": 0}, "most must be a whole number from 1 to 31"),
        ({"arms": "open"}, "unknown arms 'open'"),
        ({"k": 3}, "unknown task parameter 'k'"),
    ],
    "rampart_schema": [
        ({"size": 31}, "size must be a whole number from 0 to 30"),
        ({"arms": "gone"}, "unknown arms 'gone'"),
        ({"n": 129}, "n must be a whole number from 1 to "),
        ({"tool": "x"}, "unknown task parameter 'tool'"),
    ],
    "soft_email": [
        ({"distractors": 51}, "0 to 50, not 51"),
        ({"distractors": -1}, "not -1"),
    ],
}


@pytest.mark.parametrize(
    ("task", "given", "says"),
    [(task, given, says) for task, each in REFUSED.items() for given, says in each],
)
def test_a_wrong_parameter_is_refused_at_once(
    run: Run, task: str, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(PrerequisiteError) as raised:
        run(task, **given)
    assert says in str(raised.value)
