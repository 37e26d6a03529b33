"""Look up the dollar price of tokens in a table that users can extend. Unlisted models have no price."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, TypeAdapter, ValidationError

from marchwarden.core.config_file import parse_toml, read_config
from marchwarden.core.notebook import Usage
from marchwarden.errors import InvalidInput

_MILLION: Final = 1_000_000
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Price:
    """Dollars per million tokens."""

    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write: Dollars | None = None

    def dollars_for(self, usage: Usage) -> float:
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        fresh = usage.input * self.input + usage.output * self.output
        return (fresh + usage.cache_read * read + usage.cache_write * write) / _MILLION


_TABLE: Final = TypeAdapter(dict[str, Price])


@dataclass(frozen=True)
class Prices:
    """The price table: the shipped one, overridden by the user's entries."""

    table: Mapping[str, Price]

    @classmethod
    def load(cls, own: Path) -> Self:
        shipped = _parse_table(
            files("marchwarden.audit").joinpath("prices.toml").read_text(encoding="utf-8"), "prices.toml"
        )
        text = read_config(own)
        return cls({**shipped, **(_parse_table(text, str(own)) if text else {})})

    def dollars(self, model_id: str, usage: Usage) -> float | None:
        """Return the cost of this usage, or None if the model has no known price."""
        price = self._price(model_id)
        return None if price is None else price.dollars_for(usage)

    def _price(self, model_id: str) -> Price | None:
        """Return the entry with the longest match. The entry may omit the provider."""
        names = (model_id, model_id.partition(":")[2])
        matching = [entry for entry in self.table if any(_matches(entry, name) for name in names if name)]
        return self.table[max(matching, key=len)] if matching else None


def _matches(entry: str, name: str) -> bool:
    return name.startswith(entry[:-1]) if entry.endswith("*") else name == entry


def _parse_table(text: str, where: str) -> dict[str, Price]:
    try:
        return _TABLE.validate_python(parse_toml(text, where))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        entry = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(f"{where} is not a price table: {entry}: {first['msg']}") from error
