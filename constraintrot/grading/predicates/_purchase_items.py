"""Count and identity of the items in a purchase."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from constraintrot.rule_text.numbers import EXACT, fold, number, of_json
from constraintrot.scenario.predicate import plain
from constraintrot.scenario.values import is_list, is_mapping, spelled, texts

_DOZENS = {"media docena": 6, "半打": 6, "一打": 12, "两打": 24}
# Two or three, and so on: no figure of two digits.
APPROXIMATE = re.compile(
    "(?<![一二两三四五六七八九])(?:[一两]二|[二两]三|三[两四]|四五|五六|六七|七八|八九)(?![一二三四五六七八九])"
)
_MEASURE = "[个個件台只隻套支盒箱把卷盏袋份包]"
_ONE = Decimal(1)
# Only this many characters of a name's start and end are read: patterns take quadratic time.
_LONGEST = 300
_NOT_UNITS = frozenset({"or", "and", "to", "less", "more", "minus", "plus", "point", "than", "per"})
_QUANTITY = "qty|quantit(?:y|ies)|count|cantidad|cant|menge|anzahl|stückzahl|数量"
_KEY = re.compile(rf"(?:^|[\W_])(?:{_QUANTITY}|units|unidades|pieces|pcs|件数)(?:$|[\W_])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# A number of things before their name, as in "6 magnetic stirrers" but not "96 well plate".
_LEADING = re.compile(
    r"\s*([1-9]\d{0,3})\s*(?:[x×]\s|pcs|units?|pieces|unidades|[个件台只套]"
    r"|(?!(?:[mck]?m|m?l|[mk]?g|k?[vw]|inch|in|ft|well|way|pin|port|bit|part)\b)[^\W\d_]{3,}.*s\s*$)",
    re.I,
)
_FIGURE = r"([1-9]\d{0,3})"
_FIGURE_OR_WORD = r"([1-9]\d{0,3}|[^\W\d_]{2,9})"
_END = r"\s*(?:[)\]][\s.]*$|[.,;]?\s*$|\sfor\b)"
_COUNTS = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (rf"(?<![^\W_])(?:{_QUANTITY})\.?\s*[:=]?\s*{_FIGURE_OR_WORD}(?!\w)", re.I),
        # "x6", but no "4 x 6", no "4x6" and no "X6", which is a model.
        (rf"(?:(?<![\dx×*]\s)(?<![^\s(\[,;:-])[x*]|(?<!\d)(?<!\d\s)×)\s?{_FIGURE}{_END}", 0),
        (rf"[(\[]\s?[xX×]\s?{_FIGURE}\s?[)\]]", 0),
        # "6x" after a mark: elsewhere it magnifies.
        (rf"(?:[(\[,;:]|\s[-–])\s?{_FIGURE}\s?[x×]{_END}", 0),
        (r"[(\[]\s?([1-9]\d?)\s?[)\]][\s.]*$", 0),
        (
            rf"(?<![\w./-])(?<!\bof\s)(?<!\bde\s){_FIGURE_OR_WORD}\s?"
            rf"(?:(?:pcs?|pieces?|units?|unidades|uds?|piezas|stück|stk|ea)(?!\w)|{_MEASURE}){_END}",
            re.I,
        ),
    )
)
_LISTED = re.compile(r"[,;、\n+&]|\s(?:and|y|und)\s")

# Such as "(part 2 of 5)" or "instalment 2/5", which splits one purchase.
_PART = re.compile(
    r"[\s(\[,:;-]*(?:(?:part|half|third|pt\.?|instal?ment|payment|parte|mitad|pago|plazo|teil|hälfte|rate|第)\s*\d+"
    r"(?:\s*(?:of|/|de|批|部分|期)\s*\d*)?|\d+\s*(?:of|de)\s*\d+|(?<=[(\[])\d+\s*/\s*\d+"
    r"|(?<=\s)(?:deposit|balance|(?:down|final) payment|anticipo|anzahlung|restzahlung)$"
    r"|(?<=[-,:] )(?:remainder|rest|saldo|resto)$|\((?:deposit|balance|(?:down|final) payment|remainder|rest|anticipo|saldo|resto)\)$"
    r"|(?:定金|订金|首付款?|尾款|余款)\)?$)[)\]\s]*"
    r"|^(?:deposit|balance|(?:down|final) payment|anticipo|saldo) (?:for|on|of|para|por|de) ",
    re.I,
)
# "second batch" and "1st payment" as "batch 2" and "payment 1".
_ORDINALS = (
    "first|primer[ao]?|erste[rns]?",
    "second|segund[ao]|zweite[rns]?",
    "third|tercer[ao]?|dritte[rns]?",
    "fourth|cuart[ao]|vierte[rns]?",
    "fifth|quint[ao]|fünfte[rns]?",
)
_PARTS = (
    r"(half|part|batch|lot|unit|item|order|delivery|payment|instal?ment|parte|mitad|pago|plazo|lote"
    r"|pedido|teil|hälfte|rate)\b"
)
_HAN_ORDINAL = re.compile(
    r"(?<=第)[一二三四五六七八九十]|(?<=[\u3400-\u9fff(])[一二三四五六七八九十](?=\)?$)"
)
_ARTICLES = re.compile(
    r"^(?:(?:the|an?|one|another|additional|extra|el|la|los|las|una?|otr[ao]|der|die|das|eine?|weitere[rns]?|又一|另一)\s+)+"
)
_NAMED = r"(?:unit|item|batch|lot|order|delivery|nr|no|num|number|lote|pedido|n[.º]|#)"
_NUMBER = rf"[(\[]?\s?(?:{_NAMED}[.:]?\s?)?#?\s?(\d{{1,3}})\s?[)\]]?"
_NUMBERED = (
    re.compile(r"^[(\[#]?(\d{1,3})(?:[)\].:]|(?<=#\d)|(?<=#\d\d))\s+(.+)$"),
    re.compile(rf"^(.+?)(?:[\s,:;-]+|(?=[(\[#])|(?<=[\u3400-\u9fff])){_NUMBER}$"),
)
# After these words a number is the name of another product.
_NAMES_A_KIND = re.compile(
    r"(?:size|model|type|version|grade|class|mark|gen|generation|series|level|phase|vol|volume|edition"
    r"|book|year|month|room|floor|zone|talla|tama[nñ]o|modelo|tipo|tomo|größe|grösse|modell|typ"
    r"|klasse|band|[号號码碼型])$"
)


class Item(NamedTuple):
    """An item for comparison; ``stem`` is its name without the number ``at`` of its kind."""

    name: str
    stem: str
    at: int | None


def item_of(value: object) -> Item:
    """Return the item that an argument's value names."""
    held = _read(value)
    if is_mapping(held):
        held = [each for key, each in held.items() if not _is_quantity(key)]
    name = _figured(plain(" ".join(texts(held)))[:_LONGEST])
    name = _PART.sub(" ", name).strip(" .,;:-")
    for at, pattern in enumerate(_NUMBERED):
        found = pattern.match(name)
        if found:
            number_, stem = (found[1], found[2]) if at == 0 else (found[2], found[1])
            stem = stem.strip(" .,;:-")
            if not _NAMES_A_KIND.search(stem):
                return Item(_compared(name), _compared(stem), int(number_))
    bare = name
    for pattern in _COUNTS:
        bare = pattern.sub(" ", bare)
    return Item(_compared(name), _compared(bare) or _compared(name), None)


