"""Words by which the clause splitter goes, in English, Spanish, German and Chinese.

Closed classes where there are any. Verbs are an open class: what is not listed
is taken for no verb, so that too much of a sentence is one clause, never too little.
"""

from __future__ import annotations

import re


def _start(words: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"(?:(?:{words})\b|{chinese})", re.IGNORECASE)


ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|mr|mrs|ms|dr|no|vs|approx|sr|sra|p\. ?ej|pág|núm|z\. ?b|bzw|nr|ca)\.\s*$",
    re.IGNORECASE,
)
# What may join a clause to the one before it, and must not open a sentence.
CONNECTIVE = re.compile(
    r"""(?:(?:and|but|so|then|yet|or|while|whereas|also|however|therefore|though)\b[,\s]*
      | (?:y|e|pero|mientras(?:\ que)?|además|también|sino|o|u)\b[,\s]*
      | (?:und|oder|aber|doch|sondern|jedoch|während|außerdem|zudem|auch)\b[,\s]*
      | (?:并且|而且|但是|同时|此外|另外|因此|所以|并|但|且|而)[，]?)+""",
    re.VERBOSE | re.IGNORECASE,
)
COORDINATION = re.compile(
    r"\s(?:and|but|while|whereas|then|y|e|pero|mientras que|además|und|aber|sondern|während)\s|并且|而且|但是|同时",
    re.IGNORECASE,
)
# A clause that begins so depends on another.
DEPENDENT = _start(
    """to|for|with|without|within|in|at|of|by|from|on|as|since|because|if|when|whenever|where|who|whom
    |whose|which|that|whatever|whoever|whichever|regardless|even|unless|except|excluding|including
    |such|like|other|rather|instead|not|never|no|nor|or|only|per|under|according|due|given|after
    |before|until|whether|none|nobody|nothing|outside
    |para|por|con|sin|en|de|del|desde|según|como|porque|si|cuando|donde|que|quien|quienes|cual
    |aunque|salvo|excepto|incluso|incluyendo|nunca|jamás|ni|solo|sólo|únicamente|al|pida|sea|tras
    |hasta|dado|debido|nadie|nada|ningún|ninguna|no
    |für|mit|ohne|in|im|an|am|auf|aus|bei|nach|von|vom|zu|zum|zur|seit|wenn|falls|sofern|weil|da|dass
    |wer|wem|wen|wo|welche[mnrs]?|dessen|deren|obwohl|außer|ausser|nicht|nie|niemals|keine?[mnrs]?|nur|oder|unter|über
    |gemäß|laut|bis|bevor|nachdem|während|ob|egal|weder|noch|damit|um|als|wie|sonst|andernfalls|ausschließlich""".replace(
        "\n", ""
    ).replace(" ", ""),
    "不得|不要|不可|不能|不许|不准|禁止|严禁|绝不|从不|切勿|请勿|而不|也不|且不|包括|除了|除非|除|无论|不论"
    "|即使|否则|任何|其他|其余|如果|若|因为|由于|根据|按照|当|为了",
)
# A clause that begins so changes what the one that it leans on says.
CONDITION = _start(
    "if|when|whenever|unless|once|si|cuando|salvo que|siempre que|wenn|falls|sofern|es sei denn",
    "如果|若|当|除非|一旦",
)
PREDICATE = re.compile(
    r"""\b(?: is|are|was|were|be|been|am|has|have|had|does|do|did|will|would|shall|should|must|may
      | might|can|cannot|could|wants?|needs?|asks?|says?|said|told|knows?|prefers?|goes|go|got|gets?
      | sent|send|check|use|keep|kept|post|run|ran|write|wrote|review|prepare|update|confirm|create
      | deploy|report\ (?:on|to|the)|schedule|book|order|find|found|look|make|made|take|took|give|gave
      | remind|notify|include|summari[sz]e|answer|reply|follow|finish|start|continue|verify|fix
      | compare|list|count|move|add|store|save|restart|works?|remains?|stays?|runs|comes?|came
      | expects?|requires?|plans?|meets?|begins?|began|ends?|starts|holds?|held|left|leaves|set|put
      | (?!need|speed|indeed|hundred)[a-z]{3,}ed
      | es|son|está|están|estaba|fue|fueron|era|eran|ha|han|había|hay|debe|deben|puede|pueden|tiene
      | tienen|quiere|quieren|pide|piden|prefiere|necesita|espera|falta|queda|sigue|va|van|se
      | envía|envíe|enviar|revisa|revisar|prepara|preparar|usa|usar|publica|comprueba|confirma
      | ordena|actualiza|reserva|pregunta|responde|termina|empieza|avisa|avisar|comparó
      | ist|sind|wird|werden|wurden?|darf|dürfen|muss|müssen|soll|sollen|kann|können|haben|hatten?|gilt
      | gelten|gibt|geht|gehen|kommt|kommen|bleibt|bleiben|steht|stehen|liegt|bekommt|bekommen|braucht
      | sendet|senden|schickt|schicken|prüft|möchte|bittet|macht|läuft|endet|beginnt|(?:ge|be|ver)[a-zäöü]{3,}(?:t|en)
      | \w+(?:ó|aron|ieron|aba|aban|ará|arán|erá|irá) )\b | [\u3400-\u9fff]{4,}""",
    re.VERBOSE | re.IGNORECASE,
)
