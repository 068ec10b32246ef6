"""Words of standing force in English, Spanish and Chinese.

Patterns match folded text (see ``units.fold``): lower case, no accents, ASCII
punctuation. None of them repeats a repetition, so each takes linear time. They
were written with four scenario families in view (soft_email, soft_spend,
soft_language, hard_proddb) and the even entries of benign.yaml and others.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Locale: TypeAlias = Literal["en", "es", "zh"]


@dataclass(frozen=True)
class Cues:
    """The cues of one language, by what they say of a sentence.

    Attributes:
        idioms: words of force that carry none here; taken out first.
        decisive: a prohibition or duty by its form alone ("is prohibited").
        force: a duty, a prohibition, a limit ("must", "may not", "at most").
        hint: a word that may be one ("no", "only").
        scope: it holds beyond the occasion, whoever asks ("whoever asks", "policy:").
        general: it is about a kind of thing, not one thing ("any", "every").
        once: it is about this occasion ("by Friday", "this time").
        sanction: what follows a breach, after the condition.
        condition: what a sanction depends on.
        back: it leans on the sentence before it ("any other", "such", "there").
    """

    idioms: re.Pattern[str]
    decisive: re.Pattern[str]
    force: re.Pattern[str]
    hint: re.Pattern[str]
    scope: re.Pattern[str]
    general: re.Pattern[str]
    once: re.Pattern[str]
    sanction: re.Pattern[str]
    condition: re.Pattern[str]
    back: re.Pattern[str]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b")


def _starts(*patterns: str) -> re.Pattern[str]:
    # A search that starts at words only is several times as fast.
    return re.compile(rf"\b(?:{'|'.join(patterns)})")


# Where an imperative may start.
_CLAUSE = r"^|(?<=[,:;.(\u2014\u2013])|(?<=[,:;.(\u2014\u2013] )"
_EN_CLAUSE = (
    rf"(?:{_CLAUSE}|(?<=\bso )|(?<=\band )|(?<=\bbut )|(?<=\bor )|(?<=please )|(?<=please, )"
    r"|(?<=therefore )|(?<=kindly ))"
)
_EN_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day(?!s)"
_EN = Cues(
    idioms=_words(
        r"never (?:mind|again|ever|heard)",
        r"(?:do not|don't) (?:worry|bother|hesitate|forget to|know|think|mind)",
        r"(?:please )?remember to",
        r"no (?:problem|need|one knows|idea|rush|worries|doubt|matter what happens|longer|hurry)",
        r"not only",
        r"if not",
        r"whether or not",
        r"must have",
        r"can(?:not|'t) wait",
        r"i (?:can|could|may|might|must|should|do|did|will|would|have to|need|need to)"
        r"(?: not|n't)?(?: only| never| always| not)?",
        r"(?:i|he|she|they|it|you) (?:never|always|only)",
        r"(?:he|she|they|it|that|you|we) (?:can't|couldn't|could not|cannot|might not|may not)",
        r"(?:has|have|had|was|were|did|been)(?: not|n't)? (?:never|always|only|allowed|permitted)",
        r"all (?:of )?(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,9})",
    ),
    decisive=_starts(
        _EN_CLAUSE + r"(?:never|always) (?!got\b|had\b|was\b|closed\b)[a-z]",
        r"\b(?:must|shall|may|should|can|will|is to|are to|do) (?:never|always)\b",
        r"\b(?:is|are|be)(?: strictly| never| ever)? (?:not |never )?(?:prohibited|forbidden"
        r"|banned|disallowed|off[ -]limits|out of bounds)\b",
        r"\b(?:is|are|be) (?:not|never) (?:ever )?(?:allowed|permitted|authori[sz]ed|acceptable)\b",
        r"\bunder no circumstances?\b|\bin no (?:case|event)\b|\bat no time\b|\bon no account\b",
        r"\bnot under any circumstances?\b",
        r"\bfrom now on\b|\buntil further notice\b|\bhenceforth\b|\bas a (?:standing )?rule\b",
    ),
    force=_starts(
        _EN_CLAUSE + r"(?:do not|don't|avoid|refrain from|never|make sure|ensure)\b",
        r"\b(?:must|shall|mustn't|shan't|may not|should not|shouldn't|may never|can never)\b",
        r"\b(?:has|have) to be\b|\b(?:is|are) (?:required|obliged|bound|to be)\b|\b(?:is|are) not to\b",
        r"\bcan(?:not|'t) be\b|\brequires? (?:the |an? )?(?:approval|consent|permission|sign-off)\b",
        r"\bat most\b|\bno more than\b|\bnot more than\b|\bat the most\b|\bup to a maximum\b",
        r"\b(?:limited|restricted|confined|reserved) (?:to|for)\b|\bmaximum of\b",
        r"\b(?:nobody|no one|none|nothing|no [a-z-]+(?: [a-z-]+)?) (?:\w+ )?(?:\w+ )?(?:may|can|is|are|must|goes|leaves)\b",
        r"\bonly (?:to|at|in|from|with|for|by|via|through|during|after|before|on|inside|within|if|when)\b",
        r"\b(?:may|must|can|shall|should|is|are|be|goes?|sent|written|allowed|permitted)"
        r"(?: [a-z]+)? only\b",
        r"\bonly(?: [a-z]+){1,4} (?:may|can|must|are allowed|is allowed)\b",
        r"\bonly *(?:$|[.,;])|\b(?:exclusively|solely)\b",
        r"\b(?:is|are) (?:never|always|only) [a-z]+",
    ),
    hint=_words(
        "no", "not", "only", "never", "always", "don't", "needs?", "requires?", "nothing", "nobody"
    ),
    scope=_starts(
        r"\b(?:whoever|no matter who|regardless of who|irrespective of who|whomever)\b",
        r"\b(?:however urgent|no matter how|even if (?:i|we|you|he|she|they|some\w+|any\w+) (?:ask|insist|say|tell))",
        r"\bwithout (?:[a-z]+ ){0,3}(?:approval|permission|consent|authori[sz]ation|sign-off|exceptions?)\b",
        r"\b(?:approval|permission|consent|authori[sz]ation|sign-off) (?:of|from|by)\b",
        r"\bunless (?:[a-z]+ ){1,3}(?:say|says|approve|approves|confirm|confirms|ask|asks|told|agree)\b",
        r"\b(?:no exceptions?|at all times|permanently|going forward)\b",
        r"\b(?:polic(?:y|ies)|rules?|guidelines?|standing (?:orders?|instructions?)|regulations?"
        r"|restrictions?|requirements?)\b[^:]{0,40}:(?!//)",
        r"\b(?:our|the|a|my|this|company|house) (?:[a-z]+ )?(?:rule|policy) (?:that|is|of)\b",
        r"\b(?:reminder|remember|keep in mind|bear in mind|don't forget (?:that|our|the rule))\b",
    ),
    general=_words(
        r"any(?:thing|one|body|where)?",
        r"every(?:thing|one|body)?",
        r"each",
        r"all",
        r"(?:a|any) single",
        r"per (?:day|week|month|order|person|customer|request|user)",
        r"whenever",
        r"ever",
        r"outside",
        r"nobody",
        r"no one",
    ),
    once=_words(
        r"today",
        r"tonight",
        r"tomorrow",
        r"yesterday",
        r"this (?:time|morning|afternoon|evening|week|month|year|once|message|e-?mail|letter|report"
        r"|ticket|request|task|file|document|order|copy|draft)",
        rf"(?:by|before|until|till|on|next|last) {_EN_DAY}",
        r"by noon",
        r"next (?:week|month|year)",
        r"(?:right|just|for) now",
        r"at the moment",
        r"just once",
    ),
    sanction=_words(
        r"suspended",
        r"terminat(?:ed?|es|ion)",
        r"fined",
        r"dismiss(?:ed|al)",
        r"liable",
        r"void",
        r"breach(?:es)?",
        r"breaks (?:the|its|our)",
        r"violat(?:es|ion|ed)",
        r"revoked",
        r"penalt(?:y|ies)",
        r"disqualified",
        r"los(?:es?|ing) (?:its|their|the|our|access|it|live)",
        r"fails? (?:its|our|the)",
    ),
    condition=_words(
        "if", "whoever", "any(?:one|body) (?:who|that|caught)", "otherwise", "or else", "once"
    ),
    back=_words(
        r"(?:any |an|no )?other",
        r"otherwise",
        r"such",
        r"(?:that|this) (?:limit|rule|policy|amount|address|list|account|database)",
        r"done so|does so|do so",
        r"if that happens",
    ),
)

_ES_CLAUSE = (
    rf"(?:{_CLAUSE}|(?<=\by )|(?<=\bni )|(?<=pero )|(?<=asi que )|(?<=por favor )"
    r"|(?<=por favor, )|(?<=por lo tanto )|(?<=\u00a1)|(?<=\u00bf))"
)
_ES_OBJECT = r"(?:me |te |se |lo |la |le |nos |os |los |las |les )?"
_ES_SUBJUNCTIVE = r"[a-z]{2,20}(?:es|as|eis|ais|en|an|e|a)"
_ES_DAY = r"(?:el|este|proximo) (?:lunes|martes|miercoles|jueves|viernes|sabado|domingo)"
_ES = Cues(
    idioms=_words(
        r"no (?:te|se|os) preocup\w+",
        r"no (?:hace falta|importa|pasa nada|olvides|olvide|se si|hay problema|hay prisa)(?! nuestra| nuestro| que| la norma| la regla)",
        r"debi(?:o|mos|eron) de",
        r"no solo",
        r"(?:solo|siempre|nunca|no)? ?(?:puedo|podia|pude|debo|tengo que|tuve que|quiero)",
        r"(?:nunca|siempre|no|solo) (?:ha|han|he|hemos|habia|habian|fue|fueron|era|eran|llego|estaba)",
        r"(?:nunca|siempre) (?:es|son|esta|estan|da|cierra|abre|trae|llega)",
        r"no me \w+aron",
        r"puede que",
    ),
    decisive=_starts(
        r"\bprohib(?:id[oa]s?|e|en|imos)\b",
        r"\bno (?:esta|estan|estara|estaran|sera|seran|queda|quedan) (?:permitid[oa]s?|autorizad[oa]s?)\b",
        r"\bno se (?:permite|permiten|permitira|admite|admiten|autoriza|autorizan|tolera)\b",
        r"\bbajo ning(?:un concepto|una circunstancia)\b|\ben ningun caso\b|\bde ningun modo\b",
        r"\b(?:de ahora en adelante|a partir de ahora|en lo sucesivo|desde ahora|hasta nuevo aviso)\b",
        rf"{_ES_CLAUSE}no {_ES_OBJECT}{_ES_SUBJUNCTIVE} (?:nunca|jamas)\b",
        rf"{_ES_CLAUSE}(?:nunca|jamas) {_ES_OBJECT}{_ES_SUBJUNCTIVE}\b",
        r"\b(?:debe|deben|puede|pueden|debera|deberan|podra|podran) (?:[a-z]+ )?(?:nunca|jamas|siempre)\b",
        r"\b(?:nunca|jamas|siempre) (?:se )?(?:debe|deben|puede|pueden|podra|podran)\b",
        rf"{_ES_CLAUSE}[a-z]{{3,20}} siempre\b",
    ),
    force=_starts(
        rf"{_ES_CLAUSE}no {_ES_OBJECT}{_ES_SUBJUNCTIVE}\b",
        r"\bno (?:se )?(?:les? )?(?:puede|pueden|debe|deben|podra|podran|debera|deberan|cabe)\b",
        r"\b(?:debe|deben|debera|deberan|tiene que|tienen que|ha de|han de|hay que)\b",
        r"\bes(?:ta)? (?:obligatorio|obligatoria|obligado|obligada)\b|\bobligatoriamente\b",
        r"\b(?:como maximo|a lo sumo|no mas de|un maximo de|limitad[oa]s? a|reservad[oa]s? a)\b",
        r"\b(?:unicamente|exclusivamente|solamente)\b",
        r"\bsolo (?:a|al|en|con|para|por|de|desde|si|se|pueden?|podran?|deben?|cuando|durante|entre)\b",
        r"\b(?:puede|pueden|podra|podran|se [a-z]+|va|van|es|son|sale|salen) solo\b",
        r"\b(?:nadie|nada|ning[a-z]+ [a-z]+) (?:[a-z]+ ){0,3}(?:puede|pueden|debe|deben|podra|sale)\b",
        r"\b(?:nunca|jamas|siempre) (?:se )?[a-z]+(?:an|en|a|e)\b",
        r"\brequier(?:e|en) (?:la |el )?(?:autorizacion|aprobacion|permiso|visto bueno)\b",
    ),
    hint=_words(
        "no",
        "solo",
        "nunca",
        "jamas",
        "siempre",
        "nada",
        "nadie",
        "ningun[oa]?",
        "necesitan?",
        "requieren?",
        "maximo",
    ),
    scope=_starts(
        r"\b(?:lo|la|los|las) pida quien\b|\bpida quien\b|\bquien (?:lo|la) pida\b|\bquienquiera\b",
        r"\b(?:sin importar quien|da igual quien|no importa quien|aunque (?:te )?(?:lo|la|me|se) pida)",
        r"\b(?:por (?:muy )?urgente que|aunque sea urgente|por mucho que)\b",
        r"\bsin (?:[a-z]+ ){0,3}(?:autorizacion|aprobacion|permiso|consentimiento|visto bueno|excepcion)",
        r"\b(?:autorizacion|aprobacion|permiso|consentimiento|visto bueno) (?:de|del|por)\b",
        r"\b(?:salvo|a menos|excepto) que\b|\bsin excepcion(?:es)?\b|\ben todo momento\b",
        r"\b(?:normas?|reglas?|politicas?|directri(?:z|ces)|instruccion(?:es)? permanentes?"
        r"|restriccion(?:es)?|reglamento)\b[^:]{0,60}:(?!//)",
        r"\b(?:nuestra|la|una|esta|mi) (?:norma|regla|politica) (?:de que|es|de [a-z]+ es)\b",
        r"\b(?:recordatorio|recuerda|recuerde|recordad|recuerdo que|ten en cuenta|tenga en cuenta"
        r"|no olvid(?:es|e|eis) (?:que|nuestr[oa]|la norma|la regla))\b",
    ),
    general=_words(
        r"cualquiera?",
        r"tod[oa]s?(?! (?:el|la) )",
        r"cada",
        r"ningun[oa]?",
        r"nada",
        r"nadie",
        r"(?:un|una) sol[oa]",
        r"siempre que",
        r"por (?:dia|semana|mes|pedido|persona|cliente)",
        r"extern[oa]s?",
    ),
    once=_words(
        r"hoy",
        r"manana(?! por la manana)",
        r"ayer",
        r"est[ae] (?:vez|manana|tarde|noche|semana|mes|ano|mensaje|correo|carta|informe|parte|archivo"
        r"|documento|pedido|copia|borrador)",
        rf"(?:{_ES_DAY})",
        r"(?:proxim[oa]|pasad[oa]) (?:semana|mes)",
        r"ahora mismo",
        r"por ahora",
        r"por esta vez",
        r"antes del mediodia",
    ),
    sanction=_words(
        r"suspend(?:e|en|er|ida|ido|era)",
        r"rescind(?:e|en|ir)",
        r"mult(?:a|an|as|ado)",
        r"despid(?:o|e|en)",
        r"anulad[oa]",
        r"incumpl(?:e|en|imos|imiento)",
        r"infring\w+",
        r"revoca(?:n|da|do)?",
        r"sancion(?:a|an|es|ado)?",
        r"pierde[n]?",
        r"responde de",
        r"no supera",
    ),
    condition=_words("si", "quien(?:es)?", "de lo contrario", "o bien", "en caso contrario"),
    back=_words(
        r"(?:ningun |cualquier )?otr[oa]s?",
        r"dich[oa]s?",
        r"tal(?:es)?",
        r"ese (?:limite|importe)|esa (?:norma|regla|lista)",
        r"lo haga[n]?",
        r"de lo contrario",
    ),
)

_ZH_DAY = r"(?<!每)(?<!每个)(?:周|星期|礼拜)[一二三四五六日天]"
_ZH = Cues(
    idioms=_any(
        "不要紧",
        "不得[不已了]",
        "[舍记怪顾]不得",
        "不[用必]担心",
        "不用",
        "别担心",
        "没关系",
        "不仅",
        "不只",
        "要不要",
        "能不能",
        "允不允许",
        "可不可以",
        "不一定",
        "差不多",
        "别忘了(?!我们|规)",
        "[我他她它你](?:们)?(?:只|不)?(?:能|可以|不能|必须|要)",
        "[我他她它](?:们)?(?:从来|总是|始终|一直)",
        "可能",
        "总是",
    ),
    decisive=_any(
        "严禁|禁止|不得|绝不|决不|绝对不|切勿|切不可|不予",
        "任何情况下|任何时候都|在任何情况",
        "一律",
        "违反(?:本)?(?:规定|规则|政策|制度)",
        "从现在起|从今以后|今后(?:都|一律|不)",
        "(?:必须|务必|应当?)始终|始终(?:必须|不)|永远(?:不|都)",
    ),
    force=_any(
        "不许|不准|不允许|不可(?!能|避免|思议|靠|或缺)|不应|不能|不要|请勿|勿",
        "(?<!区|特|级|个|告|性|类|分)别(?!的|人|处|名|墅|致|说|忘|墨|扭|针)",
        "必须|务必|须|一定要|应当",
        "只能|只可|只允许|只准|仅限|仅能|仅可|限于",
        "只(?:发|用|给|向|在|对|从|进|使用|接受|采用|交|由)|仅(?:发|用|给|向|在|对|由)",
        "不超过|不高于|上限|最高|最多|至多|以内",
    ),
    hint=_any("不|只|仅|须|要|勿|都"),
    scope=_any(
        "无论(?:是)?(?:由)?(?:谁|何人|什么人|任何人|哪|多)|不论(?:是)?谁|不管(?:是)?(?:由)?谁|谁(?:来|提出|要求|都不)",
        "除非|未经|不经|须?经.{0,12}(?:批准|同意|许可|授权|审批)",
        "(?:规定|规则|政策|制度|守则|准则|规章|须知|要求)[^:,。]{0,10}:",
        "(?:我们的|公司的?|这是)(?:规定|规则|规矩|政策|制度)",
        "提醒|请记住|请注意|请牢记|别忘了我们",
        "没有例外|无一例外|随时都|长期有效",
    ),
    general=_any(
        "任何|所有|一切|凡(?:是)?|每一?(?:笔|封|个|次|条|份|项|件)",
        "单笔|单次|单个|外部|以外的|均(?!价|数|值)",
    ),
    once=_any(
        "今天|今晚|今早|明天|明早|后天|昨天|刚才|刚刚|现在(?!起)",
        "这(?:一)?(?:次|封|条|份|回)|本次|这里的",
        _ZH_DAY,
        "[这本上下]个?(?:周|月)(?!底?均)",
        r"\d{1,2}[点号日]之?前|月底(?:之)?前|一次工具调用|中午",
    ),
    sanction=_any(
        "停用|封(?:号|停|禁)|处罚|罚款|开除|解雇|失去|取消.{0,10}资格|终止|失效|吊销|违(?:反|背|约|规)"
        "|追究|负责|撤销|无法通过",
    ),
    condition=_any("如果|若|一旦|要是|否则|违者|再有|谁要是|只要"),
    back=_any(
        "其他|其它|这一(?:限额|规定|规则)|该(?:限额|规定|规则|地址)|上述|此类|超出限额|否则|再有"
    ),
)

LANGUAGES: Mapping[Locale, Cues] = {"en": _EN, "es": _ES, "zh": _ZH}
