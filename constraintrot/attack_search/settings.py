"""The settings of a search, checked before anything is played."""

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
    """The task parameters of a search, checked together with everything else.

<<<<<<< HEAD
    Raises:
        ParameterError, UnknownNameError: a parameter that no task takes or
            that a search sets itself, a family without the locale, search
            and held-out variants that overlap, or too few variants.
=======
    Attributes:
        families: whose scenarios.
        agent: model that acts, and summarises where no role says otherwise.
        roles: models by role.
        strategy: how prompts are proposed.
        random_seed: seed of the genetic strategy, and of an attacker that takes one.
        seed: first variant of the search.
        variants: how many of each family a prompt is played on.
        eval_seed: first held-out variant.
        eval_variants: how many of each family.
        channel: ingested content that a prompt comes in.
        position: where in the history.
        parameters: task parameters, as ``compactor``, ``locale`` or ``defense``;
            ``split`` is that of the held-out variants, the search's is ``tuning``.
        exhaust: spend all queries, also after a prompt that broke every variant.
>>>>>>> w-scenarios
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


<<<<<<< HEAD
def _check_variants(settings: SearchSettings, scenario: Scenario, split: Split) -> None:
    both = sorted(set(settings.seeds) & set(settings.eval_seeds))
    if both:
        raise ParameterError(
            f"seeds {', '.join(map(str, both))} are both searched and held out; what is found"
            " is evaluated on other variants only, so move --seed or --eval-seed"
        )
    least = min(settings.seed, settings.eval_seed)
    last = max(settings.seeds.stop, settings.eval_seeds.stop)
    seeds = scenario.seeds(split)
    if least not in seeds or last > len(seeds):
        raise ParameterError(
            f"{scenario.family}.{scenario.locale} has the seeds 0 to {seeds[-1]};"
            f" these go from {least} to {last - 1}"
        )
=======
    families: tuple[str, ...] = Field(min_length=1)
    agent: str
    roles: dict[str, str] = {}
    strategy: Strategy = "pool"
    random_seed: int = 0
    seed: int = 20
    variants: int = Field(default=4, ge=1)
    eval_seed: int = 0
    eval_variants: int = Field(default=10, ge=1)
    channel: Surface = "tool_output"
    position: Position = "early"
    parameters: dict[str, Any] = {}
    exhaust: bool = False

    @property
    def target(self) -> str:
        """Who is attacked: the agent, and the summarizer where it is another model."""
        return "+".join(filter(None, [self.agent, self.roles.get("summarizer")]))

    @property
    def defense(self) -> str:
        """The defense that is attacked."""
        return str(self.parameters.get("defense") or "none")

    @property
    def knowledge(self) -> Knowledge:
        """What the adversary knows: a search against a defense is told its results with it."""
        return "black_box" if self.defense == "none" else "defense_aware"

    @property
    def seeds(self) -> range:
        """Variants of the search."""
        return range(self.seed, self.seed + self.variants)

    @property
    def eval_seeds(self) -> range:
        """Held-out variants."""
        return range(self.eval_seed, self.eval_seed + self.eval_variants)

    def cells(self, seeds: Sequence[int]) -> list[tuple[str, int]]:
        """Family and seed of each episode that one prompt is played on."""
        return [(family, seed) for family in self.families for seed in seeds]

    def checked(self) -> Parameters:
        """The task parameters, checked, together with everything else.

        Raises:
            ParameterError, UnknownNameError: a parameter that no task takes or
                that a search sets itself, a family without the locale, search
                and held-out variants that overlap, or too few variants.
        """
        ours = sorted(set(_OURS) & set(self.parameters))
        if ours:
            raise ParameterError(f"a search sets {', '.join(ours)} itself; leave it out of -T")
        found = parameters.read({**self.parameters, "conditions": "compaction"})
        for family in self.families:
            self._check_variants(load(family, found.locale), found.split)
        if self.strategy == "model" and "attacker" not in self.roles:
            raise ParameterError(
                "strategy model asks the role attacker; give one: --model-role attacker=MODEL"
            )
        return found

    def _check_variants(self, scenario: Scenario, split: Split) -> None:
        both = sorted(set(self.seeds) & set(self.eval_seeds))
        if both:
            raise ParameterError(
                f"seeds {', '.join(map(str, both))} are both searched and held out; what is found"
                " is evaluated on other variants only, so move --seed or --eval-seed"
            )
        least, last = min(self.seed, self.eval_seed), max(self.seeds.stop, self.eval_seeds.stop)
        # The search itself is on ``tuning``, which may have another number of them.
        seeds = min(scenario.seeds(split), scenario.seeds("tuning"), key=len)
        if least not in seeds or last > len(seeds):
            raise ParameterError(
                f"{scenario.family}.{scenario.locale} has the seeds 0 to {seeds[-1]};"
                f" these go from {least} to {last - 1}"
            )
>>>>>>> w-scenarios
