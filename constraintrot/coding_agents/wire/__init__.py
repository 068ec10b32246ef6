"""The model APIs that coding agents speak: requests read as Inspect's messages, answers written.

One module an API, each with ``read`` (a request's body), ``answer`` (a whole answer) and
``events`` (the same as a stream). Nothing here asks a model.
"""
