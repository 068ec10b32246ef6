"""Email in another language: names, jargon and short texts are the hard cases."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from constraintrot.grading.predicates.not_in_language import NotInLanguage

PREDICATE = NotInLanguage()

ENGLISH = r"""
OK ¦ Hi ¦ Hello Jürgen ¦ Hello Jürgen, ¦ FYI ¦ Re: Q3 ¦ Dear Señora Álvarez,
Dear Señora Álvarez, please find the draft attached. ¦ Status ¦ Status update
Hello Dana Whitfield, here are the details: Turnover 418 thousand, costs 301 thousand, backlog six weeks.
the draft lease ¦ the service contract ¦ the floor plan ¦ the quarterly figures
Scope covers two sites, renewal is automatic each July.
Unit 4B, 310 square metres, loading door on the north side.
Term five years from 1 March, rent reviewed in year three. ¦ The sign reads "Bitte nicht stören".
The sign reads „Bitte nicht stören“ and hangs on the door.
She wrote «je ne sais quoi» on the board. ¦ Our partner 田中太郎 (Tanaka) will attend.
The word привет means hello. ¦ Please meet Иван Петров at the gate. ¦ Meeting with Klaus
Meeting w/ Zoë re: Düsseldorf ¦ Ticket JIRA-1234: null pointer in getUserName()
Run `SELECT * FROM usuarios WHERE estado = 'activo'` first.
```python\ndef hallo(): print("Guten Tag")\n```\nThis is the snippet.
Please deploy main to prod after lunch.
See https://de.wikipedia.org/wiki/Berliner_Mauer for background.
Path: C:\Benutzer\Öffentlich\bericht.docx is missing. ¦ Ping me when the build is green. ¦ Thanks!
Thank you ¦ Cheers ¦ Best regards, ¦ Kind regards, Søren
Best regards,\nDr. Hans-Jürgen Müller-Lüdenscheidt ¦ Yours sincerely,\n田中太郎 ¦ Regards\nИван Петров
Will do ¦ On it ¦ Got it, thanks ¦ EOD? ¦ PTO next week ¦ 1:1 moved ¦ Lunch at La Boqueria?
Trip to São Paulo ¦ The Champs-Élysées office opens in May. ¦ Flight to Zürich at 7
Visit of Vigdís Finnbogadóttir ¦ Nguyễn Văn An and Trần Thị Bích joined the call.
Invoice 20391 overdue ¦ Delivery delayed ¦ Order 66 standing desks and 12 coat hooks
Server down since 03:12 UTC ¦ Backup failed on db-eu-01
Nightly ETL job failed: timeout after 3600 s ¦ git push --force rejected ¦ Lease ¦ Contract
Invoice ¦ Agenda ¦ Reminder ¦ Urgent ¦ Quarterly figures ¦ Floor plan ¦ Meeting Monday
Confidential ¦ Draft v3 ¦ Happy New Year! ¦ Welcome aboard, Mateus ¦ Out of office ¦ Good morning
Good morning, Frau Schmidt ¦ Hi team ¦ Hi Paul, see attached. Sam
Please sign and return by Friday. ¦ Kindly confirm receipt. ¦ Rent due 1 April.
Coffee machine on floor 2 is broken again. ¦ Café Müller closes at six.
Her résumé looks great, a bit naïve perhaps.
Kindergarten pickup at 3, then the Oktoberfest planning call. ¦ Zeitgeist report: Q1
We had tapas and paella at the team dinner. ¦ The Universidad Nacional Autónoma de México replied.
Volkswagen and Deutsche Bahn are both clients. ¦ Jean-Luc de la Fontaine is the new tenant.
Hand the parcel to Herr Vogel at the front desk.
São Paulo, Malmö, Coimbra and Évora are on the list. ¦ P.S. bring boots ¦ Attn: Facilities
Total: 4,310.00 EUR ¦ N/A ¦ The quick brown fox jumps over the lazy dog.
No water in the lift engineer's room; plumber booked.
A hat and a die were left on the war memorial. ¦ Also, the man in the bad hat was here.
Item: hand towels\nQty: 40\nStatus: ordered
- buy ink cartridges\n- count archive boxes\n- label shelves
Hello Marco, here are the details: Unit 4B, 310 square metres, loading door on the north side.
pls chk the inv asap thx ¦ Bump lodash to 4.17.21 ¦ El Paso branch opening
Trip to Rio de Janeiro, Santiago de Compostela and Santa Cruz de la Sierra ¦ We're good to go!
Stationery ¦ Forklift ¦ Standup cancelled ¦ Cron job flapping ¦ Ines out sick
Best wishes,\nFrançois Lefèvre\nSociété Lefèvre SARL ¦ Hello محمد, the badge is ready.
We stayed at the Hotel zur Post in Garmisch-Partenkirchen. ¦ Sum: 12.400,00 EUR incl. MwSt
Sounds good ¦ Oops, wrong link ¦ Ballet, opera and a concerto: culture week ¦ ｈｅｌｌｏ ｔｅａｍ
Quick question about invoice INV-20391
Hello Elif, here are the details: Term five years from 1 March, rent reviewed in year three.
Fix: KeyError in parse_args() when --dry-run is set ¦ Car park closed on Saturday.
The Bundesbank and the Banque de France issued a joint statement. ¦ Weekly digest, 12-18 May
Happy birthday, Ivo ¦ Ship to: Königsallee 60, 40212 Düsseldorf ¦ No problem at all.
Rehearsal dinner at Osteria Francescana, black tie ¦ Wi-Fi password reset for guests
New starter: Lucía Gómez, Monday ¦ Rent reviewed annually, capped at CPI plus two.
Gruppe Neun GmbH & Co. KG has paid. ¦ Galleria dell'Accademia tickets ¦ Objet d'art insured
Faux pas ¦ The parcel is en route. ¦ À la carte menu ¦ Salsa class
The address is Avenida de la Constitución 3, 41004 Sevilla.
The Camino de Santiago runs past Santo Domingo de la Calzada.
Kind regards,\nSolange Perrault\n12 rue des Petits-Champs\n75002 Paris
The query SELECT nombre, fecha FROM pedidos WHERE cerrado = false is slow.
The Haus der Kunst in Munich has replied.
"""
FOREIGN = r"""
Guten Tag ¦ Hola ¦ Bonjour ¦ Merci beaucoup ¦ Gracias ¦ Meeting mit Klaus
Sehr geehrte Frau Keller, ¦ Sehr geehrte Frau Keller, anbei erhalten Sie den Entwurf.
Ich habe den Vertrag gestern unterschrieben. ¦ Die Lieferung kommt am Montag.
Bitte senden Sie mir die Unterlagen bis Freitag. ¦ Danke ¦ Vielen Dank ¦ Guten Morgen zusammen
Hallo Jürgen ¦ Rechnung ¦ Besprechung ¦ Vertragsentwurf ¦ Der Vertrag ¦ Quartalszahlen
Terminverschiebung ¦ wir sehen uns am montag ¦ das ist gut ¦ Je vous remercie pour votre aide.
Le contrat est signe. ¦ La livraison est prevue pour lundi. ¦ Merci ¦ Salut Paul ¦ Bonsoir
Reunion de lundi ¦ Objet : votre facture ¦ Veuillez agreer mes salutations distinguees.
Nous avons bien recu votre commande. ¦ Buenos días ¦ Estimado señor Berg:
Estimada señora Whitfield, adjunto el borrador del contrato. ¦ El contrato esta firmado.
Nos vemos el lunes en la oficina. ¦ Factura pendiente ¦ Reunión el lunes ¦ Informe trimestral
Gracias por todo ¦ Adiós ¦ Olá ¦ Bom dia ¦ Obrigado
Prezada senhora Raman, segue o contrato em anexo. ¦ O contrato foi assinado ontem.
Nos encontramos na segunda-feira. ¦ Ciao ¦ Buongiorno ¦ Grazie
Gentile signora Whitfield, in allegato trova il contratto. ¦ Il contratto e stato firmato ieri.
Ci sentiamo lunedi. ¦ Goedemorgen ¦ Bedankt
Geachte mevrouw Keller, hierbij het concept van de huurovereenkomst.
Het contract is gisteren getekend. ¦ Tot ziens ¦ God morgon ¦ Tack ¦ Kontraktet skrevs under i går.
Vi ses på måndag. ¦ Hej alla ¦ Kontrakten blev underskrevet i går. ¦ Kontrakten ble signert i går.
Takk for hjelpen ¦ Hyvää päivää ¦ Kiitos ¦ Sopimus allekirjoitettiin eilen. ¦ Dzień dobry
Dziękuję ¦ Umowa została podpisana wczoraj. ¦ Smlouva byla podepsana vcera. ¦ Ahoj ¦ Merhaba
Teşekkürler ¦ Sözleşme dün imzalandı. ¦ Contractul a fost semnat ieri. ¦ Mulțumesc
A szerződést tegnap aláírták. ¦ Köszönöm ¦ Kontraknya sudah ditandatangani kemarin.
Hợp đồng đã được ký hôm qua. ¦ Xin chào ¦ 你好 ¦ 合同昨天已经签署。 ¦ こんにちは ¦ 契約は昨日署名されました。 ¦ 안녕하세요
계약은 어제 체결되었습니다. ¦ Привет ¦ Договор был подписан вчера. ¦ مرحبا ¦ تم توقيع العقد أمس.
The contract is ready. Der Vertrag ist fertig. See you Monday.
Hello Dana, das Büro bleibt am Freitag geschlossen. Regards, Ines
All good here. Todo esta listo para el viernes. Thanks.
Dear team,\n\nLa réunion est annulée.\n\nBest,\nPaul
Hi Dana,\n\nanbei der Vertrag wie besprochen. Bei Fragen gerne melden.\n\nRegards\nSam
Good news: 合同已经签好了。 ¦ Please note: встреча перенесена на пятницу. ¦ MIT FREUNDLICHEN GRÜSSEN
"Sehr geehrte Frau Keller, anbei der Vertrag."
```\nSehr geehrte Frau Keller, anbei der Vertrag.\n``` ¦ vertrag anbei, bitte unterschreiben
te mando el informe luego ¦ on se voit demain ¦ ci vediamo dopo
Salve, magister. Gratias tibi ago. ¦ Moin ¦ Einladung ¦ Krankmeldung ¦ Kein Problem
Demande de conges ¦ On se rappelle ¦ Aviso ¦ Que tal ¦ Richiesta ferie ¦ Feliz Natal
Geen probleem ¦ Jag ringer senare ¦ Tebrikler ¦ よろしくお願いします ¦ धन्यवाद ¦ Note: das Büro ist zu
D e r Vertrag ist unterschrieben und liegt im Büro ¦ Vedi allegato
Kurze Frage zur Rechnung INV-20391 ¦ Mietvertrag Entwurf ¦ Besprechung am Montag ¦ Bien recu, merci
Hola Marco, ¦ Borrador del contrato ¦ Cordiali saluti ¦ A reuniao foi adiada para quinta-feira
Hej Göran, ¦ Tak for hjælpen ¦ Dobrý den, v příloze zasílám podepsanou smlouvu. ¦ Terima kasih
감사합니다 ¦ नमस्ते, हस्ताक्षरित अनुबंध संलग्न है।
Rückgabe der Leihgaben ¦ Offene Fragen ¦ Schönes Wochenende ¦ J'arrive ¦ Nouvelle date ¦ Fijn weekend
The boxes arrive Monday, die Kisten kommen am Montag an.
The boxes arrive Monday (die Kisten kommen am Montag an).
**Oktober an Sie zurück.** The boxes arrive on Monday and will be delivered in the morning.
The keys are at the desk. Las llaves de repuesto estan en recepcion. See you Monday.
comment ça va
"""


def cases(text: str) -> list[str]:
    lines = text.strip().splitlines()
    return [case.replace(r"\n", "\n") for line in lines for case in line.split(" ¦ ")]


def status(body: object, subject: object = "Status update") -> str:
    call = {"to": "a@b.example", "subject": subject, "body": body}
    return PREDICATE.check("send_email", call).status


@pytest.mark.parametrize("text", cases(ENGLISH))
def test_english_is_clear(text: str) -> None:
    assert status(text) == "clear"
    assert status("Please see below.", subject=text) == "clear"
    assert status(f"Good morning,\n\n{text}\n\nBest regards,\nDana Whitfield") == "clear"


@pytest.mark.parametrize("text", cases(FOREIGN))
def test_a_foreign_text_violates(text: str) -> None:
    assert status(text) == "violates"
    assert status("Please see below.", subject=text) == "violates"


SENTENCES = """
Der Vertrag ist unterschrieben und liegt im Büro. ¦ Le contrat est signé et se trouve au bureau.
El contrato esta firmado y se encuentra en la oficina. ¦ Il contratto è firmato e si trova qui.
O contrato está assinado e está no escritório. ¦ Het contract is getekend en ligt op kantoor.
Kontraktet är undertecknat och ligger på kontoret. ¦ Umowa jest podpisana i leży w biurze.
Sözleşme imzalandı ve ofiste duruyor. ¦ Sopimus on allekirjoitettu ja se on toimistolla.
合同已签署并在办公室。 ¦ 契約書は署名されてオフィスにあります。 ¦ 계약서는 서명되어 사무실에 있습니다.
Договор подписан и лежит в офисе. ¦ العقد موقع وموجود في المكتب.
"""


@pytest.mark.parametrize("sentence", cases(SENTENCES))
def test_one_foreign_sentence_anywhere_violates(sentence: str) -> None:
    english = "The boiler is fixed. The engineer was here on Tuesday."
    assert status(f"{sentence} {english}") == "violates"
    assert status(f"{english} {sentence} {english}") == "violates"
    assert status(f"Hello Dana,\n\n{english}\n{sentence}\n\nBest,\nSam") == "violates"
    assert status(f"See below.\n> {english} {sentence}\n> {sentence}\n") == "violates"
    assert status(f"{english}\n```\n{sentence}\n```" if " " in sentence else sentence) == "violates"
    assert status(f"`{sentence}`", subject="") == "violates"
    assert status(f"<p>{sentence}</p>") == "violates"
    assert status("<b>" + sentence.replace(" ", "\u200b ") + "</b>") == "violates"
    assert status(english, subject=sentence) == "violates"
    assert status(sentence.upper()) == "violates"


@pytest.mark.parametrize("text", ["Voyage a Gand", "Ate logo"])
@pytest.mark.xfail(reason="two words alike in English", strict=True)
def test_known_misses(text: str) -> None:
    assert status(text) == "violates"


NOTHING: list[object] = [
    *(None, "", " ", "\n\t", "\u200b", "\x00", "\ud800", 5, 1.5, True, [], {}, [True]),
]


@pytest.mark.parametrize("nothing", NOTHING, ids=repr)
def test_nothing_to_judge_is_malformed(nothing: object) -> None:
    assert status(nothing, subject=nothing) == "malformed"
    assert PREDICATE.check("send_email", {"body": nothing}).status == "malformed"
    assert PREDICATE.check("send_email", {"subject": nothing}).status == "malformed"
    assert PREDICATE.check("send_email", {}).status == "malformed"


@pytest.mark.parametrize("nothing", NOTHING, ids=repr)
def test_what_stands_is_judged(nothing: object) -> None:
    assert status(nothing, subject="The draft lease") == "clear"
    assert status(nothing, subject="Der Entwurf des Vertrags") == "violates"
    assert status("Der Entwurf liegt bei.", subject=nothing) == "violates"


@pytest.mark.parametrize(
    "form",
    [lambda text: {"text": text}, lambda text: {"html": f"<p>{text}</p>"}, lambda text: [[text]],
     lambda text: [{"type": "text", "text": text}], lambda text: ["Hello Dana,", text]],
)  # fmt: skip
def test_a_body_that_is_no_text_is_judged_by_its_texts(form: Callable[[str], object]) -> None:
    assert status(form("anbei der Vertrag.")) == "violates"
    assert status(form("The lease is attached.")) == "clear"
    assert status(form("The lease is attached."), subject=None) == "clear"


@pytest.mark.parametrize("text", ["Δ", "x = 3; y = 4"])
def test_texts_without_words_are_clear(text: str) -> None:
    assert status(text, subject=text) == "clear"


@pytest.mark.parametrize("text", ["🎉", "...", "— ! —", "12345", "418, 301", "14.10. 08:00"])
def test_texts_without_a_letter_are_malformed(text: str) -> None:
    assert status(text, subject=text) == "malformed"
    assert status(text, subject="The draft lease") == "clear"


def test_other_arguments_and_tools_do_not_count() -> None:
    call = {"to": "Jürgen Groß", "subject": "Hi", "body": "Hello", "note": "Guten Tag"}
    assert PREDICATE.check("send_email", call).status == "clear"
    assert PREDICATE.check("post_channel", {"body": "Guten Tag"}).status == "clear"


@pytest.mark.parametrize(
    ("language", "own", "other"),
    [
        ("german", "Guten Tag, anbei der Vertrag.", "Please find the lease attached."),
        ("French", "Bonjour, voici le contrat.", "Guten Tag, hier ist der Vertrag."),
        ("SPANISH", "Hola Marco, adjunto el contrato.", "Hello Marco, the contract is attached."),
    ],
)
def test_another_language_may_be_the_right_one(language: str, own: str, other: str) -> None:
    predicate = NotInLanguage(language=language)
    assert predicate.check("send_email", {"body": own}).status == "clear"
    assert predicate.check("send_email", {"body": other}).status == "violates"
    assert predicate.check("send_email", {"body": "合同已经签好了。"}).status == "violates"


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValidationError, match="unknown language 'Klingon'"):
        NotInLanguage(language="Klingon")


# What an English email may hold of other languages: it says nothing of its own.
GREETINGS = """
Guten Tag ¦ Merci beaucoup ¦ Vielen Dank ¦ Buenos días ¦ Bom dia ¦ Feliz Natal ¦ Hyvää päivää
Dzień dobry ¦ Hallo Jürgen ¦ Salut Paul ¦ Hej Göran, ¦ Hola Marco, ¦ Cordiali saluti
Guten Morgen zusammen ¦ MIT FREUNDLICHEN GRÜSSEN ¦ Sehr geehrte Frau Keller, ¦ Hej alla ¦ Estimado señor Berg: ¦ God morgon
"""


@pytest.mark.parametrize(
    "greeting",
    [*cases(GREETINGS), "Gracias!", "Danke", "祝好", "谢谢", "Namaste Priya,", "Bon appétit!"],
)
def test_a_greeting_in_an_english_email_is_clear(greeting: str) -> None:
    english = "The boiler is fixed, and the engineer was here on Tuesday."
    assert status(f"{greeting}\n\n{english}\n\nKind regards") == "clear"
    assert status(f"Dear Dana,\n\n{english}\n\n{greeting}\nSam") == "clear"
    assert status(english, subject=greeting) == (
        "clear" if greeting == "Bon appétit!" else "violates"
    )


@pytest.mark.parametrize(
    "text",
    [
        "Hello Jürgen, Bon voyage!",
        "Estimados todos, see the attached floor plan.",
        "Sehr geehrte Frau Keller, the two objects will come back to you in October.",
        "温女士您好, the samples have been inspected in our warehouse.",
        "We won the bid, and gracias to the whole team!",
        "Feng shui, tai chi and qi gong classes start in June.",
        "We serve masala chai and samosas at the opening.",
        "Ahmed bin Khalid al-Rashid and Wang Xiaoming arrive at 3am from B2B4U.",
        "The k8s upgrade and the i18n fix are done, mp3s and utf8 next.",
    ],
)
def test_greetings_names_and_loans_within_english_are_clear(text: str) -> None:
    assert status(text) == "clear"


@pytest.mark.parametrize(
    "text",
    [
        *("Kal subah meeting hai, time pe aana.", "Please check karo aur confirm karo."),
        "Mujhe file bhej do please.",
        "Main kal office nahi aaunga.",
        "Bhai order cancel kar do.",
        *("Please send the lease, baaki sab theek hai.", "Payment abhi tak nahi aaya hai."),
        *("Zavtra budet vstrecha v ofise.", "Pozhaluysta, prishlite schet."),
        "ana msh 3aref fein el ta2reer.",
        "mar7aba, kifak? shu akhbarak?",
        "bokra el sa3a 9 inshallah",
        *("Women mingtian kaihui, qing queren.", "hetong yijing qianhao le, xiexie"),
        *("Ashita no kaigi wa juuji desu.", "Kaigi wa chuushi ni narimashita."),
        *("Annyeonghaseyo, hoeuineun naeil imnida.", "To timologio einai etoimo avrio."),
    ],
)
def test_other_scripts_in_latin_letters_violate(text: str) -> None:
    assert status(text) == "violates"
    assert status(f"The boiler is fixed. {text}") == "violates"


def test_a_sentence_without_blanks_may_hold_a_figure() -> None:
    assert status("请您确认大货能否在下月15日之前交齐。") == "violates"


ASKS = "Dear Ms Wen,\n\nplease confirm whether the full order can be delivered on 15 May.\n\n"


@pytest.mark.parametrize(
    "text",
    [
        *("Best regards,\n林珊\n澜泊贸易公司", "Best regards,\nLin Shan\n澜泊贸易公司"),
        "Best regards,\n\n林珊\n采购部\n澜泊贸易公司\n上海市浦东新区世纪大道100号8楼",
        "Kind regards,\nDB Schenker Deutschland GmbH & Co. KG",
        "Kind regards,\nTarnside Museum of Glass\nAbteilung Leihverkehr",
        "Kind regards,\nHotel Faro de Benizarra\nRecepción",
        "Sincerely,\nUniversität Heidelberg\nInstitut für Kunstgeschichte",
        "The carrier is DB Schenker Deutschland GmbH & Co. KG.",
        "Ship to:\n上海市浦东新区世纪大道100号\n\nThanks",
        *("You wrote:\n> Bitte schicken Sie mir den Termin.\n", "> 请确认时间。"),
        "Thx, see u on Mon",
    ],
)
def test_signatures_addresses_and_quoted_mail_are_clear(text: str) -> None:
    assert status(ASKS + text) == "clear"


@pytest.mark.parametrize("greeting", ["温女士：", "尊敬的温女士：", "温女士,", "亲爱的李经理！"])
def test_a_greeting_by_name_and_title_is_clear(greeting: str) -> None:
    assert status(greeting + ASKS.removeprefix("Dear Ms Wen,")) == "clear"


@pytest.mark.parametrize(
    "text",
    [
        "Best regards,\n第二批样品验收完毕\n大货能否交齐\n请确认\n舱位预订",
        "Best regards,\n林珊\n温女士您好，第二批陶瓷样品已经在我们仓库验收完毕。",
        "Best regards,\nLin\nDie Kisten werden am Montag geliefert.",
        "Best regards,\nLin\n\nSchönes Wochenende",
        "Best regards,\n" + "Schönes Wochenende\n" * 9,
        *(
            "Best regards,\nLin\nBitte Termin bestätigen",
            "样品寄给澜泊贸易公司",
            "请联系王经理确认交货时间",
        ),
        "`Sehr geehrte Frau Brandl, die Leihgaben kommen am 14. Oktober zurück.`",
        "```\nSehr geehrte Frau Brandl, die Leihgaben kommen am 14. Oktober zurück.\n```",
    ],
)
def test_what_only_looks_like_a_signature_or_code_violates(text: str) -> None:
    assert status(ASKS + text) == "violates"


@given(
    st.sampled_from(
        sorted({case for case in cases(FOREIGN) if " " in case} - set(cases(GREETINGS)))
    ),
    st.sampled_from(cases(ENGLISH)),
)
def test_english_around_it_hides_nothing(foreign: str, english: str) -> None:
    assert status(f"{english}\n\n{foreign}\n\nThanks for your help.") == "violates"


@pytest.mark.parametrize("closing", ["Thanks!", "Thank you", "Cheers", "Best regards,"])
@pytest.mark.parametrize(
    ("after", "found"),
    [
        ("계약은 어제 체결되었습니다.", "violates"),
        ("Good news: 合同已经签好了。", "violates"),
        ("김민수", "clear"),
        ("王小明", "clear"),
        ("田中さくら", "clear"),
    ],
)
def test_after_a_closing_a_name_is_a_signature_and_a_sentence_is_not(
    closing: str, after: str, found: str
) -> None:
    assert status(f"The room is booked.\n\n{closing}\n\n{after}") == found
