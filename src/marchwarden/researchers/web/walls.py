"""Pages that stand before a page: paywalls, log-ins, consent walls, captchas, and "not found" said with a smile.

A wall says little besides that it is one. So a phrase or a sign counts only where the text is short for an article, and
an article about cookies stays an article.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, Sign
from marchwarden.researchers.web import wall_phrases as phrases

SHORT: Final = 1_200
"""Characters of main text. Below it a page may be a wall with a teaser; hardly any article is shorter."""
BARE: Final = 400
"""Below it there is no article at all, only whatever the page says of itself."""
_ENDING: Final = 300
LONGEST_TEASER: Final = 6_000


@dataclass(frozen=True)
class Wall:
    """One kind of wall: what to tell, under which category, and how to know it."""

    told: str
    stands: Callable[[Extracted], bool]
    category: GapCategory = GapCategory.ACCESS_DENIED


def refuse_wall(page: Extracted) -> None:
    """Raise `SourceError` for a page that only stands before another one. Whatever is no web page passes."""
    if page.media_type != "text/html":
        return
    for wall in WALLS:
        if wall.stands(page):
            raise SourceError(wall.told, wall.category)


def _asks_for_a_human(page: Extracted) -> bool:
    if len(page.text) >= SHORT:
        return False
    says_so = phrases.HUMAN.search(_title(page)) or phrases.HUMAN.search(_said(page))
    return bool(says_so) or (Sign.CHALLENGE in page.signs and len(page.surface) < BARE)


def _is_missing(page: Extracted) -> bool:
    if len(page.text) >= SHORT:
        return False
    said = phrases.plain(page.text)
    titled = any(phrases.MISSING_TITLE.search(line) for line in (_title(page), said.split("\n", 1)[0]))
    return titled or (len(said) < BARE and bool(phrases.MISSING.search(said)))


def _is_forbidden(page: Extracted) -> bool:
    return len(page.text) < SHORT and bool(phrases.FORBIDDEN_TITLE.search(_title(page)))


def _wants_money(page: Extracted) -> bool:
    """A plea to subscribe stands under many whole articles: it is a wall where the article is short or breaks off."""
    if len(page.text) >= LONGEST_TEASER:
        return False
    short = len(page.text) < SHORT
    pleads_last = bool(phrases.SUBSCRIBE.search(phrases.plain(page.text[-_ENDING:])))
    if Sign.NOT_FREE in page.signs:
        return short or pleads_last or bool(phrases.BREAKS_OFF.search(page.text))
    return short and (pleads_last or bool(phrases.SUBSCRIBE.search(_said(page))))


def _wants_a_name(page: Extracted) -> bool:
    """Many an article has a log-in form in its margin: one sign alone, or a form that nothing speaks of, is no wall."""
    if len(page.text) >= SHORT:
        return False
    spoken = (phrases.LOG_IN_TITLE.search(_title(page)), phrases.LOG_IN.search(_said(page)))
    signs = (*spoken, Sign.PASSWORD_FIELD in page.signs, len(page.text) < BARE)
    return any(spoken) and sum(map(bool, signs)) > 1


def _wants_consent(page: Extracted) -> bool:
    if len(page.text) >= SHORT:
        return False
    text = phrases.plain(page.text)
    speaks_of_little_else = len(text) < BARE or len(phrases.CONSENT.findall(text)) > 1
    return speaks_of_little_else and "cookie" in _said(page) and bool(phrases.MUST_CONSENT.search(text))


def _wants_a_browser(page: Extracted) -> bool:
    if len(page.text) >= BARE:
        return False
    empty = Sign.NEEDS_SCRIPT in page.signs and len(page.surface) < BARE // 2
    return empty or bool(phrases.SCRIPTS.search(_said(page)))


def _title(page: Extracted) -> str:
    return phrases.plain(page.title)


def _said(page: Extracted) -> str:
    return phrases.plain(f"{page.text}\n{page.surface}")


WALLS: Final = (
    Wall("a captcha: the site wants to see a person first", _asks_for_a_human),
    Wall("the page says it does not exist, though the server did not", _is_missing, GapCategory.SOURCE_NOT_FOUND),
    Wall("the site refused access to this page", _is_forbidden),
    Wall("a paywall: only subscribers are shown the article", _wants_money),
    Wall("a log-in page stands before it", _wants_a_name),
    Wall("a consent wall: nothing is shown before cookies are accepted", _wants_consent),
    Wall("the page is empty until a browser runs its scripts", _wants_a_browser),
)
"""In this order: a captcha page also wants scripts, and a paywall also has a log-in."""
