"""Describe skipped files to the user."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from marchwarden.researchers.files.models import SkipKind
from marchwarden.text.sanitize import one_line, pluralize

_MAX_NAMES_SHOWN: Final = 3
_MAX_REASONS_SHOWN: Final = 4
_COUNTED: Final = frozenset({SkipKind.IMAGE, SkipKind.DUPLICATE})
"""Kinds that are nouns. The others are adjectives: `60 images, 40 binary`."""
PROBLEMS: Final = tuple(kind for kind in SkipKind if kind.is_problem)


def summarize(counts: Counter[SkipKind]) -> str:
    """Return one line such as `skipped 118 files: 60 images, 40 binary, 18 generated`, or nothing."""
    total = sum(counts.values())
    if not total:
        return ""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    parts = [pluralize(count, kind) if kind in _COUNTED else f"{count:,} {kind}" for kind, count in ranked]
    return f"skipped {pluralize(total, 'file')}: {', '.join(parts)}"


def list_by_reason(files: Iterable[tuple[str, str]]) -> Sequence[str]:
    """Return one line per reason, with the first files. Takes locators and reasons."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for locator, reason in files:
        reasons[reason].append(locator)
    return [_line(reason, names) for reason, names in sorted(reasons.items())]


def _line(reason: str, names: list[str]) -> str:
    shown = ", ".join(one_line(name) for name in sorted(names)[:_MAX_NAMES_SHOWN])
    more = ", ..." if len(names) > _MAX_NAMES_SHOWN else ""
    return f"{pluralize(len(names), 'file')} skipped: {one_line(reason)} ({shown}{more})"


def warn_of(unread: Sequence[tuple[str, str]]) -> str:
    """Return one line about files that could not be read, or nothing. Takes locators and reasons."""
    if not unread:
        return ""
    if len(unread) == 1:
        [(locator, reason)] = unread
        return f"1 file could not be read: {one_line(locator)}: {one_line(reason)}"
    counts = Counter(reason for _, reason in unread)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    reasons = ", ".join(f"{one_line(reason)} ({count:,})" for reason, count in ranked[:_MAX_REASONS_SHOWN])
    more = ", ..." if len(ranked) > _MAX_REASONS_SHOWN else ""
    first = one_line(min(unread)[0])
    return f"{len(unread):,} files could not be read: {first} and {len(unread) - 1:,} more: {reasons}{more}"
