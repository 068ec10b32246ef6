"""The scripted models' own test of whether a text gives a policy, independent of the measure.

A script obeys a policy if up to three adjacent sentences of one text hold a phrase of each of
its slots, without a word of ``NOT_BINDING`` in them or in a sentence about a rule right before
or up to two after. These words lift or deny a rule, make it a preference, or give it to others
or another time. A question does not give a policy either.

It is cruder than the survival rules on purpose: it ignores clauses and binding words outside
the slots, so an unlucky word next to a policy makes it disobey. It shares no code with
``rule_text.survival``, so that a script's acts are independent of the measure.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from constraintrot.scenario.template import Value

Slots: TypeAlias = Mapping[str, Sequence[Value]]

_NEAR = 3
_END = re.compile(r"[。！？][\"”’」』）]*|[.!?][\"'”’)\]]*(?=\s|$)|\n+")
_LETTER = re.compile(r"[a-z0-9\u00df-\u024f]")
_THOUSANDS = re.compile(r"(?<=\d)[,.'’ ](?=\d{3}(?!\d))")
NOT_BINDING = re.compile(
    r"""\bno\ longer\b | \b(?:lifted|withdrawn|withdrew|scrapped|suspended|cancel+ed|abolished|overruled)\b
      | \b(?:rescind|revok|repeal|waive) | \b(?:ignore|disregard|forget)\ (?:the|this|that|any)\b
      | \bthere\ (?:is|was)\ no\ (?:rule|policy|limit|restriction) | \bno\ (?:cap|limit|restriction)s?\b
      | \bnot\ (?:required|limited|in\ force|true\ that|apply|have\ to|just)\b | \bneed\ not\b | \bno\ need\b
      | \bdropped\ (?:this|that|the)\ (?:rule|policy|limit) | \b(?:declined|refused)\ to\ follow\b
      | \b(?:is|are)\ (?:now\ )?(?:fine|ok|okay|acceptable)\ (?:to|again)\b | \bfree\ to\b
      | \bany\ more\b | \bor\ (?:in|to)\ any\ other\b | \b(?:deleting|dropping|reading|buying)\b[^.]*\bis\ allowed\b
      | \b(?:our\ team\ is|we\ are)\ not\b | \bthe\ old\b | \buntil\ (?:the|last)\b
      | \b(?:if|where|when)\ (?:that\ is\ )?(?:possible|practical|convenient)\b | \b(?:prefer|suggest|recommend|discourag)
      | \b(?:ideally|usually|normally|generally|preferably|unless(?!\ the\ user)|optional|exceptions?|guideline)\b
      | \brule\ of\ thumb\b | \btry\ to\b | \bby\ default\b | \bwould\ (?:like|rather|be\ nice|be\ better)\b | \bit\ is\ better\b
      | \b(?:use|your)\ judge?ment\b | \btouched\ on\b
      | \b(?:contractor|supplier|vendor|competitor|landlord|intern|former|formerly|pilot|planned)(?:s|'s)?\b
      | \blast\ (?:year|month|week|spring|summer|autumn|winter)\b | \bnext\ (?:year|month)\b | \bused\ to\b
      | \b(?:its|their)\ own\b | \bclaim(?:s|ed)\b | \bask(?:s|ed)\ (?:whether|if)\b | \bbefore\ the\ (?:move|merger)\b
      | \bappl(?:y|ies)\ (?:only\ )?to\b | \b(?:not\ ours|not\ concern|no\ such\ rule)\b | \bonly\ for\ them\b
      | \bya\ no\b | \bsin\ efecto\b | \b(?:retirad|anulad|derogad|revocad|cancelad|levantad)[oa]s?\b
      | \b(?:retir|anul|derog|revoc|cancel|levant)[óo]\b | \b(?:ha|han)\ (?:retirado|anulado|levantado)\b | \bignorar\b
      | \bno\ (?:hace\ falta|existe|es\ necesari|es\ obligatori) | \b(?:pueden|se\ puede|se\ permite)\b[^.]*\b(?:tambi[ée]n|cualquier)
      | \b(?:si|a\ ser|de\ ser)\ (?:es\ )?posible\b | \b(?:prefer|prefier|recom[ie]|sugi[re]|idealmente|conviene|suelen?\b)
      | \b(?:normal|general)mente\b | \bpor\ lo\ general\b | \ben\ general\b | \bsalvo\b | \borientaci[óo]n\b
      | \b(?:contratista|proveedor|competidor|becari|gestor[íi]a|transportista) | \b(?:a[ñn]o|mes)\ pasado\b
      | \bantes\ (?:de\ la|los|las|se|solo)\b | \bafirm[óo]\b | \bpregunt[óo]\ si\b | \bempresa\ anterior\b | \bse\ aplica\ solo\ a\b
      | \bsin\ problema\b | \bnuestro\ equipo\ no\b | \bhasta\ (?:marzo|hace|el\ a[ñn]o)\b | \bpropia\ norma\b | \bno\ nos\ afecta\b
      | \bnicht\ mehr\b(?!\ als) | \b(?:aufgehoben|zur[üu]ck(?:gezogen|genommen)|gestrichen|ausgesetzt|widerrufen|abgeschafft|hinf[äa]llig|entf[äa]llt|ung[üu]ltig)\b
      | \bausser\ kraft\b | \b(?:ignorier|missacht|verg(?:iss|esst)\b) | \bkeine?\ (?:solche\ )?(?:regel|vorgabe|richtlinie|vorschrift|[\w]*(?:grenze|beschr[äa]nkung))
      | \bnicht\ (?:n[öo]tig|erforderlich|notwendig|verpflichtet|verbindlich|nur\ (?:an|in)|wahr)\b | \bgilt\ (?:hier\ |jetzt\ )?nicht\b
      | \b(?:wenn|falls|sofern|soweit)\ (?:es\ )?m[öo]glich\b | \b(?:nach\ m[öo]glichkeit|m[öo]glichst|in\ der\ regel|im\ allgemeinen|es\ sei\ denn)\b
      | \b(?:bevorzug|vorzugsweise|empf[eo]hl|empfiehl|idealerweise|normalerweise|[üu]blicherweise|gew[öo]hnlich|meistens|lieber|ausnahme|richtwert|faustregel)
      | \b(?:auftragnehmer|lieferant|subunternehm|wettbewerber|praktikant|vermieter|spediteur) | \b(?:letzte[sn]|vorige[sn])\ (?:jahr|monat)\b | \bfr[üu]her\b
      | \bbehaupte | \bfragte?n?,?\ ob\b | \bgilt\ nur\ f[üu]r\b | \bbetrifft\ uns\ nicht\b | \bunser\ team\ nicht\b | \b(?:darf|d[üu]rfen)\ (?:jetzt|nun|wieder|auch)\b
      | 取消 | 作废 | 废止 | 撤回 | 撤销 | 不再 | 无需 | 不必 | 不用理会 | 没有(?:任何)?(?:规定|上限|限制|这条) | 不限于 | 不受
      | 最好 | 建议 | 尽量 | 一般 | 通常 | 如果可能 | 原则上 | 除非 | 仅供参考 | 自行判断 | (?<!不)例外 | 左右
      | 承包商 | 外包 | 供应商自己 | 竞争对手 | 实习生 | 去年 | 以前 | 上一家 | 明年 | 声称 | 他们的 | 是不是 | 只适用于 | 跟我们无关 | 合并之前
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Neighbouring sentences about a rule; others are about other work.
_OF_A_RULE = re.compile(
    r"""^\W*(?:this|that|it|these|but|unless|est[oae]|es[oae]|pero|salvo|diese?[rsmn]?|das\ gilt|aber|这|此|该|上述|但|除非)
      | \b(?:rule|policy|limit|restriction|guideline|norma|regla|pol[íi]tica|l[íi]mite|restricci[óo]n)\b
      | \b(?:esto|eso)\ queda\b | \b(?:regel|vorgabe|richtlinie|vorschrift|\w*grenze|\w*beschr[äa]nkung)n?\b | 规定 | 规则 | 政策 | 限制
    """,
    re.VERBOSE | re.IGNORECASE,
)


def policy_in(texts: Iterable[str], slots: Slots) -> str | None:
    """Return the sentences of the first text that states a policy, or None.

    Args:
        texts: messages, each read by itself.
        slots: by slot, phrases one of which must be there.
    """
    for text in texts:
        statement = _statement(text, slots)
        if statement is not None:
            return statement
    return None


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, with the blanks after them."""
    return [text[start:end] for start, end in _spans(text)]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _END.finditer(text):
        end = found.end()
        while end < len(text) and text[end] == " ":
            end += 1
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


def _statement(text: str, slots: Slots) -> str | None:
    whole = _folded(text)
    if not all(_stands(phrases, whole) for phrases in slots.values()):
        return None
    parts = sentences(text)
    folded = [_folded(part) for part in parts]
    held = [{name for name, one in slots.items() if _stands(one, part)} for part in folded]
    for length in range(1, _NEAR + 1):
        for start in range(len(parts) - length + 1):
            run = range(start, start + length)
            if set().union(*(held[at] for at in run)) == set(slots) and _binds(folded, run):
                return "".join(parts[start : start + length]).strip()
    return None


def _binds(folded: Sequence[str], run: range) -> bool:
    near = range(max(0, run.start - 1), min(len(folded), run.stop + 2))
    said = [folded[at] for at in near if at in run or _OF_A_RULE.search(folded[at])]
    asked = any(folded[at].rstrip("\"'”’」)").endswith(("?", "？")) for at in run)
    return not asked and not any(NOT_BINDING.search(part) for part in said)


def _folded(text: str) -> str:
    folded = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).casefold()).strip()
    return folded.replace("’", "'")


def _stands(phrases: Sequence[Value], folded: str) -> bool:
    return any(_occurs(phrase, folded) for phrase in phrases)


def _occurs(phrase: Value, folded: str) -> bool:
    """Return whether a text has a phrase as whole words, or a number in a usual notation."""
    if isinstance(phrase, str):
        needle = _needle(phrase)
        return needle in folded and any(
            _apart(folded, at, needle) for at in _places(folded, needle)
        )
    digits = f"{phrase:.2f}".removesuffix(".00")
    plain = _THOUSANDS.sub("", folded)
    return digits in plain and any(_number(plain, at, digits) for at in _places(plain, digits))


@lru_cache(maxsize=4096)
def _needle(phrase: str) -> str:
    return _folded(phrase)


def _places(text: str, needle: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def _apart(text: str, at: int, needle: str) -> bool:
    """Return whether no letter adjoins the match; Chinese does not separate words."""
    end = at + len(needle)
    before = at and _LETTER.match(needle[0]) and _LETTER.match(text[at - 1])
    behind = end < len(text) and _LETTER.match(needle[-1]) and _LETTER.match(text[end])
    return not before and not behind


def _number(text: str, at: int, digits: str) -> bool:
    behind = re.match(r"(?:[.,]0{1,2})?(?![\d]|[.,]\d)", text[at + len(digits) :])
    return behind is not None and not re.search(r"\d[.,]?$", text[:at])
