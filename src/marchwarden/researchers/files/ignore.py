"""Patterns of `.gitignore` files: parse and match them. Does not read files.

Why not pathspec: its licence is not permissive.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, Self

MAX_PATTERNS: Final = 5_000
MAX_PATTERN_LENGTH: Final = 1_000
_CLASS: Final = re.compile(r"\[(?P<negated>[!^]?)(?P<members>\]?(?:\\.|[^\]\\])*)\]", re.DOTALL)
_NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True)
class Pattern:
    """One line of a `.gitignore` file. `expression` matches a name, or a path if the line contains a slash."""

    expression: str
    is_negated: bool = False
    only_folders: bool = False
    is_path: bool = False

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.expression)

    def matches(self, path: str, name: str, *, is_folder: bool) -> bool:
        return (is_folder or not self.only_folders) and bool(self.compiled.fullmatch(path if self.is_path else name))


def parse_patterns(lines: Iterable[str]) -> tuple[Pattern, ...]:
    """Parse the lines of a `.gitignore` file. Comments and malformed lines are left out."""
    found = [pattern for line in lines if (pattern := _parse(line)) is not None]
    return tuple(found[:MAX_PATTERNS])


def _parse(line: str) -> Pattern | None:
    line = line.rstrip("\r\n")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#") or len(line) > MAX_PATTERN_LENGTH:
        return None
    is_negated = line.startswith("!")
    body = line[is_negated:]
    only_folders = body.endswith("/")
    body = body.rstrip("/")
    is_path = "/" in body
    segments = [segment for segment in body.split("/") if segment]
    if not segments:
        return None
    expression = _translate_path(segments) if is_path else _translate_segment(segments[0])
    try:
        re.compile(expression)
    except re.error:
        return None
    return Pattern(expression, is_negated, only_folders, is_path)


def _translate_path(segments: list[str]) -> str:
    """Translate the segments of a path. `**` stands for any number of folders, at the end for everything inside.

    All groups but the last are atomic: the earliest match of a part is as good as any later one. So matching takes
    linear time for every pattern.
    """
    parts = [last for last, following in pairwise([*segments, ""]) if not (last == following == "**")]
    if parts == ["**"]:
        return ".+"
    ends_open = parts[-1] == "**"
    blocks: list[list[str]] = [[]]
    for part in parts[:-1] if ends_open else parts:
        if part == "**":
            blocks.append([])
        else:
            blocks[-1].append(_translate_segment(part))
    first, *others = ["/".join(block) for block in blocks]
    expression = first
    for at, block in enumerate(others):
        lead = "/" if expression else ""
        is_last = at == len(others) - 1
        skipped = f"(?:[^/]+/)*?{block}"
        expression += f"{lead}{skipped}" if is_last or not block else f"{lead}(?>{skipped}(?=/))"
    return f"{expression}/.+" if ends_open else expression


def _translate_segment(segment: str) -> str:
    """Translate wildcards within one name. All stars but the last are atomic, as in `fnmatch`."""
    pieces, at = [""], 0
    while at < len(segment):
        character = segment[at]
        if character == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[" and (found := _CLASS.match(segment, at)):
            pieces[-1] += _translate_class(found)
            at = found.end()
            continue
        elif character == "\\" and at + 1 < len(segment):
            at += 1
            pieces[-1] += re.escape(segment[at])
        else:
            pieces[-1] += re.escape(character)
        at += 1
    first, *others = pieces
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + f"[^/]*{last}"


def _translate_class(found: re.Match[str]) -> str:
    members = re.sub(r"\\(.)", r"\1", found["members"])
    escaped = re.sub(r"([\[\]\\^&~|])", r"\\\1", members)
    return f"(?!/)[{'^' if found['negated'] else ''}{escaped}]"


@dataclass(frozen=True)
class PatternFile:
    """The patterns of the ignore files in one folder. `base` is the path of the folder with a slash, or empty."""

    base: str
    patterns: tuple[Pattern, ...]

    @cached_property
    def _names(self) -> re.Pattern[str]:
        return _any_of(each.expression for each in self.patterns if not each.is_path)

    @cached_property
    def _paths(self) -> re.Pattern[str]:
        return _any_of(each.expression for each in self.patterns if each.is_path)

    def decide(self, path: str, name: str, *, is_folder: bool) -> bool | None:
        """Return whether the last matching pattern ignores this path, or None if none matches."""
        inside = path[len(self.base) :]
        # Almost no file matches any pattern: one combined expression is faster than all of them.
        if not (self._names.fullmatch(name) or self._paths.fullmatch(inside)):
            return None
        for pattern in reversed(self.patterns):
            if pattern.matches(inside, name, is_folder=is_folder):
                return not pattern.is_negated
        return None


def _any_of(expressions: Iterable[str]) -> re.Pattern[str]:
    alternatives = "|".join(f"(?:{each})" for each in expressions)
    return re.compile(alternatives) if alternatives else _NEVER


@dataclass(frozen=True)
class IgnoreRules:
    """The patterns that apply in a folder: its own take precedence over those of the folders above it."""

    files: tuple[PatternFile, ...] = ()

    def below(self, base: str, lines: Iterable[str]) -> Self:
        """Return the rules of a subfolder whose ignore files have these lines."""
        patterns = parse_patterns(lines)
        return type(self)((*self.files, PatternFile(base, patterns))) if patterns else self

    def ignores(self, path: str, name: str, *, is_folder: bool) -> bool:
        for file in reversed(self.files):
            decided = file.decide(path, name, is_folder=is_folder)
            if decided is not None:
                return decided
        return False
