"""Settings from environment variables and `.env`, as one frozen value. Does not read the environment itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

HOME: Final = ".marchwarden"
_PAIR: Final = re.compile(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>.*?))\s*(?:\s\#.*)?$"""
)
_PASSED_TO_CHILDREN: Final = frozenset(
    {
        "HOME",
        "PATH",
        "PGPASSWORD",
        "PGUSER",
        "TAVILY_API_KEY",
        "TAVILY_BASE_URL",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "OLLAMA_BASE_URL",
        "LMSTUDIO_BASE_URL",
        "LLAMACPP_BASE_URL",
        "VLLM_BASE_URL",
        "GOOGLE_BASE_URL",
        "GOOGLE_API_KEY",
        "GEMINI_API_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3",
    }
)
MODEL: Final = "MARCHWARDEN_MODEL"


@dataclass(frozen=True)
class Settings:
    """Storage locations and debug mode. API keys stay in `environ`, which no repr shows."""

    trace_dir: Path
    index_dir: Path
    prices: Path
    researchers: Path
    debug: bool = False
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], dotenv: str = "") -> Self:
        """Build settings. The environment takes precedence over `.env`, and both over the defaults."""
        known = {**parse_dotenv(dotenv), **environ}
        home = Path(known.get("MARCHWARDEN_HOME") or Path.home() / HOME).expanduser()
        return cls(
            trace_dir=Path(known.get("MARCHWARDEN_TRACE_DIR") or home / "traces").expanduser(),
            index_dir=home / "index",
            prices=home / "prices.toml",
            researchers=Path(known.get("MARCHWARDEN_RESEARCHERS") or home / "researchers.toml").expanduser(),
            debug=known.get("MARCHWARDEN_DEBUG") == "1",
            environ=known,
        )

    def secret(self, name: str | None) -> str | None:
        """Return the value of a variable. Raises `InvalidInput` if it is empty or not set."""
        if name is None:
            return None
        if not self.environ.get(name):
            # Imported on demand: the error tree needs pydantic, which `--help` does not load.
            from marchwarden.errors import InvalidInput

            raise InvalidInput(f"the variable {name} is empty or not set")
        return self.environ[name]

    def child_environ(self, trace_dir: Path, model: str | None = None) -> dict[str, str]:
        """The environment of a researcher subprocess. MCP clients pass almost no variables by default."""
        passed = {
            name: value
            for name, value in self.environ.items()
            if name in _PASSED_TO_CHILDREN or name.startswith("MARCHWARDEN_")
        }
        chosen = {MODEL: model} if model else {}
        return {**passed, **chosen, "MARCHWARDEN_TRACE_DIR": str(trace_dir)}


def parse_dotenv(text: str) -> dict[str, str]:
    """Parse `NAME=value` lines with optional `export`, quotes and comments. Other lines are ignored.

    Why not python-dotenv: it expands variables inside values. Here a value is used as written.
    """
    pairs = {}
    for line in text.splitlines():
        match = _PAIR.match(line)
        if match:
            pairs[match["name"]] = next(value for value in match.group("double", "single", "bare") if value is not None)
    return pairs
