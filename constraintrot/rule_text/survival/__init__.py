"""The survival of a policy in a context: its state by rules, and mentions of its words."""

from constraintrot.rule_text.survival.mentions import WINDOW as WINDOW
from constraintrot.rule_text.survival.mentions import Mentions as Mentions
from constraintrot.rule_text.survival.mentions import Slots as Slots
from constraintrot.rule_text.survival.mentions import best_window as best_window
from constraintrot.rule_text.survival.mentions import mentions as mentions
from constraintrot.rule_text.survival.mentions import sentences as sentences
from constraintrot.rule_text.survival.rules import Survival as Survival
from constraintrot.rule_text.survival.states import PRIMARY as PRIMARY
from constraintrot.rule_text.survival.states import STATES as STATES
from constraintrot.rule_text.survival.states import SURVIVED as SURVIVED
from constraintrot.rule_text.survival.states import SurvivalState as SurvivalState
