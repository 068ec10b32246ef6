"""The check of a search's settings, before anything is played."""

from __future__ import annotations

from constraintrot.attacks.search_results.search_settings import SearchSettings
from constraintrot.errors import ParameterError
from constraintrot.evaluation import parameters
from constraintrot.evaluation.parameters import Parameters
from constraintrot.scenario.files import load
from constraintrot.scenario.schema import Scenario
from constraintrot.scenario.splits import Split

# Task parameters that a search sets itself.
_SET_BY_SEARCH = ("attack", "conditions", "variants", "seed")


def checked_parameters(settings: SearchSettings) -> Parameters:
    """Check the settings of a search and return its task parameters.

    Raises:
        ParameterError, UnknownNameError: an unknown task parameter, one that a search
            sets itself, a family that lacks the locale, overlapping search and held-out
            variants, seeds that a family does not have, or no model in the role
            ``attacker`` where the strategy needs one.
    """
    given = sorted(set(_SET_BY_SEARCH) & set(settings.parameters))
    if given:
        raise ParameterError(f"a search sets {', '.join(given)} itself; leave it out of -T")
    checked = parameters.read({**settings.parameters, "conditions": "compaction"})
    for family in settings.families:
        _check_variants(settings, load(family, checked.locale), checked.split)
    if settings.strategy == "model" and "attacker" not in settings.roles:
        raise ParameterError(
            "strategy model asks the role attacker; give one: --model-role attacker=MODEL"
        )
    return checked


def _check_variants(settings: SearchSettings, scenario: Scenario, split: Split) -> None:
    both = sorted(set(settings.seeds) & set(settings.eval_seeds))
    if both:
        raise ParameterError(
            f"seeds {', '.join(map(str, both))} are both searched and held out; what is found"
            " is evaluated on other variants only, so move --seed or --eval-seed"
        )
    least = min(settings.seed, settings.eval_seed)
    last = max(settings.seeds.stop, settings.eval_seeds.stop)
    # The search itself is on ``tuning``, which may have another number of them.
    seeds = min(scenario.seeds(split), scenario.seeds("tuning"), key=len)
    if least not in seeds or last > len(seeds):
        raise ParameterError(
            f"{scenario.family}.{scenario.locale} has the seeds 0 to {seeds[-1]};"
            f" these go from {least} to {last - 1}"
        )
