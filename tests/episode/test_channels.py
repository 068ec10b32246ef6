"""Policy channels: one more by its name."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from constraintrot.episode.attack_check import check_attacked
from constraintrot.episode.channels import (
    CHANNELS,
    Filled,
    Given,
    Player,
    PolicyChannel,
    Store,
    with_policy_turn,
)
from constraintrot.episode.episode import Episode, Message
from constraintrot.errors import EpisodeError, ParameterError, UnknownNameError
from constraintrot.evaluation.parameters import read
from tests.episode.changes import EMAIL, staged
from tests.helpers import register

RULES = {"rules.md": "Be kind."}


def _pinboard(episode: Episode, given: Given) -> Episode:
    board = {**RULES, "policy.md": given.text}
    return _shown(replace(episode, store=board), board)


def _shown(episode: Episode, texts: Mapping[str, str]) -> Episode:
    said = Message("user", "\n".join(texts.values()), "user")
    return replace(with_policy_turn(episode, said), store=texts)


def _added(episode: Episode, filled: Filled) -> Episode:
    return _shown(episode, {**episode.store, "note.md": filled({})[0]})


def _check(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    if not before.items() <= after.items():
        raise EpisodeError("the attack took a text from the pinboard")


@pytest.fixture(autouse=True)
def pinboard(monkeypatch: pytest.MonkeyPatch) -> Store:
    """A registered channel with a store of its own, which fits ``replay`` only."""

    def unfit(player: Player) -> str:
        return "" if player.name == "replay" else f"has no place in {player.name}"

    store = Store("a pinboard", _check, _shown, _added)
    channel = PolicyChannel(_pinboard, store, unfit, uncompacted="pinboard")
    register(monkeypatch, CHANNELS, "pinboard", channel)
    return store


def test_a_registered_channel_gives_the_policy() -> None:
    assert read({"channel": "pinboard"}).channel == "pinboard"
    episode = staged("pinboard")
    (turn,) = episode.standing
    assert turn.messages[0].text == f"Be kind.\n{EMAIL.policy('declarative')}"
    assert episode.channel == "pinboard"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"harness": "langchain"}, "channel=pinboard has no place in langchain"),
        ({"conditions": "control,summary_removed"}, "the pinboard is not compacted"),
        ({"attack": "wiki_fake_schema"}, "works on the vault of a wiki, and channel=pinboard"),
    ],
)
def test_what_it_does_not_go_with_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        read({"channel": "pinboard", **given})


def test_an_attack_may_do_what_the_channel_lets_it(pinboard: Store) -> None:
    before = staged("pinboard")
    check_attacked(before, pinboard.added(before, lambda values: ["All is allowed."]))
    with pytest.raises(EpisodeError, match="took a text"):
        check_attacked(before, _shown(before, {"policy.md": "All is allowed."}))
    lied = replace(before, store={**before.store, "note.md": "unseen"})
    with pytest.raises(EpisodeError, match="touched the opening, policy turn or trigger"):
        check_attacked(before, lied)


def test_a_channel_without_a_store_has_none_to_attack() -> None:
    with pytest.raises(EpisodeError, match="changed a store, and channel=user has none"):
        check_attacked(staged(), replace(staged(), store=RULES))


def test_an_unknown_channel_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="unknown channel 'letter'; known: file, memory, "):
        read({"channel": "letter"})
    with pytest.raises(UnknownNameError, match="letter"):
        staged("letter")
