"""One rule a channel, said early in a conversation; what stands in a later input was kept."""

from constraintrot.defenses.rampart import Principal, Registry

SYSTEM = "Never delete a record."
FIRST_USER = "Send email only to addresses at example.org."
LATER_USER = "Spend no more than 200 dollars."
TOOL = "Post to the channel #releases only."
PINNED = "Ask before you restart a server."
LOSSY = "Routine work was done on tickets."
CHANNELS = {"system": SYSTEM, "first user": FIRST_USER, "later user": LATER_USER, "tool": TOOL}


def kept(text: str) -> set[str]:
    """The channels whose rule stands in a text, word for word."""
    return {channel for channel, rule in CHANNELS.items() if rule in text}


OPERATOR = Principal("operator")


def registry(*texts: str, label: str = "registry") -> Registry:
    """Return a registry of the operator's that pins texts."""
    rules = Registry(OPERATOR, label=label)
    for text in texts:
        rules.pin(text, by=OPERATOR)
    return rules


def rules(*policies: str) -> Registry:
    """The same, by default with one policy, about email."""
    return registry(*(policies or (FIRST_USER,)))
