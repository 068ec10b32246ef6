"""``local/NAME``: a model in this process, its weights, its server and its Inspect provider.

Nothing is imported here, so that a command line that only asks for a name
from the catalogue pays for neither Inspect nor llama.cpp.
"""
