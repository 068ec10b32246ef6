"""``local/NAME``: a model in this process, its weights, its server and its Inspect provider.

Nothing is imported here, so that a command that only needs the catalogue imports
neither Inspect nor llama.cpp.
"""
