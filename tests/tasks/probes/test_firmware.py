import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.defenses.rampart.framing import frames
from constraintrot.tasks.probes import firmware, schema
from constraintrot.tasks.probes.firmware import CALL, CRITICAL, FORMATS, SIZE
from constraintrot.tokens import count

NAME = CALL.removesuffix("()")


def test_the_library_is_short_and_whole() -> None:
    blocks = firmware.library().blocks()
    assert len(blocks) == SIZE == len(firmware.names())
    assert all(18 <= count(block.content) <= 45 for block in blocks)
    assert 1000 <= firmware.library().compile().tokens <= 1200


def test_only_the_critical_block_knows_the_call() -> None:
    texts = {block.name: block.content for block in firmware.library().blocks()}
    assert [name for name, text in texts.items() if NAME in text] == [CRITICAL]
    assert NAME not in firmware.FILLER.read_text(encoding="utf-8")
    assert not any(NAME in firmware.request(seed) for seed in range(firmware.REQUESTS))


def test_nothing_else_names_the_probed_tool() -> None:
    prompts = [block.content for block in firmware.library().blocks()]
    prompts += [schema.query(seed) for seed in range(schema.QUERIES)]
    assert not any(schema.mentions(prompt) for prompt in prompts)


def test_the_output_format_blocks_are_neighbours_as_in_the_paper() -> None:
    order = firmware.others()
    assert [order.index(name) for name in FORMATS] == [20, 21]


@pytest.mark.parametrize("path", [firmware.SEEDS, firmware.FILLER])
def test_canary(path: Path) -> None:
    head = path.read_text(encoding="utf-8").split("---")[1]
    assert re.search(r"^# constraintrot-canary-[0-9a-f-]{36}$", head, re.MULTILINE)


def test_twenty_requests_are_distinct_and_stable() -> None:
    asked = [firmware.request(seed) for seed in range(42, 62)]
    assert len(set(asked)) == 20
    assert {kind for kind in ("PWM", "USART", "push-pull") for one in asked if kind in one} == {
        "PWM", "USART", "push-pull",
    }  # fmt: skip
    assert len({firmware.request(seed) for seed in range(firmware.REQUESTS)}) == 60
    assert firmware.request(42) == firmware.request(42 + firmware.REQUESTS)


def test_requests_fit_the_pins_of_the_library() -> None:
    pins = firmware.library().named("timer-map").content
    for seed in range(firmware.REQUESTS):
        for pin, timer in re.findall(r"on (\w+) \((TIM\d channel \d)\)", firmware.request(seed)):
            assert f"{pin} is {timer}" in pins


def test_prompts_that_share_a_registry_share_their_beginning() -> None:
    compiled = firmware.library().compile().prompt
    one, other = (firmware.prompt(compiled, seed, "after") for seed in (42, 43))
    assert one.startswith(compiled)
    assert other.startswith(compiled)
    before = firmware.prompt(compiled, 42, "before")
    assert before.startswith(firmware.request(42))
    assert before.endswith(compiled)
    assert "notes" not in firmware.prompt("", 42, "after")


@given(size=st.integers(1, SIZE), data=st.data())
def test_a_block_goes_to_its_place_and_the_others_keep_their_order(
    size: int, data: st.DataObject
) -> None:
    position = data.draw(st.integers(0, size - 1))
    registry = firmware.library([CRITICAL, *firmware.others(size)])
    assert firmware.place(registry, [CRITICAL], position) == position
    names = [one.name for one in frames(registry.compile().prompt)]
    assert names[position] == CRITICAL
    assert [name for name in names if name != CRITICAL] == firmware.others(size)


@given(position=st.integers(0, SIZE - 3), at=st.integers(0, 2), control=st.booleans())
def test_a_group_goes_there_as_one(position: int, at: int, control: bool) -> None:
    registry = firmware.library()
    neighbours = firmware.swap_formats(registry) if control else FORMATS
    group = [*neighbours]
    group.insert(at, CRITICAL)
    assert firmware.place(registry, group, position) == position + at
    names = list(registry.compile().names)
    assert names[position : position + 3] == group
    rest = [name for name in firmware.others() if name not in FORMATS]
    assert [name for name in names if name not in group] == rest


def test_neutral_blocks_take_the_places_of_the_output_format_ones() -> None:
    registry = firmware.library()
    before = list(registry.compile().names)
    fillers = firmware.swap_formats(registry)
    after = list(registry.compile().names)
    assert len(after) == SIZE
    assert [after.index(name) for name in fillers] == [before.index(name) for name in FORMATS]
    assert not set(FORMATS) & set(after)
