"""``local/NAME``: a model in this process, its weights, its server and its Inspect provider.

Nothing is imported here, so that the catalogue needs neither Inspect nor llama.cpp.
"""
