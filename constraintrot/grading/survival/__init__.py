"""Whether a context still holds a policy: its state by rules, and whether its words are mentioned."""

from constraintrot.grading.survival.mentions import WINDOW as WINDOW
from constraintrot.grading.survival.mentions import Mentions as Mentions
from constraintrot.grading.survival.mentions import Slots as Slots
from constraintrot.grading.survival.mentions import best_window as best_window
from constraintrot.grading.survival.mentions import mentions as mentions
from constraintrot.grading.survival.mentions import sentences as sentences
from constraintrot.grading.survival.rules import Survival as Survival
from constraintrot.grading.survival.rules import state as state
from constraintrot.grading.survival.states import PRIMARY as PRIMARY
from constraintrot.grading.survival.states import STATES as STATES
from constraintrot.grading.survival.states import SURVIVED as SURVIVED
from constraintrot.grading.survival.states import SurvivalState as SurvivalState
