"""A family's history says nothing of what its policy is about."""

import json
import re
from collections.abc import Iterator
from functools import cache

import pytest

from constraintrot.rule_text.survival import best_window, mentions, sentences
from constraintrot.scenario import history
from constraintrot.scenario.files import catalogue, every, load
from constraintrot.scenario.schema import WORDINGS, HistoryTurn, Scenario, Variant
from constraintrot.scenario.template import fill, names
from constraintrot.scenario.values import texts as leaves
from tests.scenario.checks import said

FILES = [(family, locale) for family in catalogue() for locale in catalogue()[family]]
EACH = pytest.mark.parametrize(
    "seeds", [(0,), pytest.param((0, 5, 11), marks=pytest.mark.soak)], ids=["one", "all"]
)

# What a policy is about, by family and locale: none of it is said, done or looked up.
CUES = {
    ("soft_email", "en"): r"e-?mail|\bmails?\b|inbox|recipient|mailbox|@|newsletter to|forward",
    ("soft_email", "es"): r"\bcorreos?\b|e-?mail|buz[oó]n|destinatari|@|adjunt|reenv",
    ("soft_email", "zh"): r"邮|电邮|收件|发送|寄|@|抄送|转发|附件",
    ("soft_language", "en"): r"e-?mail|\bmails?\b|@|\bmessages?\b|correspond|translat|language"
    r"|\b(?:English|French|German|Spanish|Italian|Chinese|Korean|Portuguese|Dutch|Polish)\b",
    ("soft_language", "es"): r"\bcorreos?\b|e-?mail|mensaje|correspondencia|@|tradu|idioma|lengua"
    r"|ingl[eé]s|franc[eé]s|alem[aá]n|italian|portugu|chino\b|coreano|neerland",
    (
        "soft_language",
        "zh",
    ): r"邮|信件|函件|通信|@|翻译|语言|英[文语]|中文|法[文语]|德[文语]|日[文语]|韩[文语]|西班牙",
    ("soft_spend", "en"): r"purchas|\bbuy|bought|\bspen[dt]|\border(?:s|ed|ing)?\b|\bcosts?\b|price"
    r"|budget|invoice|\bpa(?:y|id)\b|[$€£]|dollar|euro|\bshop\b",
    (
        "soft_spend",
        "es",
    ): r"\bcompra|\bgast[oaóe]|pedido|\bcuesta|precio|presupuest|factura|pag[oaóu]"
    r"|[$€£]|d[oó]lar|euros?\b|adquis|\btienda",
    (
        "soft_spend",
        "zh",
    ): r"采购|购买|购置|买|下单|订购|订单|支出|开支|费用|花费|价|预算|发票|付款|元\b|美元|钱",
    (
        "soft_channel",
        "en",
    ): r"\breports?\b|reporting|\bstatus\b|\bupdates?\b|#(?!REF|NAME)[a-z]|channel|bulletin"
    r"|e-?mail|\bpost(?:s|ed)?\b",
    (
        "soft_channel",
        "es",
    ): r"informe|reporte|\bparte de\b|estado de|#(?!REF|NAME)[a-z]|canal\b|boletín|correo"
    r"|public",
    ("soft_channel", "zh"): r"报告|汇报|通报|状态|频道|#(?!REF|NAME)[a-z]|发布|邮|简报",
    ("soft_deploy", "en"): r"deploy|provision|\bhost(?:s|ed|ing)?\b|\bcreat|region|\bcluster"
    r"|\b(?:us|eu|ap|ca|sa|af|me|mx)-[a-z]+-\d|data ?cent|rollout",
    ("soft_deploy", "es"): r"despleg|despliegue|\bcrea[rndos]?\b|aloja|regi[oó]n|cl[uú]ster"
    r"|\b(?:us|eu|ap|ca|sa|af|me|mx)-[a-z]+-\d|centro de datos",
    (
        "soft_deploy",
        "zh",
    ): r"部署|新建|创建|建立|上线|托管|区域|机房|\b(?:us|eu|ap|ca|sa|af|me|mx)-[a-z]+-\d",
    (
        "soft_email",
        "de",
    ): r"e-?mail|\bmails?\b|postfach|posteingang|empfänger|@|\banhang|weiterleit|nachricht"
    r"|\bversend|\bschick",
    (
        "soft_language",
        "de",
    ): r"e-?mail|\bmails?\b|nachricht|korrespondenz|@|übersetz|sprache|sprachig|englisch|spanisch"
    r"|französisch|deutsch(?!er Härte)|italienisch|portugies|chinesisch|koreanisch|polnisch",
    ("soft_spend", "de"): r"\b(?:ein)?kauf|\bbeschaff|bestell|\bkost(?:en|et|e)\b|preis|budget"
    r"|rechnung|bezahl|zahlung|[$€£]|\beuro\b|dollar|ausgabe|ausgegeben|\bladen\b|anschaff",
    ("soft_channel", "de"): r"bericht|\bstatus|#[a-zäöü]|kanal|kanäle|e-?mail|rundbrief|aushang"
    r"|veröffentlich|\bposte",
    ("soft_deploy", "de"): r"deploy|bereitstell|ausroll|\banleg|angelegt|erstell|\bregion|cluster"
    r"|\bhost|rechenzentrum|\b(?:us|eu|ap|ca|sa|af|me|mx)-[a-z]+-\d",
    ("hard_pii", "en"): r"social security|\bSSNs?\b|last four|\b\d{3}-\d{2}-\d{4}\b|disclos"
    r"|date of birth|passport",
    ("hard_proddb", "en"): r"\bprod(?:uction)?\b|_prod\b|staging|\bdrop|delet|truncat|destr|\bwipe"
    r"|\bDDL\b|\bDML\b|purge",
    ("hard_seccontrol", "en"): r"audit|query log|\blogging\b|log_statement|general_log|pgaudit"
    r"|trace flag|\bdisabl|turn(?:ed)? off|switch(?:ed)? off",
    ("hard_secret", "en"): r"\bkeys?\b(?!board)|\bssh\b|secret|password|credential|token|\.pem\b"
    r"|id_rsa|\.env\b|passphrase|/home/|/root",
}
# Words of a standing rule. A benign job has none.
RULES = {
    "en": r"\bnever\b|\bmust(?:n't)?\b|not allowed|not permitted|forbidden|prohibit|\bpolic(?:y|ies)\b"
    r"|\brules?\b|whoever|under no circumstances|\bstrictly\b|do not (?:ever|share)",
    "es": r"\bnunca\b|\bjam[aá]s\b|\bdeben?\b|prohibi|no est[aá] permitid|\bnormas?\b|\bpol[ií]tica\b"
    r"|\breglas?\b|quien lo pida|bajo ning",
    "de": r"\bnie(?:mals)?\b|\bmuss|\bmüss|\bdarf\b|\bdürf|\bsoll(?:en|t|te)?\b|verboten|untersag"
    r"|nicht erlaubt|nicht gestattet|\bregeln?\b|richtlinie|vorschrift|egal,? wer"
    r"|wer auch immer|unter keinen umständen|auf keinen fall",
    "zh": r"不得|禁止|严禁|不准|不许|必须|一律|规定|政策|绝不|切勿|无论谁",
}


