from hypothesis import given
from hypothesis import strategies as st

from marchwarden.core.notebook import Hit, Query
from marchwarden.researchers.web.hit_order import ranked

_HITS = st.builds(
    Hit,
    locator=st.sampled_from(["https://a.example/1", "https://a.example/2", "http://b.example/", "file:///x", "c.gov"]),
    score=st.floats(0, 1e6),
)


def test_the_same_page_is_one_hit_with_its_best_score() -> None:
    hits = [
        Hit("http://example.org/a?utm_source=x", score=0.2),
        Hit("https://EXAMPLE.org/a#part", score=0.8),
        Hit("https://example.org/a/", score=0.4),
    ]
    assert ranked(hits, Query("q")) == (Hit("https://example.org/a", score=1.0),)


def test_another_site_comes_before_more_of_the_same() -> None:
    hits = [Hit(f"https://a.example/{at}", score=1 - at / 10) for at in range(3)] + [
        Hit("https://b.example/", score=0.6)
    ]
    assert [hit.locator for hit in ranked(hits, Query("q"))] == [
        "https://a.example/0",
        "https://b.example/",
        "https://a.example/1",
        "https://a.example/2",
    ]


def test_the_filter_is_applied_again_and_travels_with_the_hit() -> None:
    query = Query("q", domains=(".gov",))
    hits = ranked([Hit("https://nasa.gov/"), Hit("https://example.org/")], query)
    assert hits == (Hit("https://nasa.gov/", domains=(".gov",)),)


def test_hits_without_scores_keep_the_order_of_their_provider() -> None:
    hits = [Hit(f"https://{name}.example/", score=0) for name in "zyx"]
    assert [hit.locator for hit in ranked(hits, Query("q"))] == [hit.locator for hit in hits]


@given(st.lists(_HITS, max_size=12))
def test_scores_lie_between_nought_and_one_best_first(hits: list[Hit]) -> None:
    scores = [hit.score for hit in ranked(hits, Query("q"))]
    assert scores == sorted(scores, reverse=True)
    assert not scores or scores[0] == 1.0
    assert all(0 <= score <= 1 for score in scores)
