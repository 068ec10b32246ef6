"""Google's Agent Development Kit: an App that compacts a session's events."""

from constraintrot.evaluation.harness import FRAMEWORK_HOOKS, Needs, harness, imported_when_made

harness(
    "google_adk",
    hooks=FRAMEWORK_HOOKS,
    modes=("sliding_window", "token_threshold"),
    needs=(Needs("google-adk", "2.13", "3"),),
    extra="google-adk",
)(imported_when_made("constraintrot.harnesses.google_adk.harness:google_adk"))
