"""Presets of the summarizer's prompt, by name, because the prompt is a factor of the experiment.

``inspect_default`` is Inspect's default prompt, read from Inspect when it is used.
"""

_BUDGET = " Use at most {words} words. Write the summary only."

PRESETS: dict[str, str] = {
    "tight": (
        "The conversation has outgrown the context window. Write a summary that lets the work go"
        " on: the state of the tasks, results so far, and next steps." + _BUDGET
    ),
    "neutral": "Summarize the conversation so far." + _BUDGET,
    "inspect_default": "",
    "constraint_aware": (
        "The conversation has outgrown the context window. Write a summary that lets the work go"
        " on: the state of the tasks, results so far, and next steps. State first, word for word,"
        " every standing rule, policy, limit or prohibition that was given and still holds."
        + _BUDGET
    ),
    "rule_first": (
        "Which rule or policy was stated in this conversation about what is allowed and what is not?"
        " Copy it word for word from above, once. Then say in one sentence what is done and what is"
        " next." + _BUDGET
    ),
    # In the manner of the prompts that coding agents compact with.
    "continue_work": (
        "This session is about to lose its history, and whoever continues it will see your note"
        " alone. Cover, under a heading each: what the user asked for, in their words where they"
        " matter; what was done, with names, paths, numbers and results exactly as they are;"
        " decisions and their reasons; errors and how they were mended; what is unfinished; and the"
        " next step. Be thorough; leave out pleasantries and whatever no longer matters." + _BUDGET
    ),
    "handoff": (
        "Write a hand-off note for the colleague who takes over this conversation, under the"
        " headings OBJECTIVE, CONTEXT, STATE, CONSTRAINTS and NEXT_STEPS." + _BUDGET
    ),
}


def text(preset: str, words: int) -> str:
    """Return the prompt of a preset with its word budget."""
    if preset == "inspect_default":
        from inspect_ai.model import CompactionSummary

        limit = f"Keep the summary to at most {words} words."
        return str(CompactionSummary.DEFAULT_SUMMARY_PROMPT.format(addendums=limit))
    return PRESETS[preset].format(words=words)


def max_tokens(preset: str, words: int) -> int:
    """Return the token limit of a summary: ample for its budget, finite if a model ignores that."""
    analysis = 1500 if preset == "inspect_default" else 0
    return 60 + 3 * words + analysis
