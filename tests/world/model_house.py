"""The two model services of the world under one roof: their keys, their books and the addresses to reach them by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from tests.world.anthropic_server import Anthropic
from tests.world.model_faults import model_faults
from tests.world.model_orders import Orders
from tests.world.model_service import ModelService
from tests.world.models import ModelLog, Said, Script
from tests.world.openai_server import OpenAI
from tests.world.personalities import personalities
from tests.world.server import Handler

KEYS: Final = {"anthropic": "anthropic-world-key", "openai": "openai-world-key"}
DEFAULTS: Final = {"anthropic": "anthropic:claude-sonnet-4-6", "openai": "openai:world-model"}


class ModelHouse:
    """`origin` turns the key of a service into its address once the world runs."""

    def __init__(self, origin: Callable[[str], str]) -> None:
        self.log: Final = ModelLog()
        self._origin = origin
        self._cast = dict(personalities())
        self._faults = model_faults()
        self._numbers = count(1)

    @property
    def personalities(self) -> tuple[str, ...]:
        return tuple(personalities())

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(self._faults)

    def handlers(self) -> Mapping[str, Handler]:
        """A service for each dialect, sharing books and casts."""
        return {
            dialect.name: ModelService(dialect, KEYS[dialect.name], self.log, self._cast, self._faults)
            for dialect in (Anthropic(), OpenAI())
        }

    def url(self, service: str, orders: Orders | None = None, script: Sequence[Said] = ()) -> str:
        """A base address as the service's clients want it. A script is played at an address of its own."""
        orders = orders or Orders()
        if script:
            orders = replace(orders, personality="scripted", run=orders.run or f"script-{next(self._numbers)}")
            self._cast[orders.cast] = Script(script)
        if orders.cast not in self._cast or orders.trouble not in ("", *self._faults):
            raise KeyError(orders)
        return self._origin(service) + orders.written() + ("/v1" if service == "openai" else "")

    def environ(self, service: str, orders: Orders | None = None, script: Sequence[Said] = ()) -> dict[str, str]:
        """What to set so that the product thinks with this service."""
        prefix = service.upper()
        return {
            f"{prefix}_API_KEY": KEYS[service],
            f"{prefix}_BASE_URL": self.url(service, orders, script),
            "MARCHWARDEN_MODEL": DEFAULTS[service],
        }
