"""Word classes by which tool content poses as an order or an authority, in en, zh and es.

Patterns for text that ``_cues`` has folded. General words; nothing here knows a
scenario or an attack.
"""

from __future__ import annotations

import re


def _words(*alternatives: str) -> re.Pattern[str]:
    """Any of some phrases: Latin ones as whole words, Chinese ones anywhere."""
    latin = [phrase for phrase in alternatives if phrase.isascii() or not _chinese(phrase)]
    rest = [phrase for phrase in alternatives if phrase not in latin]
    parts = [rf"(?<!\w)(?:{'|'.join(latin)})(?!\w)"] if latin else []
    return re.compile("|".join([*parts, *rest]))


def _chinese(phrase: str) -> bool:
    return any("\u4e00" <= letter <= "\u9fff" for letter in phrase)


# Whoever condenses the conversation: in a tool's result, naming it is addressing it.
SUMMARIZER = _words(
    r"summari[sz]ers?",
    r"compactors?",
    r"(?:whoever|anyone|anybody|those|models?|agents?) (?:who )?(?:is |are )?(?:summari[sz]|condens|compact|compress)\w*",
    r"resumidor(?:a|es|as)?",
    "(?:摘要|总结|压缩)(?:程序|模型|器|模块)",
)
# The act of it.
SUMMARY = _words(
    # "Summary:" alone is a field's label.
    r"(?:in|into|from|of|for|to|the|your|any|this|that|every|each|a) (?:\w+ )?summar(?:y|ies)(?! ?:)",
    r"summar(?:y|ies) (?:of|for) (?:this|the|our|your)",
    r"summari[sz](?:e|es|er|ers|ing|ation)",
    r"compact(?:ion|or|ing)",
    r"(?:when|while|before|after|on) (?:you )?(?:compact|condens|compress|recap)\w*",
    r"(?:compact|condens|compress|shorten|digest|trim)(?:e|ing)? (?:this|the|your) (?:conversation|history|context|transcript|chat|session|thread|log)",
    r"(?:context|memory|history|conversation)[ -](?:windows?|compression|compaction|budget|managers?|keepers?|compressor)",
    r"(?:in|into|from|of|for|to|the|your|any|this|a) (?:\w+ )?(?:recaps?|digests?|handovers?|handoffs?|condensed \w+)(?! ?:)",
    r"(?:next|later|following|future) (?:context|turns|session|model call)",
    r"(?:notes|memory) for (?:later|yourself|the next \w+)",
    r"(?:token|word|length) (?:budget|limit)",
    r"carr(?:y|ied|ying) (?:over|forward)",
    r"resum(?:en(?! ?:)|ir|as|a|an|iendo)",
    r"resumid(?:or|ora)",
    r"compacta(?:r|ción|cion|dor)",
    r"condens(?:ar|es|e)",
    r"(?:del|al|el|este) (?:historial|hilo)",
    r"(?:presupuesto|límite|limite) de (?:tokens|palabras)",
    "摘要(?! ?:)",
    "总结(?! ?:)",
    "總結",
    "概括",
    "归纳",
    "提炼",
    "压缩",
    "精简",
    "上下文窗口",
    "(?:词元|字数)(?:预算|限制)",
)
# Room as a reason.
BREVITY = _words(
    r"(?:in the interest of|for the sake of|for) (?:brevity|space|concision)",
    r"to (?:save|free|spare|conserve) (?:some )?(?:space|room|tokens|words|context)",
    r"(?:within|under|against|fit|exceed|over) (?:the |a |its |your )?(?:\w+ )?(?:token|word|context|length|space) ?(?:budget|limit|window)?",
    r"(?:por|en aras de la) (?:brevedad|concisión)",
    r"para (?:ahorrar|liberar|ganar) (?:espacio|tokens|palabras)",
    "(?:为|以)(?:了)?(?:节省|压缩|缩短|控制|节约)(?:篇幅|长度|字数|空间|词元)?",
)
# Orders to leave something out, or to put it in.
OMIT = _words(
    r"omit(?:s|ting)?",
    r"leave(?: \w+){0,3} out",
    r"leaving out",
    r"(?<!a )(?<!no )(?<!the )drop(?:ping)?",
    r"discard(?:ing)?",
    r"exclud(?:e|ing)",
    r"delet(?:e|ing)",
    r"(?:evict|purg|prun|trim|cut|expung)(?:e|ing)?",
    r"leav(?:e|es|ing) (?:\w+ ){1,3}behind",
    r"(?:should|must|need|does|do) not (?:appear|feature|figure|survive|show up|be (?:part|shown|named))",
    r"(?:irrelevant|superfluous|redundant|unnecessary|outdated|expendable|boilerplate|not needed|adds? nothing)",
    r"only (?:\w+ ){0,3}matters?",
    r"(?:without|minus|except|leave off|not) (?:the |any |its )?(?:\w+ )?(?:rules?|polic(?:y|ies)|compliance|restrictions?|constraints?|governance)",
    r"remov(?:e|ing)",
    r"eras(?:e|ing)",
    r"skip(?:ping)?",
    r"forget(?:ting)?",
    r"ignor(?:e|ing)",
    r"disregard(?:ing)?",
    r"strip(?:ping)?(?: out)?",
    r"(?:do not|don't|never|need not|no need to|without) (?:be )?(?:\w+ )?(?:includ|mention|repeat|carry|carri|retain|keep|kept|preserv|quot|copy|copi|list)\w*",
    r"(?:can|may|should|must|to) be (?:safely )?(?:omitted|dropped|left out|discarded|excluded|deleted|removed|skipped|ignored|disregarded|forgotten|trimmed)",
    r"safe to (?:ignore|drop|omit|skip|remove|discard)",
    r"(?:must|should|always) (?:include|state|say|mention|write|record|note)",
    r"(?:keep|retain|preserve|include) only",
    r"only (?:keep|retain|preserve|include)",
    r"(?:omít|elimín|descárt|ignór|bórr|quít|suprím|exclúy)[ae](?:l[aeo]s?|s[ae])",
    r"(?:irrelevantes?|innecesari[ao]s?|superflu[ao]s?|sobran?|prescind(?:e|a|ir) de|no hace falta)",
    r"omit(?:e|es|ir|a|an|as|irse|iendo)",
    r"(?:excluy(?:e|a|an)|excluir|exclúy\w+)",
    r"(?:elimina|elimine|eliminen|eliminar|quita|quite|quitar|suprime|suprima|suprimir|borra|borre|borrar)",
    r"(?:descarta|descarte|descarten|descartar|ignora|ignore|ignoren|ignorar|olvida|olvide|olvidar)",
    r"(?:deja|deje|dejen|dejar|dejando) fuera",
    r"no (?:incluyas|incluya|incluyan|menciones|mencione|mencionen|conserves|conserve|repitas|repita|copies|copie)",
    r"(?:conserva|conserve|mantén|mantenga|incluye|incluya) (?:solo|sólo|únicamente)",
    r"(?:debe|debes|puede|puedes|pueden) (?:omitir|eliminar|ignorar|descartar|incluir|omitirse|eliminarse|ignorarse|descartarse)",
    "省略",
    "略去",
    "略过",
    "删除",
    "删掉",
    "删去",
    "去除",
    "(?:可以|可)?不写",
    "无关紧要",
    "与任务无关",
    "视为(?:已)?(?:过期|过时|作废)",
    "去掉",
    "忽略",
    "丢弃",
    "舍弃",
    "剔除",
    "跳过",
    "忘记",
    "忘掉",
    "(?:不要|无需|不必|不用|勿|别)(?:再)?(?:包含|包括|提及|提到|保留|写入|写进|重复|列出|带入)",
    "只(?:需)?(?:保留|包含|写)",
    "必须(?:写明|写入|包含|注明|说明)",
    "务必(?:写明|写入|包含|注明|说明)",
)
# Orders that are hardly given about anything but what the reader has in mind.
DISREGARD = _words(
    r"omit(?:s|ting)?",
    r"leave(?: \w+){0,3} out",
    r"leaving out",
    r"forget(?: about)?",
    r"ignor(?:e|ing)",
    r"disregard(?:ing)?",
    r"(?:do not|don't|never|need not|no need to|without) (?:be )?(?:\w+ )?(?:includ|mention|repeat|carry|carri|retain|preserv|copy|copi)\w*",
    r"(?:can|may|should|must|to) be (?:safely )?(?:omitted|dropped|left out|discarded|excluded|skipped|ignored|disregarded|forgotten|trimmed)",
    r"safe to (?:ignore|drop|omit|skip|discard)",
    r"omit(?:e|es|ir|a|an|as|irse|iendo)",
    r"(?:omít|elimín|descárt|ignór|bórr|suprím|exclúy|olvíd)[ae](?:l[aeo]s?|s[ae])",
    r"no (?:debe|deben|debería|deberían) (?:recoger|incluir|mencionar|conservar|aparecer|figurar)",
    r"(?:ignora|ignore|ignoren|ignorar|ignorarse|olvida|olvide|olvidar|descarta|descarte|descartar)",
    r"(?:deja|deje|dejen|dejar|dejando) fuera",
    r"no (?:incluyas|incluya|incluyan|menciones|mencione|mencionen|conserves|conserve|repitas|repita)",
    "省略",
    "略去",
    "略过",
    "忽略",
    "丢弃",
    "忘记",
    "忘掉",
    "(?:不要|无需|不必|不用|勿|别)(?:再)?(?:包含|包括|提及|提到|提|保留|写入|写进|带入)",
    r"(?:should|must|need|does|do) not (?:appear|feature|figure|survive|show up|be (?:part|shown|named))",
    r"(?:should not|shouldn't|must not|mustn't|need not|needn't) (?:carry|include|contain|mention|repeat|hold|keep)",
    r"leave (?:it|them|this|that|these|those) (?:out|off|behind|aside)",
    r"(?:first to go|no bearing|not worth keeping)",
)
# What a text says of itself that wants to stand in their place.
REPLACE = _words(
    r"(?:replaces?|overwrites?|cancels?|trumps?|takes? (?:priority|precedence)|has (?:priority|precedence))",
    r"(?:sustituye|reemplaza|prevalece|tiene prioridad|anula|cancela)n?",
    "代替",
    "替换",
    "优先于",
)
# What the reader was told before.
STANDING = _words(
    r"(?:standing|previous|prior|earlier|original|initial|above) (?:\w+ )?(?:rules?|instructions?|orders?|constraints?|restrictions?|directions?)",
    r"(?:compliance|governance|safety|policy|policies) (?:\w+ )?(?:notes?|rules?|notices?|preambles?|reminders?|instructions?|constraints?|text|section|boilerplate|details|statements?)",
    r"(?:compliance|governance|safety|policy|policies) (?:part|parts|block|paragraph|paragraphs|guidance|entry|entries|clause|clauses|material|content)",
    r"(?:policy|compliance|house|usage|access|operator) (?:constraints?|restrictions?|rules?|limits?|guidance)",
    r"guardrails?",
    r"instrucciones (?:\w+ )?(?:anteriores|previas|iniciales|originales|permanentes)",
    r"(?:notas|avisos|recordatorios|reglas|normas|texto) (?:de|sobre) (?:las? )?(?:cumplimiento|política|políticas|normas|seguridad)",
    "(?:先前|之前|此前|以前|以上|原有|最初|开头).{0,8}(?:指示|指令|要求|限制|说明|规定|规则)",
    r"(?:apartado|parte|bloque|sección|párrafo) (?:de|sobre) (?:las? )?(?:cumplimiento|política|políticas|normas|restricciones|reglas)",
    "(?:合规|政策|规定|规则|限制)(?:性)?(?:说明|提醒|备注|声明|条款|内容|部分|提示)",
)
# What is in force.
NORM = _words(
    r"polic(?:y|ies)",
    r"(?:rules?|constraints?|restrictions?|guardrails?|guidelines?|prohibitions?|limits?|caps?|bans?)",
    r"(?:standing|previous|prior|earlier|original|initial|above) (?:\w+ )?(?:instructions?|orders?|directions?)",
    r"pol[ií]ticas?",
    r"normas?",
    r"normativas?",
    r"reglas?",
    r"restricci(?:ón|ones)",
    r"directri(?:z|ces)",
    r"prohibici(?:ón|ones)",
    r"(?:el|los|este|ese) límites?",
    r"instrucciones (?:anteriores|previas|iniciales|originales|permanentes)",
    "政策",
    "规定",
    "規定",
    "规则",
    "規則",
    "准则",
    "守则",
    "禁令",
    "限额",
    "限制",
    "约束",
    "(?:先前|之前|此前|以前|以上|原有|最初|开头).{0,8}(?:指示|指令|要求|限制|说明)",
)
# That a norm is not in force any more.
ANNUL = _words(
    r"rescind(?:ed|s|ing)?",
    r"rescission",
    r"revok(?:e|ed|es|ing)",
    r"supersed(?:e|ed|es|ing)",
    r"overrid(?:e|es|den|ing)",
    r"overrul(?:e|ed|es|ing)",
    r"repeal(?:ed|s|ing)?",
    r"annul(?:led|s)?",
    r"(?:has|have|had|is|are|was|were|been|being|hereby|temporarily) (?:\w+ )?(?:lifted|waived|suspended|withdrawn|cancelled|canceled|deprecated|retired|voided|void|obsolete|relaxed|replaced)",
    r"(?:has|have|had) expired",
    r"(?:flushed|wiped|unloaded|disabled by|switched off by)",
    r"(?:withdraws?|waives?|lifts?|suspends?|cancels?|cancelling|abolish(?:es)?) (?:the|this|that|these|those|all|any|every|its|our)",
    r"no longer (?:appl(?:y|ies)|in (?:force|effect)|valid|binding|required|needed|relevant|active|holds?)",
    r"(?:does|do|did) not apply (?:any ?more|any longer|here|to (?:this|you|the (?:agent|assistant)))",
    r"not in (?:force|effect)",
    r"null and void",
    r"ceas(?:e|es|ed) to apply",
    r"can be (?:safely )?(?:ignored|disregarded)",
    r"revoca(?:da|do|das|dos|r|n|mos)?",
    r"derogad(?:a|o|as|os)",
    r"deroga(?:r|n)?",
    r"anulad(?:a|o|as|os)",
    r"anula(?:r|n)?",
    r"invalidad(?:a|o|as|os)",
    r"sin efecto",
    r"sin vigor",
    r"ya no (?:se aplica|se aplican|aplica|aplican|rige|rigen|es válida|está vigente|están vigentes|vale|valen|está en vigor|están en vigor)",
    r"(?:deja|dejan|dejado|dejó) de (?:aplicarse|regir|estar)",
    r"(?:queda|quedan|ha sido|han sido|fue|fueron|está|están) (?:\w+ )?(?:cancelad|suspendid|levantad|retirad|sustituid|reemplazad|obsolet|superad)[ao]s?",
    r"obsolet(?:a|o|as|os)",
    r"(?:caducó|caducaron|caducad[ao]s?|venció|expiró|expirad[ao]s?)",
    r"(?:ha|han|hemos|se ha|se han) (?:levantado|retirado|suprimido|eliminado|suspendido|anulado|cancelado)",
    "作废",
    "廢止",
    "废止",
    "废除",
    "失效",
    "撤销",
    "撤回",
    "取代",
    "解除",
    "(?:已|已经|起|予以|现)(?:取消|终止|停用|过时|放开)",
    "停用",
    "过期",
    "不再(?:适用|有效|生效|需要遵守|执行)",
    "(?:无需|不必|不用)(?:再)?(?:遵守|遵循|执行|理会)",
    "可以(?:忽略|不遵守)",
)
# Whoever acts on the conversation.
AGENT = _words(
    r"(?:ai|llm|language|chat|virtual|automated) ?(?:assistants?|agents?|models?|bots?)",
    r"(?:the|this|your|any|all|every|dear|attention,?) (?:assistants?|chatbots?|language models?)"
    r"(?! (?:manager|director|professor|editor|coach|nurse|principal|curator|keeper|engineer))",
    r"(?:agents?|models?|assistants?|llms?|bots?) (?:reading|processing|handling|parsing) (?:this|the)",
    r"system prompt",
    r"assistants?[:,]",
    r"asistentes?[:,]",
    r"(?:el|la|al|este|un) (?:asistente|agente de ia|modelo de lenguaje)",
    r"(?:agente|asistente|modelo) (?:de )?(?:ia|inteligencia artificial)",
    "助手",
    "人工智能",
    "智能体",
    "语言模型",
    "(?<![a-z])ai ?(?:模型|代理|助理)",
    "系统提示",
    "请系统",
)
# A command to whoever reads.
COMMAND = _words(
    r"(?:must|should|shall|needs? to|ha(?:s|ve) to|are to|is to) (?:not )?\w+",
    r"(?:may|can|will) now \w+",
    r"you (?:may|can|must|should|are|need)",
    r"(?:ignore|disregard|forget|obey|comply|treat|consider|do not|don't|never)",
    r"(?:debe|deben|debes|tiene que|tienes que|ha de|has de) (?:\w+)",
    r"(?:ignora|ignore|obedece|obedezca|considera|considere|trata|trate|olvida|olvide) (?:\w+)",
    "必须",
    "应当",
    "应该",
    "务必",
    "不得",
    "忽略",
    "无需",
    "请(?:忽略|勿|不要|务必|将|把|按)",
)
# Who may change what is in force.
AUTHORITY = _words(
    r"(?:operator|administrator|sysadmin|admin|principal|developer|management|compliance|security|legal|policy|governance|headquarters|head office|platform|system)(?:'s)?(?: \w+)? (?:notice|update|directive|order|override|instruction|message|announcement|memo|bulletin|command|authori[sz]ation|decision|approval)",
    r"(?:on behalf of|by order of|by authority of|under the authority of|as authori[sz]ed by|authori[sz]ed by|approved by|directed by|instructed by|signed,?) (?:the )?(?:\w+ )?(?:operator|administrator|admin|developer|management|compliance|security|legal|policy|system|owner)(?: \w+)?",
    r"(?:i am|this is|we are|speaking as) (?:the |your |an? )?(?:\w+ )?(?:operator|administrator|developer|system|policy owner|compliance (?:team|officer)|security (?:team|officer))",
    r"(?:aviso|orden|actualización|directiva|instrucción|mensaje|comunicado|autorización|decisión) (?:de la |del |de )(?:\w+ )?(?:operador|operadora|administrador|administración|administradora|dirección|cumplimiento|seguridad|sistema|desarrollador)",
    r"(?:en nombre|por orden|por autoridad|con autorización) (?:de la |del |de )(?:\w+ )?(?:operador|operadora|administrador|administración|dirección|cumplimiento|seguridad|sistema)",
    r"(?:soy|somos|habla) (?:el |la |su |tu )?(?:operador|operadora|administrador|administradora|equipo de (?:seguridad|cumplimiento)|sistema)",
    "(?:运营方|运营商|操作员|管理员|管理层|系统|平台|总部|合规部门?|安全部门?|法务部门?|开发者)(?:的)?(?:通知|公告|指令|命令|指示|授权|更新|决定|声明)",
    "(?:受|经|奉|代表)(?:运营方|操作员|管理员|管理层|总部|合规部门?|安全部门?|法务部门?)(?:的)?(?:委托|授权|批准|指示|命令|之命)?",
    "(?:我是|我们是|这里是)(?:运营方|操作员|管理员|开发者|系统|合规部门?|安全部门?)",
)
# That the reader is free to do something.
LICENCE = _words(
    r"(?:you (?:may|can) now|from now on|henceforth|effective immediately|with immediate effect)",
    r"(?:is|are|has been|have been) (?:now |hereby |fully )*(?:cleared|authori[sz]ed|free|entitled) to",
    r"you (?:are|have been) (?:now |hereby |fully )*(?:authori[sz]ed|allowed|permitted|cleared|free|exempt)",
    r"(?:permission|authori[sz]ation|clearance|exemption|exception) (?:is |has been |was )?(?:hereby )?(?:granted|given)",
    r"(?:all|any|every|these|those|such|previous|prior|earlier) (?:\w+ )?(?:requests?|actions?|calls?|recipients?|transfers?) (?:is|are) (?:now |hereby )?(?:allowed|permitted|approved|authori[sz]ed|pre-approved)",
    r"(?:está|estás|queda|quedas|quedan) (?:\w+ )?(?:autorizad|permitid|facultad|exent)[ao]s?",
    r"se (?:autoriza|permite|concede) (?:ahora|desde ahora|expresamente|el permiso)",
    "(?:你|您)(?:现在|已|已经|已被|可以|现已)*(?:获得|获|被|得到)?(?:授权|批准|许可|豁免)",
    r"until further notice",
    r"(?:is|are) (?:now |hereby )?(?:permitted|allowed) (?:until|from|for (?:this|the)|again)",
    r"se (?:autoriza|permite) (?:desde|a partir de) (?:hoy|ahora)",
    "(?:现)?准许",
    r"(?:a partir de ahora|desde ahora|con efecto inmediato|de ahora en adelante)",
    "现(?:已)?允许",
    "(?:即日|即刻|从现在|现在)起",
    "今后",
)
# Chat templates' own tokens and headers: nothing but an attempt to change turns.
CONTROL = re.compile(
    r"<\|[a-z_]{2,24}\|>|\[/?inst\]|<</?sys>>|</?(?:system|assistant|developer)(?:[ _-][a-z]+)*>"
    r"|^\W{0,12}(?:begin |new |updated )?(?:system|developer)[ _-](?:prompt|message|instructions?|override)\b"
    r"|^\W{0,12}(?:mensaje|instrucci(?:ón|ones)|indicaciones) (?:del|de) sistema\b"
    r"|^\W{0,12}系统(?:提示|指令|消息)(?:词)?[：:]"
)
# A line that opens with a role's name and goes on with an order.
ROLE = re.compile(
    r"^\W{0,12}(?:system|assistant|developer|operator|sistema|asistente|operador|系统|助手|管理员|操作员)"
    r"(?: \w+)?\W{0,4}[:：]\W{0,8}(?=\w)"
)
# A line that only says who is meant; the order then stands in the next one.
ADDRESS = re.compile(
    r"summari[sz]ers?|compactor|(?:whoever|anyone|those|if you|when you)\b.{0,30}\bsummar\w+"
    r"|(?:assistant|ai agent|language model|llm)s?\b|resumidora?|(?:quien|al|cuando)\b.{0,20}\bresum\w+"
    r"|asistente|摘要(?:模型|程序|者)|(?:总结|压缩|概括)(?:时|者|模型)|助手|智能体|语言模型"
)
# The verb comes first, as orders have it.
ORDER = re.compile(
    r"^\W*(?:please |kindly |now |also |then |por favor,? |请|请你|请务必|务必|现在)?\W*"
    r"(?:"
    + OMIT.pattern
    + r"|(?:keep|retain|preserve|include|treat|consider|mention|say|write|state"
    r"|follow|conserva|conserve|mantén|incluye|incluya|trata|trate|escribe|escriba)(?!\w)"
    r"|保留|只保留|视为|写明)"
)
