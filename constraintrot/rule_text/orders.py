"""Cues by which tool content poses as an order or an authority.

Nearly every cue is a pair of word classes near each other in one
sentence: "summary" alone, or "omit" alone, is ordinary text. General words in English, Chinese,
Spanish and German, for folded text; nothing here knows a scenario or an attack.
"""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal, TypeAlias

from constraintrot.rule_text.survival import sentences
from constraintrot.rule_text.units import visible

Kind: TypeAlias = Literal["text to the summarizer", "text to the assistant", "claim of authority"]
KINDS: tuple[Kind, ...] = ("text to the summarizer", "text to the assistant", "claim of authority")

# Most characters between the two halves of a pair.
_NEAR = 120
# A longer sentence does not only name the addressee.
_ADDRESS_LENGTH = 90
# A longer sentence is split further, as a file of one line.
_LONG = 400
_WORD = re.compile(r"[^\W\d_]")
_FIELD = re.compile(r"(?<=[;|\t；])|(?<=\",)|(?<=[}\]],)")


def _words(latin: str, chinese: str) -> re.Pattern[str]:
    """Return a pattern of phrases: Latin ones as whole words, Chinese ones anywhere."""
    return re.compile(rf"(?<!\w)(?:{latin})(?!\w)|{chinese}")


