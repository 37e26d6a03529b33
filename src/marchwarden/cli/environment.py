"""List every environment variable, what it is for and whether it is a secret."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One environment variable, with an example value."""

    name: str
    meaning: str
    example: str = ""
    is_key: bool = False
    is_path: bool = False


SECTIONS: dict[str, tuple[Variable, ...]] = {
    "Searching the web": (
        Variable("TAVILY_API_KEY", "search with Tavily; without it, SearXNG or Wikipedia is used", is_key=True),
        Variable("TAVILY_BASE_URL", "base URL of Tavily", "https://api.tavily.com"),
        Variable("MARCHWARDEN_SEARXNG_URL", "SearXNG instance to search with (no key needed)", "http://127.0.0.1:8888"),
        Variable("MARCHWARDEN_WIKIPEDIA_URL", "Wikipedia edition to search", "https://de.wikipedia.org"),
        Variable("MARCHWARDEN_ALLOW_HOSTS", "internal hosts that may be fetched", "wiki.corp:443"),
    ),
    "Papers": (
        Variable("MARCHWARDEN_ARXIV_URL", "mirror of the arXiv API"),
        Variable("MARCHWARDEN_ARXIV_PAGES_URL", "mirror of the arXiv pages"),
        Variable("MARCHWARDEN_ARXIV_SECONDS", "seconds between two requests to arXiv", "3"),
    ),
    "Databases": (
        Variable("MARCHWARDEN_DB", "database for `marchwarden serve database`", "shop.sqlite"),
        Variable("PGUSER", "PostgreSQL user", "reader"),
        Variable("PGPASSWORD", "PostgreSQL password", is_key=True),
    ),
    "Models (without any of these, the built-in extractive mode is used, at no cost)": (
        Variable("ANTHROPIC_API_KEY", "Claude", is_key=True),
        Variable("OPENAI_API_KEY", "OpenAI models: --model openai:NAME", is_key=True),
        Variable("GOOGLE_API_KEY", "Google models: --model google:NAME", is_key=True),
        Variable("GEMINI_API_KEY", "alternative to GOOGLE_API_KEY", is_key=True),
        Variable("CLAUDE_CODE_OAUTH_TOKEN", "Claude subscription: --model claude-agent", is_key=True),
        Variable("CLAUDE_CONFIG_DIR", "settings folder of Claude Code", "~/.claude", is_path=True),
        Variable("MARCHWARDEN_CLAUDE", "Claude Code program to use", "/usr/local/bin/claude", is_path=True),
        Variable("MARCHWARDEN_MODEL", "default model", "extractive"),
        Variable("MARCHWARDEN_SEMANTIC_MODEL", "folder with word vectors for the extractive mode", is_path=True),
        Variable("ANTHROPIC_BASE_URL", "base URL of the Anthropic API"),
        Variable("OPENAI_BASE_URL", "base URL of any OpenAI-compatible server", "http://127.0.0.1:8080/v1"),
        Variable("GOOGLE_BASE_URL", "base URL of the Google API"),
        Variable("OLLAMA_BASE_URL", "base URL of Ollama", "http://127.0.0.1:11434/v1"),
        Variable("LMSTUDIO_BASE_URL", "base URL of LM Studio", "http://127.0.0.1:1234/v1"),
        Variable("LLAMACPP_BASE_URL", "base URL of llama.cpp", "http://127.0.0.1:8080/v1"),
        Variable("VLLM_BASE_URL", "base URL of vLLM", "http://127.0.0.1:8000/v1"),
    ),
    "Storage": (
        Variable("MARCHWARDEN_HOME", "traces, indexes, prices, registered researchers", "~/.marchwarden", is_path=True),
        Variable("MARCHWARDEN_TRACE_DIR", "traces and archive only", is_path=True),
        Variable("MARCHWARDEN_RESEARCHERS", "file with registered researchers", is_path=True),
    ),
    "Object storage, for traces in s3://BUCKET/PREFIX": (
        Variable("AWS_ACCESS_KEY_ID", "access key", is_key=True),
        Variable("AWS_SECRET_ACCESS_KEY", "secret key", is_key=True),
        Variable("AWS_REGION", "region of the bucket", "eu-central-1"),
        Variable("AWS_ENDPOINT_URL", "endpoint, if it is not Amazon S3", "http://127.0.0.1:9000"),
    ),
    "Fleet and service": (
        Variable("MARCHWARDEN_LIMITS", "limits shared by all workers", "tavily=5/s dollars=50/day"),
        Variable("MARCHWARDEN_TEMPORAL_NAMESPACE", "Temporal namespace", "default"),
        Variable("MARCHWARDEN_TEMPORAL_API_KEY", "API key of the Temporal server", is_key=True),
        Variable("OTEL_EXPORTER_OTLP_ENDPOINT", "endpoint for OpenTelemetry spans", "http://127.0.0.1:4318"),
    ),
    "Logging and errors": (
        Variable("MARCHWARDEN_LOG_LEVEL", "DEBUG, INFO, WARNING, ERROR or OFF", "INFO"),
        Variable("MARCHWARDEN_LOG_FORMAT", "console or json", "json"),
        Variable(
            "MARCHWARDEN_LOG_FILE",
            "log file instead of stderr, rotated when full",
            "marchwarden.log",
            is_path=True,
        ),
        Variable("MARCHWARDEN_DEBUG", "show stack traces of errors", "1"),
    ),
}

VARIABLES = tuple(each for section in SECTIONS.values() for each in section)
KEYS = tuple(each for each in VARIABLES if each.is_key)
