"""``constraintrot attack search``: an adaptive search for prompts that delete a policy.

Governance Decay (section 6) searched a fixed pool; its limitations name search
with a model in the loop as likely stronger. Here a strategy proposes one prompt
at a time from all results so far, and the prompt is played on the search's variants.
Every prompt and every episode is appended to the search's log. Variants that break
without an attack are left out of the search. The best prompt is evaluated on held-out
variants, and compared with no attack.

There are three strategies: ``pool`` (the best of the paper's six prompts), ``genetic``
(templates and slots, crossover and mutation) and ``model`` (the role ``attacker`` sees the
summary and the outcome, and rewrites). A prompt is untrusted text: as in any attack, it
enters an episode through ingested content, and ``episode.attack_check`` checks it.
"""
