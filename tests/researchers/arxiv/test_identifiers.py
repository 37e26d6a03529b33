import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import InvalidInput
from marchwarden.researchers.arxiv.identifiers import ArxivId

WRITTEN = [
    ("2104.12255", "2104.12255", None),
    ("2104.12255v2", "2104.12255", 2),
    (" arXiv:2104.12255v12 ", "2104.12255", 12),
    ("http://arxiv.org/abs/0704.0001v1", "0704.0001", 1),
    ("https://arxiv.org/pdf/2104.12255v2.pdf", "2104.12255", 2),
    ("https://export.arxiv.org/html/2401.00001v1#S2.SS1", "2401.00001", 1),
    ("https://doi.org/10.48550/arXiv.2104.12255", "2104.12255", None),
    ("quant-ph/0201082v1", "quant-ph/0201082", 1),
    ("astro-ph/0601001", "astro-ph/0601001", None),
    ("math.GT/0309136v3", "math/0309136", 3),
    ("https://arxiv.org/abs/hep-th/9711200#abstract", "hep-th/9711200", None),
]
NOT_WRITTEN = [
    "",
    "abc",
    "2113.12255",
    "0000.0000",
    "2104.123",
    "2104.123456",
    "2104.12255v0",
    "10.1145/3394486.3403172",
]
NOT_WRITTEN += [
    "quant-ph/0213082",
    "nonsense/0201082",
    "https://example.org/abs/2104.12255",
    "2104.12255\nv2",
    "12104.12255",
]


@pytest.mark.parametrize("written, number, version", WRITTEN)
def test_every_notation_of_an_id_is_parsed(written: str, number: str, version: int | None) -> None:
    assert ArxivId.parse(written) == ArxivId(number, version)


@pytest.mark.parametrize("written", NOT_WRITTEN)
def test_an_invalid_id_is_rejected(written: str) -> None:
    with pytest.raises(InvalidInput, match="not an arXiv id"):
        ArxivId.parse(written)


@pytest.mark.parametrize(
    "text, names",
    [
        ("see arXiv:2104.12255v2, and (math/0309136).", ["2104.12255v2", "math/0309136"]),
        ("arxiv 2104.12255 v1 strongest gust", ["2104.12255v1"]),
        ("quant ph 0201082 languages", ["quant-ph/0201082"]),
        ("2104.12255 and again 2104.12255", ["2104.12255"]),
        ("10.1145/3394486.3403172 costs 1999.9999 crowns, 3.2104.12255", []),
    ],
)
def test_ids_are_found_in_text(text: str, names: list[str]) -> None:
    assert [str(name) for name in ArxivId.find_all(text)] == names


@given(st.integers(7, 99), st.integers(1, 12), st.integers(0, 99_999), st.none() | st.integers(1, 999))
def test_an_id_round_trips_through_its_locator(year: int, month: int, number: int, version: int | None) -> None:
    name = ArxivId(f"{year:02}{month:02}.{number:05}", version)
    assert ArxivId.parse(name.locator) == ArxivId.parse(str(name)) == name
    assert ArxivId.find_all(f"({name}).") == (name,)
