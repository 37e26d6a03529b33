"""The model services of the world: their keys, log and URLs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from tests.world.anthropic_server import Anthropic
from tests.world.google_server import Google
from tests.world.model_faults import model_faults
from tests.world.model_options import ModelOptions
from tests.world.model_service import ModelService
from tests.world.models import ModelLog, Script, ScriptLine
from tests.world.openai_server import OpenAI
from tests.world.personalities import personalities
from tests.world.server import Handler

KEYS: Final = {"anthropic": "anthropic-world-key", "openai": "openai-world-key", "google": "google-world-key"}
DEFAULTS: Final = {
    "anthropic": "anthropic:claude-sonnet-4-6",
    "openai": "openai:world-model",
    "google": "google:gemini-2.5-flash",
}


class ModelServices:
    """`origin` returns the URL of a service once the world runs."""

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
        """One service per dialect, with a shared log and shared personalities."""
        return {
            dialect.name: ModelService(dialect, KEYS[dialect.name], self.log, self._cast, self._faults)
            for dialect in (Anthropic(), OpenAI(), Google())
        }

    def url(self, service: str, options: ModelOptions | None = None, script: Sequence[ScriptLine] = ()) -> str:
        """The base URL for clients of the service. Every script gets its own URL."""
        options = options or ModelOptions()
        if script:
            options = replace(options, personality="scripted", run=options.run or f"script-{next(self._numbers)}")
            self._cast[options.personality_key] = Script(script)
        if options.personality_key not in self._cast or options.trouble not in ("", *self._faults):
            raise KeyError(options)
        return self._origin(service) + options.to_path() + ("/v1" if service == "openai" else "")

    def environ(
        self, service: str, options: ModelOptions | None = None, script: Sequence[ScriptLine] = ()
    ) -> dict[str, str]:
        """Environment variables that make Marchwarden use this service."""
        prefix = service.upper()
        return {
            f"{prefix}_API_KEY": KEYS[service],
            f"{prefix}_BASE_URL": self.url(service, options, script),
            "MARCHWARDEN_MODEL": DEFAULTS[service],
        }
