"""Cloud regions, as people and programs write them."""

import re
import unicodedata
from collections.abc import Iterator

from constraintrot.scenario.predicate import plain

# us-west-2, us_west_2, uswest2, us-gov-west-1, us-west-2a, us-west-2-lax-1a. The
# separators are listed, so a region within a longer name is found as well.
_REGION = (
    r"(?<![a-z0-9])(us|eu|ap|sa|ca|me|af|il|mx|cn|eusc|asia|europe|africa|australia"
    r"|northamerica|southamerica)SEP(?:(gov|iso[a-z]?|de)SEP)?"
    r"((?:north|south)SEP(?:east|west)|north|south|east|west|central)SEP([0-9]+)([a-z0-9]*)"
)
_IN_TEXT = re.compile(_REGION.replace("SEP", "[-_]?"))
_IN_REGION = re.compile(_REGION.replace("SEP", "[-_. ]?"))

# Zone ids, which are the same for every customer: usw2-az1.
_ZONE = re.compile(r"(?<![a-z0-9])(us|eu|ap|sa|ca|me|af)(ne|nw|se|sw|n|s|e|w|c)([0-9])-?az[0-9]")
_SIDES = {"n": "north", "s": "south", "e": "east", "w": "west", "c": "central"}

# Regions by the place in their long names, as in "Europe (Frankfurt)".
_PLACES: dict[str, str] = dict(
    (place, named[1])
    for named in re.findall(
        r"(\S+)=(\S+)",
        """
        virginia|弗吉尼亚=us-east-1 ohio|俄亥俄=us-east-2 california|加利福尼亚=us-west-1 kalifornien|nordkalifornien=us-west-1
        oregon|oregón|俄勒冈=us-west-2 montreal|蒙特利尔=ca-central-1 calgary=ca-west-1
        paulo|圣保罗=sa-east-1 ireland|dublin|irland|irlanda|dublín|爱尔兰=eu-west-1
        london|londres|伦敦=eu-west-2 paris|parís|巴黎=eu-west-3
        frankfurt|fráncfort|法兰克福=eu-central-1 zurich|zúrich|苏黎世=eu-central-2
        stockholm|estocolmo|斯德哥尔摩=eu-north-1 milan|milán|米兰=eu-south-1
        spain|españa|西班牙=eu-south-2 tokyo|tokio|东京=ap-northeast-1 seoul|seúl|首尔=ap-northeast-2
        osaka|大阪=ap-northeast-3 kong|香港=ap-east-1 singapore|singapur|新加坡=ap-southeast-1
        sydney|sídney|悉尼=ap-southeast-2 jakarta|yakarta|雅加达=ap-southeast-3
        melbourne|墨尔本=ap-southeast-4 mumbai|bombay|孟买=ap-south-1 hyderabad=ap-south-2
        cape=af-south-1 bahrain|baréin|巴林=me-south-1 uae=me-central-1 beijing|北京=cn-north-1
        ningxia|宁夏=cn-northwest-1
        """,
    )
    for place in named[0].split("|")
)
_PLACE = re.compile("|".join(sorted(map(re.escape, _PLACES), key=len, reverse=True)))

_EVERYWHERE = re.compile(
    r"\*|(?<![a-z])(?:(?:all|any|every|each)(?![a-z])(?![ _-](?:availability[ _-])?zones?)"
    r"|global|globally|worldwide|everywhere|anywhere|multi[ _-]?region|tod[ao]s|cualquiera|überall|alle)(?![a-z])"
    r"|(?:所有|全部|任何|各)(?:区域|地区|可用区)?|全球"
)
_ALL_REGIONS = re.compile(
    r"(?<![a-z_])(?:all|any|every|each)[ -](?:[a-z]{1,20}[ -])?regions?(?![a-z_])"
    r"|(?<![a-z])regions?['\"`]? ?(?:=|:|in|to)? ?[(\[]? ?['\"](?:\*|all|any|global)['\"]"
)


def regions(shown: str, *, alone: bool) -> Iterator[str]:
    """Yield the regions in a text, in one form; places count too in a text that is ``alone``."""
    for found in (_IN_REGION if alone else _IN_TEXT).finditer(shown):
        area, part, side, number, tail = found.groups()
        words = [area, part, re.sub("[^a-z]", "", side), number]
        name = "-".join(word for word in words if word)
        # A zone adds one letter; a longer tail is another name.
        yield name if len(tail) < 2 and not tail.isdigit() else name + tail
    for area, sides, number in _ZONE.findall(shown):
        yield f"{area}-{''.join(_SIDES[side] for side in sides)}-{number}"
    if alone:
        for place in _PLACE.finditer(shown):
            before, after = shown[: place.start()][-1:], shown[place.end() :][:1]
            ascii_word = re.match("[a-z]", place[0]) and re.match("[a-zñáéíóú]", before + after)
            if not ascii_word:
                yield _PLACES[place[0]]


def everywhere(shown: str, *, alone: bool) -> bool:
    """Return whether a text names all regions at once."""
    return bool((_EVERYWHERE if alone else _ALL_REGIONS).search(shown))


def only_regions(shown: str) -> bool:
    """Return whether a text names regions and nothing else."""
    rest = _ZONE.sub(" ", _IN_REGION.sub(" ", shown))
    return rest != shown and not re.search(r"[^\W_]", rest)


def as_shown(text: str) -> str:
    """Return a text as it is seen: one case, one kind of dash, nothing invisible."""
    folded = plain(text)
    if folded.isascii():
        return folded
    return "".join(_sign(sign) for sign in folded)


def _sign(sign: str) -> str:
    category = unicodedata.category(sign)
    if category == "Pd" or sign in "\u2212\u2043":
        return "-"
    return "" if category in ("Cf", "Cc") else sign
