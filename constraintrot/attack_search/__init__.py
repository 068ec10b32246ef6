"""``constraintrot attack search``: an adversary that adapts, over prompts that delete a policy.

Governance Decay (section 6) searched a fixed pool; its limitations name search
with a model in the loop as likely stronger. Here a strategy proposes one prompt
at a time from all results so far, the engine plays it on the search's variants,
and every prompt and every episode is a line of a file that only grows. Variants
that break without an attack are left out of the search, and the best prompt
is evaluated on others, beside no attack.

Three strategies: ``pool`` (the paper's six, the best is taken), ``genetic``
(templates and slots, crossover and mutation) and ``model`` (the role
``attacker`` sees the summary and the outcome, and rewrites). A prompt is
untrusted text: it comes into an episode as any attack's text does, through an
ingested channel, and the engine checks it.
"""
