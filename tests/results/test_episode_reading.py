"""The episodes that are printed to be read: all there is comes up, and what came before is left out."""

from click.testing import CliRunner

from constraintrot.scenario.files import load
from constraintrot.scenario.schema import MESSAGE_CHANNELS, WORDINGS
from constraintrot.scenario.splits import SPLITS
from results.tools import episode_reading


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(episode_reading.main, [*arguments, "--benign", "0"])
    assert result.exception is None, result.output
    return result.output


def test_sixteen_seeds_show_all_phrasings_channels_and_wordings_of_both_splits() -> None:
    chosen = [episode_reading.settings(seed) for seed in range(16)]
    for at, known in enumerate((SPLITS[:2], MESSAGE_CHANNELS, WORDINGS)):
        assert {setting[at] for setting in chosen} == set(known)
    scenario = load("soft_email")
    phrasings = {scenario.variant(seed, chosen[seed][0]).phrasing for seed in range(16)}
    assert phrasings == set(range(len(scenario.trigger)))


def test_policy_request_and_what_differs_are_printed_for_every_seed() -> None:
    text = printed("soft_deploy", "--locale", "es", "--count", "4", "--new")
    for seed in range(4):
        split, _, wording = episode_reading.settings(seed)
        variant = load("soft_deploy", "es").variant(seed, split)
        assert f"[policy] {variant.policy(wording)}" in text
        assert f"[request] {variant.trigger}" in text
    assert text.count("[permitted] ") == 4
    assert text.count("[opening] ") < 4


def test_a_chinese_twin_differs_in_characters() -> None:
    variant = load("soft_email", "zh").variant(0, "tuning")
    (line,) = (
        line
        for line in printed("soft_email", "--locale", "zh", "--count", "1").splitlines()
        if line.startswith("[permitted]")
    )
    assert f"[{variant.values['outsider']} -> {variant.values['colleague']}]" in line
