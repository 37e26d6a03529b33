"""Traces, archive and notes in an S3-compatible object store, with the same guarantees as on disk.

Each trace line is an object that can be created only once. If two workers write the same trace, the slower one fails
at its next line and stops. A finished trace is merged into one object.
"""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Self

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import S3Store

from marchwarden.core.digest import digest
from marchwarden.errors import ArchiveDamaged, InvalidInput, StorageError, TraceHeld, UnknownTrace
from marchwarden.storage.archive import Archive, hex_digest
from marchwarden.storage.trace import Chain, Journal, Stamp, parse_chain, resume_journal

if TYPE_CHECKING:
    from obstore.store import ClientConfig, S3Config

_S3_URL: Final = re.compile(r"s3:/+(?P<bucket>[^/]+)(?:/+(?P<prefix>.*?))?/*")
_LINE_NUMBER: Final = "{:08d}"
_PROBE: Final = "write-test"
"""Name of an empty object. Creating it shows whether the bucket can be written."""


class Bucket:
    """Objects by name. Raises `StorageError` if the service fails or refuses."""

    def __init__(self, store: S3Store, place: str) -> None:
        self._store = store
        self.place = place

    @classmethod
    def at(cls, place: str | Path, environ: Mapping[str, str]) -> Self:
        match = _S3_URL.fullmatch(str(place))
        if match is None:
            raise InvalidInput(f"{place} is not a bucket URL; use s3://BUCKET/PREFIX")
        bucket, prefix = match["bucket"], match["prefix"] or None
        config, options = _s3_config(environ)
        store = S3Store(bucket, prefix=prefix, config=config, client_options=options)
        return cls(store, f"s3://{bucket}/{prefix or ''}".rstrip("/"))

    def create(self, name: str, content: bytes) -> bool:
        """Create an object. Return False if the name has other content; an identical object counts as created."""
        try:
            obstore.put(self._store, name, content, mode="create")
        except AlreadyExistsError:
            return self.read(name) == content
        except BaseError as error:
            raise StorageError(f"could not write {name} to {self.place}: {_reason(error)}") from error
        return True

    def replace(self, name: str, content: bytes) -> None:
        try:
            obstore.put(self._store, name, content)
        except BaseError as error:
            raise StorageError(f"could not write {name} to {self.place}: {_reason(error)}") from error

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(obstore.get(self._store, name).bytes())
        except (NotFoundError, FileNotFoundError):
            return None
        except BaseError as error:
            raise StorageError(f"could not read {name} from {self.place}: {_reason(error)}") from error

    def list_names(self, under: str) -> list[str]:
        """Return all names under a prefix, sorted."""
        try:
            return sorted(str(each["path"]) for page in obstore.list(self._store, under) for each in page)
        except BaseError as error:
            raise StorageError(f"{self.place} cannot be listed: {_reason(error)}") from error

    def stamps(self, under: str) -> Iterator[tuple[str, Stamp]]:
        """Yield all objects under a prefix with modification time and size."""
        try:
            for page in obstore.list(self._store, under):
                for each in page:
                    modified = int(each["last_modified"].timestamp() * 1e9)
                    yield str(each["path"]), Stamp(modified, each["size"])
        except BaseError as error:
            raise StorageError(f"{self.place} cannot be listed: {_reason(error)}") from error

    def list_top_level(self, under: str) -> tuple[list[str], list[str]]:
        """Return the objects directly under a prefix, latest first, and the prefixes below it."""
        try:
            found = obstore.list_with_delimiter(self._store, under)
        except BaseError as error:
            raise StorageError(f"{self.place} cannot be listed: {_reason(error)}") from error
        latest = sorted(found["objects"], key=lambda each: each["last_modified"], reverse=True)
        return [str(each["path"]) for each in latest], [str(each) for each in found["common_prefixes"]]

    def remove(self, names: list[str]) -> None:
        try:
            obstore.delete(self._store, names)
        except BaseError as error:
            raise StorageError(f"could not delete objects from {self.place}: {_reason(error)}") from error


class S3Archive(Archive):
    """Archive with one object per body."""

    def __init__(self, bucket: Bucket) -> None:
        super().__init__(Path("archive"))
        self._bucket = bucket

    def keep(self, content: bytes) -> str:
        name = digest(content)
        if not self._bucket.create(_archive_object(name), content):
            # The stored object is damaged; replace it with the correct content.
            self._bucket.replace(_archive_object(name), content)
        return name

    def load(self, name: str) -> bytes:
        try:
            content = self._bucket.read(_archive_object(name))
        except StorageError as error:
            raise ArchiveDamaged(f"{name}: {error}") from error
        if content is None:
            raise ArchiveDamaged(f"{name}: missing from the archive in {self._bucket.place}")
        if digest(content) != name:
            raise ArchiveDamaged(f"{name}: the archived bytes no longer have this hash")
        return content


