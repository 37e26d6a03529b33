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
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
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
TRACE_DIR: Final = "MARCHWARDEN_TRACE_DIR"


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
        home = home_folder(known)
        return cls(
            trace_dir=expand_home(known.get(TRACE_DIR) or home / "traces"),
            index_dir=home / "index",
            prices=home / "prices.toml",
            researchers=expand_home(known.get("MARCHWARDEN_RESEARCHERS") or home / "researchers.toml"),
            debug=known.get("MARCHWARDEN_DEBUG") == "1",
            environ=known,
        )

    def secret(self, name: str | None) -> str | None:
        """Return the value of a variable. Raises `InvalidInput` if it is empty or not set."""
        if name is None:
            return None
        if not self.environ.get(name):
            raise _invalid(f"the variable {name} is empty or not set")
        return self.environ[name]

    def child_environ(self, trace_dir: Path, model: str | None = None) -> dict[str, str]:
        """The environment of a researcher subprocess. MCP clients pass almost no variables by default."""
        passed = {
            name: value
            for name, value in self.environ.items()
            if name in _PASSED_TO_CHILDREN or name.startswith("MARCHWARDEN_")
        }
        chosen = {MODEL: model} if model else {}
        return {**passed, **chosen, TRACE_DIR: str(trace_dir)}


def home_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of everything that Marchwarden stores: MARCHWARDEN_HOME, or one in the user's home folder."""
    given = environ.get("MARCHWARDEN_HOME")
    if given:
        return expand_home(given)
    try:
        return Path.home() / HOME
    except RuntimeError:
        # A user without a home folder, as in many containers, where HOME is then the root.
        return Path("/", HOME)


def expand_home(path: str | Path) -> Path:
    """Replace `~` and `~user` at the beginning of a path. Raises `InvalidInput` if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise _invalid(f"the home folder in {str(path)!r} is unknown; write the whole path instead") from error


def _invalid(message: str) -> Exception:
    # Imported on demand: the error tree needs pydantic, which `--help` does not load.
    from marchwarden.errors import InvalidInput

    return InvalidInput(message)


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
