"""A policy's sentence, parsed into its mood, verb and phrase."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constraintrot.errors import ParameterError
from constraintrot.grading.predicates.not_in_language import NotInLanguage
from constraintrot.rule_text.word_groups import ACTIONS

Mood: TypeAlias = Literal["never", "only", "always", "other"]

_MOST = 400
_NEVER = re.compile(
    r"(?:please )?(?:(?:you |we |agents? |the (?:agent|assistant|bot) |nobody |no one )?"
    r"(?:never|do not|don['’]t|must not|mustn['’]t|may not|can ?not|can['’]t|shall not|should not"
    r"|shouldn['’]t|are not (?:allowed|permitted) to|is not (?:allowed|permitted) to"
    r"|(?:may|can|is allowed to)(?= )|must never|should never|may never)) (.+)",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"(?:please )?(?:(?:you |we |agents? |the (?:agent|assistant|bot) )?"
    r"(?:(?:may|must|should|can) )?only) (.+)",
    re.IGNORECASE,
)
# "Deploy only to ..." limits as "Only deploy to ..." does.
_ONLY_WITHIN = re.compile(
    r"(?:please )?(?:(?:you|we|agents?) (?:may|must|should|can) )?(?P<verb>[a-z]+)(?P<what>(?: [\w-]+){0,3}?) only"
    r" (?P<rest>(?:to|in|into|on|onto|with|from|via|through|using|at|between|under) .+)",
    re.IGNORECASE,
)
_ALWAYS = re.compile(
    r"(?:please )?(?:(?:you |we )?(?:must |should )?always|(?:you|we) must) (.+)", re.IGNORECASE
)
_PASSIVE = re.compile(
    r"(?P<none>no )?(?P<object>.+?) (?:must|should|may|can|shall|has to|have to|is to|are to)"
    r"(?: (?P<how>not|never|only|always))?(?: ever)? be (?P<done>[a-z]+)(?P<rest>.*)",
    re.IGNORECASE,
)
_ALL = re.compile(r"^(?:all|any|every|each|the|our)(?: of)?(?: the| our)? ", re.IGNORECASE)
# A sentence with one of these is not a command.
_SAYS = re.compile(
    r"\b(?:is|are|was|be|must|may|can|should|shall|will|has|have|had|needs?|goes|go|there|it)\b",
    re.I,
)
_NOBODY = re.compile(r"(?:nobody|no one) ", re.IGNORECASE)
# Words left at the end of an action when the condition after it is removed.
_DANGLING = re.compile(
    r"(?:[\s,]+(?:that [a-z]+|to|with|for|from|in|into|on|onto|at|of|by|via|that|which|who|is|are|was|were|any"
    r"|anyone|anybody|anything|someone|somebody|everyone|people|person|a|an|the|and|or|if|when"
    r"|while|unless|not|than|other|outside|except|only|costs?|costing|worth|lasting|between|more|less"
    r"|hosts?|domains?|addresses|sites?|urls?|older|younger|newer|no|all|recipients?|be|sent|it))+$",
    re.IGNORECASE,
)
_IRREGULAR = {
    "send": ("sent",), "write": ("wrote", "written"), "buy": ("bought",), "pay": ("paid",),
    "give": ("gave", "given"), "tell": ("told",), "read": ("read",), "run": ("ran", "run"),
    "put": ("put",), "take": ("took", "taken"), "make": ("made",), "spend": ("spent",),
    "sell": ("sold",), "keep": ("kept",), "set": ("set",), "show": ("shown",), "drop": ("dropped",),
    "grant": ("granted",), "speak": ("spoke", "spoken"), "do": ("did", "done"), "go": ("went",),
    "build": ("built",), "overwrite": ("overwrote", "overwritten"), "lend": ("lent",),
}  # fmt: skip
_NO = re.compile(r"(?:there (?:must|may|should) be )?no (?P<what>.+)", re.IGNORECASE)
_BE = r"(?:must|should|have to|has to|need to|needs to)"
_PLACED = re.compile(r"(?:to|on|in|into|at|from|before|after|between|outside)\b", re.IGNORECASE)
# Acts by their nouns, and their verbs.
NOUNS = {
    "deployment": "deploy", "deletion": "delete", "installation": "install", "pr": "open a PR",
    "payment": "pay", "pull request": "open a pull request",
}  # fmt: skip
_APPROVED = re.compile(
    rf"(?P<what>.+?) {_BE} be (?:approved|signed off) by (?P<who>.+)"
    r"|(?P<thing>.+?) (?:needs?|requires?) (?P<whose>.+['’]s? approval|approval (?:by|from|of) .+)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?P<what>.+?) (?:is|are) (?:not (?:allowed|permitted)|forbidden|prohibited|banned)(?P<rest>.*)",
    re.IGNORECASE,
)
# "Meetings must not last longer than ...": what the subject may not be like.
_LIKE = re.compile(
    r"(?P<no>no )?(?P<what>[^,]+?) (?P<modal>must|may|should|can|shall) (?P<how>not |never |only )?"
    r"(?P<does>be (?=at |no |[a-z]+er than|less than|more than)|(?!be\b|have\b(?! (?:at most|up to|no more than|at least) )))(?P<rest>.+)",
    re.IGNORECASE,
)
_BOUNDED = re.compile(r"\b(?:at most|up to|no more than|no longer than|at least)\b", re.IGNORECASE)
# Openings of sentences that are surely English and need no detector.
_ENGLISH = re.compile(
    r"(?:please|never|do not|don['’]t|you|we|agents?|the|only|always|must|nobody|all)\b", re.I
)
_BINDS = re.compile(
    r"\b(?:must|need|needs|require[sd]?|limited|max(?:imum)?|shall|should|may|can|cannot|not|never|no|only|always|before|ask"
    r"|forbidden|prohibited|allowed|permitted|avoid|keep|please|within|ensure|make sure)\b|n['’]t\b",
    re.IGNORECASE,
)
# A command behind its condition: "If the customer confirms, cancel ...".
_ON_CONDITION = re.compile(
    r"(?:if|when|whenever|before|after|once) [^,]+, (?:still )?(?P<verb>[a-z]+) ", re.I
)
# A reason behind a rule: "as they are generated", "to keep the build green", "(else it fails)".
_WHY = re.compile(
    r"(?:,? (?:as|because|since) (?:they|it|this|these|that|we|there)\b[^;]*"
    r"|,? (?:so that|to (?:ensure|avoid|prevent|keep|make sure)) [^;]*|,? \((?:otherwise|or else) [^)]*\)"
    r"|(?: [-—–]|[;:—–]) ?(?:they|it|this|these|those|that|tried|we) [^;]*)$",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"(?<!\b[DMS]r)(?<!\bM[rs]s)[.!?;]\s+(?=[A-Z\"'])")
_DOUBLED = re.compile(
    r"(?:[^aeiou]|qu)*[aeiou][bdgmnprt]|(?:com|sub|ad|per|e)mit|(?:pre|re|trans)fer|occur"
)


@dataclass(frozen=True)
class Sentence:
    """A policy as one sentence.

    Attributes:
        mood: whether it forbids (``never``), limits (``only``), asks for something
            (``always``), or has another form.
        phrase: the forbidden or requested act, from its verb on; the sentence for ``other``.
        plain: whether it is a rule only by the form of a command.
        scope: characters of the phrase before "only", which say where the limit holds.
        called: the arguments of recorded calls, a line each: name, an equals sign, value. A name
            that a call uses needs no question.
    """

    text: str
    mood: Mood
    phrase: str
    plain: bool = False
    scope: int = 0
    called: str = ""

    @property
    def verb(self) -> str:
        """The verb in its base form; empty for the mood ``other``."""
        word = self.phrase.split()[0].casefold().strip(",.:;") if self.mood != "other" else ""
        return word if word.isalpha() else ""

    def action(self, condition: int) -> str:
        """Return the phrase before its condition: "delete mail" of "... younger than 30 days"."""
        if self.mood == "other":
            return ""
        cut, before = self.phrase[:condition].strip(" ,.;:"), ""
        while cut != before:
            before, cut = cut, _DANGLING.sub("", cut).strip(" ,.;:")
        return cut


def read(text: str) -> Sentence:
    """Parse a sentence."""
    plain = re.sub(r"\s+", " ", text).strip()
    if not plain or not re.search(r"\w{2}", plain):
        raise ParameterError('give the policy as a sentence, as in "Never delete mail."')
    if len(plain) > _MOST:
        raise ParameterError(
            f"the policy has {len(plain)} characters; say it in one sentence of at most {_MOST}"
        )
    if plain.endswith("?"):
        raise ParameterError(
            "this is a question; give the policy as a rule, as in 'Never delete mail.'"
        )
    if _SEVERAL.search(plain):
        raise ParameterError("the text has several sentences; give one rule, and a file for each")
    if not _ENGLISH.match(plain) and _foreign(plain):
        raise ParameterError(
            "drafts are written in English; say the rule in English, or write a scenario file in its"
            " language by hand"
        )
    if "{{" in plain or "}}" in plain:
        raise ParameterError("the policy holds {{ or }}, by which scenarios name their values")
    whole = plain if plain[-1] in ".!" else f"{plain}."
    found = _moody(whole, stated(whole))
    commands = found.plain and (found.verb in ACTIONS or re.search(r"\d|@", plain))
    conditional = _ON_CONDITION.match(plain)
    commands = commands or (conditional and conditional["verb"].casefold() in ACTIONS)
    if (found.plain or found.mood == "other") and not (commands or _BINDS.search(plain)):
        raise ParameterError(
            "the text states no rule; a rule forbids (Never ...), limits (Only ...) or asks for"
            " something (Always ...)"
        )
    return found


def stated(text: str) -> str:
    """Return a sentence without its end, examples, and a reason that adds nothing to its rule."""
    plain = re.sub(r"\s+", " ", text).strip().rstrip(".!")
    plain = re.sub(r" \((?:e\.g\.|for example|such as) [^)]*\)", "", plain)
    shorter = _WHY.sub("", plain)
    return plain if _BINDS.search(plain[len(shorter) :]) else shorter


def _foreign(text: str) -> bool:
    judge = NotInLanguage(language="English", function="say", argument=("text",))
    ascii_share = sum(sign.isascii() for sign in text) / len(text)
    return ascii_share < 0.8 or judge.check("say", {"text": text}).status == "violates"


def _moody(whole: str, said: str) -> Sentence:
    if only := _ONLY.fullmatch(said):
        return Sentence(whole, "only", only[1])
    never = _NEVER.fullmatch(said)
    permits = re.match(r"(?:you |we )?(?:may|can) (?!not)", said, re.IGNORECASE)
    if never and (_NOBODY.match(said) or not permits):
        return Sentence(whole, "never", never[1])
    if always := _ALWAYS.fullmatch(said):
        return Sentence(whole, "always", always[1])
    if approved := _APPROVED.fullmatch(said):
        leave = approved["whose"] or f"the approval of {approved['who']}"
        what = _thing(approved["what"] or approved["thing"])
        return Sentence(whole, "never", f"allow {what} without {leave}")
    passive = _PASSIVE.fullmatch(said)
    if passive and _is_participle(passive["done"].casefold()):
        thing = _thing(passive["object"])
        phrase = f"{base(passive['done'])} {thing}{passive['rest']}"
        how = (passive["how"] or "").casefold()
        if passive["none"] or how in ("not", "never"):
            return Sentence(whole, "never", phrase)
        return Sentence(whole, "only" if how == "only" else "always", phrase)
    like = _LIKE.fullmatch(said)
    like = like if like and not _BINDS.search(f"{like['what']} {like['rest']}") else None
    if like and like["rest"].split()[0].casefold() in ACTIONS and " start with" not in said:
        return Sentence(whole, "other", said)  # "Interns must not push": no call shows who makes it
    if like and like["no"]:
        return _alike(whole, like)
    if no := _NO.fullmatch(said):
        return Sentence(whole, "never", _act(no["what"]))
    if denied := _DENIED.fullmatch(said):
        return Sentence(whole, "never", f"allow {_thing(denied['what'])}{denied['rest']}")
    within = _ONLY_WITHIN.fullmatch(said)
    if within and within["verb"].casefold() in ACTIONS and not _SAYS.search(within["what"]):
        lead = f"{within['verb'].lower()}{within['what']}"
        return Sentence(whole, "only", f"{lead} {within['rest']}", scope=len(lead))
    if like:
        return _alike(whole, like)
    if not _SAYS.search(said):
        return Sentence(whole, "always", said[:1].lower() + said[1:], plain=True)
    return Sentence(whole, "other", said)


def _act(what: str) -> str:
    """What there is to be none of, as an act: "push to main", and else what is not to be allowed."""
    noun, _, rest = what.partition(" ")
    if not rest or _PLACED.match(rest):
        low = noun.casefold()
        for one in (low, low.removesuffix("s"), low.removesuffix("es")):
            if one in NOUNS or (one in ACTIONS and not re.search(r"(?:al|ion|ment)s?$", one)):
                return f"{NOUNS.get(one, one)} {rest}".rstrip()
    return f"allow {what}"


def _alike(whole: str, like: re.Match[str]) -> Sentence:
    """Return a rule on a subject's property as a rule on what to allow."""
    how = (like["how"] or "").strip().casefold()
    is_like = like["does"].strip() == "be"
    if like["no"] or how in ("not", "never"):
        mood: Mood = "never"
    elif how == "only" or is_like or _BOUNDED.search(like["rest"]):
        mood = "only"
    else:
        mood = "always" if like["modal"].casefold() in ("must", "shall", "should") else "other"
    if mood == "other":
        return Sentence(whole, mood, whole.rstrip(".!"))
    does = f"that {'are ' if is_like else ''}{like['rest']}"
    what = _thing(like["what"])
    # "No purchase may exceed ..." is about all purchases.
    many = f"{what}s" if like["no"] and not what.endswith("s") else what
    return Sentence(whole, mood, f"allow {many} {does}")


