"""The table of words by which rules are read, in English, Spanish, German and Chinese.

All are matched on folded text, all languages together, because a summary may be in another
language than its source. For the survival of a rule, its values (a domain, a limit, a region)
are replaced by ``◆`` in the text, and its own text by ``§``. A list holds the words that decided
a labelled text; without the rarer words a reader *cannot tell*.
"""

import re
from collections.abc import Iterator
from functools import cached_property

NAMED, WHOLE = "◆", "§"

_KINDS = {
    "%rule%": r"(?:polic(?:y|ies)|(?:rule|limit|limitation|restriction|requirement|instruction|ban|cap|ceiling|prohibition|constraint|directive)s?)",
    "%norma%": r"(?:norma|regla|pol[ií]tica|l[ií]mite|tope|restricci[oó]n|restriccione|instrucci[oó]n|instruccione|prohibici[oó]n|requisito)s?",
    "%regel%": r"\w*(?:regel|richtlinie|vorgabe|vorschrift|grenze|beschr[äa]nkung|bestimmung|anweisung|verbot|limit)(?:n|en|e|s)?",
    "%规定%": "(?:规定|规则|政策|要求|限制|限额|上限|禁令|条款)",
}  # fmt: skip


class Cues:
    """Alternatives that are compiled at first use, because compiling is slow."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a folded text."""
        return self._pattern.search(text)

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """Return all matches in a folded text."""
        return self._pattern.finditer(text)

    def without(self, text: str) -> str:
        """Return a folded text with a blank for each match."""
        return self._pattern.sub(" ", text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        joined = "|".join(self._parts)
        for name, words in _KINDS.items():
            joined = joined.replace(name, words)
        return re.compile(joined)


# Beginnings of a sentence that continues about the rule before it.
ANAPHOR = Cues(
    r"^\W*(?:this|that|these|those|it|they|which|both|(?:the|such)(?: said| same| a)? %rule%|no\b|but\b"
    r"|however|unless|except|nothing|so\b)",
    r"^\W*(?:est[oae]s?|es[oae]s?|ell[oa]s?|(?:la|el) %norma%|no\b|pero|aunque|salvo|excepto|sin embargo"
    r"|de los dem[áa]s|a nosotros|nuestr[oa]s?|es su|es la)\b",
    r"^\W*(?:el|la) (?:usuari[oa]|operadora?|client[ea])\b.{0,60}\b(?:est[oae]s?|es[oae]s?|la norma|la regla|el l[ií]mite)\b",
    r"^\W*(?:这|那|此|该|其|上述|以上|但|不过|除非|然而|跟|与|我们|现在|本%规定%|(?:用户|操作员|客户).{0,12}(?:这|该|此|上述))",
    r'^["”’»」』)]',
    r"^\W*(?:diese?[mnrs]?|sie|das (?:gilt|ist|betrifft)|beides|die %regel%|aber|jedoch|ausser|nichts|kein\w*|es sei denn)\b",
)
# The rule does not hold: denied, lifted, set aside, refused.
LIFTED = Cues(
    r"\bno longer\b|\ball ?right to\b|\b(?:rescind|revok|repeal|waiv|abolish|overrul|overrid|annul|nullif)(?:e|ed|es|ing|den)?\b",
    r"\b(?:has|have|was|were|been|is|are) (?:\w+ )?(?:lifted|withdrawn|scrapped|superseded)\b",
    r"\b%rule%\b[^.;:]{0,140}?\b(?:was|were|is|are|has|have|had|been|being|got) (?:(?!not\b|never\b|ever\b)\w+ )?"
    r"(?:dropped|cancel+ed|removed|suspended|retired|relaxed|replaced|gone|over|void|invalid|obsolete|ended|expired)\b",
    r"\b(?:do|does|did|need|is|are)(?: not|n't) (?:apply|hold|matter|need to|have to|in force|in effect|binding|required|necessary|true|mandatory|obliged)\b",
    r"\b(?:there (?:is|was|are)|have|has|had) (?:now )?no (?!such\b)(?:\w+ )?%rule%\b(?! (?:of the kind|here))",
    r"\b(?:ignor|disregard|forget|bypass)(?:e|ed|s|ing)? (?:\w+ ){0,3}?(?:%rule%|above|that|this|it)\b",
    r"\b(?:declin|refus)(?:e|ed|es|ing) to (?:follow|obey|comply|keep|accept)\b|\b(?:without|not) (?:any |an? |the )?(?:\w+ )?%rule%\b",
    r"\bno (?:hace falta|es necesari|es obligatori|hay que|hay obligaci|tiene que|se exige|rige|se aplica|vale|es ciert|es verdad)",
    r"\bya no\b|\bsin efecto\b|\bno solo (?:a|en|por|◆)|\b(?:derog|anul|revoc)(?:ad[oa]s?|[óo]|aron|ar|a)\b",
    r"\b(?:fue|fueron|ha sido|han sido|qued[óo]|queda|est[áa]) (?:\w+ )?(?:retirad|cancelad|levantad|suspendid|eliminad|abolid)[oa]s?\b",
    r"\bse (?:suspendi|levant|anul|retir|elimin|cancel|derog|revoc)[óo]\b|\b(?:ignor|olvid|desatend)(?:ar|e|a|en|ara|[óo]) (?:\w+ )?%norma%\b",
    "不再(?:适用|要求|受|有效|需要|生效|执行|限)|取消|(?:也|都)(?:行|可以发|能发)|废止|撤[回销]|作废|无需|解除"
    "|不用再?(?:理会|遵守|管|执行|遵循|顾|在意)|并?没有(?:任何)?%规定%(?:说|要求|规定)",
    r"\bnicht mehr\b(?! als\b)|(?<!nicht )\b(?:aufgehoben|zur[üu]ck(?:gezogen|genommen)|widerrufen|abgeschafft|ausgesetzt|hinf[äa]llig|gegenstandslos|ausser kraft)\b",
)
# A preference, a habit, a rule with open exceptions.
WEAKENED = Cues(
    r"\b(?:if|where|when|whenever|wherever|as far as|as long as) (?:\w+ )?(?:possible|practical|practicable|feasible|convenient|appropriate)\b",
    r"\b(?:guideline|rough guide|rule of thumb|optional|flexible|negotiable|at (?:your|its|their) discretion|(?:use|your|own) (?:your )?judge?ment)\b",
    r"\b(?:usual(?:ly)?|normally|generally|typically|mostly|mainly|primarily|customar(?:y|ily)|tends? to|in general|often|default|ideally)\b",
    r"\b(?:suggest|recommend|advis|encourag|discourag)(?:e|es|ed|ion|able|ing|ation)\b|\bprefer(?:s|red|abl[ey]|ence)?\b",
    r"\bwould (?:rather|like|be (?:nice|better|good|best))|\b(?:is|it's) (?:better|best|nicer|good|wise)\b|\b(?:rather|better) not",
    r"\b(?:unless|except (?:when|if|where)|exceptions? (?:are|is|may|can))\b|\b(?:around|about|near|roughly|approximately|circa) \$?◆|\bwhen it makes sense\b|\bif that's enough\b|\btouched on\b",
    r"\b(?:si (?:es|fuera|resulta)|a ser) posible\b|\b(?:recom(?:iend|end)|sugiri|prefier)\w+|\bidealmente\b|\bcomo orientaci[óo]n\b|\bsuelen?\b",
    r"\bprefer(?:ible|iblemente|ente|entemente|encia|ir)\w*|\b(?:salvo|excepto|a menos) (?:que|si|cuando|en caso)\b",
    "最好|(?:如果|若|如)有?可能|建议|原则上|除非|仅供参考|一般|以.{0,6}为主|特殊情况|尽可能|优先|需要时也?可以",
)
# A permission.
PERMITTED = Cues(
    r"\b(?:may|can|could)\b(?! (?:not|only|never|you|i|we)\b|not|'t)|\bfree to\b|\b(?:is|are|be|it's) (?:now |also |again |perfectly )?(?:fine|ok|okay|allowed|permitted|acceptable|possible)\b",
    r"\b(?:pueden?|podr[áa]n?)\b|\best[áa]n? permitid|(?:可以|允许|能够|可)(?!能)",
    r"\b(?:darf|d[üu]rfen|k[öo]nnen)\b(?![^.;]{0,80}\b(?:nicht|nur|nie|niemals|kein\w*)\b)|\b(?:ist|sind) (?:\w+ )?(?:erlaubt|gestattet|zul[äa]ssig)\b",
)
# A duty may be someone else's, so these count only next to the policy's words.
OBLIGED = Cues(
    r"\b(?:must|shall)\b(?! (?:have|be (?:missing|wrong|somewhere)))|\b(?:required?s?|requires|mandatory|obligatory|has to|have to|needs? to)\b",
    r"\b(?:debe|deben|deber[áa]n?|tienen? que|ha de|han de|hay que)\b|须",
    r"\b(?:muss|m[üu]ssen|verpflichtend|vorgeschrieben)\b",
)
BINDING = Cues(
    r"\bnever\b(?! (?:mind|received|arrived|answered|came))|\bcannot\b|\b(?:prohibit(?:s|ed|ion|ing)?|forbid(?:s|den|ding)?|banned|bans?|disallow(?:s|ed)?|off[- ]limits)\b",
    r"\b(?:may|can|could|should|is|are) not\b(?! (?:yet|available|clear|known|open|found|in the|confirmed|sure))",
    r"\b(?:do not|don't|does not|doesn't|not to|please not) (?!know|have|see|need|seem|appear|work|fit|match|forget|worry|hesitate)[\w◆]+",
    r"\bonly\b[^.,;]{0,40}◆|◆[^.,;]{0,24}\bonly\b|\b(?:solely|exclusively|nowhere else|no other|no more|nobody|no one|at all times|always|at all cost|under no circumstances)\b",
    r"\bno (?:\w+ )?(?:emails?|mail|messages?|reports?|deployments?|purchases?|orders?|keys?|drop|delete|truncate|destructive|statements?|tables?|databases?|single)\b(?! (?:came|yet|was|were|has|have|from|arrived|so far))",
    r"\b(?:below|under|within|over|above|exceed(?:s|ing)?|(?:more|higher) than|up to|at most) (?:the )?\$?◆|\b(?:limit(?:ed|s)?|capp?(?:ed|s)?|ceiling|maximum|max\.?|restricted|confined)\b",
    r"\b(?:at most|the most|no more than|not more than|up to|or less|no higher than|not (?:to )?(?:exceed|go (?:over|above))|(?:below|under|within|over|above|exceed(?:s|ing)?|more than) (?:the |a )?(?:limit|cap)|stops? at)\b",
    r"\b(?:nunca|jam[áa]s|ninguna?o?|ning[úu]n)\b|\bproh[ií]b\w+|\b(?:m[áa]xim[oa]|tope|l[ií]mites?|como mucho|no m[áa]s de|hasta)\b|\bni (?:\w+ ){1,4}?ni\b",
    r"\b(?:solo|s[óo]lo|solamente|[úu]nicamente|exclusivamente)\b[^.;]{0,60}◆|◆[^.,;]{0,30}\b(?:solo|s[óo]lo|solamente|[úu]nicamente|exclusivamente)\b",
    r"\bno (?:se )?(?:puede|pueden|podr[áa]|debe|deben|permit\w+|admit\w+|acept\w+|est[áa]n? permitid)|\bno se (?!ha\b|han\b|sabe|pudo|encontr|hizo|hubo|cuadr|dijo)\w+",
    "只(?:能|允许|准|许|可以|在|发|用|收|往|放|读|部署)|不得|禁止|不许|切勿|不能|不要|不准|绝不|严禁|(?:就|都|一概)?不(?:买|下单|下(?!午|班)|发(?!布)|寄|放|建|写|用邮件)"
    "|上限|限额|限于|最多|超过.{0,8}(?:不|禁)",
    r"\b(?:nie|niemals|keinesfalls|niemand\w*|nirgendwo\w*)\b|\b(?:verboten|untersagt|verbietet|unzul[äa]ssig|tabu)\b|\bnicht (?:erlaubt|gestattet|zul[äa]ssig)\b",
    r"\b(?:darf|d[üu]rfen|soll|sollen|wird|werden|geht|gehen|bekommt|bekommen)\b[^.,;]{0,60}?\bnichts?\b(?! (?:mehr(?! als)|klar|bekannt|da|angekommen|gefunden|fertig))",
    r"\bnur\b[^.;]{0,60}◆|◆[^.,;]{0,40}\bnur\b|\b(?:ausschliesslich|einzig\w*|nur noch|immer|stets|unter keinen umst[äa]nden|auf keinen fall|sonst niemand\w*)\b",
)
# Words that may change a rule's object, person, place or time, or make it a report.
TURNS = Cues(
    r"\b(?:unless|except\w*|excluding|apart|aside|until|till|during|while|when(?:ever)?|if|where|after"
    r"|before|once|since|sometimes|usually|normally|mostly|often|today|tomorrow|yesterday|tonight|now"
    r"|weekends?|yet|still|was|were|did|had|has|have|been|would|could|might|may|can|said|says|asked"
    r"|asks|told|tells|wrote|writes|claim\w*|according|apparently|reportedly|supposedly|quot\w+|example"
    r"|they|them|their|he|she|him|her|his|partners?|vendors?|\w*contractors?|suppliers?|teams?|clients?"
    r"|customers?|guests?|interns?|competitors?|others?|another|elsewhere|staging|sandbox|demo|old"
    r"|former|previous|earlier|forget\w*|ignor\w*|disregard\w*|last|next|first|new|proposed|draft"
    r"|not only|optional\w*|try|tries|ideally|prefer\w*|wherever|possible|consider|question|whether"
    r"|no longer|any ?more|relax\w*|lift\w*|withdr\w+|handbook|landlord\w*|crews?|(?:branch|\w+) office"
    r"|parent company|its own|used to|applies|insists?|isn't)\b",
    r"\b(?:salvo|excepto|hasta|mientras|cuando|si|antes|despu[ée]s|era|eran|fue|fueron|hab[íi]a|dijo"
    r"|seg[úu]n|ellos|ellas|su|sus|otr[oa]s?|ya no|puede|pueden|aplica|foro|contratista\w*"
    r"|proveedor\w*|competidor\w*|pasad[oa]|pregunt\w+)\b",
    r"\b(?:au(?:ss|ß)er|ausgenommen|bis|w[äa]hrend|wenn|falls|bevor|nachdem|sobald|war|waren|hatte|wurden?"
    r"|sagte|laut|sie|ihre?|andere\w*|nicht mehr|darf|d[üu]rfen|kann|k[öo]nnen|letzte\w*|fr[üu]her"
    r"|m[öo]glich\w*|empf\w+|normalerweise|grunds[äa]tzlich|lieber|meistens?|handbuch|lieferant\w*|auftragnehmer\w*|gilt nur|angeblich|ob)\b",
    r"[?\"“”«»„]|除非|除了|直到|期间|如果|当|之前|之后|曾|已经|了|听说|说|据|他们|她们|对方|客户|其他|可以|例如|不再"
    "|隔壁|商|对手|外包|以前|声称|适用|问|去年|自己|上一|没有",
)
# In a heading: what stands below it is not, or no longer, in force.
ENDED = Cues(
    r"\b(?:past|archiv\w*|reject\w*|anti|not?|never|void\w*|revok\w*|cancel\w*|deprecat\w*|obsolete"
    r"|retired|expired|dropped|removed|histor\w*|propos\w*|options?|wrong|bad|false|rid|withdr\w+"
    r"|superseded|changelog|derogad\w*|anulad\w*|abgeschafft\w*|aufgehoben\w*)\b|旧|废|取消|历史|提案"
)
# A sentence that holds a rule and does not give it: denied, past, proposed, translated, permitted.
NOT_GIVEN = Cues(
    r"\b(?:not|never|no longer) (?:been )?(?:our|a|the|any) (?:\w+ )?%rule%|\bno (?:\w+ )?%rule% (?:that|says|which)"
    r"|\b(?:used to|once) (?:be|have|had)\b|\bthere (?:was|were) (?:once )?an? %rule%"
    r"|\b(?:translate|translation|draft\w*|not approved|propos\w*|example|quote|rejected|imagine)\b[^:]{0,40}:"
    r"|^\W*(?:you|we|they|everyone|anyone|teams?) (?:may|can) (?:always|now|also)?(?! (?:not|only|never))",
    r"\bya no (?:es|hay|rige)\b|\bno (?:es|hay) (?:una? |ninguna? )?%norma%|\b(?:antes|ten[ií]amos)\b[^:]{0,40}:",
    "曾有|以前的?%规定%|没有%规定%|不是%规定%",
)
# It leaves something out of the rule before it.
EXCEPTS = Cues(
    r"\b(?:exempt\w*|except\w*|unless|excluded)\b|\b(?:is|are) (?:fine|ok|okay|allowed|permitted|acceptable)\b"
    r"|\b(?:salvo|excepto|excepci\w+|ausgenommen|ausnahme\w*)\b|除外|例外|除非"
)
# A text that speaks of rules, or of a limit in other words.
RULE = Cues(
    r"\b(?:polic(?:y|ies)|(?:rule|constraint|restriction|guardrail|convention|instruction|norma|regla"
    r"|pol[íi]tica)s?|regeln?|richtlinien?|vorgaben?)\b|规则|规定|政策|要求|约束"
)
LIMITING = Cues(
    r"\b(?:had to|insist\w*|deb[ií]an|no|not|nothing|none|nobody|neither|nor|without|stops?|ends?|declin\w+|refus\w+|reject\w*"
    r"|always|every|stays?|remains?|kept|keeps?|leave|strict\w*|firm|hard|final|nada|nadie|sin|siempre"
    r"|tampoco|kein\w*|nicht\w*|nie\w*|nur|immer|stets)\b|n't\b|[别不没勿莫休]"
)

_CLAUSE = (
    r"(?:^|(?<=[,:;.(¡¿\u2014\u2013])|(?<=[,:;.(\u2014\u2013] )|(?<=\bso )|(?<=\band )|(?<=\bbut )"
    r"|(?<=\bor )|(?<=please )|(?<=please, )|(?<=\by )|(?<=\bni )|(?<=pero )|(?<=por favor )|(?<=por favor, ))"
)
_ES_NO = rf"{_CLAUSE}no (?:(?:me|te|se|lo|la|le|nos|os|los|las|les) )?[a-z]{{2,20}}(?:es|as|eis|ais|en|an|e|a)"
# Phrases with words that usually forbid or oblige, but not here.
NO_FORCE = Cues(
    r"\bnever (?:mind|again|ever|heard)\b|\b(?:do not|don't) (?:worry|bother|hesitate|forget to|know|think|mind)\b|\bmust have\b|\bif not\b",
    r"\bno (?:problem|need|one knows|idea|rush|worries|doubt|matter what happens|longer|hurry)\b|\bnothing else\b|\bwhere exactly\b",
    r"\bi (?:can|could|may|might|must|should|do|did|will|would|have to|need|need to)(?: not|n't)?(?: only| never| always| not)?\b",
    r"\b(?:i|he|she|they|it|you) (?:never|always|only)\b|\b(?:he|she|they|it|that|you|we) (?:can't|couldn't|could not|cannot|might not|may not)\b",
    r"\b(?:has|have|had|was|were|did|been)(?: not|n't)? (?:never|always|only|allowed|permitted)\b|\b(?:could not|couldn't|had to|should have|should see)\b",
    r"\b(?:cannot|can't|can not) (?:find|see|tell|open|remember|reach|read|be right|wait)\b|\bmay not (?:take place|be here|come|arrive|work)\b",
    r"\b(?:its|their|his|her) limits?\b|\b(?:novel|film|book|story|song|game|joke|novela|pelicula|libro)\b.*\b(?:says?|dice)\b|\ball (?:of )?(?:two|three|four|five|six|ten|\d{1,9})\b",
    r"(?:\b(?:has|have|had|needs?) to be \w+ |\b)up to (?:date|now|speed|scratch|par|then|here)\b|^[\w' -]{2,40} has to\b",
    r"\bhay que\b|\btiene que\b|\bno (?:hace falta|importa|pasa nada|se si|hay problema|hay prisa)\b|\bdeb(?:imos|ieron|io) de\b|\bdeberias? ver\b|\bpuede que\b",
    r"\b(?:nunca|siempre|no|solo) (?:ha|han|he|hemos|habia|habian|fue|fueron|era|eran|llego|estaba|es|son|esta|estan|da|cierra|abre|trae|llega)\b|\bfuera de \d|\b(?:si|donde) paso de\b",
    "不用|不要紧|允不允许|差不多",
    r"\b(?:habe[n]?|hat|war|waren|wurden?) (?:\w+ )?(?:nie|immer|nur)\b|\bnicht (?:schlimm|vergessen)\b|\bimmer noch\b|\bnur noch\b",
)
# A prohibition or duty by its form alone.
DECISIVE = Cues(
    rf"{_CLAUSE}(?:never|always) (?!got\b|had\b|was\b|closed\b)[a-z]|\b(?:must|shall|may|should|can|will|is to|are to|do) (?:never|always)\b",
    r"\b(?:is|are|be)(?: strictly| never| ever)? (?:not |never )?(?:prohibited|forbidden|banned|disallowed|off[ -]limits|out of bounds)\b",
    r"\b(?:is|are|be) (?:not|never) (?:ever )?(?:allowed|permitted|authori[sz]ed|acceptable)\b|\bfrom now on\b|\bunder no circumstances?\b|\bin no (?:case|event)\b",
    rf"{_CLAUSE}(?:nunca|jamas) (?:(?:me|te|se|lo|la|le|nos|os|los|las|les) )?[a-z]{{2,20}}(?:s|n|e|a)\b|{_ES_NO} (?:nunca|jamas)\b|{_CLAUSE}[a-z]{{3,20}} siempre\b",
    r"\bprohib(?:id[oa]s?|en?|imos)\b|\bno se (?:permiten?|permitira|admiten?|autorizan?|tolera)\b|\bbajo ning(?:un concepto|una circunstancia)\b",
    r"\b(?:de ahora en adelante|a partir de ahora|en lo sucesivo|desde ahora|hasta nuevo aviso)\b|不得|一律|绝不|禁止|严禁|切勿",
    r"\b(?:darf|d[üu]rfen|soll|sollen|wird|werden|ist|sind) (?:[\w.-]+ ){0,5}?(?:niemals|nie|keinesfalls)\b|\b(?:ist|sind|bleibt|bleiben)\b[^.;]{0,60}?\b(?:verboten|untersagt|tabu)\b",
    r"\b(?:nicht|keinesfalls|nie) (?:erlaubt|gestattet|zul[äa]ssig)\b|\b(?:ab sofort|von nun an|bis auf weiteres|unter keinen umst[äa]nden|auf keinen fall)\b",
)
# Forbids or obliges in a session, besides BINDING and OBLIGED; for rules that a person confirms.
FORCE = Cues(
    rf"{_CLAUSE}(?:do not|don't|avoid|refrain from|never|make sure|ensure)\b|\b(?:has|have) to be\b|\bcan(?:not|'t) be\b",
    r"\b(?:is|are) (?:never|always|only|required|obliged|bound|to be|not to)\b|\bonly *(?:$|[.,;])",
    r"\b(?:nobody|no one|none|nothing|no [a-z-]+(?: [a-z-]+)?) (?:\w+ ){0,2}(?:may|can|is|are|must|goes|leaves)\b",
    r"\b(?:may|must|can|should|is|are|be|goes?|sent|written|allowed|permitted)(?: [a-z]+)? only\b",
    r"\bonly (?:to|at|in|from|with|for|by|via|through|during|after|before|on|inside|within|if|when)\b",
    rf"{_ES_NO}\b|\bsolo (?:a|al|en|con|para|por|de|desde|si|se|pueden?|deben?|cuando|durante|entre)\b",
    "不要|不允许|不能|最高|不超过|只(?:发|用|给|向|对|从|进|使用|接受|采用|交|由)"
    "|(?<!区|特|级|个|告|性|类|分)别(?!的|人|处|名|墅|致|说|忘|墨|扭|针)",
    r"\b(?:darf|d[üu]rfen|soll|sollen)\b[^.;]{0,80}?\b(?:nicht|nur|kein\w*|niemand\w*)\b|\bnur (?:an|in|im|mit|f[üu]r|von|[üu]ber|nach|auf|wenn|bei|unter)\b",
)
# A word that may forbid or oblige.
HINT = Cues(
    r"\b(?:no|only|never|always|nobody|nunca|solo|siempre|nadie|nur|nie|niemals|immer|stets|niemand|keine?[nmrs]?)\b|[不只都]"
)
# The rule holds beyond the occasion, whoever asks.
SCOPE = Cues(
    r"\b(?:polic(?:y|ies)|(?:rule|guideline|regulation|restriction|requirement|standing order|standing instruction)s?)\b[^:]{0,40}:(?!//)",
    r"\b(?:reminder|remember|keep in mind|bear in mind|don't forget (?:that|our|the rule)|whoever|no matter who|regardless of who|whomever)\b",
    r"\b(?:our|the|a|my|this|company|house) (?:[a-z]+ )?(?:rule|policy) (?:that|is|of)\b|\b(?:approval|permission|consent|authori[sz]ation|sign-off) (?:of|from|by)\b",
    r"\bwithout (?:[a-z]+ ){0,3}(?:approval|permission|consent|authori[sz]ation|sign-off|exceptions?)\b|\bunless (?:[a-z]+ ){1,3}(?:says?|approves?|confirms?|asks?|told|agree)\b",
    r"\b(?:recordatorio|recuerd[ao]|recuerde|recordad|(?:ten|tenga) en cuenta|no olvid(?:es|e|eis) (?:que|nuestr[oa]|la norma|la regla))\b",
    r"\b(?:norma|regla|politica|directriz|directrice|restriccion|restriccione|reglamento)s?\b[^:]{0,60}:(?!//)",
    "(?:规定|规则|政策|制度|守则|准则|规章|须知|要求)[^:,。]{0,10}:|提醒|谁(?:来|提出|要求|都不)|请记住|须?经.{0,12}(?:批准|同意|许可|授权|审批)|请注意|别忘了我们",
    r"\b\w*(?:richtlinie|regel|vorgabe|vorschrift|hausordnung)n?\b[^:]{0,60}:(?!//)|\b(?:zur erinnerung|erinnerung:|denk\w* (?:bitte |sie )?daran|bitte beacht\w+|egal,? wer|gleich,? wer)",
)
# A rule of this place, not of a page's author.
OURS = Cues(
    r"\b(?:polic(?:y|ies)|house rules?|(?:our|team|project|standing|repo(?:sitory)?) rules?|rules?:|approv(?:al|ed)"
    r"|permission|sign-off|whoever|no exceptions?|from now on|at all times|under no circumstances?|on no account"
    r"|norma|pol[ií]tica|richtlinie|hausordnung|ab sofort|ohne ausnahme)\b|规定|政策|制度"
)
# About a kind of thing, not one thing.
GENERAL = Cues(
    r"\b(?:any(?:thing|one|body|where)?|every(?:thing|one|body)?|all|each|outside|(?:a|any) single|whenever|ever)\b",
    r"\b(?:tod[oa]s?(?! (?:el|la) )|cada|una? sol[oa]|extern[oa]s?|cualquiera?)\b",
    "每一?(?:笔|封|个|次|条|份|项|件)|任何|所有|外部|单笔|均(?!价|数|值)",
    r"\b(?:jede[nrsm]?|alle[nrsm]?|jegliche\w*|extern\w*|kein\w* einzige\w*|niemand\w*)\b",
)
# About this occasion.
ONCE = Cues(
    r"\b(?:by|before|until|till|on|next|last) (?:mon|tues|wednes|thurs|fri|satur|sun)day(?!s)\b|\b(?:today|tonight|yesterday|tomorrow|by noon|at the moment|right now)\b",
    r"\bthis (?:time|morning|afternoon|evening|week|month|year|once|message|e-?mail|letter|report|ticket|request|task|file|document|order|copy|draft)\b",
    r"\b(?:el|este|proximo) (?:lunes|martes|miercoles|jueves|viernes|sabado|domingo)\b|\b(?:hoy|ayer|manana(?! por la manana))\b",
    "(?<!每)(?<!每个)(?:周|星期|礼拜)[一二三四五六日天]|[今明昨]天|这一?(?:次|封|条|份|回)|中午",
    r"\b(?:heute|gestern|morgen|(?:bis|am|n[äa]chsten|letzten) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)|diese[nrsm]? (?:mal|woche|monat|jahr|nachmittag|e-?mail|nachricht|bericht|datei|bestellung|auftrag|entwurf))\b",
)
# The sanction of a breach, and the condition before it.
SANCTION = Cues(
    r"\b(?:breach(?:es)?|los(?:es?|ing) (?:its|their|the|our|access|it|live)|fails? (?:its|our|the)|liable|void|suspended|terminat(?:ed?|es|ion)|violat(?:es|ion|ed)|revoked)\b",
    r"\b(?:pierden?|incumpl(?:en?|imos|imiento)|suspend(?:en?|er|ido|ida)|rescind(?:en?|ir)|anulad[oa]|responde de)\b",
    "违(?:反|背|约|规)|负责|无法通过|取消.{0,10}资格|终止|失效",
)
CONDITION = Cues(
    r"\b(?:if|whoever|otherwise|any(?:one|body) (?:who|that|caught)|si|quien(?:es)?|de lo contrario|wenn|falls|wer|sonst)\b|如果|一旦|否则|再有|谁要是"
)
# Refers to the sentence before it.
BACK = Cues(
    r"\b(?:other|such|(?:that|this) (?:limit|rule|policy|amount|address|list|account|database)|otherwise|(?:done|does) so)\b",
    "其他|否则|[这该]一?(?:限额|规定|规则|地址)|超出限额|再有",
)
