from hypothesis import given
from hypothesis import strategies as st

from constraintrot.models.in_process.prefix_cache import LEAST, SentPrompts, shared_prefix

HISTORY = list(range(100))


def sent(*prompts: list[int]) -> SentPrompts:
    log = SentPrompts()
    for prompt in prompts:
        log.add(prompt)
    return log


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_shared_prefix(first: list[int], second: list[int]) -> None:
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    assert shared_prefix(first, second) == count


def test_a_new_prompt_and_a_new_ending_need_no_cut() -> None:
    prompt = HISTORY + [500] * 20
    assert SentPrompts().rewind(prompt) is None
    assert sent(HISTORY + [600] * 20).rewind(prompt) is None


def test_the_same_prompt_again_keeps_all_but_the_least() -> None:
    assert sent(HISTORY).rewind(HISTORY) == len(HISTORY) - LEAST


def test_a_continued_prompt_keeps_nothing_that_was_generated() -> None:
    assert sent(HISTORY).rewind(HISTORY + [500] * 20) == len(HISTORY)


def test_the_cut_moves_before_a_prompt_that_ends_the_sharing_just_before_it() -> None:
    near = [*HISTORY[:90], 700]
    assert sent(HISTORY, near).rewind(HISTORY) == 90


def test_a_prompt_shorter_than_the_least_is_not_cached() -> None:
    assert sent([1, 2, 3]).rewind([1, 2, 3]) == 0


prompts = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=30), max_size=6)


@given(prompts, st.lists(st.integers(0, 1), min_size=1, max_size=30))
def test_whatever_is_cached_the_batches_are_large_enough(
    log: list[list[int]], prompt: list[int]
) -> None:
    cut = sent(*log).rewind(prompt)
    for old in log:
        shared = shared_prefix(old, prompt)
        if cut is None:
            # Without a cut the rest is large enough, or nothing was cached at all.
            assert len(prompt) - shared >= LEAST or not shared
            assert shared < len(old)
        elif cut:
            # The cut's own request ends with one token that is not of the prompt.
            assert shared >= cut or cut - shared + 1 >= LEAST
            assert len(prompt) - cut >= LEAST
