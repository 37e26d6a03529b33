"""What a model's base address orders: who answers, what goes wrong and when. Written into a path and read from it."""

from dataclasses import dataclass, fields
from typing import Final
from urllib.parse import quote, unquote, urlsplit

_ROOT: Final = "v1"


@dataclass(frozen=True)
class Orders:
    """`trouble` comes after so many good answers and so many times (0: for ever); `run` only tells addresses apart.

    `latency` is how many seconds every answer takes to think of.
    """

    personality: str = "competent"
    trouble: str = ""
    after: int = 0
    times: int = 0
    latency: float = 0.0
    run: str = ""

    @classmethod
    def of(cls, target: str) -> "tuple[Orders, str]":
        """The orders in front of a path as it is written in a request, and the path behind them."""
        parts = [unquote(part) for part in urlsplit(target).path.strip("/").split("/")]
        at = next((at for at in range(0, len(parts), 2) if parts[at] == _ROOT), len(parts))
        said = dict(zip(parts[:at:2], parts[1:at:2], strict=False))
        orders = cls(
            said.get("personality", cls.personality),
            said.get("trouble", ""),
            int(said.get("after", 0)),
            int(said.get("times", 0)),
            float(said.get("latency", 0)),
            said.get("run", ""),
        )
        return orders, "/" + "/".join(parts[at:])

    def written(self) -> str:
        """Only what is not as usual, so that the plain address stays plain."""
        usual = type(self)()
        said = [(each.name, getattr(self, each.name)) for each in fields(self)]
        return "".join(f"/{name}/{quote(str(value), '')}" for name, value in said if value != getattr(usual, name))

    @property
    def cast(self) -> str:
        """Whom to ask: every script is somebody of its own."""
        return f"scripted:{self.run}" if self.personality == "scripted" else self.personality

    def due(self, seen: int) -> bool:
        """Whether trouble is due at the request that is number `seen` (from 1) of this address."""
        return bool(self.trouble) and seen > self.after and (not self.times or seen <= self.after + self.times)
