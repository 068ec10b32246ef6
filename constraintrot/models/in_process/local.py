"""``local/NAME``: the Inspect provider of a model in this process.

::

    inspect eval constraintrot/... --model local/qwen2.5-coder-1.5b
    inspect eval constraintrot/... --model local/mine -M path=/models/mine.gguf -M n_gpu_layers=99
"""

from inspect_ai.model import ModelAPI, modelapi


@modelapi(name="local")
def local() -> type[ModelAPI]:
    """Return the provider's class, imported on use: Inspect loads all providers' names at start."""
    from constraintrot.models.config_errors import plainly
    from constraintrot.models.in_process.provider import LocalAPI

    return plainly(LocalAPI)