def _thing(subject: str) -> str:
    """Return the subject of a sentence in the form of an object."""
    return _lowered(_ALL.sub("", subject.strip()))


def _is_participle(word: str) -> bool:
    return word.endswith("ed") or any(word in past for past in _IRREGULAR.values())


def _lowered(thing: str) -> str:
    return thing if thing[:2].isupper() else thing[:1].lower() + thing[1:]


def base(participle: str) -> str:
    """Return a verb's base form: ``keep`` for "kept"."""
    word = participle.casefold()
    for verb, past in _IRREGULAR.items():
        if word in past:
            return verb
    if not word.endswith("ed") or len(word) < 5:
        return word
    stem = word[:-2]
    if stem[-1] == stem[-2] and stem[-1] in "bdgmnprt":
        return stem[:-1]
    if stem.endswith("i"):
        return f"{stem[:-1]}y"
    mute = re.search(r"(?:lin|[aeou]t|[aio]r|[aeiou]k|[vcguz]|[^s]s|[^aeiou]l)$", stem) is not None
    return f"{stem}e" if mute and not re.search(r"(?:oo|ea)k$|ort$", stem) else stem


def forms(verb: str) -> list[str]:
    """Return a verb's forms, as texts about a policy use them."""
    if not verb:
        return []
    stem = verb[:-1] if verb.endswith("e") else verb
    double = verb + verb[-1] if _DOUBLED.fullmatch(verb) else stem
    third = (
        f"{verb[:-1]}ies" if re.search(r"[^aeiou]y$", verb)
        else f"{verb}es" if re.search(r"(?:s|x|ch|sh|z|o)$", verb) else f"{verb}s"
    )  # fmt: skip
    past = _IRREGULAR.get(verb, (f"{verb[:-1]}ied" if third.endswith("ies") else f"{double}ed",))
    return list(dict.fromkeys([verb, third, *past, f"{double}ing"]))