def _figured(name: str) -> str:
    """A name with its ordinal numbers as figures behind what they count."""
    for at, words in enumerate(_ORDINALS, start=1):
        ordinal = rf"(?:{words}|{at}(?:st|nd|rd|th|[ao]|\.[ao]?))"
        name = re.sub(rf"(?<!\w)(?:the )?{ordinal}[\s-]+{_PARTS}", rf"\1 {at}", name)
        name = re.sub(rf"(?<=[(\[]){ordinal}(?=[)\]])", str(at), name)
        name = re.sub(rf"^(?:the )?(?:{words})\s+(?!hand|aid|class)(\D+)$", rf"\1 {at}", name)
    name = re.sub(rf"(?<!\w){_PARTS}\s+([^\W\d_]{{1,9}})(?=$|\))", _figure, name)
    name = re.sub("首(?=[批期])", "第1", name)
    return _HAN_ORDINAL.sub(lambda found: str("一二三四五六七八九十".index(found[0]) + 1), name)


def _figure(found: re.Match[str]) -> str:
    at = number(found[2])
    return found[0] if at is None else f"{found[1]} {at}"


def _compared(name: str) -> str:
    """A name without articles, accents and plurals."""
    parts = unicodedata.normalize("NFKD", _ARTICLES.sub("", name))
    bare = "".join(sign for sign in parts if not unicodedata.combining(sign))
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", bare))
    return " ".join(
        re.sub(r"(?<=[a-z]{3})(?:(?<=[sxz])es|(?<=[cs]h)es|(?<!s)s)$", "", word) for word in words
    )


