"""Options of a model, encoded in its base URL: its personality, its fault, and when the fault occurs."""

from dataclasses import dataclass, fields
from typing import Final
from urllib.parse import quote, unquote, urlsplit

_ROOTS: Final = frozenset({"v1", "v1beta"})


@dataclass(frozen=True)
class ModelOptions:
    """`trouble` occurs after `after` good answers, `times` times (0: always). `run` only makes the URL unique.

    `latency` is the delay of every answer in seconds.
    """

    personality: str = "competent"
    trouble: str = ""
    after: int = 0
    times: int = 0
    latency: float = 0.0
    run: str = ""

    @classmethod
    def parse(cls, target: str) -> "tuple[ModelOptions, str]":
        """Split the path of a request into its options and the remaining path."""
        parts = [unquote(part) for part in urlsplit(target).path.strip("/").split("/")]
        at = next((at for at in range(0, len(parts), 2) if parts[at] in _ROOTS), len(parts))
        said = dict(zip(parts[:at:2], parts[1:at:2], strict=False))
        options = cls(
            said.get("personality", cls.personality),
            said.get("trouble", ""),
            int(said.get("after", 0)),
            int(said.get("times", 0)),
            float(said.get("latency", 0)),
            said.get("run", ""),
        )
        return options, "/" + "/".join(parts[at:])

    def to_path(self) -> str:
        """Encode the options that differ from the defaults."""
        usual = type(self)()
        said = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return "".join(f"/{name}/{quote(str(value), '')}" for name, value in said if value != getattr(usual, name))

    @property
    def personality_key(self) -> str:
        """The name of the personality. Every script is a personality of its own."""
        return f"scripted:{self.run}" if self.personality == "scripted" else self.personality

    def is_due(self, seen: int) -> bool:
        """Whether the fault occurs at request number `seen` (from 1) of this URL."""
        return bool(self.trouble) and seen > self.after and (not self.times or seen <= self.after + self.times)
