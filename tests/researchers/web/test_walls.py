import pytest

from marchwarden.contract import GapCategory
from marchwarden.errors import SourceError
from marchwarden.extraction import Extracted, extract
from marchwarden.researchers.web.walls import refuse_wall
from tests.researchers.web.pages import SENTENCE, article, page
from tests.world.world import World

NOT_FREE = '<script type="application/ld+json">{"isAccessibleForFree": "False"}</script>'
WALLS = {
    "cloudflare": (
        page("<p>Checking your browser before accessing senn.example.</p>", title="Just a moment..."),
        "captcha",
    ),
    "robot": (page("<h1>Are you a robot?</h1><p>Please confirm you're not a robot to go on.</p>"), "captcha"),
    "traffic": (page("<p>Our systems have detected unusual traffic from your computer network.</p>"), "captcha"),
    "widget": (page('<div class="h-captcha"></div><p>One more step.</p>'), "captcha"),
    "denied": (page("<p>You don't have permission to see this.</p>", title="403 Forbidden"), "refused access"),
    "metered": (article(3, "<p>Subscribe to continue reading.</p>"), "paywall"),
    "subscribers": (page(f"<p>{SENTENCE}</p><p>This article is reserved for our subscribers.</p>"), "paywall"),
    "teaser": (
        page(f"<article><p>{SENTENCE * 20}</p><p>And then the gate ...</p></article>", head=NOT_FREE),
        "paywall",
    ),
    "limit": (page("<p>You have reached your limit of free articles. Already a subscriber? Sign in.</p>"), "paywall"),
    "login": (page('<form><input type="PASSWORD" name="p"></form><p>Please log in to see the river.</p>'), "log-in"),
    "signin": (page("<h1>Sign in</h1><p>Use your river account.</p>", title="Sign in - Senn"), "log-in"),
    "consent": (
        page("<h1>We value your privacy</h1><p>We and our partners use cookies. Accept all to continue.</p>"),
        "consent",
    ),
    "app": (page("<p>You need to enable JavaScript to run this app.</p>"), "scripts"),
}
NOT_FOUND = {
    "titled": page("<p>Try the home page.</p>", title="404 - Senn River Board"),
    "headed": page("<h1>Oops! That page can’t be found.</h1><p>Maybe try a search?</p>"),
    "moved": page("<p>The page you requested does not exist or may have been moved.</p>"),
    "german": page("<p>Zur Startseite</p>", title="Seite nicht gefunden"),
}
ARTICLES = {
    "plain": article(),
    "short": page(f"<article><h1>Level</h1><p>{SENTENCE}</p></article>"),
    "with a log-in in its margin": article(3, '<aside><form>Log in <input type="password"></form></aside>'),
    "with a plea under it": article(20, "<p>Subscribe to continue reading our best stories every day.</p>"),
    "with a banner": article(3, "<div>We use cookies. Cookie settings. Accept all cookies</div>"),
    "with a comment form": article(3, '<div class="g-recaptcha"></div><p>You must be logged in to comment.</p>'),
    "not free and whole": article(40, head=NOT_FREE),
    "about missing pages": article(20, "", title="Page not found: a history of the number 404"),
    "that wants scripts for its map": article(3, "<noscript>Enable JavaScript to see the map.</noscript>"),
}


@pytest.mark.parametrize("name", WALLS)
def test_a_wall_is_refused_with_its_kind(name: str) -> None:
    wall, kind = WALLS[name]
    with pytest.raises(SourceError) as refused:
        refuse_wall(wall)
    assert kind in refused.value.detail
    assert refused.value.category is GapCategory.ACCESS_DENIED


@pytest.mark.parametrize("name", NOT_FOUND)
def test_a_not_found_page_with_status_200_is_not_found(name: str) -> None:
    with pytest.raises(SourceError) as refused:
        refuse_wall(NOT_FOUND[name])
    assert refused.value.category is GapCategory.SOURCE_NOT_FOUND


@pytest.mark.parametrize("name", ARTICLES)
def test_an_article_is_accepted(name: str) -> None:
    refuse_wall(ARTICLES[name])


def test_only_html_pages_can_be_walls() -> None:
    refuse_wall(extract(b"404 not found\n\nSubscribe to continue reading.\n", "notes.txt"))
    refuse_wall(Extracted("Just a moment...", title="404", media_type="application/pdf"))


@pytest.mark.parametrize("key", ["paywall", "login", "cookie-wall", "captcha", "soft-404"])
def test_the_test_worlds_walls_are_refused(key: str, world: World) -> None:
    with pytest.raises(SourceError):
        refuse_wall(extract(world.pages[key].content, "page.html"))


def test_every_article_of_the_test_world_is_accepted(world: World) -> None:
    walls = {"paywall", "login", "cookie-wall", "captcha", "soft-404", "shell"}
    read = [extract(each.content, "page") for key, each in world.pages.items() if key not in walls]
    assert len(read) > 10
    for each in read:
        refuse_wall(each)