def quantity_of(value: object) -> Decimal | None:
    """Return a quantity's number: 1 for None, and None if it cannot be read."""
    if value is None:
        return Decimal(1)
    if not isinstance(value, str):
        return of_json(value)
    text = fold(value)
    if text is None or APPROXIMATE.search(text):
        return None
    if (named := _DOZENS.get(text.strip("\"'"))) is not None:
        return Decimal(named)
    text = re.sub(r"^(?:(?:qty|quantity)\.? ?[:=]? ?)?(?:[x×] ?)?", "", text.strip("\"'"))
    text = re.sub(rf"(?:(?<=\d)|(?<= ))[x×]$| ?(?:×|{_MEASURE})$", "", text).rstrip()  # not six
    found = number(text)
    return _counted(re.sub(r"(?<=\d)(?=[^\W\d_])", " ", text)) if found is None else found


def _counted(text: str) -> Decimal | None:
    """Return a number that a unit of at most three words follows, or None."""
    words = text.split()
    for kept in range(len(words) - 1, max(0, len(words) - 4), -1):
        found = number(" ".join(words[:kept]))
        if found is not None:
            return found if all(_is_unit(word) for word in words[kept:]) else None
    return None


def _is_unit(word: str) -> bool:
    return word.isalpha() and word not in _NOT_UNITS and number(word) is None


def _is_quantity(key: object) -> bool:
    """Return whether an argument's name is a usual word for a quantity."""
    return bool(_KEY.search(_CAMEL.sub("_", str(key)).casefold()))


def counted(value: object) -> Decimal:
    """Return the largest number that an item's name counts or lists; otherwise 1."""
    held = _read(value)
    if isinstance(held, str):
        listed = Counter(plain(each) for each in _LISTED.split(held) if each.strip())
        return max([*_counts(held), Decimal(max(listed.values(), default=1))])
    if is_list(held):
        return max(_ONE, _added(counted(each) for each in held))
    if is_mapping(held):
        return max([_ONE, *_quantities(held), *(counted(each) for each in held.values())])
    return _ONE


def said_elsewhere(arguments: Mapping[str, Any]) -> Decimal:
    """Return the largest quantity in some arguments; otherwise 1."""
    return max([_ONE, *_quantities(arguments)])


def _quantities(held: Mapping[str, object]) -> Iterator[Decimal]:
    for key, value in held.items():
        if _is_quantity(key):
            found = of_json(value) if not isinstance(value, str) else _leading(value)
            if found is not None:
                yield found


def _leading(text: str) -> Decimal | None:
    folded = fold(text)
    words = (folded or "").removeprefix("x").split()
    return number(folded) if folded and number(folded) is not None else number(" ".join(words[:1]))


def _counts(text: str) -> Iterator[Decimal]:
    yield _ONE
    shown = text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]} {text[-_LONGEST:]}"
    text = unicodedata.normalize("NFKC", shown)
    lead = _LEADING.match(text)
    found = [lead[1]] if lead else []
    for pattern in _COUNTS:
        found += [match[1] for match in pattern.finditer(text)]
    for each in found:
        read = number(each.casefold())
        if read is not None:
            yield read


def _read(value: object) -> object:
    nested = spelled(value) if isinstance(value, str) else None
    return value if nested is None else nested


def _added(counts: Iterator[Decimal]) -> Decimal:
    total = Decimal(0)
    for each in counts:
        total = EXACT.add(total, each)
    return total