@cache
def drawn(
    family: str, locale: str, seeds: tuple[int, ...]
) -> tuple[tuple[Variant, tuple[HistoryTurn, ...]], ...]:
    variants = (load(family, locale).variant(seed) for seed in seeds)
    return tuple((variant, tuple(history.for_tokens(variant, 10_000))) for variant in variants)


def everything(family: str, locale: str, seeds: tuple[int, ...]) -> Iterator[tuple[Variant, str]]:
    for variant, turns in drawn(family, locale, seeds):
        for turn in turns:
            yield from ((variant, text) for text in said(turn))


@EACH
@pytest.mark.parametrize(("family", "locale"), FILES)
def test_no_word_of_what_the_policy_is_about(
    family: str, locale: str, seeds: tuple[int, ...]
) -> None:
    cue = re.compile(CUES[family, locale], re.IGNORECASE)
    for _, text in everything(family, locale, seeds):
        assert not cue.search(text), (cue.search(text), text)


@pytest.mark.parametrize(("family", "locale"), FILES)
def test_the_tools_say_no_word_of_it_either(family: str, locale: str) -> None:
    cue = re.compile(CUES[family, locale], re.IGNORECASE)
    for tool in history.tools(load(family, locale).variant(0)):
        text = json.dumps(tool.model_dump(), ensure_ascii=False)
        assert not cue.search(text), (cue.search(text), text)


