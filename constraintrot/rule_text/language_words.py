"""Words by which the language of an email is told, and the languages there are."""

from __future__ import annotations

import re
import unicodedata


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _unaccented(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


# Those that share the Latin script, which no script can tell apart.
LANGUAGES = _words(
    """English German French Spanish Italian Portuguese Dutch Swedish Danish Bokmal Finnish
    Polish Czech Turkish Romanian Hungarian Indonesian Vietnamese Latin"""
)

# Common words of English office mail that no other language writes alike.
ENGLISH = _words(
    """
    the and of for with from that this these those it its you your yours they them their our ours
    us she him who whom whose which what when where why how been being be are were have has had
    having does did done doing would should could can cannot might may must shall not but if than
    then there here at into onto about above below between through during before once only own same
    such too very just any both each few other some less most many much every either neither
    because until while since against without within upon off out up down my mine myself one two
    three four five six seven eight nine ten eleven twelve hundred thousand first second third
    fourth next last past today tomorrow yesterday tonight now soon later earlier early late
    already still yet never always often day month year hour morning afternoon evening night noon
    monday tuesday wednesday thursday friday saturday sunday january february march june july
    october december spring summer autumn winter hello hi hey dear thanks thank please kindly
    regards sincerely cheers sorry welcome goodbye bye yes ok okay congratulations congrats happy
    birthday good great fine well nice new old right wrong ready sure true false open close free
    full empty urgent important confidential private public high low long short big small large
    cheap due overdue asap fyi eod eow eta pto ooo lgtm tbd tbc attn re fwd vs via etc get got give
    given take taken make made keep kept send sent see seen look find found know known think
    thought say said tell told ask call came go gone put set let need use work try help like meet
    met read write wrote written sign respond answer confirm check review approve change move join
    share show run start stop end finish begin add remove fix break broken buy bought sell sold pay
    paid order ship deliver arrive leave left return receive book cancel postpone attach enclose
    follow remind bring wait hold push pull merge deploy restart reboot reset fail failure delay
    report draft lease contract invoice agreement offer quote proposal floor drawing file folder
    figure number list sheet table copy subject mail letter phone appointment calendar event
    conference staff colleague office desk room building door key badge lift engineer supplier
    customer tenant agent auditor counsel lawyer designer company bank department board member
    guest visitor people woman name address city country street road house home train flight travel
    lunch dinner breakfast coffee tea food price cost rent fee tax account payment turnover revenue
    profit store shelf delivery package parcel carton box item quantity amount request issue error
    bug ticket task release build backup database node disk password access user network summary
    detail information reference maintenance repair equipment printer screen lamp light chair towel
    lobby reception front back north south east west side top bottom square renewal quarterly
    annual monthly weekly daily schedule deadline date time place term scope backlog holiday
    weather rain snow sun world thing part half sort word mean language english german french
    spanish italian foreign law reject pending complete available unable able enough almost around
    across along under another something nothing everything anything someone everyone anyone
    whether though however perhaps probably really even ever away together ahead forward regarding
    concerning according including except despite instead rather reminder confirmation renew cover
    details party water machine machinery bad lock closed i'm café résumé naïve façade cliché
    touché exposé fiancé fiancée jalapeño piñata déjà vis crème brûlée entrée soirée voyage
    kindergarten zeitgeist fahrenheit lead ate fur addendum kanban questionnaire wow expense
    concert museum exhibition bonus newsletter pallet toner firmware owner session speaker trip
    tour visit view photo picture budgeted forecast target goal risk safety alarm fire drill
    insurance pension salary hire hiring interview candidate role job career training course lesson
    school student teacher doctor nurse hospital health medicine dentist dental garden plant flower
    tree paint blind window wall roof kitchen bathroom furniture wood paper ink pen pencil stamp
    envelope archive committee president secretary assistant partner friend family child children
    mother father brother sister wife husband team's power heating parking garage truck boat port
    airport airline passport visa map route traffic weekend lunchtime appendix audit receipt refund
    voucher discount freight customs courier dispatch tracking compliance logistics policy rule
    security privacy secret code script commit branch feature button click website link domain
    cloud cluster queue cache log metric alert outage downtime upgrade rollback migrate migration
    replace remain continue create delete edit save load print scan paste search filter count
    measure compare calculate estimate describe explain discuss decide agree disagree accept
    decline apologise apologize appreciate expect hope wish believe understand remember forget lose
    lost win won drop catch carry pick pass play turn speak spoke talk listen hear heard watch wear
    drive drove ride walk sit stand fall grow cut hit hurt built draw feel felt happen seem become
    became stay spend spent learn teach taught choose chose raise reduce increase improve include
    exclude contain depend suggest recommend require allow prevent protect avoid ensure better
    worse worst easy hard difficult simple quick slow long-term strong weak heavy clean dirty dry
    wet hot cold cool busy quiet loud safe dangerous correct incorrect missing extra spare main
    major minor special common usual separate similar different several certain possible impossible
    necessary likely unlikely fresh loose tight flat round thick thin deep wide narrow black white
    red blue green yellow brown grey gray care brochure manifest canteen rota proof handle
    cancellation apology apologies
    """
)
# Words that say nothing, for more than one language writes them so.
SHARED = _words(
    """
    a i in is we me on am an as so was no die man over do to or he her want hat will bin also all
    by april august september november pour comment chat car son sale pain sin plus sur par dove
    male per pro ad hoc rata diem vice versa status plan test problem normal general local real
    final total agenda email e-mail team info video online marketing software manager workshop
    feedback computer server project update post service support meeting budget week hand best kind
    more come fast gift arm art director hotel transport export import format material original
    central person moment minute client site document note page restaurant station question message
    pardon version region club bar bus taxi park film radio sport menu piano opera facto jure tu
    ton mes si bona fide quid quo x y z bis modus operandi curriculum vitae van bravo encore olé
    salsa gelato fjord hygge paprika doppelgänger smörgåsbord chiaroscuro papier mâché feng shui
    """
)
# Common words of the other languages, and greetings of some more: those alone that the detector of
# languages, asked about the word by itself, does not take for foreign beyond doubt.
_ACCENTED = _words(
    """
    der das den dem des ein eine einem einer und oder aber ist sind war waren wird wurde wurden
    habe hatte kann muss soll ich du er sie es wir ihr mich mir dir uns euch ihre ihren sein mein
    meine unser unsere kein keine auch noch schon nur sehr mit von vom zum zur bei nach aus auf
    unter wegen seit ohne um wie wo wann wer dass weil wenn dann hier dort heute gestern morgen
    bald bitte danke dank gerne leider liebe lieber guten gute gutes hallo tag abend damen herren
    anbei anhang angebot termin montag dienstag donnerstag freitag sonntag januar februar juni juli
    oktober uhr alles klar neuer neues gibt sende senden schicke schicken finden moin kosten le la
    les un une de et ou mais est sont avons avez ont ai je il elle nous vous ils mon ma vos notre
    nos leur leurs ce cet cette ces que qui quoi dont quand ne pas bien aussi avec dans sans sous
    vers chez entre depuis avant jusqu demain maintenant oui non merci bonjour bonsoir bonne salut
    cordialement madame cher salutations ci-joint jointe joint facture devis rapport livraison
    commande bail contrat projet envoyer remercie remercions attendons rappel objet lundi mardi
    mercredi jeudi vendredi samedi dimanche janvier mars avril juin juillet septembre octobre
    novembre va fait faire peut doit el los las una unos unas del o pero estoy era fue ser estar ha
    han hemos yo ella ustedes usted mi mis su sus nuestro nuestra este esta estos ese eso donde por
    para con sobre hasta hacia muy ya hoy ayer ahora luego hola gracias buenos buenas buen tardes
    noches cordiales estimado estimada estimados adjunto adjunta favor factura informe contrato
    entrega oficina equipo lunes martes viernes domingo enero marzo abril mayo junio julio agosto
    enviar mando listo lo te pago pendiente trimestral gli uno dello della delle dei degli dal
    dalla nel nella sul sulla e ed sono sei siamo stato ho hai hanno io noi voi loro mio mia sua
    nostro nostra questo questa che chi cui quando molto anche oggi domani ieri ora dopo ciao
    buonasera grazie mille prego saluti cordiali distinti gentile egregio salve allegato allegata
    trova contratto rapporto ordine bozza ufficio sabato domenica aprile ci vediamo sentiamo bene
    os uma umas da dos na nas ao aos pelo pela mas foi tem eu ele ela meu minha seu isso quem onde
    com sem sim hoje ontem agora depois oi bom boa dia tarde noite prezado prezada caro cara segue
    anexo fatura quarta quinta maio het een en voor niet wel ook nog al dit dat werd kan moet ik ze
    jullie u uw onze uit tot om als hoe wat gisteren nu dag alvast groet beste meneer factuur
    vergadering levering bestelling offerte maart mei ziens alle och att det som ett med till har
    inte jag vi ni hon men eller var idag hej hejsan tack god morgon bifogat bifogad faktura ses
    alla og jeg til af skal blev ble vil fra hvis tak tusen mange hilsen hilsner venlig hei mandag
    ja ei ole se tai kun jos moi terve terveisin kokous eilen nie jest dla ale lub jak co gdy dobry
    pani panie jutro jsou byl byla nebo ahoj dnes ve bir bu ile daha ama veya merhaba selam ederim
    cuma sunt dar sau cu mulțumesc rog contractul luni joi vineri azi egy nem napot köszönöm szia
    kedd szerda tegnap yang dan di ini itu kami anda terima selamat pagi siang sore halo tolong
    rapat faktur senin rabu kamis jumat kemarin cho xin nay mai privet spasibo kak dela konnichiwa
    ohayo arigato arigatou gozaimasu onegaishimasu sayonara namaste nihao annyeong shukran marhaba
    salaam shalom toda cum gratias magister frohe feliz natal buon natale auguri grattis onnea
    anfrage dringend fertig frage relance quittance d'accord c'est aviso resumen alquiler recibo
    solicitud urgente urgentes preventivo riepilogo allegati resumo problema huurcontract
    samenvatting verlof rekening hyra inga geen presto tard lire sollecito kapot im ins nein
    schönes wochenende offene fragen cordialmente dobranoc paldies diolch fawr raibh maith agat
    faleminderit dankie
    """
)
# People often write them without their accents.
FOREIGN = _ACCENTED | ({_unaccented(word) for word in _ACCENTED} - ENGLISH - SHARED)
# Small words of names ("de la Cruz"), titles before them, and words for a street.
PARTICLES = _words(
    """
    de la las los el le les du des del della di da do dos das den der van von zu ten ter y e i bin
    al und et og och
    """
)
ARTICLES = _words("der den")
TITLES = _words(
    """
    herr frau señor señora señorita monsieur madame mme signor signora mevrouw meneer pan pani san
    são rue calle avenida paseo plaza piazza viale corso rua praça straße
    """
)
# Greetings that look like names where only a name can be told by its capital.
GREETINGS = _words(
    """
    привет спасибо здравствуйте пока 你好 您好 谢谢 謝謝 再见 再見 ありがとう こんにちは مرحبا شكرا
    """
)
ELISIONS = _words("l d qu c j n m t dell all un sull nell dall quest")
SUFFIX = re.compile(
    r"[a-zäöüß]{5}(?:ungen|ung)$|[a-zäöüß]{4}(?:heit|keit|schaft|vertrag|bericht|rechnung)$"
    r"|(?:ción|ções|ção|zione|zioni|ité|ität)$"
)

# Phrases that English has taken over whole.
BORROWED = re.compile(
    r"\b(?:[àa] la (?:carte|mode)|al (?:dente|fresco)|c'est la vie|dolce far niente|en (?:route|masse)"
    r"|et cetera|faux pas|haute couture|mise en place|objets? d'art|par excellence|trompe[ -]l'oeil"
    r"|bon app[ée]tit|bon voyage|hasta la vista|au revoir|auf wiedersehen|que ser[aá],? ser[aá]"
    r"|carpe diem|mazel tov|feng shui|tai chi|qi ?gong|gong xi fa cai|pu'?er|eid mubarak)\b",
    re.I,
)

CLOSING = re.compile(
    r"(?:(?:best|kind|warm|many) )?(?:regards|thanks)|best|best wishes|thank you|cheers"
    r"|yours|(?:yours )?(?:sincerely|faithfully|truly)"
)
