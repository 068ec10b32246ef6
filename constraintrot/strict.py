"""The base of models that are read from what somebody wrote."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A model with no unknown keys, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
