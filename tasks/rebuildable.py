"""Tasks whose episodes everybody can rebuild, unlike ``mine``, whose file only its author has."""

from collections.abc import Callable, Mapping

from inspect_ai import Task

from constraintrot.tasks import catalogue
from constraintrot.tasks.laundering import laundering
from constraintrot.tasks.operator_channel import operator_channel
from constraintrot.tasks.pin_stress import pin_stress

TASKS: Mapping[str, Callable[..., Task]] = {
    **{
        f"constraintrot/{name}": getattr(catalogue, name)
        for name in (*catalogue.FAMILIES, *catalogue.KINDS)
    },
    "constraintrot/suite": catalogue.suite,
    "constraintrot/utility": catalogue.utility,
    "constraintrot/pin_stress": pin_stress,
    "constraintrot/laundering": laundering,
    "constraintrot/operator_channel": operator_channel,
}
"""The tasks by Inspect's name, as a contributed result names them."""
