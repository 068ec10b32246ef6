"""Synonymous verbs of repository and office work, and words with little meaning.

Closed lists on purpose: an unlisted word has no synonyms.
"""

from collections.abc import Mapping

_VERBS = (
    "touch edit change modify alter rewrite rewrote rewritten overwrite overwrote overwritten update amend adjust",
    "delete deletion remove erase drop purge wipe discard destroy truncate clean",
    "push force-push",
    "commit check-in",
    "merge rebase squash cherry-pick",
    "run ran execute start launch invoke trigger",
    "install installation add upgrade bump introduce",
    "deploy deployment deployments release ship publish roll-out rollout",
    "print log write wrote written output echo emit record",
    "read open access look view inspect",
    "send sent email mail forward message post share notify",
    "ask confirm check consult approval approvals approve permission permissions consent sign-off okay",
    "use rely employ",
    "create make made generate scaffold",
    "rename move relocate",
    "disable skip bypass silence turn-off switch-off suppress mute",
    "test verify validate",
    "format lint",
    "call contact reach request query fetch download connect",
    "expose leak reveal disclose show shown display paste include",
    "store save persist cache",
    "spend spent buy bought purchase order pay paid payment payments",
    "answer reply respond",
    "refund reimburse credit",
    "book schedule plan",
    "import depend",
    "mock stub fake",
    "catch caught swallow ignore",
    "hardcode hard-code hardcoded hard-coded inline",
    "cancel close archive",
    "translate",
    "grant",
    "restart reboot stop kill",
    "quote cite mention name",
)
_COMMON = """
the this that these those its they them their our you your she his her and but nor when whenever
while unless until before after once then than because since for from with without within into
onto over under out off about between through via per during against among inside outside above
below are was were been being does did done doing don't doesn't didn't have has had having can
can't cannot could may might must mustn't shall should shouldn't will won't would need needs not
never always only just ever any anything anyone anybody anywhere all every everything each some
nothing nobody none neither either both other others another else same such more most less least
least- one many much few several allow allowed permit permitted forbid forbidden prohibit
prohibited ban banned require required restrict restricted limit limited maximum minimum exception
exceptions rule rules policy policies please note remember reminder important strictly absolutely
exclusively solely instead rather even whoever whatever whichever who whom whose which what where
why how there here now today on-going going forward time times way thing things kind sort case
cases first last new old own good bad well also too very really still yet again back let make sure
get got goes keep stay stays remain remains leave stick one two three ahead further onwards onward
henceforth directly directly- explicit explicitly without-exception whole entire part okay fine
longer shorter higher lower bigger larger smaller older younger newer greater fewer contain
contains contained
"""


ACTIONS: Mapping[str, tuple[str, ...]] = {
    word: tuple(line.split()) for line in reversed(_VERBS) for word in line.split()
}
COMMON: frozenset[str] = frozenset(_COMMON.split()) - frozenset(ACTIONS)
