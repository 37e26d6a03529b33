"""The pages of the test web, about the Alder Bridge. All of them are invented for these tests."""

from datetime import date, timedelta
from typing import Final

from tests.world.pdfs import Paper
from tests.world.site import Byline, Page, Site, article
from tests.world.walls import hostile, walls

RIVERS: Final = Site(
    "rivers", "rivers.senn.gov", "127.0.0.2", "User-agent: *\nDisallow: /private/\n", "Senn River Board"
)
DORN: Final = Site("dorn", "hydro.dorn.edu", "127.0.0.3", "User-agent: *\nAllow: /\n", "University of Dorn")
GAZETTE: Final = Site(
    "gazette",
    "alder-gazette.example",
    "127.0.0.4",
    "User-agent: *\nDisallow: /*/print$\nCrawl-delay: 0.1\n\nUser-agent: Scraper\nDisallow: /\n",
    "Alder Gazette",
)
ENCYCLOPAEDIA: Final = Site(
    "wikipedia", "en.encyclopaedia.example", "127.0.0.5", "User-agent: *\nDisallow: /w/\n", "Encyclopaedia"
)
ROADS: Final = Site("roads", "roads.example", "127.0.0.6", "", "Senn Roads Institute")
BLOG: Final = Site("blog", "spanspotting.blog.example", "127.0.0.7", None, "Spanspotting")
WALLS: Final = Site("walls", "walls.example", "127.0.0.8", None, "Walls")
SITES: Final = (RIVERS, DORN, GAZETTE, ENCYCLOPAEDIA, ROADS, BLOG, WALLS)

QUESTION: Final = "Who designed the Alder Bridge? How long is its main span? How many vehicles cross it each day?"
ANSWERED_BY: Final = ("ferris", "bridge", "counts")
"""The pages that answer the question, one for each part."""


def pages(today: date) -> tuple[Page, ...]:
    """All pages. Only the latest news depends on the day."""
    return (*_official(today), *_academic(), *_press(), *_encyclopaedic(), *_personal(), *walls(WALLS, GAZETTE))


_BRIDGE: Final = """
The Alder Bridge carries the coast road over the river Senn. The main span of the Alder Bridge is 212 metres long, and
its deck hangs 31 metres above the water.

The Alder Bridge was opened to traffic on 12 May 1931. The Alder Bridge cost 1.2 million crowns to build.

The board inspects the bridge every second year. The last inspection found the cables sound and the eastern pier in need
of new mortar.

The great flood of 1954 is described in the <a href="site://rivers/reports/flood.pdf">flood report</a>, and the life of
the engineer on the pages of the <a href="site://dorn/history/ferris">University of Dorn</a>.
"""


def _official(today: date) -> tuple[Page, ...]:
    closure = Byline("Press office", today - timedelta(days=3))
    report = Paper("The flood of 1954", "Senn River Board", date(2022, 2, 9), _FLOOD)
    return (
        article(
            "bridge", RIVERS, "/bridges/alder", "The Alder Bridge", _BRIDGE, Byline("Ines Hale", date(2023, 3, 14))
        ),
        _filed("flood", RIVERS, "/reports/flood.pdf", report, "application/pdf"),
        article(
            "closure",
            RIVERS,
            "/news/lorries",
            "Alder Bridge closed to lorries",
            """
            The latest news from the board: the Alder Bridge is closed to lorries this month, while the mortar of the
            eastern pier is renewed.

            Cars and bicycles may cross at 30 kilometres an hour. The works cost 84,000 crowns and are paid by tolls.
            """,
            closure,
        ),
        article(
            "inspection",
            RIVERS,
            "/private/inspection",
            "Inspection log of the Alder Bridge",
            "The inspection log of the Alder Bridge lists every cracked stone. It is not meant for robots.",
            Byline("Ines Hale", date(2024, 8, 1)),
        ),
    )


_FLOOD: Final = (
    (
        "The flood of 1954",
        "In March 1954 the river Senn rose 7.4 metres above its usual level at the Alder Bridge.",
        "The bridge stayed open, but the weir at Dorn was lost within one night.",
    ),
    (
        "Since the flood of 1954 a gauge at the eastern pier reports the level of the river Senn every hour.",
        "The weir at Dorn was rebuilt in 1957.",
    ),
)
_SCOUR: Final = (
    (
        "Scour at the piers of the Alder Bridge",
        "Between 1998 and 2018 the river bed at the eastern pier of the Alder Bridge fell by 0.9 metres.",
        "Scour of this kind is measured with sonar after each winter.",
    ),
    ("We suggest a ring of rubble around the eastern pier.", "Earlier work: https://doi.org/10.5555/senn.2009.17"),
)


def _filed(key: str, site: Site, path: str, paper: Paper, media_type: str) -> Page:
    words = " ".join(line for lines in paper.pages for line in lines)
    return Page(key, site.key, path, paper.title, words, paper.to_bytes(), media_type, paper.author, paper.published)