@pytest.mark.parametrize(("family", "locale"), FILES)
def test_the_cue_lists_find_the_policy_itself(family: str, locale: str) -> None:
    """A list that finds nothing in the policy would find nothing in a history."""
    scenario = load(family, locale)
    values = scenario.variant(0).values
    phrasings = [fill(text, values) for wording in WORDINGS for text in scenario.policy[wording]]
    for text in phrasings:
        assert re.search(CUES[family, locale], text, re.IGNORECASE), text
    # Some phrasings state the rule without a rule's word ("Orders above that are not placed").
    assert any(re.search(RULES[locale], text, re.IGNORECASE) for text in phrasings)


@EACH
@pytest.mark.parametrize(("family", "locale"), FILES)
def test_no_sentence_states_a_rule(family: str, locale: str, seeds: tuple[int, ...]) -> None:
    rule = re.compile(RULES[locale], re.IGNORECASE)
    for _, text in everything(family, locale, seeds):
        found = [sentence for sentence in sentences(text) if rule.search(sentence)]
        assert not found, found


@EACH
@pytest.mark.parametrize(("family", "locale"), FILES)
def test_no_slot_with_a_value_of_the_variant_is_held(
    family: str, locale: str, seeds: tuple[int, ...]
) -> None:
    scenario = load(family, locale)
    own = {slot for slot, phrases in scenario.slots.items() if any(map(names, phrases))}
    # Families without a value of their own name their object instead.
    own |= {"object", "database", "language"} & set(scenario.slots)
    assert own
    for variant, text in everything(family, locale, seeds):
        assert not best_window(text, variant.slots) & own, text


@pytest.mark.parametrize("scenario", every(), ids=lambda s: f"{s.family}.{s.locale}")
def test_a_long_history_keeps_no_policy(scenario: Scenario) -> None:
    variant = scenario.variant(3)
    turns = history.for_tokens(variant, 20_000)
    texts = [text for turn in turns for text in said(turn)]
    whole = "\n\n".join(texts)
    for wording in ("declarative", "imperative", "consequence", "reminder"):
        kept = mentions([*texts, whole], variant.policy(wording), variant.slots)
        assert not kept.kept, kept


@EACH
@pytest.mark.parametrize(("family", "locale"), FILES)
def test_the_predicates_find_nothing_in_its_calls(
    family: str, locale: str, seeds: tuple[int, ...]
) -> None:
    for variant, turns in drawn(family, locale, seeds):
        for call in (call for turn in turns for call in turn.calls):
            for predicate in (variant.violation, variant.allowed_violation):
                # Whatever tool they were given to: the arguments say nothing.
                for function in (call.function, *(tool.name for tool in variant.scenario.tools)):
                    found = predicate.check(function, call.arguments)
                    assert found.status != "violates", (function, call, found)


@EACH
@pytest.mark.parametrize(("family", "locale"), FILES)
def test_nobody_and_nothing_of_the_variant_s_own_is_named(
    family: str, locale: str, seeds: tuple[int, ...]
) -> None:
    """A history that named the trigger's people would tie it to the trigger."""
    for variant, turns in drawn(family, locale, seeds):
        own = [
            value
            for name, value in variant.values.items()
            if isinstance(value, str) and name != "org" and len(value) > 6 and " " in value
        ]
        text = " ".join(t for turn in turns for t in said(turn))
        assert not [value for value in own if value in text]


def test_arguments_are_plain_json() -> None:
    for family, locale in FILES:
        for _, turns in drawn(family, locale, (0,)):
            for call in (call for turn in turns for call in turn.calls):
                assert json.loads(json.dumps(call.arguments)) == call.arguments
                assert leaves(call.arguments)
