"""The kind of each word of a text: English, foreign, a name, or unknown."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from constraintrot.grading.predicates._prose import WORD
from constraintrot.grading.predicates._sql_tokens import word_set
from constraintrot.rule_text.language_words import (
    ARTICLES,
    ELISIONS,
    ENGLISH,
    FOREIGN,
    PARTICLES,
    SHARED,
    SUFFIX,
    TITLES,
)

# Words of other scripts' languages typed in Latin letters, which language detectors take for the
# nearest Latin language: the commonest function words and verbs of each (as in chat and SMS) that
# are not English words. Two of them in one sentence are not a coincidence.
_HINDI = """
    hai hain nahi nahin kya kab kaise kaun kahan kyun kyon aur lekin magar mujhe mujhko tujhe hume
    humein aap aapka aapke aapki aapko tum tumhara tumhe mera mere meri hamara hamare hamari uska
    uske uski unka unke unko mein tak abhi kal aaj parso subah shaam raat karo kar karna karke
    karein kariye karunga karenge kijiye dijiye dijiyega bhejo bhej bhejna bhejenge dena lena jana
    jayega jayegi jaega gaya gayi gaye hoga hogi honge hoon raha rahi rahe tha thi sakte sakta sakti
    chahiye matlab bahut thoda sab theek thik accha achha bhai yaar wala wali wale kuch koi yeh woh
    wahan yahan phir sirf jaldi zaroor shukriya dhanyavaad bolo bol batao batana bata dekho dekh
    milte milenge kripya baaki pehle baad liye saath wapas kaam paisa bhi aana aaunga aayega
"""
_RUSSIAN = """
    privet zdravstvuyte zdravstvuite spasibo pozhaluysta pozhalujsta pozhalusta chto eto gde kogda
    pochemu zavtra segodnya vchera vstrecha dogovor schet budet bylo byla mogu mozhno nuzhno nado
    vashe vasha vashi vash vam vas nam menya tebya dobryy dobryj dobroe utro vecher svidaniya
    ponedelnik vtornik sredu chetverg pyatnitsu pyatnitsa subbotu gotov gotovy otpravil prishlite
    poluchili uvazhaemaya uvazhaemyy gospodin gospozha pismo zakaz dlya tolko seychas ochen khorosho
    horosho pomosh vsem uvidimsya
"""
_ARABIC = """
    ana enta enti howa heya ehna mesh mish msh bokra bukra boukra embare7 elyom delwa2ti lazem
    momken mumkin feen fein leh lesh shu eh kifak izayak ezayak 3ala ma3a 3ashan 3ayez inshallah
    insha2allah shukran shokran yalla habibi marhaba mar7aba ahlan akhbarak kteer ktir kwayes tamam
    aywa laa bass
"""
_CHINESE = """
    nin nimen tamen xiexie zaijian mingtian jintian zuotian shenme zenme weishenme hetong huiyi
    kaihui queren fasong shoudao yijing keyi xuyao qing nihao ninhao zhege nage meiyou jiaohuo
    yangpin baojia fapiao huowu dahuo xiayue zhiqian women
"""
_JAPANESE = """
    desu desuka masu mashita masen kudasai onegai onegaishimasu arigatou gozaimasu ashita kyou kinou
    kaigi keiyakusho seikyuusho shiryou kakunin otsukaresama yoroshiku sumimasen konnichiwa ohayou
    watashi anata nani kore sore node kara
"""
_KOREAN = """
    annyeong annyeonghaseyo gamsahamnida kamsahamnida imnida seumnida hoeuineun naeil oneul eoje
    juseyo gyeyakseo
"""
_GREEK = """
    kalimera kalispera efharisto efxaristo parakalo einai tha stis sas mou avrio simera etoimo
    etoimi timologio symvolaio simvolaio pos eiste kai
