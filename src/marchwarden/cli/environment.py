"""Variables: every variable of the environment a person may set, what it is for, and whether it is a secret."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """One of them. `example` is a value as it might be written."""

    name: str
    meaning: str
    example: str = ""
    is_key: bool = False
    is_path: bool = False


SECTIONS: dict[str, tuple[Variable, ...]] = {
    "Searching the web": (
        Variable("TAVILY_API_KEY", "search through Tavily; without it, SearXNG or Wikipedia is asked", is_key=True),
        Variable("TAVILY_BASE_URL", "where Tavily is, if elsewhere", "https://api.tavily.com"),
        Variable("MARCHWARDEN_SEARXNG_URL", "a SearXNG to search through, without any key", "http://127.0.0.1:8888"),
        Variable("MARCHWARDEN_WIKIPEDIA_URL", "the Wikipedia to search", "https://de.wikipedia.org"),
        Variable("MARCHWARDEN_ALLOW_HOSTS", "internal hosts that may be fetched from, and no others", "wiki.corp:443"),
    ),
    "Papers": (
        Variable("MARCHWARDEN_ARXIV_URL", "a mirror of arXiv's API"),
        Variable("MARCHWARDEN_ARXIV_PAGES_URL", "a mirror of arXiv's pages"),
        Variable("MARCHWARDEN_ARXIV_SECONDS", "the pause between two requests it asks for", "3"),
    ),
    "Databases": (
        Variable("MARCHWARDEN_DB", "the database of `marchwarden serve database`", "shop.sqlite"),
        Variable("PGUSER", "who reads a PostgreSQL database", "reader"),
        Variable("PGPASSWORD", "and the password", is_key=True),
    ),
    "The mind: without any of these, the embedded one serves and costs nothing": (
        Variable("ANTHROPIC_API_KEY", "Claude", is_key=True),
        Variable("OPENAI_API_KEY", "models of OpenAI, by --mind openai:MODEL", is_key=True),
        Variable("GOOGLE_API_KEY", "models of Google, by --mind google:MODEL", is_key=True),
        Variable("GEMINI_API_KEY", "the same under its other name", is_key=True),
        Variable("MARCHWARDEN_MODEL", "the mind to use for good", "extractive"),
        Variable("MARCHWARDEN_SEMANTIC_MODEL", "a folder of word vectors for the embedded mind", is_path=True),
        Variable("ANTHROPIC_BASE_URL", "where Anthropic's service is, if elsewhere"),
        Variable("OPENAI_BASE_URL", "any server that speaks OpenAI's chat API", "http://127.0.0.1:8080/v1"),
        Variable("GOOGLE_BASE_URL", "where Google's service is, if elsewhere"),
        Variable("OLLAMA_BASE_URL", "where Ollama is", "http://127.0.0.1:11434/v1"),
        Variable("LMSTUDIO_BASE_URL", "where LM Studio is", "http://127.0.0.1:1234/v1"),
        Variable("LLAMACPP_BASE_URL", "where llama.cpp is", "http://127.0.0.1:8080/v1"),
        Variable("VLLM_BASE_URL", "where vLLM is", "http://127.0.0.1:8000/v1"),
    ),
    "Where things are kept": (
        Variable("MARCHWARDEN_HOME", "traces, indexes, prices, registered researchers", "~/.marchwarden", is_path=True),
        Variable("MARCHWARDEN_TRACE_DIR", "traces and the archive alone", is_path=True),
        Variable("MARCHWARDEN_RESEARCHERS", "the file of registered researchers", is_path=True),
    ),
    "An object store, for traces in s3://BUCKET/PREFIX": (
        Variable("AWS_ACCESS_KEY_ID", "who writes there", is_key=True),
        Variable("AWS_SECRET_ACCESS_KEY", "and the secret", is_key=True),
        Variable("AWS_REGION", "where the bucket is", "eu-central-1"),
        Variable("AWS_ENDPOINT_URL", "where the store is, if it is not Amazon's", "http://127.0.0.1:9000"),
    ),
    "A fleet, and a service": (
        Variable("MARCHWARDEN_LIMITS", "limits of all workers together", "tavily=5/s dollars=50/day"),
        Variable("MARCHWARDEN_TEMPORAL_NAMESPACE", "the namespace of the fleet", "default"),
        Variable("MARCHWARDEN_TEMPORAL_API_KEY", "the key of its Temporal server", is_key=True),
        Variable("OTEL_EXPORTER_OTLP_ENDPOINT", "where a server sends its spans", "http://127.0.0.1:4318"),
    ),
    "The operational log, and errors": (
        Variable("MARCHWARDEN_LOG_LEVEL", "DEBUG, INFO, WARNING, ERROR or OFF", "INFO"),
        Variable("MARCHWARDEN_LOG_FORMAT", "console or json", "json"),
        Variable(
            "MARCHWARDEN_LOG_FILE",
            "a file instead of stderr; rotated when full",
            "marchwarden.log",
            is_path=True,
        ),
        Variable("MARCHWARDEN_DEBUG", "show the stack trace of an error", "1"),
    ),
}

VARIABLES = tuple(each for section in SECTIONS.values() for each in section)
KEYS = tuple(each for each in VARIABLES if each.is_key)
