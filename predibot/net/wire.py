"""What comes over a wire, before anything of it is believed."""

from pydantic import BaseModel, ConfigDict


class Wire(BaseModel):
    """An untrusted object: fields we do not use are passed over."""

    model_config = ConfigDict(frozen=True, extra="ignore")
