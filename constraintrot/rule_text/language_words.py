"""Words that identify the language of an email, and the known languages."""

import re
import unicodedata


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _unaccented(word: str) -> str:
    parts = unicodedata.normalize("NFKD", word)
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


# Languages in Latin script, which the script cannot distinguish.
LANGUAGES = _words(
    """English German French Spanish Italian Portuguese Dutch Swedish Danish Bokmal Finnish
    Polish Czech Turkish Romanian Hungarian Indonesian Vietnamese Latin"""
)

# Common words of English office mail that no other language shares, and that the language
# detector does not surely take for English by themselves.
ENGLISH = _words(
    """
    the and of for with from that this it its you your they them our us she him who whom what
    when why how been be are were have has had does did done can may must shall not but if than
    then here at into onto once only own same such too very just any both each few some less
    most many much upon off out up down my mine one two four five six seven nine ten eleven
    hundred second next last past now soon late still yet never often day year hour noon monday
    tuesday wednesday thursday friday saturday sunday january february march june july october
    december spring summer autumn winter hello hi hey dear thank regards cheers bye yes ok okay
    good fine well nice new old wrong sure true false open free full urgent important private
    public high low long big small large due overdue asap fyi eod eow eta pto ooo lgtm tbd tbc
    attn re fwd vs via etc get got give given take taken make made keep kept send sent see seen
    look know say said tell told ask call came go gone put set let need use work try help like
    meet met read written sign respond confirm check change move join show run start stop end
    begin add fix broken buy sell sold pay paid order ship deliver arrive left book cancel
    attach remind bring wait hold push pull merge restart reboot reset fail delay draft contract
    quote floor file folder figure list sheet table copy mail letter phone calendar event desk
    room door key badge lift tenant agent auditor designer bank member guest visitor woman name
    address city road home train dinner tea food price cost rent fee tax turnover revenue profit
    store shelf parcel carton box item request error bug ticket task backup database node disk
    password access user detail information maintenance screen lamp towel reception front back
    east west side top bottom date time place term scope rain snow sun part half sort word mean
    language german italian law pending able under even ever away except confirmation cover
    party water machine bad lock i'm café résumé naïve façade cliché touché exposé fiancé
    fiancée jalapeño piñata déjà vis crème brûlée entrée soirée voyage kindergarten zeitgeist
    fahrenheit lead ate fur addendum kanban questionnaire wow concert museum bonus newsletter
    pallet toner firmware session trip tour visit view photo target goal risk alarm fire drill
    insurance pension hire candidate role job course lesson doctor hospital medicine dentist
    dental garden plant tree blind window wall roof kitchen wood paper ink pen pencil stamp
    envelope archive president assistant partner sister wife team's garage truck boat port
    airline visa map route traffic weekend appendix audit refund voucher courier compliance
    policy rule secret code script branch button click website link domain cloud cluster queue
    cache log metric alert outage upgrade rollback migrate migration continue delete edit save
    load print scan paste filter count compare calculate estimate describe discuss decide accept
    apologise appreciate hope wish understand lose lost win won drop pick pass play turn talk
    listen hear wear drive drove ride walk sit stand fall grow cut hit hurt draw feel felt
    happen seem stay spend chose raise reduce exclude contain depend prevent protect avoid
    better worst easy hard difficult simple slow long-term strong weak heavy dry wet hot cold
    cool busy quiet loud safe correct incorrect missing extra spare main major minor special
    separate similar certain possible impossible flat thin deep wide red blue green grey gray
    care brochure manifest canteen rota handle cancellation apologies
    """
)
# Words shared by several languages.
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
# Common words of the other languages, and greetings of some more, that the language detector does
# not surely take for foreign by themselves.
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
# They are often written without accents.
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
# Greetings that could be taken for names, since a name is recognised by its capital.
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
