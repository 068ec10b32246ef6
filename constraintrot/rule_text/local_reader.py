"""The reader ``local``: a small model in this process with a trained adapter.

Nothing leaves the machine. Each rule is one question with a one-token answer; the text precedes
the rule, so that it is read once for all rules. The probability was calibrated on kinds of rules
that the adapter was not trained on, made by the same generator.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from inspect_ai.model import CachePolicy, ChatMessageUser, GenerateConfig, Model, get_model

from constraintrot.errors import EpisodeError
from constraintrot.rule_text.reader import FoundRule, Passage, Reading, Rule
from constraintrot.rule_text.rule_judge.reading import CANDIDATES, first_token
from constraintrot.rule_text.rule_reader import adapter
from constraintrot.rule_text.rule_reader.prompt import STATES, YES, about_rule, about_sentence
from constraintrot.rule_text.survival import sentences

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of answered questions and of all questions."""
# The adapter was trained on short texts; longer ones are read in pieces of this many characters.
_PIECE: Final = 7_000
_WORD = re.compile(r"\w", re.UNICODE)
_WORDS = re.compile(r"[^\W\d_]{3,}|\d+|[\u3400-\u9fff]")


class LocalReader:
    """A reader that asks the local model with the adapter; it finds rules from ``least`` on."""

    def __init__(
        self,
        model: Model | None = None,
        *,
        progress: Progress | None = None,
        cache: bool = True,
        least: float = 0.5,
    ) -> None:
        self._model = model or get_model(f"local/{adapter.BASE}")
        self._figures = adapter.calibration()
        self.name = adapter.reader_name()
        self._progress, self._least = progress, least
        # The cache's key holds the adapter's name; the digest distinguishes adapters of one name.
        scopes = {"adapter": self._figures.adapter_sha256}
        self._cache = CachePolicy(expiry=None, scopes=scopes) if cache else False

    async def states(self, rules: Sequence[Rule], texts: Sequence[str]) -> list[Reading]:
        """Return the state of each rule; see ``Reader.states``.

        A long context is read in pieces, and the piece with the highest ``bound`` counts.
        """
        pieces = list(_pieces(texts)) if rules else []
        found: list[Reading] = [Reading("lost", 0.0) for _ in rules]
        for at, piece in enumerate(pieces):
            for number, rule in enumerate(rules):
                reading = await self._state(rule, piece)
                if at == 0 or reading.bound > found[number].bound:
                    found[number] = reading
                self._tell(at * len(rules) + number + 1, len(pieces) * len(rules))
        return found

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        """Return the standing instructions of passages, by sentence; see ``Reader.rules``."""
        asked = [list(_sentences(one.text)) for one in passages]
        total, done = sum(map(len, asked)), 0
        found: list[list[FoundRule]] = []
        for passage, parts in zip(passages, asked, strict=True):
            some: list[FoundRule] = []
            for start, sentence in parts:
                near = _around(passage.text, start, len(sentence))
                said = await self._ask(about_sentence(passage.speaker, near, sentence))
                chance = self._figures.standing.probability(log_odds(said)) if said else 0.0
                if said and chance >= self._least:
                    some.append(FoundRule(sentence, start, start + len(sentence), chance))
                done += 1
                self._tell(done, total)
            found.append(some)
        return found

    async def _state(self, rule: Rule, text: str) -> Reading:
        said = await self._ask(about_rule(text, rule.text))
        if not said:
            return Reading("cannot tell", 0.5)
        bound = self._figures.state.probability(log_odds(said))
        if bound >= 0.5:
            own = any(_folded(words) in _folded(text) for words in (rule.text, *rule.wordings))
            return Reading("verbatim" if own else "restated", bound, _nearest(rule.text, text))
        others = {word: chance for word, chance in said.items() if word != YES}
        state = STATES[max(others, key=lambda word: others[word])] if others else "lost"
        quote = "" if state == "lost" else _nearest(rule.text, text)
        return Reading(state, bound, quote)

    async def _ask(self, question: str) -> Mapping[str, float]:
        """The log-probabilities of the answers among the candidates of the first token."""
        config = GenerateConfig(
            max_tokens=1,
            temperature=0,
            logprobs=True,
            top_logprobs=CANDIDATES,
            extra_body={"adapter": adapter.NAME},
        )
        output = await self._model.generate(
            [ChatMessageUser(content=question)], config=config, cache=self._cache
        )
        candidates = first_token(output)
        if candidates is None:
            raise EpisodeError(f"{self._model} gave no log-probabilities, which the reader needs")
        return answers(candidates)

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)


def answers(candidates: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the answers among the candidates for a first token, with their log-probabilities.

    An answer that is not a candidate is less likely than all of them: a missing yes gets the least
    candidate's probability, other missing answers are left out. The result is empty if no answer is
    a candidate, as when the model continues an incomplete sentence.
    """
    likely = dict(candidates)
    found = {word: likely[word] for word in STATES if word in likely}
    if not found:
        return {}
    return {YES: min(likely.values()), **found}


def log_odds(said: Mapping[str, float]) -> float:
    """Log-odds of yes against all other answers, from log-probabilities with yes among them."""
    others = [value for word, value in said.items() if word != YES]
    least = min(said.values())
    return said[YES] - (math.log(sum(map(math.exp, others))) if others else least - 1.0)


def _pieces(texts: Sequence[str]) -> Iterator[str]:
    """Yield adjacent texts joined to pieces; a longer text is cut at a line or sentence."""
    held: list[str] = []
    size = 0
    for part in (part for text in texts for part in _cut(text.strip()) if part):
        if held and size + len(part) > _PIECE:
            yield "\n\n".join(held)
            held, size = [], 0
        held.append(part)
        size += len(part)
    if held:
        yield "\n\n".join(held)


def _cut(text: str) -> Iterator[str]:
    while len(text) > _PIECE:
        at = max(text.rfind("\n", 1, _PIECE), text.rfind(". ", 1, _PIECE) + 1)
        at = at if at > 0 else _PIECE
        yield text[:at].rstrip()
        text = text[at:].lstrip()
    yield text


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a passage that hold a word, each with its place."""
    at = 0
    for part in sentences(text):
        bare = part.strip()
        if _WORD.search(bare):
            yield at + part.index(bare), bare
        at += len(part)


def _around(text: str, start: int, length: int) -> str:
    """Return a passage, or the surroundings of a sentence in a long one."""
    if len(text) <= _PIECE:
        return text
    # Neighbouring sentences share the piece, so that it is read once for all of them.
    first = max(0, (start // (_PIECE // 2)) * (_PIECE // 2) - _PIECE // 4)
    return text[first : max(first + _PIECE, start + length)]


def _nearest(rule: str, text: str) -> str:
    """Return the sentence that shares most words with a rule, because the model does not quote."""
    words = set(_WORDS.findall(rule.casefold()))
    parts = [part.strip() for part in sentences(text)]
    return max(
        parts, key=lambda part: len(words & set(_WORDS.findall(part.casefold()))), default=""
    )


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
