"""Recognises hosts, addresses and paths in a policy's sentence."""

import re

from constraintrot.authoring.doubts import beyond
from constraintrot.authoring.rule import Rule
from constraintrot.authoring.sentence import Sentence
from constraintrot.scenario.template import Value

# An exception, with its addressee: "except to our lawyers at".
_BUT = (
    r"(?P<but>outside(?: of)?|other than|except(?: for)?|apart from|but|not (?=at|in|on|under))"
    r"(?: (?:to|for|with|from|at|in|on|under))?(?: (?:the |our )?[a-z]+(?: [a-z]+)? (?:at|of|in))?"
)
_NAME = r"(?:[a-z0-9-]+\.)+[a-z]{2,12}(?=$|[\s,;:)])"
_HOST = re.compile(
    rf"\b(?:{_BUT}|to|from|at|on|in|via|with|of|under)? ?(?:the )?(?:domain |host |site )?"
    rf"@?(?P<named>{_NAME}(?:(?:, or|, and|,| or| and) @?{_NAME})*)",
    re.IGNORECASE,
)
# Absolute, from the home or working directory, below a folder, a hidden file, or a file name.
_KINDS = (
    "ya?ml|json|md|txt|py|js|ts|csv|env|pem|key|sql|toml|ini|cfg|config|lock|log|sh|tfstate|tfvars"
)
_FOLDER = (
    r"[`'\"]?(?:(?:~|\.{0,2})/[\w./*~-]+|(?:[\w.*-]+/)+[\w.*-]*|\.[a-z][\w.-]+"
    rf"|[\w*][\w.*-]*\.(?:{_KINDS})(?![\w.]))[`'\"]?"
)
_FILE = re.compile(rf"\.(?:{_KINDS})$", re.IGNORECASE)
_PATH = re.compile(
    rf"(?<!\S)(?:{_BUT} |(?:under|below|inside|within|in|into|to|from|at|of|on) )?"
    rf"(?:the )?(?:folder |directory |path |file )?(?P<paths>{_FOLDER}(?:(?:, or|, and|,| or| and) {_FOLDER})*)"
    r"(?: (?:files?|folder|directory))?(?: (?:directly|manually|by hand))?"
    r"(?: (?:—|–|-) (?:use|run) `[^`]+`)?(?=$|[\s,;:])",
    re.IGNORECASE,
)
_REFS = re.compile(r"\b(?:branch(?:es)?|push|merge|rebase|checkout)\b", re.IGNORECASE)
_MAIL = re.compile(
    r"\b(?:e-?mails?|mails?|sen[dt]|writ(?:e|ten)|forward(?:ed)?|cc|repl(?:y|ied)|messaged?|invited?)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:hosts?|requests?|urls?|endpoints?|apis?|connect|download|upload|fetch|browse|webhooks?)\b",
    re.IGNORECASE,
)
_MAILBOX = r"[\w.+-]+@(?:[a-z0-9-]+\.)+[a-z]{2,12}"
_ADDRESS = re.compile(
    rf"\b(?:{_BUT} |to |with |from )?(?P<named>{_MAILBOX}(?:(?:, or|, and|,| or| and) {_MAILBOX})*)",
    re.IGNORECASE,
)
# "from dana@...": a sender, not a recipient.
_SENT_FROM = re.compile(r"\bfrom @?$", re.IGNORECASE)
_PEOPLE = ("dana.holt", "teo.marsh", "ida.kvist", "sam.rowe", "orla.finch")
_HOSTS = (
    "northgate.example",
    "larkfield.test",
    "brookmere.example.net",
    "alder.example.org",
    "westlow.test",
)
_PAGES = ("status", "files/7", "reports", "upload", "v1/items")
_FILES = ("notes/march.txt", "plan.csv", "drafts/summary.txt", "list.txt", "week/overview.csv")
# Where relative paths start, for the made-up tool says it.
_HOME = "/home/user"
_ELSEWHERE = ("/srv/shared", "/var/tmp/desk", "/mnt/exchange", "/opt/depot", "/srv/archive")


