"""``constraintrot/qualification``: whether a subject can show decay at all."""

from collections.abc import Sequence
from typing import Any, Unpack

from inspect_ai import Task, task

from constraintrot.errors import ConstraintRotError, ParameterError
from constraintrot.evaluation.conditions import QUALIFICATION
from constraintrot.evaluation.parameters import TaskParameters
from constraintrot.models.config_errors import refusal
from constraintrot.scenario.splits import QUALIFICATION_SEEDS
from constraintrot.scenario.values import is_list
from constraintrot.tasks.build import build
from constraintrot.tasks.catalogue import FAMILIES
from constraintrot.tasks.mine import chosen

# With fewer, an exact bound cannot show that an observed rate of 0 is at most a tenth.
DEFAULT_VARIANTS = 30


@task
def qualification(
    families: str | Sequence[str] = FAMILIES, **parameters: Unpack[TaskParameters]
) -> Task:
    """Fitness before measurement. ``inspect eval constraintrot/qualification --model ...``.

    ``floor``, ``control``, and ``allowed``, the permitted counterpart with the policy in
    sight, on seeds that no result is taken on. ``constraintrot qualify`` runs it and
    says for each family whether the subject qualifies.

    Args:
        families: names of the families, or a user's scenario files; by default all nine.
        **parameters: the parameters of every task; ``seed`` is 60 and ``variants`` 30
            by default, and the seeds are to be among 60 to 95.

    Raises:
        PrerequisiteError: a wrong parameter, or another seed.
    """
    given: dict[str, Any] = {
        "seed": QUALIFICATION_SEEDS.start,
        "variants": DEFAULT_VARIANTS,
        **parameters,
    }
    made = build(
        _named(families),
        given,
        name="qualification",
        conditions=QUALIFICATION,
        default=tuple(QUALIFICATION),
        own=["families"],
    )
    first, last = given["seed"], given["seed"] + given["variants"] - 1
    if first not in QUALIFICATION_SEEDS or last not in QUALIFICATION_SEEDS:
        known = f"{QUALIFICATION_SEEDS.start} to {QUALIFICATION_SEEDS.stop - 1}"
        message = f"seeds {first} to {last} are not among those of a qualification, {known}"
        raise refusal(message) from ParameterError(message)
    return made


def _named(families: str | Sequence[str]) -> str | Sequence[str]:
    """Return the families, with scenario files replaced by their families."""
    names = families.split(",") if isinstance(families, str) else families
    # Anything but names is refused where the task is assembled.
    if not is_list(names) or not any(str(one).strip().endswith((".yaml", ".yml")) for one in names):
        return families
    try:
        return [one.family for one in chosen(names)]
    except ConstraintRotError as error:
        raise refusal(str(error)) from error
