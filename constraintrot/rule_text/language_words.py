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
# Common words of the other languages, and greetings of some more.
_ACCENTED = _words(
    """
    der das den dem des ein eine einen einem einer und oder aber ist sind war waren wird werden
    wurde wurden habe haben hatte kann können könnte muss müssen soll ich du er sie es wir ihr mich
    mir dir uns euch ihnen ihre ihren ihrer sein mein meine unser unsere nicht kein keine auch noch
    schon nur sehr mit für von vom zum zur bei nach aus auf über unter zwischen wegen seit ohne um
    wie wo wann warum wer dass weil wenn dann hier dort heute gestern morgen jetzt bald bitte danke
    vielen dank gerne leider liebe lieber guten gute gutes hallo tag abend grüße gruß grüßen
    freundlichen herzliche herzlichen geehrte geehrter geehrten damen herren anbei anhang beigefügt
    entwurf vertrag rechnung angebot bericht besprechung termin lieferung bestellung sitzung
    unterlagen zahlen treffen protokoll montag dienstag mittwoch donnerstag freitag samstag sonntag
    januar februar märz juni juli oktober dezember uhr alles klar neue neuer neues kommt bleibt
    geht gibt sende senden schicke schicken finden erhalten bestätigen zusammen wiedersehen tschüss
    servus moin rückruf mahnung umsatz kosten büro urlaub betreff kenntnis genommen le la les un
    une de et ou mais est sont était être avoir avons avez ont ai je il elle nous vous ils elles
    mon ma votre vos notre nos leur leurs ce cet cette ces que qui quoi dont où quand pourquoi ne
    pas très bien aussi avec dans sans sous vers chez entre depuis avant après jusqu aujourd'hui
    demain maintenant bientôt oui non merci beaucoup bonjour bonsoir bonne journée salut
    cordialement madame monsieur cher chère veuillez agréer salutations trouver ci-joint jointe
    joint facture devis réunion rapport livraison commande bail contrat projet envoie envoyer reçu
    recevoir remercie remercions attendons rappel objet lundi mardi mercredi jeudi vendredi samedi
    dimanche janvier février mars avril juin juillet août septembre octobre novembre décembre ça va
    fait faire peut doit el los las una unos unas del o pero está están estoy era fue ser estar ha
    han hemos yo tú él ella nosotros ustedes usted mi mis su sus nuestro nuestra este esta estos
    ese eso quien cuando donde dónde por para con sobre desde hasta hacia sí muy más también ya hoy
    mañana ayer ahora luego hola gracias buenos buenas buen días tardes noches saludos cordiales
    atentamente estimado estimada estimados señor señora señores adjunto adjunta adiós favor
    factura reunión informe contrato pedido entrega borrador oficina equipo lunes martes miércoles
    jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre
    octubre noviembre diciembre envío enviar mando todo todos listo lo te pago recordatorio
    pendiente trimestral gli uno dello della delle dei degli dal dalla nel nella sul sulla e ed
    sono sei siamo stato stata ho hai abbiamo hanno io noi voi loro mio mia suo sua nostro nostra
    questo questa che chi cui quando perché più molto anche già oggi domani ieri adesso ora dopo
    ciao buongiorno buonasera grazie mille prego saluti cordiali distinti gentile egregio salve
    allegato allegata trova fattura riunione contratto rapporto consegna ordine bozza ufficio
    lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno
    luglio settembre ottobre dicembre ci vediamo sentiamo bene tutti tutto os uma umas da dos na
    nas ao aos pelo pela mas são foi tem temos eu ele ela nós vocês você meu minha seu nosso nossa
    isso quem onde com sem até não sim muito também já hoje amanhã ontem agora depois olá oi
    obrigado obrigada bom boa dia tarde noite atenciosamente prezado prezada caro cara cumprimentos
    segue anexo fatura reunião relatório escritório segunda-feira feira terça quarta quinta sexta
    março maio setembro outubro dezembro het een en voor niet wel ook nog al dit dat deze zijn
    wordt werd hebben heeft kan kunnen moet ik jij hij zij ze wij jullie u uw mijn onze naar bij
    uit tot om als maar omdat wanneer waar hoe wat vandaag gisteren nu straks goedemorgen
    goedemiddag goedenavond dag bedankt alvast groet groeten vriendelijke geachte beste mevrouw
    meneer hierbij bijlage bijgevoegd factuur vergadering overeenkomst levering bestelling offerte
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag maart mei ziens alle allemaal och
    att det som ett är för på med till har inte jag vi ni hon men eller från när var idag imorgon
    igår hej hejsan tack så mycket god morgon kväll vänliga vänlig hälsningar hälsning bifogat
    bifogad finns avtal avtalet möte mötet faktura måndag tisdag onsdag torsdag fredag lördag
    söndag ses alla ikke og jeg til af skal blev ble vil fra hvis når nå takk tak tusen mange
    hilsen hilsner venlig vennlig goddag hei vedlagt vedhæftet kontrakten kontraktet møde møtet
    mødet regning mandag tirsdag lørdag søndag går ja ei ole se tämä että mutta tai myös kun jos
    kiitos moi terve hyvää päivää huomenta iltaa paljon kaikille terveisin ystävällisin sopimus
    lasku kokous liitteenä maanantai huomenna eilen tänään nie jest są był była było że się dla ale
    lub oraz jak co gdy już tylko dzień dobry dobrý dziękuję dzięki cześć witam pozdrawiam proszę
    pani panie umowa umowę spotkanie załączeniu załącznik przesyłam poniedziałek wtorek środa
    czwartek piątek wczoraj jutro dzisiaj jsou byl byla že nebo už také děkuji děkuju ahoj prosím
    pozdravem smlouva schůzka příloze pondělí úterý středa čtvrtek pátek včera zítra dnes ve bir bu
    şu için ile değil çok daha ama veya merhaba selam günaydın teşekkürler teşekkür ederim lütfen
    saygılarımla sözleşme toplantı pazartesi salı çarşamba perşembe cuma dün yarın bugün și sunt
    pentru dar sau cu bună ziua mulțumesc vă rog contractul ședința luni marți miercuri joi vineri
    mâine azi és egy nem hogy vagy jó napot reggelt köszönöm szépen kérem üdvözlettel szia
    szerződés szerződést találkozó számla hétfő kedd szerda csütörtök péntek tegnap holnap yang dan
    di ini itu dengan untuk tidak adalah sudah akan saya kami anda terima kasih selamat pagi siang
    sore halo tolong mohon kontrak rapat faktur senin selasa rabu kamis jumat kemarin besok của và
    là không được cho tôi bạn xin chào cảm ơn hợp đồng họp hôm nay mai privet spasibo kak dela
    konnichiwa ohayo arigato arigatou gozaimasu onegaishimasu sayonara namaste nihao xiexie
    annyeong kamsahamnida shukran marhaba salaam shalom toda cum gratias magister frohe weihnachten
    joyeux noël feliz navidad natal buon natale auguri felicitări félicitations parabéns
    felicidades enhorabuena gefeliciteerd grattis tillykke gratulerer onnea fröhliche glückwunsch
    einladung erinnerung übersicht mietvertrag anfrage dringend wichtig kündigung rückfrage fertig
    liegen frage relance quittance congés aperçu d'accord c'est aviso resumen presupuesto alquiler
    recibo solicitud urgente urgentes preventivo riepilogo affitto allegati orçamento resumo
    aluguel férias problema huur huurcontract samenvatting verlof rekening afspraak hyra hyresavtal
    inga geen sammanfattning presto tard lire sollecito kapot im ins nein schönes wochenende offene
    fragen öffnungszeiten lieferschein preisanfrage nouvelle nouvelles recibido cordialmente sì
    ricevuto recebido akkoord ontvangen openingstijden groetjes dobranoc veselé vánoce görüşürüz
    viszontlátásra köszi paldies aitäh diolch fawr raibh maith agat faleminderit gràcies dankie
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