class S3Notes:
    """Notes with one object each."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def write(self, name: str, content: bytes) -> bool:
        return self._bucket.create(f"notes/{name}", content)

    def read(self, name: str) -> bytes | None:
        return self._bucket.read(f"notes/{name}")

    def clear(self, under: str) -> None:
        names = self._bucket.list_names(f"notes/{under}/")
        if names:
            self._bucket.remove(names)


class S3TraceWriter:
    """Writes each trace line as an object. Merges them into one object when the trace is closed."""

    def __init__(self, bucket: Bucket, trace_id: str, lines: int) -> None:
        self._bucket = bucket
        self._trace_id = trace_id
        self._lines = lines

    def write(self, line: bytes) -> None:
        name = f"traces/{self._trace_id}/{_LINE_NUMBER.format(self._lines + 1)}"
        if not self._bucket.create(name, line):
            raise TraceHeld(f"trace {self._trace_id} is being written by another worker")
        self._lines += 1

    def close(self, *, finished: bool) -> None:
        if not finished:
            return
        names = self._bucket.list_names(f"traces/{self._trace_id}/")
        if not names:
            return
        whole = b"".join(self._bucket.read(name) or b"" for name in names)
        # If the merged object exists, another worker has finished the trace, and these lines are too late.
        self._bucket.create(_trace_object(self._trace_id), whole)
        self._bucket.remove(names)

    def discard(self) -> None:
        names = self._bucket.list_names(f"traces/{self._trace_id}/")
        if names:
            self._bucket.remove(names)


class S3Backend:
    """Traces, archive and notes in a bucket."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.place = bucket.place
        self.archive = S3Archive(bucket)
        self.notes = S3Notes(bucket)

    def read(self, trace_id: str) -> bytes:
        content = self._read_trace(trace_id)
        if content is None:
            raise UnknownTrace(f"no trace {trace_id} in {self.place}; `marchwarden traces` lists all runs")
        return content

    def traces(self) -> list[str]:
        finished, unfinished = self._bucket.list_top_level("traces/")
        names = [*(Path(each).name for each in unfinished), *(Path(each).stem for each in finished)]
        return list(dict.fromkeys(names))

    def stamps(self) -> dict[str, Stamp]:
        """An unfinished trace has the time of its latest line and the size of all its lines."""
        found: dict[str, Stamp] = {}
        for name, stamp in self._bucket.stamps("traces/"):
            trace_id = name.removeprefix("traces/").partition("/")[0].removesuffix(".jsonl")
            before = found.get(trace_id, Stamp(0, 0))
            found[trace_id] = Stamp(max(before.modified, stamp.modified), before.size + stamp.size)
        return found

    def open(self, trace_id: str) -> BinaryIO:
        return BytesIO(self.read(trace_id))

    def write_failure(self) -> str:
        try:
            self._bucket.create(_PROBE, b"")
        except StorageError as error:
            return str(error)
        return ""

    def begin(self, trace_id: str) -> Journal:
        return self.open_or_begin(trace_id)

    def open_or_begin(self, trace_id: str) -> Journal:
        chain = parse_chain(self._read_trace(trace_id) or b"", trace_id)
        return resume_journal(trace_id, chain, self._writer(trace_id, chain))

    def reopen(self, trace_id: str) -> Journal:
        chain = parse_chain(self.read(trace_id), trace_id)
        return resume_journal(trace_id, chain, self._writer(trace_id, chain))

    def _writer(self, trace_id: str, chain: Chain) -> S3TraceWriter:
        return S3TraceWriter(self._bucket, trace_id, len(chain.entries))

    def _read_trace(self, trace_id: str) -> bytes | None:
        whole = self._bucket.read(_trace_object(trace_id))
        if whole is not None:
            return whole
        names = self._bucket.list_names(f"traces/{trace_id}/")
        lines = b"".join(self._bucket.read(name) or b"" for name in names)
        # If another worker finishes the trace now, some of the lines are gone, but the merged object exists.
        return self._bucket.read(_trace_object(trace_id)) or lines or None


def _trace_object(trace_id: str) -> str:
    return f"traces/{trace_id}.jsonl"


def _archive_object(name: str) -> str:
    plain = hex_digest(name)
    return f"archive/{plain[:2]}/{plain[2:]}"


def _s3_config(environ: Mapping[str, str]) -> "tuple[S3Config, ClientConfig]":
    """Read the usual AWS variables. Without keys, the role of the machine is used."""
    config: S3Config = {}
    if environ.get("AWS_ACCESS_KEY_ID"):
        config["access_key_id"] = environ["AWS_ACCESS_KEY_ID"]
        config["secret_access_key"] = environ.get("AWS_SECRET_ACCESS_KEY", "")
    if environ.get("AWS_SESSION_TOKEN"):
        config["session_token"] = environ["AWS_SESSION_TOKEN"]
    if region := environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION"):
        config["region"] = region
    if endpoint := environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL"):
        config["endpoint"] = endpoint
    return config, {"allow_http": bool(endpoint and endpoint.startswith("http://"))}


def _reason(error: BaseError) -> str:
    return str(error).splitlines()[0][:200]