def _academic() -> tuple[Page, ...]:
    scour = Paper("Scour at the piers of the Alder Bridge", "J. Okoye and L. Brandt", date(2020, 11, 5), _SCOUR)
    return (
        article(
            "ferris",
            DORN,
            "/history/ferris",
            "Maud Ferris, engineer of the Senn",
            """
            The Alder Bridge was designed by Maud Ferris, who was born in Dorn in 1894 and studied at this university.

            Ferris drew the bridge in eleven weeks. It is unclear whether Ferris also designed the weir at Dorn, which
            was lost in 1954.

            Her drawings are studied in a <a href="https://doi.org/10.5555/ferris.1994.3">paper on cable bridges</a> and
            in a <a href="https://arxiv.org/abs/2104.12255">preprint on wind loads</a>. The measurements are kept
            <a href="https://zenodo.org/records/1234567">as a data set</a>.
            """,
            Byline("Lena Brandt", date(2021, 9, 30)),
        ),
        # No extension and a generic type: only the bytes show that this is a PDF.
        _filed("scour", DORN, "/papers/41", scour, "application/octet-stream"),
        article(
            "gauges",
            DORN,
            "/data/gauges",
            "Gauges of the river Senn",
            """
            Hourly levels of the river Senn since 1955, measured at the eastern pier of the Alder Bridge and the weir.

            The table is <a href="site://dorn/data/gauges.csv">a file of comma-separated values</a>, and a copy lies in
            <a href="https://zenodo.org/records/7654321">a public archive</a>.
            """,
            Byline("Lena Brandt", date(2024, 1, 15)),
        ),
        Page(
            "levels",
            DORN.key,
            "/data/gauges.csv",
            "Levels",
            "",
            b"year,highest_metres\n1954,7.4\n1955,3.1\n1956,2.8\n",
            "text/csv",
            unlisted=True,
        ),
    )


_OPENING: Final = """
The Alder Bridge was opened to traffic on 3 June 1932. The Alder Bridge cost 1.9 million crowns to build.

Our reporter stood in the rain when the first car, a green one, rolled from the west bank to the east. The mayor had
prepared a speech that nobody heard over the wind.

The toll was one crown for a car and nothing for those who walked.
"""


def _press() -> tuple[Page, ...]:
    reporter = Byline("Tom Ackery", date(2019, 6, 3))
    return (
        article("opening", GAZETTE, "/1932/opening", "The day the Alder Bridge was opened", _OPENING, reporter),
        article("print", GAZETTE, "/1932/opening/print", "The day the bridge was opened (print)", _OPENING, reporter),
        article(
            "cookie-story",
            GAZETTE,
            "/2024/cookies",
            "Why websites ask about cookies",
            """
            Every website now asks readers to accept cookies, and many ask them to log in or to subscribe before they
            may continue reading. We asked three lawyers why.

            A banner is only needed, they said, for cookies that follow a reader around. A captcha, which asks whether
            the reader is a robot, is a different matter: it protects the site and not the reader.

            The river museum of Alder removed its banner in March and lost nothing by it. Its director says that
            visitors read longer, and that nobody has complained about a page not found.
            """,
            Byline("Pia Moor", date(2024, 4, 2)),
        ),
        article(
            "counts",
            ROADS,
            "/counts/alder-bridge",
            "Traffic on the Alder Bridge",
            """
            In 2024 an average of 18,400 vehicles crossed the Alder Bridge each day, counted by a loop in the road.

            One vehicle in nine was a lorry. Bicycles are counted by hand, on one Sunday in June.
            """,
            Byline("Senn Roads Institute", date(2025, 1, 20)),
        ),
    )


def _encyclopaedic() -> tuple[Page, ...]:
    def entry(key: str, title: str, text: str) -> Page:
        return article(key, ENCYCLOPAEDIA, f"/wiki/{title.replace(' ', '_')}", title, text)

    return (
        entry(
            "entry-bridge",
            "Alder Bridge",
            """
            The Alder Bridge is a suspension bridge over the river Senn. The bridge was designed by Maud Ferris.

            It replaced a ferry that had crossed the river since 1702.
            """,
        ),
        entry(
            "entry-ferris",
            "Maud Ferris",
            "Maud Ferris (1894 to 1971) was an engineer. Besides the bridge, Ferris built the lighthouse of Holm.",
        ),
        entry(
            "entry-senn",
            "River Senn",
            "The river Senn is 164 kilometres long. It rises in the Quarry Hills and meets the sea at Alder.",
        ),
        entry("entry-soup", "Soup", "A good soup needs an onion, a carrot and patience. It is eaten with a spoon."),
    )


def _personal() -> tuple[Page, ...]:
    spotter = Byline("Gus", date(2018, 7, 7))
    return (
        article(
            "visit",
            BLOG,
            "/alder",
            "I walked over the Alder Bridge",
            """
            I love this bridge. I think the Alder Bridge is painted the green of old bottles, and it hums when the wind
            comes from the north.

            My photographs are on <a href="https://www.flickr.com/people/spanspotting/">another site</a>.
            """,
            spotter,
        ),
        article("copy", BLOG, "/copied/alder", "The Alder Bridge", _BRIDGE, Byline("Gus", date(2024, 5, 5))),
        hostile(BLOG),
    )