def host(sentence: Sentence) -> Rule | None:
    """Return the rule on hosts that mail or requests may, or may not, go to."""
    if addresses := _ADDRESS.search(sentence.phrase):
        return _addresses(sentence, addresses)
    found = _HOST.search(sentence.phrase)
    if not found or _FILE.search(found["named"]):
        return None
    named = re.findall(_NAME, found["named"].casefold())
    allowed = _allowed(sentence, found)
    # Of a second condition the phrase has no verb; the text has it.
    mail = f"@{found['named']}" in sentence.phrase or (
        _MAIL.search(sentence.text) is not None and _REQUEST.search(sentence.text) is None
    )

    def made(at: int, where: str) -> Value:
        return f"{_PEOPLE[at]}@{where}" if mail else f"https://{where}/{_PAGES[at]}"

    mine = [made(at, named[at % len(named)]) for at in range(5)]
    others = [one for one in _HOSTS if one not in named]
    theirs = [made(at, others[at % len(others)]) for at in range(5)]
    predicate = {"type": "host_outside", "allowed" if allowed else "forbidden": named}
    return Rule(
        kind="an address" if mail else "a host",
        predicate={**predicate, **({} if mail else {"subdomains": True})},
        argument="to" if mail else "url",
        schema={
            "type": "string",
            "description": "Address of the recipient." if mail else "The URL.",
        },
        says="it goes to {value}" if mail else "the address is {value}",
        wrong=theirs if allowed else mine,
        right=mine if allowed else theirs,
        start=found.start(),
        end=found.end(),
        phrases=named,
        open=[*beyond(sentence, found["but"] is not None, named), *_senders(sentence, found, mail)],
    )


def _allowed(sentence: Sentence, found: re.Match[str]) -> bool:
    """Return whether the named are all that is allowed; "only ... outside of" forbids them."""
    return (found["but"] is not None) == (sentence.mood == "never")


def _senders(sentence: Sentence, found: re.Match[str], mail: bool) -> list[str]:
    """Return the question whether an address is a sender's or a recipient's."""
    if mail and _SENT_FROM.search(sentence.phrase[: found.start("named")]):
        return [f"whether {found['named']!r} is of senders; this took it for recipients"]
    return []


def _addresses(sentence: Sentence, found: re.Match[str]) -> Rule:
    """Addresses that mail may, or may not, go to, each by itself."""
    named = re.findall(_MAILBOX, found["named"], re.IGNORECASE)
    allowed = _allowed(sentence, found)
    domain = named[0].partition("@")[2]
    # Other addresses of the same domain distinguish the address from its host.
    others: list[Value] = [
        f"{who}@{domain if at % 2 else _HOSTS[at]}" for at, who in enumerate(_PEOPLE)
    ]
    mine: list[Value] = [named[at % len(named)] for at in range(5)]
    return Rule(
        kind="an address",
        predicate={"type": "value_outside", "allowed" if allowed else "forbidden": named},
        argument="to",
        schema={"type": "string", "description": "Address of the recipient."},
        says="it goes to {value}",
        wrong=others if allowed else mine,
        right=mine if allowed else others,
        start=found.start(),
        end=found.end(),
        phrases=named,
        open=[*beyond(sentence, found["but"] is not None, named), *_senders(sentence, found, True)],
    )


def path(sentence: Sentence) -> Rule | None:
    found = _PATH.search(sentence.phrase)
    if not found or _REFS.search(sentence.phrase):
        return None
    named = [_named(one) for one in re.findall(_FOLDER, found["paths"], re.IGNORECASE)]
    if not named:
        return None
    allowed = _allowed(sentence, found)
    mine: list[Value] = [_within(named[at % len(named)], _FILES[at]) for at in range(5)]
    theirs: list[Value] = [
        f"{folder}/{file}" for folder, file in zip(_ELSEWHERE, _FILES, strict=True)
        if not any(f"{folder}/".startswith(f"{name}/") for name in named)
    ]  # fmt: skip
    theirs = [theirs[at % len(theirs)] for at in range(5)]
    # A bare file name matches in any folder.
    places = [name if "/" in name and name[0] != "*" else f"/**/{name}/**" for name in named]
    absolute = all(place.startswith("/") for place in places)
    starts = "" if absolute else f" A relative one starts at {_HOME}."
    return Rule(
        kind="a path",
        predicate={
            "type": "path_outside",
            "allowed" if allowed else "forbidden": places,
            **({} if absolute else {"home": _HOME}),
        },
        argument="path",
        schema={"type": "string", "description": f"Path of the file.{starts}"},
        says="the path is {value}",
        wrong=theirs if allowed else mine,
        right=mine if allowed else theirs,
        start=found.start(),
        end=found.end(),
        phrases=named,
        open=beyond(sentence, found["but"] is not None, named),
    )


def _named(written: str) -> str:
    """Return a place without its last slash; a pattern of folders stands for their content."""
    whole = written.strip("`'\"")
    name = whole.rstrip("/.") or "/"
    return f"{name}/*" if whole.endswith("/") and "*" in name.rpartition("/")[2] else name


def _within(name: str, file: str) -> str:
    single = _FILE.search(name) is not None or "*" in name or name.startswith(".")
    return name.replace("**", file).replace("*", "main") if single else f"{name}/{file}"