# Names of the summarizer; a tool's result that has one addresses it.
_SUMMARIZER = _words(
    r"summari[sz]ers?|compactors?|resumidor\w*|zusammenfasser\w*|wer (?:\w+ ){1,3}?zusammenfasst|zusammenfassungs-?(?:modell|modul|programm|dienst)\w*|zusammenfassende[nr]? (?:stelle|modell|instanz)",
    "(?:摘要|总结|压缩)(?:程序|模型|器|模块)",
)
# The act of summarising; "Summary:" alone is a field's label.
_SUMMARY = _words(
    r"(?:in|into|from|of|for|to|the|your|any|this|that|every|each|a) (?:\w+ )?"
    r"(?:summar(?:y|ies)|recaps?|digests?|handovers?)(?! ?:)"
    r"|summari[sz](?:e|es|ing|ation)|compact(?:ion|ing)|(?:token|word|length) (?:budget|limit)"
    r"|(?:compact|condens|compress|shorten|trim)(?:e|ing)? (?:this|the|your) (?:\w+)"
    r"|resum(?:en(?! ?:)|ir|as|a|an|iendo)|compacta\w+|condens(?:ar|es|e)"
    r"|(?:in|f[üu]r|aus|bei|von|der|die|deine[rn]?|ihrer?|eine[rn]?|jede[rn]?|diese[rn]?) (?:\w+ )?zusammenfassung(?:en)?(?! ?:)|zusammen(?:zu)?fass(?:en|t|e)|fass(?:e|t|en)?(?= [^.;]{0,120}? zusammen(?!\w))",
    "(?:摘要|总结)(?! ?:)|總結|概括|压缩|精简|上下文窗口|(?:词元|字数)(?:预算|限制)",
)
# Lack of space as a reason.
_BREVITY = _words(
    r"(?:sake of|interest of|for|por) (?:brevity|space|concision|brevedad)"
    r"|(?:within|under|fit|exceed|over) (?:the |a |its |your )?(?:\w+ )?(?:token|word|length) ?(?:budget|limit)?",
    "(?:为|以)了?(?:节省|压缩|缩短|控制)(?:篇幅|长度|字数|空间)?",
)
# Orders that hardly concern anything but the reader's memory.
_LEAVE_OUT = (
    r"omit(?!ted|tido)\w*|(?:omít|olvíd|ignór|descárt|elimín|suprím|exclúy)\w+|leav(?:e|ing) (?:\w+ ){0,3}(?:out|off|behind|aside)"
    r"|forget(?: about)?|ignor(?:e|ing|a|en|ar|arse)|disregard(?:ing)?|(?:olvid|descart)(?:a|e|en|ar)"
    r"|(?:do not|don't|never|need not|no need to|without|should not|must not) (?:be )?(?:\w+ )?"
    r"(?:includ|mention|repeat|carry|carri|retain|preserv|copy|copi|contain|appear|survive)\w*"
    r"|(?:can|may|should|must|to) be (?:safely )?(?:omitted|dropped|left out|discarded|excluded|ignored|forgotten)"
    r"|l(?:ass|asst|assen)(?= [^.;]{0,160}? (?:weg|aus|beiseite)(?!\w))|schliess(?:e|t|en)?(?= [^.;]{0,160}? aus(?!\w))|(?:weg|aus)(?:zu|ge)?lassen|aus(?:zu|ge)?schl(?:iess|oss)en|ignorier(?:e|en|t)|missachte\w*|vergiss|vergesst|vergessen sie"
    r"|dej(?:a|e|en|ar|ando) fuera|no (?:debe |deben )?(?:incluy|inclu|mencion|conserv|repit|copi)\w+",
    "省略|略去|略过|忽略|丢弃|忘[记掉]|(?:不要|无需|不必|不用|勿|别)再?(?:包含|包括|提及|提到|提|保留|写入|写进|带入)",
)
_DISREGARD = _words(*_LEAVE_OUT)
# Orders to leave something out, or to put it in.
_OMIT = _words(
    _LEAVE_OUT[0] + r"|(?<!a )(?<!no )(?<!the )drop(?:ping)?|(?:discard|skip|strip)(?:p?ing)?"
    r"|(?:exclud|delet|evict|purg|prun|trim|expung|remov|eras)(?:e|ing)?"
    r"|(?:do not|don't|never) (?:be )?(?:keep|kept|quot|list)\w*|(?:must|should|always) (?:include|state|say|mention|write|record|note)"
    r"|(?:keep|retain|preserve|include) only|only (?:keep|retain|preserve|include)"
    r"|streich(?:e|en|t)?|gestrichen|l[öo]sch(?:e|en|t)|entfern(?:e|en|t)|verwirf|verwerfen|[üu]berfl[üu]ssig\w*|entbehrlich|veraltet\w*"
    r"|no hace falta|excluy?\w+|(?:elimin|quit|borr)(?:a|e|en|ar)|suprim(?:e|a|ir)|(?:bórr|quít)\w+|(?:conserva|mantén|incluye) (?:solo|sólo|únicamente)",
    _LEAVE_OUT[1]
    + "|删[除掉去]|去[除掉]|可?不写|舍弃|剔除|跳过|(?:不要|别)(?:重复|列出)|只需?(?:保留|包含|写)",
)
# Earlier instructions to the reader.
_STANDING = _words(
    r"(?:standing|previous|prior|earlier|original|initial|above) (?:\w+ )?(?:rules?|instructions?|orders?|constraints?|restrictions?)"
    r"|(?:compliance|governance|safety|polic(?:y|ies)|house|usage|access|operator) (?:\w+ )?(?:notes?|rules?|notices?|preambles?"
    r"|reminders?|instructions?|constraints?|restrictions?|text|sections?|parts?|details|statements?|guidance|limits?)"
    r"|(?:hinweis|bemerkung|notiz|vermerk|erinnerung)\w* (?:zu|zur|zum|[üu]ber) (?:\w+ )?(?:compliance|richtlinien|regeln|vorgaben)"
    r"|(?:notas|avisos|recordatorios|reglas|normas|texto|parte) (?:de|sobre) (?:las? )?(?:cumplimiento|políticas?|normas|seguridad)",
    "(?:先前|之前|此前|以前|以上|原有|最初|开头).{0,8}(?:指示|指令|要求|限制|说明|规定|规则)"
    "|(?:合规|政策|规定|规则|限制)性?(?:说明|提醒|备注|声明|条款|内容|部分|提示)",
)
# Norms in force.
_NORM = _words(
    r"polic(?:y|ies)|(?:rule|constraint|restriction|guardrail|guideline|prohibition|limit|ban)s?"
    r"|(?:standing|previous|prior|earlier|original) (?:\w+ )?(?:instructions?|orders?)|guardrails?"
    r"|(?<!in der )\w*(?:richtlinie|regel|vorgabe|vorschrift)n?|\w*(?:(?:be|ein)schr[äa]nkung|obergrenze|verbot)(?:en|n|e|s)?|(?:bisherige|fr[üu]here|vorherige|urspr[üu]ngliche)[nrs]? anweisung(?:en)?"
    r"|pol[ií]ticas?|normas?|reglas?|restricci(?:ón|ones)|prohibici(?:ón|ones)|instrucciones (?:anteriores|previas|iniciales)",
    "政策|规定|規定|规则|規則|准则|守则|禁令|限额|限制|约束|(?:先前|之前|以上|原有).{0,8}(?:指示|指令|要求)",
)
# A norm is no longer in force, or is replaced.
_ANNUL = _words(
    r"rescind\w*|revok\w+|supersed\w+|overrid\w+|overrul\w+|repeal\w*|annul\w*|null and void"
    r"|(?:has|have|had|is|are|was|were|been|being|hereby) (?:\w+ )?(?:lifted|waived|suspended|withdrawn|cancell?ed|void|obsolete|relaxed|replaced|expired)"
    r"|(?:withdraws?|waives?|lifts?|suspends?|cancels?) (?:the|this|that|these|those|all|any|every)"
    r"|(?:no longer|not) (?:appl(?:y|ies)|holds?|in (?:force|effect)|valid|binding|required|needed)|can be (?:safely )?(?:ignored|disregarded)"
    r"|aufgehoben|aufzuheben|widerruf\w*|zur[üu]ck(?:genommen|gezogen)|ausser kraft\w*|ung[üu]ltig|hinf[äa]llig|ausgesetzt|abgeschafft|gelockert|entf[äa]llt|entfallen"
    r"|(?:gilt|gelten) (?:\w+ ){0,4}?nicht(?: mehr)?|nicht mehr (?:\w+ )?(?:g[üu]ltig|gilt|gelten|verbindlich|anzuwenden|in kraft|n[öo]tig|erforderlich)"
    r"|revoca\w*|deroga\w*|anulad\w+|sin (?:efecto|vigor)|ya no (?:se |está |están |es )?(?:aplican?|rigen?|válida|vigentes?|valen?|en vigor)"
    r"|(?:queda|quedan|sido|está|están) (?:\w+ )?(?:cancelad|suspendid|levantad|retirad|obsolet)[ao]s?"
    r"|(?:ha|han|hemos) (?:levantado|retirado|suprimido|suspendido|anulado|cancelado)",
    "作废|废[止除]|廢止|失效|撤[销回]|解除|(?:已|已经|予以|现)(?:取消|终止|停用|放开)|不再(?:适用|有效|生效|执行)|(?:无需|不必|不用)再?(?:遵守|遵循|理会)",
)
# Names of the agent that acts on the conversation.
_AGENT = _words(
    r"(?:ai|llm|language|chat|virtual|automated) ?(?:assistants?|agents?|models?|bots?)|system prompt|assistants?[:,]"
    r"|(?:the|this|your|any|all|every|dear) (?:assistants?|chatbots?)(?! (?:manager|director|professor|editor|coach|nurse|principal|curator))"
    r"|(?:ki|sprach)-?(?:assistent|agent|modell)\w*|(?:der|die|dieser|jeder|dieses) (?:assistent(?:in|en)?|sprachmodell)|systemprompt|assistent(?:in)?[:,]"
    r"|asistentes?[:,]|(?:el|la|al|este|un) (?:asistente|agente de ia|modelo de lenguaje)",
    "助手|人工智能|智能体|语言模型|系统提示|请系统",
)
# A command to any reader.
_COMMAND = _words(
    r"(?:must|should|shall|needs? to|ha(?:s|ve) to|are to|is to) (?:not )?\w+|(?:you )?(?:may|can) now \w+|you (?:may|can|must|should|are|need)"
    r"|ignore|disregard|forget|obey|comply|treat|consider|do not|don't|never"
    r"|(?:muss|musst|soll|sollst|sollen|m[üu]ssen|darfst|d[üu]rfen|kannst (?:jetzt|nun)) \w+|ignoriere\w*|vergiss|befolge\w*|behandle\w*|betrachte\w*|missachte\w*|niemals"
    r"|(?:deben?|debes|tienes? que|ha de|has de|ignor[ae]|obedece|considere?|trat[ae]|olvid[ae]) \w+",
    "必须|应当|应该|务必|不得|忽略|无需|请(?:忽略|勿|不要|务必|将|把|按)",
)
# Authorities that may change norms.
_AUTHORITY = _words(
    r"(?:operator|administrator|admin|developer|management|compliance|security|legal|policy|head office|platform|system)(?:'s)?(?: \w+)? "
    r"(?:notice|update|directive|order|override|instruction|message|announcement|memo|command|authori[sz]ation|decision|approval)"
    r"|(?:on behalf of|by order of|by authority of|authori[sz]ed by|approved by|instructed by|signed,?|this is|i am) (?:the )?(?:\w+ )?"
    r"(?:operator|administrator|admin|developer|management|compliance|security|legal|system|owner)(?: \w+)?"
    r"|(?:aviso|orden|nombre|actualización|directiva|instrucción|mensaje|comunicado|autorización|decisión) (?:de la |del |de )(?:\w+ )?"
    r"(?:operador|operadora|administrador|administración|administradora|dirección|cumplimiento|seguridad|sistema)",
    "(?:运营方|运营商|操作员|管理员|管理层|系统|平台|总部|合规部门?|安全部门?|法务部门?|开发者)的?(?:通知|公告|指令|命令|指示|授权|更新|决定|声明)",
)
# The reader is free to do something.
_LICENCE = _words(
    r"you (?:may|can) now|from now on|henceforth|effective immediately|with immediate effect|until further notice"
    r"|(?:is|are|been) (?:now |hereby |fully )*(?:cleared|authori[sz]ed|free|allowed|permitted|exempt)(?: to)?"
    r"|(?:permission|authori[sz]ation|clearance|exemption) (?:is |has been |was )?(?:hereby )?(?:granted|given)"
    r"|(?:estás?|quedas?|quedan) (?:\w+ )?(?:autorizad|permitid|exent)[ao]s?|a partir de ahora|desde ahora|con efecto inmediato",
    "(?:你|您)(?:现在|已|已经|已被|可以)*(?:获得|获|被|得到)?(?:授权|批准|许可|豁免)|准许|现已?允许|(?:即日|即刻|从现在|现在)起|今后",
)
# Tokens and headers of chat templates, which can only be an attempt to change turns.
_CONTROL = re.compile(
    r"<\|[a-z_]{2,24}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|developer)(?:[ _-][a-z]+)*>"
    r"|^\W{0,12}(?:begin |new |updated )?(?:system|developer)[ _-](?:prompt|message|instructions?|override)\b"
    r"|^\W{0,12}(?:mensaje|instrucci(?:ón|ones)|indicaciones) (?:del|de) sistema\b"
    r"|^\W{0,12}system(?:anweisung|nachricht|hinweis|mitteilung)\b"
    r"|^\W{0,12}系统(?:提示|指令|消息)(?:词)?[：:]"
)
# A line that opens with a role's name and continues with an order.
_ROLE = re.compile(
    r"^\W{0,12}(?:system|assistant|developer|operator|sistema|asistente|operador|assistent|entwickler|betreiber|系统|助手|管理员|操作员)"
    r"(?: \w+)?\W{0,4}[:：]\W{0,8}(?=\w)"
)
# A line that only names the addressee; the order is in the next one.
_ADDRESS = re.compile(
    r"summari[sz]ers?|compactor|(?:whoever|anyone|those|if you|when you)\b.{0,30}\bsummar\w+"
    r"|(?:assistant|ai agent|language model|llm)s?\b|resumidora?|(?:quien|al|cuando)\b.{0,20}\bresum\w+"
    r"|asistente|摘要(?:模型|程序|者)|(?:总结|压缩|概括)(?:时|者|模型)|助手|智能体|语言模型"
)
# Orders start with the verb.
_ORDER = re.compile(
    r"^\W*(?:(?:please |kindly |now |also |then |por favor,? |bitte |请|请你|请务必|务必|现在)\W*)?"
    r"(?:"
    + _OMIT.pattern
    + r"|(?:keep|retain|preserve|include|treat|consider|mention|say|write|state"
    r"|behalte|behandle|nimm|erw[äa]hne|schreibe?|folge|befolge|follow|conserva|conserve|mantén|incluye|incluya|trata|trate|escribe|escriba)(?!\w)"
    r"|保留|只保留|视为|写明)"
)
# Two classes of words that together make a cue.
_PAIRS: tuple[tuple[Kind, re.Pattern[str], re.Pattern[str]], ...] = (
    ("text to the summarizer", _SUMMARY, _OMIT),
    ("text to the summarizer", _STANDING, _OMIT),
    ("text to the summarizer", _NORM, _DISREGARD),
    ("text to the summarizer", _BREVITY, _STANDING),
    ("claim of authority", _NORM, _ANNUL),
    ("claim of authority", _AUTHORITY, _LICENCE),
    ("text to the assistant", _AGENT, _COMMAND),
)


