"""No defense."""

from constraintrot.defenses import Defense, Deployment, defense


@defense("none")
def none(deployment: Deployment) -> Defense:
    """A defense that does nothing."""
    return Defense()
