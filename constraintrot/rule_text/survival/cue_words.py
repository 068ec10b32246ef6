"""Cue words of the survival rules, in English, Spanish and Chinese.

All are matched on folded text in which what the policy names (a domain, a limit,
a region) is written ``◆`` and the policy's own text ``§``. The three languages are
matched together: a summary may be written in another language than its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

NAMED, WHOLE = "◆", "§"


class Cues:
    """Alternatives that are compiled when they are first looked for, since that takes a while."""

    def __init__(self, *parts: str) -> None:
        self._parts = parts

    def search(self, text: str) -> re.Match[str] | None:
        """The first of them that stands in a folded text."""
        return self._pattern.search(text)

    def find(self, text: str) -> Iterator[re.Match[str]]:
        """Each of them that stands in a folded text."""
        return self._pattern.finditer(text)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{part})" for part in self._parts), re.VERBOSE)


_RULE = r"(?:polic(?:y|ies)|rules?|limits?|limitations?|restrictions?|requirements?|instructions?|bans?|caps?|ceilings?|prohibitions?|constraints?|directives?)"
_NORMA = r"(?:normas?|reglas?|pol[ií]ticas?|l[ií]mites?|topes?|restricci(?:[oó]n|ones)|instrucci(?:[oó]n|ones)|prohibici(?:[oó]n|ones)|requisitos?)"
_GUIDING = r"(?:规定|规则|政策|要求|限制|限额|上限|禁令|条款)"

# Said of a rule in the sentence before: what starts so goes on about it.
ANAPHOR = Cues(
    rf"^\W*(?:this|that|these|those|it|they|which|both|the\ (?:said\ |same\ )?{_RULE}|such\ (?:a\ )?{_RULE}|no\b|but\b|however|unless|except|nothing|so\b)",
    r"^\W*(?:the\ )?(?:user|operator|customer|agent|we|he|she)\b.{0,40}\b(?:this|that|it|these|those|the\ rule|the\ policy)\b",
    r"^\W*(?:for|of)\ (?:everybody|everyone|all|the)\ (?:else|others?|rest)",
    r"^\W*(?:we|our|us|elsewhere|here)\b",
    rf"^\W*(?:est[oae]s?|es[oae]s?|ell[oa]s?|la\ {_NORMA}|el\ {_NORMA}|no\b|pero|aunque|salvo|excepto|sin\ embargo|de\ los\ dem[áa]s|a\ nosotros|nuestr[oa]s?|es\ su|es\ la)\b",
    r"^\W*(?:el|la)\ (?:usuari[oa]|operador[a]?|client[ea])\b.{0,60}\b(?:est[oae]s?|es[oae]s?|la\ norma|la\ regla|el\ l[ií]mite)\b",
    rf"^\W*(?:这|那|此|该|其|上述|以上|但|不过|除非|然而|其他|跟|与|我们|现在|本{_GUIDING})",
    r"^\W*(?:用户|操作员|客户).{0,12}(?:这|该|此|上述)",
    r'^["”’»」』)]',
)

# The rule does not hold: denied, lifted, set aside, refused.
LIFTED = Cues(
    r"\bno\ longer\b",
    r"\bnot\ (?:\S+\ ){0,3}any\ ?(?:more|longer)\b",
    r"\b(?:rescind|revok|repeal|waiv|abolish|overrul|overrid|annul|nullif)(?:e|ed|es|ing|den)?\b",
    rf"\b{_RULE}\b[^.;:]{{0,140}}?\b(?:was|were|is|are|has|have|had|been|being|got)\ (?:(?!not\b|never\b|ever\b)\w+\ )?(?:lifted|withdrawn|dropped|cancel+ed|removed|suspended|scrapped|retired|relaxed|replaced|superseded|gone|over|void|invalid|obsolete|ended|expired)\b",
    rf"\b(?:lift|withdr[ae]w|drop|cancel|remove|suspend|scrap|retire|relax|replace|end)(?:ed|s|ped|led|n|d)?\ (?:this|that|the|any|all)\ (?:\w+\ )?{_RULE}\b",
    r"\b(?:has|have|was|were|been|is|are)\ (?:\w+\ )?(?:lifted|withdrawn|scrapped|superseded)\b",
    r"\b(?:do|does|did|need|is|are)(?:\ not|n't)\ (?:apply|hold|matter|need\ to|have\ to|in\ force|in\ effect|binding|required|necessary|true|mandatory|obliged)\b",
    r"\b(?:need\ not|no\ need\ to|not\ (?:in\ force|in\ effect|binding|obliged|true\ that|the\ case\ that|protected|excluded))\b",
    r"(?<!recommended,\ )(?<!suggested,\ )\bnot\ (?:required|necessary|mandatory)\b",
    rf"\b(?:ignor|disregard|forget|bypass)(?:e|ed|s|ing)?\ (?:\w+\ ){{0,3}}?(?:{_RULE}|above|that|this|it)\b",
    rf"\b(?:there\ (?:is|was|are)|have|has|had)\ (?:now\ )?no\ (?!such\b)(?:\w+\ )?{_RULE}\b(?!\ (?:of\ the\ kind|here))",
    rf"\b(?:without|not)\ (?:any\ |an?\ |the\ )?(?:\w+\ )?{_RULE}\b",
    r"\bno\ (?:such\ )?(?:limit|cap|ceiling|restriction|upper\ limit)s?\b",
    r"\bnot\ (?:limited|restricted|confined|bound|just|only)\b(?=\ (?:to|in|by|◆|the))",
    r"\bno\ \w+\ is\ (?:excluded|forbidden|off)",
    r"\b(?:declin|refus)(?:e|ed|es|ing)\ to\ (?:follow|obey|comply|keep|accept)\b",
    r"\bexempt",
    r"\b(?:initially|at\ first)\b|\b(?:only|just|merely)\ temporary\b|\bis\ history\b|\b(?:cap|limit|ceiling)\b.{0,30}\b(?:was|were|got|has\ been)\ raised\b|\bgot\ dropped\b|\bgreen\ light\b|\ball?\ ?right\ to\b",
    r"\bse\ (?:suspendi|levant|anul|retir|elimin|cancel|derog|revoc)[óo]\b|\bautoriz[óo]\ a?\b.{0,40}\bextern|\bno\ cuenta\b",
    r"放开|不一定要|(?:也|都)(?:行|可以发|能发)|到期",
    r"\b(?:contrary\ to|never\ said|it\ is\ (?:false|wrong|untrue)|den(?:y|ied)\ that)\b",
    r"\bya\ no\b",
    r"\b(?:derog|anul|revoc)(?:ad[oa]s?|[óo]|aron|ar|a)\b",
    r"\bsin\ efecto\b",
    r"\b(?:fue|fueron|ha\ sido|han\ sido|qued[óo]|queda|est[áa])\ (?:\w+\ )?(?:retirad|cancelad|levantad|suspendid|eliminad|abolid)[oa]s?\b",
    rf"\b(?:levant|retir|cancel|suspend|elimin|quit)(?:[óo]|i[óo]|ado|ido)\ (?:\w+\ ){{0,2}}?(?:la|el|esa|esta|este|ese)\ {_NORMA}\b",
    r"\bno\ (?:hace\ falta|es\ necesari|es\ obligatori|hay\ que|hay\ obligaci|tiene\ que|se\ exige|rige|se\ aplica|vale|es\ ciert|es\ verdad)",
    rf"\b(?:ignor|olvid|desatend)(?:ar|e|a|en|ara|[óo])\ (?:\w+\ )?{_NORMA}\b",
    rf"\bno\ (?:existe|hay|ten[ei]\w*)\ (?:ya\ )?(?:ningun[oa]?\ |ning[úu]n\ )?{_NORMA}\b",
    r"\bsin\ (?:ning[úu]n\ |ninguna\ )?(?:l[ií]mite|tope|restricci[oó]n)",
    r"\bsin\ problema",
    r"\bno\ solo\ (?:a|en|por|◆)",
    r"\b(?:neg[óo]|rechaz[óo])\ (?:a\ )?(?:seguir|cumplir|aceptar)",
    r"取消|废止|作废|撤回|撤销|废除|解除|失效",
    r"不再(?:适用|要求|受|有效|需要|生效|执行|限)",
    r"不必|无需|无须|不需要|不用再?(?:理会|遵守|管|执行|遵循|顾|在意)",
    rf"并?没有(?:任何)?{_GUIDING}(?:说|要求|规定)",
    r"(?:没有|无)(?:上限|限制|限额)",
    r"不(?:局)?限于|不受.{0,12}限制",
    r"忽略|无视|拒绝遵守|不适用(?!于)",
)

# Said of others, of another place or time, or not said to hold at all.
_OTHERS = r"(?:contractors?|subcontractors?|suppliers?|vendors?|competitors?|rivals?|interns?|trainees?|landlords?|brokers?|banks?|providers?|freelancers?|volunteers?|subsidiar(?:y|ies)|franchisees?|sister\ compan(?:y|ies)|neighbou?rs?|visitors?|law\ firms?)"
_OTROS = r"(?:contratistas?|proveedor(?:es)?|competidor(?:es)?|becari[oa]s?|transportistas?|gestor[ií]as?|aut[oó]nom[oa]s|voluntari[oa]s?|filial(?:es)?|vecin[oa]s?|bancos?|subcontratas?|visitantes)"
_OF_OTHERS = r"(?:承包商|外包|供应商|供货商|竞争对手|同行|实习生|临时工|律所|报关行|银行|房东|子公司|分公司|志愿者|访客)"
ATTRIBUTED = Cues(
    rf"\b{_OTHERS}\b(?:'s?)?\ (?:\w+(?:'s)?\ ){{0,3}}?(?:polic|rule|handbook|manual|staff|must|may|can|are|is|only|never|caps?|limits?|keeps?|has|have|had|does|do\ not|allows?|accepts?|requires?|forbids?|office)",
    rf"\b(?:for|at|with|by|of|to)\ (?:the\ |our\ |their\ |an?\ )?(?:\w+\ )?{_OTHERS}\b(?=[,:;.]|\ (?:and\ )?only|$)",
    r"\b(?:its|their|his|her)\ own\b(?!\ (?:domain|language))", r"\b(?:that|it|which|this)\ is\ (?:\w+\ ){0,2}?(?:their|his|her|\w+'s)\ (?:own\ )?(?:rule|policy|business|affair)",
    rf"\b(?:their|his|her|its|another|other|somebody\ else's|someone\ else's)\ (?:\w+\ )?(?:house\ )?{_RULE}\b",
    r"\b(?:competitor|rival|other\ (?:firm|company|team|department|office)|another\ (?:firm|company|team|department|office|project|tenant))s?\b",
    r"\b(?!our\b|this\b|the\b|your\b)\w+\ (?:team|department|crew|office)\ (?:must|may|can|is|are|has|only)\b", r"\b(?:former|previous|old|earlier|ex-?)\ (?:employer|job|compan|firm|client|workspace|server|system|office|project|call\ centre|team|contract|tenant|site)",
    r"\b(?:not\ (?:ours|us|our\ own)|(?:our|the\ agent's)\ (?:team|staff|side)\ (?:is|are)\ not|not\ concern(?:ed)?\ (?:us|our)|does\ not\ concern|no\ such\ (?:rule|policy|limit)|nothing\ of\ the\ kind)\b",
    r"\b(?:only\ for\ (?:them|him|her|those)|(?:just|only)\ them|for\ (?:everybody|everyone)\ else\ nothing)\b",
    r"\b(?:appl(?:y|ies|ied)|holds?|valid|meant|counts?|in\ force)\ (?:only\ )?(?:to|for|in|at|on|during)\ (?!all\b|every|everyone|any\b|each|us\b|our\b|you\b|the\ (?:agent|assistant|whole|entire|organi|company|production|user)|both|◆|this|outgoing|emails?|messages?|purchases?|orders?|status|customers?|requests?|tasks?)",
    r"\b(?:until|till|up\ until)\ (?:last|the\ (?:last|end|previous|merger|move)|then|recently|yesterday|\d{4}|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|spring|summer)", r"\blast\ (?:year|month|week|spring|summer|autumn|winter|quarter|season)\b",
    r"\b(?:used\ to|formerly|in\ the\ past|back\ then|at\ that\ time|in\ those\ days|once\ upon)\b", r"\bbefore\ (?:the\ (?:move|merger|migration|change|relaunch|takeover)|we\ moved|last)\b",
    r"\bduring\ (?:the\ )?(?:\w+\ )?(?:pilot|trial|exhibition|campaign|audit|migration|test\ phase|holidays)", r"\bwhich\ is\ over\b", r"\b(?:from|as\ of|starting)\ (?:next|january|february|march|april|may|june|july|august|september|october|november|december)",
    r"\b(?:planned|proposed|upcoming|hypothetical(?:ly)?|a\ draft|not\ yet\ in\ force|comes?\ into\ force)\b",
    r"\b(?:somebody|someone|a\ (?:stranger|colleague|forum|blog|post|comment\w*|rumou?r))\b.{0,30}\b(?:claim|said|says|wrote|post|suggest(?:s)?\ that\ other)", r"\b(?:claim(?:s|ed)|alleg(?:es|ed|edly)|reportedly|supposedly|rumou?red)\b",
    r"\b(?:ask(?:s|ed)?|wonder(?:s|ed)?|unclear|unsure|question(?:s|ed)?|check(?:s|ed)?)\ (?:\w+\ )?(?:whether|if)\b", r"\bquoted?\ from\b",
    rf"\b(?:de|del|los|las|el|la|un|una|para)\ (?:\w+\ )?{_OTROS}\b", r"\b(?:su|sus)\ propi[oa]s?\b", rf"\b(?:es|son)\ (?:la\ |su\ |una\ )?(?:propia\ )?{_NORMA}\ (?:de\ (?:es[ea]|aquell?|otr)|suy)",
    r"\b(?:en|de)\ (?:una|otra|la)\ (?:\w+\ )?(?:empresa|oficina|compa[ñn][ií]a|f[áa]brica)\ (?:anterior|vecina|distinta)", r"\botr[oa]\ (?:empresa|equipo|oficina|compa[ñn][ií]a|departamento)\b",
    r"\b(?:el\ equipo|la\ oficina|el\ departamento)\ de\ \w+\ (?:solo|s[óo]lo|debe|puede|tiene|no)", r"\b(?:nuestro\ equipo\ no|a\ nosotros\ no|no\ nos\ afecta|los\ dem[áa]s\ no|de\ los\ dem[áa]s\ no)\b",
    r"\b(?:se\ aplica|vale|rige|es\ v[áa]lid[oa])\ (?:solo\ |s[óo]lo\ |[úu]nicamente\ )?(?:a|para|en|durante)\ (?!tod[oa]s|cualquier|nosotros|◆)", r"\bhasta\ (?:el\ (?:a[ñn]o|mes)\ pasad|hace|la\ (?:fusi[óo]n|mudanza|semana\ pasada)|entonces|ayer|enero|febrero|marzo|abril|mayo|junio|julio|agosto|sept|octubre|noviembre|diciembre)",
    r"\b(?:el\ a[ñn]o|el\ mes|la\ semana|la\ temporada)\ pasad[oa]\b", r"\b(?:antes\ (?:de\ (?:la|el)|del|los|las|solo|s[óo]lo|se|ning)|antiguamente|anteriormente|en\ el\ pasado|por\ entonces|sol[ií]an?)\b", r"\ba\ partir\ (?:de|del)\ (?:enero|pr[óo]xim|a[ñn]o|mes|lunes)",
    r"\b(?:afirm[óo]|asegur[óo]|se\ rumorea|supuestamente|al\ parecer)\b", r"\bpregunt\w*\ (?:\w+\ )?si\b", r"\ben\ un\ foro\b",
    r"\b(?:the|an?)\ (?!user|agent|same|whole|customer)(?:[\w-]+\ )?(?:group|crew|shift|branch|unit|guild|auction\ house|parent\ company|agency|partner|chapter)s?(?:'s)?\ (?:deploys?|posts?|emails?|writes?|must|may|can|insists?|only|has|have|are\ the\ ones|wants?|keeps?|requires?)\b",
    r"\b(?:parent|sister|partner|holding)\ (?:company|firm|organi[sz]ation|agency)\b|\bcrews\b|\b(?:its|their|his|her)\ (?:staff|people|employees|contract|policy|rules?)\b|\bisn't\ relevant\b|\b(?:in|back\ in)\ (?:19|20)\d\d\b|\binsists?\ that\b",
    r"\bseg[úu]n\ su\ |\basesor[ií]a\b|\ben\ la\ (?:oficina|sede|sucursal|delegaci[óo]n)\ de\b|\baqu[íi]\ no\ hay\b|\bsus\ emplead",
    r"合作方|合作伙伴|隔壁|母公司|他们(?:的)?(?:员工|人员)|对方公司",
    rf"{_OF_OTHERS}(?!名单|清单)", r"(?:自己的?|他们的?|她们的?|人家的?)(?:规定|要求|采购|制度)|自己规定|是他们的", r"跟我们无关|与我们无关|不适用于我们|我们(?:团队|这里|这边)?(?:并)?没有(?:这|此)",
    r"(?:只|仅)(?:适用|针对|对)(?:于)?(?!所有|全体|我们|◆)", r"(?:某|另一?|别|其他|隔壁|那)(?:个|家)?(?:的)?(?:公司|团队|部门|办公室|单位)", r"\S{1,6}(?:团队|部门)只能",
    r"以前|从前|过去|曾经|去年|前年|上(?:个)?(?:月|周|季度)|上一家|前一家|当时|(?:合并|搬迁|迁移|改制|升级)之?前|期间|明年|从下(?:个)?(?:月|周|年|季)|(?:尚|还)未生效|只是计划|草案",
    r"有人(?:声称|说|在)|声称|据说|据称|论坛|传闻|听说", r"(?:问|询问|想知道|不确定).{0,4}(?:是不是|是否|有没有|要不要)|其他人没有?说",
)  # fmt: skip

# A preference, a habit, a rule with open exceptions.
WEAKENED = Cues(
    r"\b(?:if|where|when|whenever|wherever|as\ far\ as|as\ long\ as)\ (?:\w+\ )?(?:possible|practical|practicable|feasible|convenient|appropriate)\b", r"\bif\ there\ is\ time\b", r"\bwhere\ (?:that|it)\ is\ (?:possible|practical|convenient)",
    r"\bprefer(?:s|red|abl[ey]|ence)?\b", r"\bideally\b", r"\b(?:suggest|recommend|advis|encourag|discourag)(?:e|es|ed|ion|able|ing|ation)\b", r"\b(?:try|tries|aim|aims|attempt)\ to\b",
    r"\b(?:usual(?:ly)?|normally|generally|typically|mostly|mainly|primarily|customar(?:y|ily)|tends?\ to|as\ a\ rule\ of\ thumb|rule\ of\ thumb|by\ default|in\ general|often)\b", r"\b(?:guideline|rough\ guide|rule\ of\ thumb|optional|flexible|negotiable|at\ (?:your|its|their)\ discretion|(?:use|your|own)\ (?:your\ )?judge?ment)\b",
    r"\b(?:would\ (?:rather|like|be\ (?:nice|better|good|best))|(?:is|it's)\ (?:better|best|nicer|good|wise)\b|rather\ not|better\ not)", r"\b(?:unless|except\ (?:when|if|where)|exceptions?\ (?:are|is|may|can))\b",
    r"\b(?:but|though|although)\ (?:\w+\ ){0,4}?(?:acceptable|allowed|fine|possible|permitted|okay|ok|can\ be)\b", r"\b(?:going|doing)\ \w+\ is\ (?:acceptable|fine|allowed|ok)", r"\b(?:around|about|near|roughly|approximately|circa)\ \$?◆", r"\b(?:touched\ on|use\ judge?ment|keep\ in\ mind)\b", r"\bonly\ if\ it\ is\ convenient\b",
    r"\bsi\ (?:es|fuera|resulta)\ posible\b|\ba\ ser\ posible\b|\bde\ ser\ posible\b|\bsiempre\ que\ (?:se\ pueda|sea\ posible)\b|\ben\ lo\ posible\b", r"\bprefer(?:ible|iblemente|ente|entemente|encia|ir)\w*|\bprefier\w+", r"\brec(?:omiend|omend)\w+|\bconviene\b|\bsug(?:i[eé]r|er)\w+|\bsugiri\w+|\baconsej\w+",
    r"\bidealmente\b|\b(?:normal|general|habitual|usual)mente\b|\bpor\ lo\ (?:general|com[úu]n)\b|\ben\ general\b|\bsuelen?\b|\bcomo\ orientaci[óo]n\b|\borientativ|\ba\ criterio\b|\bpor\ defecto\b", r"\b(?:salvo|excepto|a\ menos)\ (?:que|si|cuando|en\ caso)\b|\bexcepciones\b|\b(?:procur|intent)(?:ar|e|a|en|amos)\b|\b(?:ser[ií]a|es)\ mejor\b|\bmejor\ no\b|\bser[ií]a\ bueno\b", r"\b(?:rond(?:ar|an|e)|alrededor\ de|en\ torno\ a|cerca\ de)\b|\btambi[ée]n\ vale\b",
    r"\blean(?:s|ing)?\ toward|\bsoft\ (?:target|limit|rule)\b|\bnot\ a\ hard\b|\bhopes?\b|\bwhere\ (?:they|you|it|we)\ can\b|\bwhen\ it\ makes\ sense\b|\bgood\ reason\b|\bdefault\b|\balmost\ always\b|\bbe\ careful\b|\btry\ \w+ing\b|\bif\ that's\ enough\b|\bhabit\b",
    r"\bcasi\ siempre\b|\blo\ ideal\b|\bser[íi]a\ ideal\b|\bcon\ preferencia\b|\bpor\ costumbre\b",
    r"以.{0,6}为主|大体上|特殊情况|多半|习惯|灵活",
    r"最好|建议|尽量|尽可能|一般|通常|(?:如果|若|如)(?:有)?可能|可能的话|方便的话|原则上|除非|(?<![不无])(?<!没有)例外|仅供参考|自行判断|酌情|优先|倾向|推荐|平时|习惯上|视情况|可以?超出|需要时(?:也)?可以|有需要(?:也)?可以|◆\s*(?:美元)?(?:左右|上下)|大约|差不多",
)  # fmt: skip

# Said as permission; it turns the policy round where nothing in the clause forbids.
PERMITTED = Cues(
    r"\b(?:may|can|could)\b(?!\ (?:not|only|never)|not|'t)", r"\b(?:is|are|be|it's)\ (?:now\ |also\ |again\ |perfectly\ )?(?:fine|ok|okay|allowed|permitted|acceptable|possible)\b", r"\bfree\ to\b|\bwhatever\b(?!\ the\ (?:reason|case|purpose))|\bwhichever\b|\bfeel\ free\b",
    r"\b(?:pueden?|podr[áa]n?)\b|\bse\ (?:permite|admite)n?\b|\best[áa]n?\ permitid|\bcomo\ se\ quiera\b", r"(?:可以|允许|能够|可)(?!能)|都行|随意|任何人都",
)  # fmt: skip
# What a policy that names the one place, domain or language does not allow.
ELSEWHERE = Cues(
    r"\b(?:any|anyone|anybody|anywhere|everyone|other|another|outside|external(?:ly)?|elsewhere|beyond|above|over|exceed|more\ than|whichever|whatever|in\ full|full|as\ well|too|also|alike|or\ by|emailed\ or|second)\b",
    r"\b(?:cualquiera?|otr[oa]s?|fuera|extern[oa]s?|superar|exceder|por\ encima|m[áa]s\ de|tambi[ée]n|o\ por|adem[áa]s|(?:los|las)\ dem[áa]s|segund[oa])\b", r"任何|其他|别的|另找|第二|以外|之外|外部|超过|超出|高于|也可以|也能",
)  # fmt: skip

# What makes a rule binding.
_DO_NOT = r"(?:do\ not|don't|does\ not|doesn't|not\ to|please\ not)"
# A duty may be anybody's in the same sentence, so these count only next to the policy's words.
OBLIGED = Cues(
    r"\b(?:must|shall)\b(?!\ (?:have|be\ (?:missing|wrong|somewhere)))",
    r"\b(?:required?s?|requires|mandatory|obligatory|has\ to|have\ to|needs?\ to)\b",
    r"\b(?:debe|deben|deber[áa]n?|tienen?\ que|ha\ de|han\ de|hay\ que)\b|\bobligatori\w+",
    r"必须|务必|须",
)
BINDING = Cues(
    r"\bnever\b(?!\ (?:mind|received|arrived|answered|came))", r"\b(?:may|can|could|should|is|are)\ not\b(?!\ (?:yet|available|clear|known|open|found|in\ the|confirmed|sure))|\bcannot\b|\bcan't\b|\bmustn't\b|\bisn't\ (?:allowed|permitted)|\baren't\b",
    r"\b(?:not|never)\ (?:be\ )?(?:allowed|permitted|authori[sz]ed|acceptable)\b", r"\b(?:prohibit(?:s|ed|ion|ing)?|forbid(?:s|den|ding)?|banned|bans?|disallow(?:s|ed)?|off[- ]limits)\b",
    r"\bonly\ (?:be\b|to\b|in\b|at\b|on\b|within|inside|by\b|via|through|go\b|goes|email|use|post|deploy|write|written|send|sent|recipients|addresses|allowed|permitted|accept|the\ last|their\ last|its\ last|up\ to|those|share)", r"\b(?:may|can|must|be|is|are|go|goes|allowed|posted|written|sent|deployed|created|belong|hosted|shared)\ only\b", r"◆[^.,;]{0,24}\bonly\b|\bonly\b[^.,;]{0,40}◆", r"\b(?:the\ )?only\ (?:region|channel|language|place|domain|database)\b",
    r"\b(?:solely|exclusively|nowhere\ else|no\ other|no\ more|nobody|no\ one|at\ all\ times|always|at\ all\ cost|under\ no\ circumstances)\b",
    r"\b(?:at\ most|the\ most|no\ more\ than|not\ more\ than|up\ to|or\ less|no\ higher\ than|not\ (?:to\ )?(?:exceed|go\ (?:over|above))|(?:below|under|within|over|above|exceed(?:s|ing)?|more\ than)\ (?:the\ |a\ |\$)?(?:◆|limit|cap)|stops?\ at)\b", r"\b(?:limit(?:ed|s)?|capp?(?:ed|s)?|ceiling|maximum|max\.?|restricted|confined)\b",
    rf"\b{_DO_NOT}\ (?!know|have|see|need|seem|appear|work|fit|match|forget|worry|hesitate)\w+", r"\bno\ (?:\w+\ )?(?:email|emails|mail|message|messages|report|reports|deployments?|purchases?|orders?|keys?|drop|delete|truncate|destructive|statements?|tables?|databases?|single)\b(?!\ (?:came|yet|was|were|has|have|from|arrived|so\ far))",
    r"\bno\ (?:deletes|drops|truncates|deploys|creates|exports|disclosures?)\b|\bno[- ]go\b|\bonly\ (?:there|here)\b|\b(?:below|under|within|over|above|exceed(?:s|ing)?|(?:more|higher)\ than|up\ to|at\ most)\ (?:the\ )?\$?◆|\bout\ of\ the\ question\b|\bnot\ an\ option\b|\b(?:is|are|be)\ (?:refused|rejected)\b|\bnothing\ else\b",
    r"\bnothing\ (?:in\ it\ )?(?:is|may|can|else)\b", r"\b(?:stays?|remains?|keep|kept|leave)\b.{0,40}\b(?:on|in|within|inside|closed|whole|enabled|as\ they\ are)\b", r"\b(?:refrain\ from|avoid(?:s|ing)?)\b", r"\bbefore\ (?:each|every|any)\b[^.;]{0,40}\bask\b|\bask\b[^.;]{0,80}\bbefore\ (?:you|each|every|any)\b",
    r"\b(?:nunca|jam[áa]s)\b", r"\bprohib\w+|\bproh[ií]b\w+", r"\bno\ (?:se\ )?(?:puede|pueden|podr[áa]|debe|deben|permit\w+|admit\w+|acept\w+|est[áa]n?\ permitid)",
    r"\b(?:solo|s[óo]lo|solamente|[úu]nicamente|exclusivamente)\b[^.;]{0,60}◆|◆[^.,;]{0,30}\b(?:solo|s[óo]lo|solamente|[úu]nicamente|exclusivamente)\b", r"\b(?:solo|s[óo]lo|solamente|[úu]nicamente|exclusivamente)\ (?:se\ |a\ |en\ |al\ |por\ |para\ |puede|deb)|\bsolo\ (?:canal|idioma|sitio)|\ben\ un\ solo\b|\b(?:[úu]nic[oa]|una\ sola|un\ solo)\ (?:sitio|canal|regi[oó]n|idioma|compra|lugar|dominio|lengua)\b",
    r"\bning[úu]n\b|\bninguna?o?\b|\bnadie\b|\bnada\ (?:fuera|en\ otra)", r"\b(?:m[áa]xim[oa]|tope|l[ií]mites?|como\ mucho|no\ m[áa]s\ de|hasta)\b", r"\bno\ (?:l[oae]s?\ )?(?:envíes?|envíen?|mandes?|escribas?|despliegues?|crees|cree|compres?|hagas?|pongas?|publiques?|superes?|pases|uses?|salgan?|salen?|hacen?|compramos|desplegamos|supere|superar|exceder?)\b", r"\bnot\ (?:in|to|at|by|for|into|an?y?)\ (?:an?\ |any\ )?(?:other|another|different|outside|external|email)", r"\b(?:no|ni)\ (?:en|a|para|por)\ (?:otr[oa]s?|el\ correo|fuera)", r"\bno\ se\ (?!ha\b|han\b|sabe|pudo|encontr|hizo|hubo|cuadr|dijo)\w+", r"(?<!casi\ )\bsiempre\b|\bni\ (?:\w+\ ){1,4}?ni\b|\bse\ rechazan?\b|\bsolo\ ◆",
    r"只(?:能|允许|准|许|可以|在|发|用|收|往|放|读|部署)|只有\s*◆|仅(?:限|能|可|允许|在|用)|不得|不能|不可(?!用)|不要|不许|不准|不应|不允许|不被允许|禁止|严禁|切勿|请勿|绝不|从不|一律|概不|不出\s*◆|都(?:是|在)\s*◆|(?:请|应)用?\s*◆|唯一|限于|限定",
    r"上限|限额|拒绝|最高|最多|至多|不超过|不高于|以内|之内|(?:就|都|一概)?不(?:买|下单|下(?!午|班)|发(?!布)|寄|放|建|写|用邮件)|超过.{0,8}(?:不|禁)|◆\s*(?:里面|内部)",
)  # fmt: skip
# A prohibition counts in any clause about the rule.
NEVER = Cues(
    r"\b(?:never|nunca|jam[áa]s)\b|\bprohib|\bproh[ií]b|\bforbid", r"不得|禁止|严禁|绝不|切勿"
)
# Of an incomplete rule the force alone says that there is one.
STRONG = Cues(
    r"\bnever\b|\bmust\b|\bmay\ not\b|\bmay\ only\b|\bcannot\b|\bnot\ allowed\b|\bnot\ permitted\b|\bprohibit|\bforbid|\bonly\ (?:be|in\ one|inside|within|internally)|\bin\ one\ \w+\ only\b",
    rf"\b{_DO_NOT}\ (?:\w+\ )?(?:share|read|open|disclose|reveal|delete|drop|truncate|email|send|create|deploy|buy|purchase|disable|copy|post|mail|write|spend|turn|reduce|exceed|run|execute|access)\b", r"\b(?:within|above|over|exceed)\ (?:the|a|that)\ (?:\w+\ )?limit\b|\bnot\ exceed\b|\bstay(?:s)?\ on\b",
    r"\b(?:have|has)\ to\ (?:stay|be|remain)\b|\btienen\ que\b",
    r"\bnunca\b|\bprohib|\bproh[ií]b|\bno\ se\ (?:env|publi|despl|compr|pued|permit|mand|crea)\w+|\bno\ (?:envíes?|mandes?|crees|despliegues?|compres?|uses)\b|\bsolo\ pueden?\b|\bdeben?\b|\bno\ se\ permiten?\b|\bno\ se\ puede",
    r"不得|禁止|严禁|只能|不要|不许|不准|必须|切勿|绝不|不能",
)  # fmt: skip
