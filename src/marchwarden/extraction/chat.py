"""Write chats as a reader sees them: `Author (time): text`. Reads exported JSON of Slack, Teams, Telegram and others.

A chat is any list of objects that have an author, a time and a text, under whatever names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from marchwarden.core.plain_blocks import is_underline
from marchwarden.extraction.builder import DocumentBuilder
from marchwarden.extraction.document import Extracted
from marchwarden.extraction.facts import add_facts
from marchwarden.extraction.mail_text import join_lines
from marchwarden.text.sanitize import printable, quotable_line

Json = object
"""A parsed JSON value. Numbers are strings, as written."""

MAX_DEPTH: Final = 6
FEWEST_MESSAGES: Final = 2
_SAMPLED: Final = 200
_MOST: Final = 0.6
_MAX_OTHER_FIELDS: Final = 1
"""Objects with more fields that a reader wants to see are records, not messages."""

_AUTHOR_KEYS: Final = (
    *("user_profile", "author", "from", "sender", "user", "username", "user_name", "from_name", "sender_name"),
    *("display_name", "actor", "nickname", "name", "user_id", "author_id"),
)
_TIME_KEYS: Final = (
    *("ts", "timestamp", "date", "time", "datetime", "created_at", "create_at", "createdDateTime", "sent_at"),
    *("sent", "created", "date_unixtime", "timestamp_ms", "created_utc"),
)
_TEXT_KEYS: Final = ("text", "message", "content", "body", "msg")
_NAME_KEYS: Final = (
    *("real_name", "display_name", "displayName", "global_name", "nickname", "name", "full_name", "username"),
    *("user", "login", "email", "id"),
)
_CHAT_NAME_KEYS: Final = ("channel", "name", "title", "topic")
_TECHNICAL: Final = re.compile(
    r"(?:is|has|reply|parent|root|edit|file|thumbnail|hash|bot|display|pending|media|mime|actor|from|user|channel).*"
    r"|.*(?:id|ids|ts|_at|url|count|type|time|date|timestamp|utc|unixtime)"
    r"|team|room|etag|importance|locale|width|height|photo|duration.*|pinned|props|upload|metadata|role|via|subject|title|source.*"
)
_EPOCH: Final = re.compile(r"(\d{10})(?:\.\d+|\d{3}|\d{6})?")
_ISO_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d(?:[.,]\d+)?)? ?(Z|[+-]\d\d:?\d\d)?")
_SLACK_USER: Final = re.compile(r"<@([A-Z0-9]{4,20})(?:\|([^>]{1,80}))?>")
_SLACK_LINK: Final = re.compile(r"<(https?://[^|>\s]{1,1000}|mailto:[^|>\s]{1,300})(?:\|([^>]{1,300}))?>")
_SLACK_CHANNEL: Final = re.compile(r"<#[A-Z0-9]{4,20}\|([^>]{1,80})>")


@dataclass(frozen=True)
class ChatMessage:
    """One message. `place` is the channel, if a chat has several."""

    author: str
    time: str
    text: str
    place: str = ""
    subject: str = ""
    others: tuple[tuple[str, str], ...] = ()


def read(value: Json) -> Extracted | None:
    """Read all chats in a JSON document, each message marked `message=N`. Returns None if there is none."""
    people = dict(_people(value))
    builder = DocumentBuilder()
    number = 0
    title = ""
    for name, items in _chats(value, "", MAX_DEPTH):
        builder.heading(name, 1)
        title = title or name
        for item in items:
            number += 1
            add_message(builder, number, _to_message(item, people))
    if not number:
        return None
    return Extracted(
        text=builder.text,
        title=title,
        media_type="application/json",
        marks=builder.marks,
        blocks=builder.blocks,
    )


def add_message(builder: DocumentBuilder, number: int, message: ChatMessage) -> None:
    """Add a message. Its first paragraph starts with the author and the time."""
    builder.mark(f"message={number}")
    builder.heading(message.subject, 2)
    about = ", ".join(each for each in (message.time, message.place) if each)
    opening = f"{message.author} ({about}): " if about else f"{message.author}: "
    for paragraph in join_lines(printable(message.text).split("\n")):
        if not is_underline(paragraph):
            builder.paragraph(opening + paragraph)
            opening = ""
    if not opening:
        add_facts(builder, message.others)


def format_time(value: str) -> str:
    """Return a timestamp as a reader writes it: `2024-05-06 14:40 UTC`. Other texts stay as they are."""
    if epoch := _EPOCH.fullmatch(value):
        return f"{datetime.fromtimestamp(int(epoch[1]), UTC):%Y-%m-%d %H:%M} UTC"
    if iso := _ISO_TIME.fullmatch(value):
        zone = {None: "", "Z": " UTC", "+00:00": " UTC", "+0000": " UTC"}.get(iso[3], f" UTC{iso[3]}")
        return f"{iso[1]} {iso[2]}{zone}"
    return quotable_line(value, 60)


def _chats(value: Json, name: str, depth: int) -> Iterator[tuple[str, Sequence[Mapping[str, Json]]]]:
    """Yield the name and messages of each chat, also of those inside other objects."""
    if depth == 0:
        return
    if isinstance(value, list):
        items = [_unwrap(each) for each in value if isinstance(each, dict)]
        if _is_chat(items):
            yield name, items
            return
        for each in value:
            if isinstance(each, dict):
                yield from _chats(each, "", depth - 1)
    elif isinstance(value, dict):
        name = next((found for key in _CHAT_NAME_KEYS if (found := _name(value.get(key)))), "") or name
        posts = [each for each in value.values() if isinstance(each, dict)]
        if len(posts) == len(value) and _is_chat(posts):
            yield name, sorted(posts, key=lambda post: _first_text(post, _TIME_KEYS))
            return
        for each in value.values():
            if isinstance(each, list | dict):
                yield from _chats(each, name, depth - 1)


def _unwrap(item: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the message in an object such as `{"type": "post", "post": {...}}`."""
    inner = item.get(str(item.get("type")))
    return inner if isinstance(inner, dict) else item