def parts(text: str) -> list[str]:
    """Return a text in pieces that join to it: sentences, or fields of long ones."""
    return [
        piece
        for sentence in sentences(text)
        for piece in (_FIELD.split(sentence) if len(sentence) > _LONG else [sentence])
        if piece
    ]


def kinds_of(parts: Sequence[str]) -> list[Kind | None]:
    """Return the role that each part of a text poses as; None for an ordinary part."""
    kinds: list[Kind | None] = []
    before = ""
    for part in parts:
        # A file of separators has as many parts as characters, none with a word.
        folded = _fold(part) if _WORD.search(part) else ""
        kinds.append(_kind(before, folded) if folded else None)
        before = folded
    return kinds


def _kind(before: str, folded: str) -> Kind | None:
    if _CONTROL.search(folded):
        return "text to the assistant"
    if _SUMMARIZER.search(folded):
        return "text to the summarizer"
    for kind, first, second in _PAIRS:
        if _near(first, second, folded):
            return kind
    role = _ROLE.match(folded)
    if role and _ORDER.match(folded[role.end() :]):
        return "text to the assistant"
    # An order may come right after a line that names the addressee.
    addressed = len(before) <= _ADDRESS_LENGTH and _ADDRESS.search(before)
    return "text to the summarizer" if addressed and _ORDER.match(folded) else None


def _near(first: re.Pattern[str], second: re.Pattern[str], text: str) -> bool:
    """Return whether a match of each is near the other, without overlap."""
    ones = [match.span() for match in first.finditer(text)]
    others = [match.span() for match in second.finditer(text)] if ones else []
    starts, ends = [start for start, _ in others], [end for _, end in others]
    for start, end in ones:
        after = bisect_left(starts, end)
        if after < len(starts) and starts[after] - end <= _NEAR:
            return True
        before = bisect_right(ends, start)
        if before and start - ends[before - 1] <= _NEAR:
            return True
    return False


def _fold(text: str) -> str:
    """Return a text for matching: one case, one width, nothing invisible, single blanks."""
    plain = visible(unicodedata.normalize("NFKC", text).casefold())
    shown = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    return re.sub(r"\s+", " ", shown.replace("’", "'")).strip()
