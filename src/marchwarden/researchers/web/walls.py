"""Detect pages that block access to content: paywalls, logins, consent walls, captchas, "not found" with status 200.

A wall contains little other text. So a phrase counts only if the page is short for an article, and an article about
cookies is still accepted.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, PageSign
from marchwarden.researchers.web import wall_phrases as phrases

SHORT_TEXT: Final = 1_200
"""Characters of main text. A shorter page may be a wall with a teaser; few articles are shorter."""
NO_ARTICLE: Final = 400
"""Characters of main text. A shorter page contains no article."""
_ENDING: Final = 300
LONGEST_TEASER: Final = 6_000


@dataclass(frozen=True)
class Wall:
    """One kind of wall: its message, its gap category, and how to detect it."""

    message: str
    matches: Callable[[Extracted], bool]
    category: GapCategory = GapCategory.ACCESS_DENIED


def refuse_wall(page: Extracted) -> None:
    """Raise `SourceError` if the page is a wall. Only HTML pages can be."""
    if page.media_type != "text/html":
        return
    for wall in WALLS:
        if wall.matches(page):
            raise SourceError(wall.message, wall.category)


def _is_captcha(page: Extracted) -> bool:
    if len(page.text) >= SHORT_TEXT:
        return False
    has_phrase = phrases.HUMAN.search(_title(page)) or phrases.HUMAN.search(_all_text(page))
    return bool(has_phrase) or (PageSign.CHALLENGE in page.signs and len(page.surface) < NO_ARTICLE)


def _is_missing(page: Extracted) -> bool:
    if len(page.text) >= SHORT_TEXT:
        return False
    text = phrases.normalize(page.text)
    titled = any(phrases.MISSING_TITLE.search(line) for line in (_title(page), text.split("\n", 1)[0]))
    return titled or (len(text) < NO_ARTICLE and bool(phrases.MISSING.search(text)))


def _is_forbidden(page: Extracted) -> bool:
    return len(page.text) < SHORT_TEXT and bool(phrases.FORBIDDEN_TITLE.search(_title(page)))


def _is_paywall(page: Extracted) -> bool:
    """Many complete articles end with a plea to subscribe. It marks a wall only if the text is short or breaks off."""
    if len(page.text) >= LONGEST_TEASER:
        return False
    short = len(page.text) < SHORT_TEXT
    ends_with_plea = bool(phrases.SUBSCRIBE.search(phrases.normalize(page.text[-_ENDING:])))
    if PageSign.NOT_FREE in page.signs:
        return short or ends_with_plea or bool(phrases.BREAKS_OFF.search(page.text))
    return short and (ends_with_plea or bool(phrases.SUBSCRIBE.search(_all_text(page))))


def _is_login(page: Extracted) -> bool:
    """Many articles have a login form in the margin. A wall needs a phrase and one more sign."""
    if len(page.text) >= SHORT_TEXT:
        return False
    phrases_found = (phrases.LOG_IN_TITLE.search(_title(page)), phrases.LOG_IN.search(_all_text(page)))
    signs = (*phrases_found, PageSign.PASSWORD_FIELD in page.signs, len(page.text) < NO_ARTICLE)
    return any(phrases_found) and sum(map(bool, signs)) > 1


def _is_consent_wall(page: Extracted) -> bool:
    if len(page.text) >= SHORT_TEXT:
        return False
    text = phrases.normalize(page.text)
    is_mostly_consent = len(text) < NO_ARTICLE or len(phrases.CONSENT.findall(text)) > 1
    return is_mostly_consent and "cookie" in _all_text(page) and bool(phrases.MUST_CONSENT.search(text))


def _needs_scripts(page: Extracted) -> bool:
    if len(page.text) >= NO_ARTICLE:
        return False
    empty = PageSign.NEEDS_SCRIPT in page.signs and len(page.surface) < NO_ARTICLE // 2
    return empty or bool(phrases.SCRIPTS.search(_all_text(page)))


def _title(page: Extracted) -> str:
    return phrases.normalize(page.title)


def _all_text(page: Extracted) -> str:
    return phrases.normalize(f"{page.text}\n{page.surface}")


WALLS: Final = (
    Wall("a captcha blocks the page", _is_captcha),
    Wall(
        "the page says that it does not exist, although the server returned it",
        _is_missing,
        GapCategory.SOURCE_NOT_FOUND,
    ),
    Wall("the site refused access to this page", _is_forbidden),
    Wall("a paywall: the article is for subscribers only", _is_paywall),
    Wall("a log-in is required", _is_login),
    Wall("a consent wall: the page requires accepting cookies", _is_consent_wall),
    Wall("the page is empty without a browser that runs its scripts", _needs_scripts),
)
"""Checked in this order, because a captcha page also requires scripts, and a paywall also has a login."""