"""
_ALL = (_HINDI, _RUSSIAN, _ARABIC, _CHINESE, _JAPANESE, _KOREAN, _GREEK)
# English words, and first names that stand in English letters.
_ENGLISH_TOO = word_set(
    """
    women tum nam mere tha pos eh ana kai mein mesh bass leh node sore kore kara bat bol aur sas mou
    stis qing lena dena howa kam
    """
)
ROMANISED = word_set(" ".join(_ALL)) - _ENGLISH_TOO

# The chat alphabet writes some Arabic letters as digits: 3a2d, mar7aba, sa3a.
CHAT_ALPHABET = re.compile(
    r"(?=[^aeiou]*[aeiou])(?:[a-z']{1,20}[23579](?=[a-z])|[23579](?=[a-z]{3}))[a-z']{1,20}"
    r"(?:[23579][a-z']{0,20}){0,3}"
)
TECHNICAL = word_set("b2b b2c c2c p2p h2o co2e e2e m2m g2g f2f w3c v2beta mp3s office365x")

# Greetings, thanks and closings, which do not make an English email foreign.
FORMULAE = word_set(
    """
    guten gute guter hallo moin servus grüezi sehr geehrte geehrter geehrten liebe lieber
    freundlichen freundlichem grüßen gruß grüße danke dank herzlichen tschüss wiedersehen bonjour
    bonsoir salut coucou cher chère chers merci cordialement revoir amicalement bises hola buenos
    buenas querido querida estimado estimada estimados estimadas gracias saludo saludos cordial
    cordiales atentamente abrazo adiós adios ciao salve buongiorno buonasera gentile grazie cordiali
    distinti saluti arrivederci olá ola bom boa caro cara prezado prezada obrigado obrigada abraço
    atenciosamente hoi goedemorgen goedemiddag geachte bedankt groet groeten hej hei hallå tack takk
    tak kiitos terve hyvää dzień dobry dziękuję cześć pozdrawiam dobrý děkuji ahoj merhaba
    teşekkürler selam namaste namaskar salaam salam marhaba shukran shalom toda aloha konnichiwa
    sayonara arigato arigatou privet spasibo nihao xiexie appetit appetito feliz joyeux frohe buon
    prost salud santé god
    """.casefold()
)
# Words beside them.
FORMULA_PARTS = word_set(
    """
    tag morgen morgon abend nacht frau herr herrn damen und herren mit viele vielen beste besten
    schöne auf bitte madame monsieur beaucoup bien à vous au días dias tardes noches señor señora
    señores muchas mil un hasta luego pronto signor signora mille muito dia tarde noite beste mevrouw
    heer vriendelijke met päivää día domo alla alle todos todas tous tutti zusammen dag navidad natal
    noël weihnachten natale año nuevo
    """.casefold()
)
_HAN = "(?:(?![的了是在我您你们請请這这將将已不吗到于和给寄送由向从])[\u4e00-\u9fff])"
# Also the names of organisations, and postal addresses.
FORMULAE_HAN = re.compile(
    "(?:[\u4e00-\u9fff]{1,4}(?:女士|先生|小姐|经理|主管|主任|总|老师))?(?:您好|你好|早上好|下午好)"
    f"|^\\s*(?:尊敬的|亲爱的)?{_HAN}{{1,2}}(?:女士|先生|小姐|经理|主管|主任|总|老师)(?=\\s*[,!！]?\\s*$)"
    f"|{_HAN}{{2,12}}(?:公司|集团|大学|学院|研究所|博物馆)(?!{_HAN})"
    f"|{_HAN}{{2,16}}(?:路|街|道|巷)\\s?\\d+\\s?[号弄](?:\\s?[\\dA-Z]+\\s?(?:号楼|栋|座|楼|层|室|单元))*"
    "|祝好|此致|敬礼|谢谢(?:您|你)?|多谢|顺颂商祺|祝(?:您|你)?(?:工作|商祺|新年)?(?:愉快|顺利|快乐)"
)


_ACRONYM = re.compile(r"[A-Z]{2,5}s?|[b-df-hj-np-tv-xz]{2,4}")
_CODE = re.compile(r"[@_\\{}=<>$#|~^]|://|\w\(|\d|[a-z][A-Z]|\.\w|/.*/|^[/.]|^--?\w")
_CHAT = word_set("thx pls plz u ur tmrw btw")
_FIRM = word_set("co")  # "& Co. KG"
# Scripts without blanks between words.
DENSE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Word(NamedTuple):
    """A word of a text with its kind and weight."""

    text: str
    kind: str  # own, other, shared, name or unknown
    # Lower for a capital within a sentence, which may mark a name.
    weight: float = 1


def words_in(part: str) -> Iterator[str]:
    """Yield the words of a part, without code, addresses and numbers."""
    for token in part.split():
        bare = token.strip("_*~`'\"()[]{}<>.,;:!?#“”„«»‘’…-")
        # In scripts without blanks a number is part of the sentence's token.
        code = re.sub(r"\d", "", bare) if DENSE.search(bare) else bare
        if len(bare) > 60 or not _CODE.search(code):
            yield from WORD.findall(bare)
        elif is_romanised(bare):
            yield bare


def kinds(texts: list[str]) -> list[Word]:
    shouted = len(texts) > 1 and all(text.isupper() for text in texts)
    words: list[Word] = []
    for index, text in enumerate(texts):
        shown = text.lower() if shouted else text
        weight = 0.5 if index and shown[0].isupper() else 1
        words.append(Word(text, _kind(shown, first=not index), weight))
    return words


@lru_cache(maxsize=8192)
def _kind(text: str, first: bool) -> str:
    folded = text.casefold().replace("’", "'")
    head, mark, tail = folded.partition("'")
    if folded in TITLES or _ACRONYM.fullmatch(text) or (folded in _FIRM and text[0].isupper()):
        return "name"
    if folded in _CHAT:
        return "own"
    if folded in FOREIGN or (mark and head in ELISIONS and (head in "jqu" or text[0].islower())):
        return "name" if mark and tail and text[-len(tail)].isupper() else "other"
    if mark and tail in ("s", "t", "d", "m", "re", "ve", "ll"):
        return "own" if tail != "s" or _is_english(head) else "name"
    if folded in SHARED or len(folded) < 2 or any(sign.isdigit() for sign in folded):
        return "shared"
    if _is_english(folded):
        return "own"
    if SUFFIX.search(folded):
        return "other"
    if text[0].isupper() and not first:
        return "name"
    return "unknown"


def _is_english(folded: str) -> bool:
    stems = {folded.removesuffix(end) for end in ("s", "es", "d", "ed", "ing", "ly", "er")}
    return folded in ENGLISH or any(
        stem in ENGLISH or f"{stem}e" in ENGLISH for stem in stems - {folded} if len(stem) > 2
    )


def with_names(words: list[Word]) -> list[Word]:
    """Return the words, with a name's first and small words ("de la") marked as names."""
    named = list(words)
    for index, word in enumerate(words[:-1]):
        small = _is_small(words, index)
        ahead = range(index + 1, min(index + 4, len(words)))
        last = next((words[at] for at in ahead if not _is_small(words, at)), word)
        if not _may_name(last):
            continue
        if (small and index and _may_name(named[index - 1])) or (
            index == 0
            and last.kind == "name"
            and word.text.istitle()
            and (small or word.kind == "unknown")
        ):
            named[index] = word._replace(kind="name")
    return named


def is_romanised(text: str) -> bool:
    """Return whether a word of another script's language is typed in Latin letters."""
    folded = text.casefold()
    if folded in ROMANISED:
        return True
    letters = re.sub(r"\d", "", folded)
    return bool(
        len(folded) < 40
        and CHAT_ALPHABET.fullmatch(folded)
        and folded not in TECHNICAL
        and not _is_english(letters)
    )


def is_foreign(word: Word) -> bool:
    """Return whether a word is foreign, and not a small word of a name."""
    return word.kind == "other" and word.text.casefold() not in PARTICLES


def _may_name(word: Word) -> bool:
    return word.kind == "name" or (word.kind == "other" and word.weight < 1)


def _is_small(words: list[Word], index: int) -> bool:
    """Return whether a word is a small word of a name, and not a German article."""
    text = words[index].text.casefold()
    if text in ARTICLES and (not index or words[index - 1].text.casefold() not in PARTICLES):
        return any(word.kind == "own" for word in words)  # "Haus der Kunst" in English
    return text in PARTICLES
