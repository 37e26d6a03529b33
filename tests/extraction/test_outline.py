from marchwarden.core.notebook import Link
from marchwarden.extraction import Extractor, PageSign, extract
from marchwarden.extraction.outline import MAX_LINKS

WORDS = "The lock keeper of Dorn writes down the level of the river every morning before the first boat comes."


def links_of(body: str, head: str = "") -> tuple[Link, ...]:
    page = f"<html><head>{head}</head><body><p>{WORDS}</p>{body}</body></html>"
    return extract(page.encode(), "page.html").links


def test_content_links_are_found_once() -> None:
    body = (
        '<nav><a href="/menu">Menu</a></nav><footer><p><a href="/imprint">Imprint</a></p></footer>'
        '<p>See <a href=" https://a.example/x ">a\n <b>paper</b></a>, <a href="/b?c=d">b</a>, '
        '<a href="/b?c=d">again</a>, <a href="#here">here</a> <a href="mailto:a@b">mail</a> '
        '<a href="javascript:x()">do</a> <a>no</a>'
        '<a href="https://shop.example/" rel="nofollow sponsored">buy</a> <a href="http://[bad">bad</a></p>'
    )
    assert links_of(body)[:2] == (Link("https://a.example/x", "a paper"), Link("/b?c=d", "b"))
    assert {link.url for link in links_of(body)} <= {"https://a.example/x", "/b?c=d", "http://[bad"}


def test_base_element_resolves_relative_links() -> None:
    assert links_of('<a href="c">c</a>', '<base href="https://a.example/b/">') == (Link("https://a.example/b/c", "c"),)


def test_links_are_limited_in_number_and_length() -> None:
    many = "".join(f'<a href="/{number}">{"x" * 500}</a>' for number in range(1_000))
    found = links_of(f'<a href="/{"y" * 5_000}">long</a>{many}')
    assert len(found) == MAX_LINKS
    assert all(len(link.text) <= 200 and len(link.url) < 10 for link in found)


def test_links_and_signs_pass_through_a_worker_unchanged() -> None:
    form = '<input type=password><div class="g-recaptcha"></div>'
    page = f'<html><body><p>{WORDS} <a href="/é">Ä</a></p>{form}</body></html>'
    with Extractor(workers=1) as extractor:
        extracted = extractor.extract(page.encode(), "page.html")
    assert extracted == extract(page.encode(), "page.html")
    assert extracted.links == (Link("/é", "Ä"),)
    assert extracted.signs == {PageSign.PASSWORD_FIELD, PageSign.CHALLENGE}
    assert WORDS in extracted.surface


def test_loose_extraction_is_used_if_precise_one_is_nearly_empty() -> None:
    article = "".join(f"<p>{WORDS} Day {day} was calm.</p>" for day in range(30))
    notice = "<article><p>This copy is for your personal use only. To order more, write to us.</p></article>"
    page = f'<html><body><div class="teaser">{article}</div>{notice}</body></html>'
    assert "Day 29 was calm" in extract(page.encode(), "page.html").text