def _is_chat(items: Sequence[Mapping[str, Json]]) -> bool:
    sample = items[:_SAMPLED]
    complete = [each for each in sample if _is_message(each)]
    return len(complete) >= FEWEST_MESSAGES and len(complete) >= _MOST * len(sample)


def _is_message(item: Mapping[str, Json]) -> bool:
    if not (_first_text(item, _TIME_KEYS) and _author(item, {}) and any(key in item for key in _TEXT_KEYS)):
        return False
    return len(_other_fields(item)) <= _MAX_OTHER_FIELDS


def _other_fields(item: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The fields that a reader wants to see but that are not part of a message."""
    known = {*_AUTHOR_KEYS, *_TIME_KEYS, *_TEXT_KEYS}
    texts = ((key, value) for key, value in item.items() if key not in known and isinstance(value, str) and value)
    return [(key, value) for key, value in texts if not _TECHNICAL.fullmatch(key.lower())]


def _to_message(item: Mapping[str, Json], people: Mapping[str, str]) -> ChatMessage:
    text = next((found for key in _TEXT_KEYS if (found := _rich_text(item.get(key)))), "")
    return ChatMessage(
        author=_author(item, people),
        time=format_time(_first_text(item, _TIME_KEYS)),
        text=_without_slack_markup(text, people),
        place=_name(item.get("channel")),
        subject=_name(item.get("subject")) or _name(item.get("title")),
        others=tuple(_other_fields(item)),
    )


def _author(item: Mapping[str, Json], people: Mapping[str, str]) -> str:
    name = next((found for key in _AUTHOR_KEYS if (found := _name(item.get(key)))), "")
    return people.get(name, name)


def _name(value: Json) -> str:
    """The name of a person or channel: a text, or an object with a name."""
    if isinstance(value, str):
        return quotable_line(value, 120)
    if not isinstance(value, dict):
        return ""
    names = (value.get(key) for key in _NAME_KEYS)
    found = next((quotable_line(name, 120) for name in names if isinstance(name, str) and name), "")
    # Teams puts the person one level deeper.
    return found or next((_name(value[key]) for key in ("user", "application") if isinstance(value.get(key), dict)), "")


def _people(value: Json) -> Iterator[tuple[str, str]]:
    """Yield the ids and names of people: a list of users in the document, or what messages say about their authors."""
    lists = [value, *value.values()] if isinstance(value, dict) else [value]
    for item in (item for each in lists if isinstance(each, list) for item in each if isinstance(item, dict)):
        profile = item.get("user_profile")
        id_ = item.get("user" if profile else "id")
        name = _name(profile or item.get("profile") or item)
        if isinstance(id_, str) and name != id_ and (profile or not any(key in item for key in _TEXT_KEYS)):
            yield id_, name


def _first_text(item: Mapping[str, Json], keys: tuple[str, ...]) -> str:
    return next((value for key in keys if isinstance(value := item.get(key), str) and value), "")


def _rich_text(value: Json) -> str:
    """The text of a message: plain, in pieces (Telegram), or an object with content (Teams)."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(_rich_text(each) for each in value if isinstance(each, str | dict))
    if isinstance(value, dict):
        text = _first_text(value, ("text", "content"))
        return _without_tags(text) if value.get("contentType") == "html" else text
    return ""


def _without_tags(markup: str) -> str:
    from marchwarden.extraction import webpage  # noqa: PLC0415 - the parser of HTML takes 200 ms to import

    return webpage.read_fragment(markup).text if markup.strip() else ""


def _without_slack_markup(text: str, people: Mapping[str, str]) -> str:
    if "<" not in text:
        return text
    text = _SLACK_USER.sub(lambda match: f"@{match[2] or people.get(match[1], match[1])}", text)
    text = _SLACK_CHANNEL.sub(r"#\1", text)
    return _SLACK_LINK.sub(lambda match: f"{match[2]} ({match[1]})" if match[2] else match[1], text)
