"""Invalid requests give a one-line error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from marchwarden.contract import ResearchConstraints, ResearchRequest
from marchwarden.core.request import parse_request, refusal
from marchwarden.errors import InvalidInput

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(
    st.sampled_from([*ResearchRequest.model_fields, "budget"]) | st.text(st.characters(), max_size=80),
    anything,
    max_size=9,
)


@given(arguments)
def test_any_arguments_give_a_request_or_a_one_line_error(given_arguments: dict[str, object]) -> None:
    try:
        request = parse_request(given_arguments)
    except InvalidInput as error:
        line = str(error)
        assert line.isascii()
        assert line.isprintable()
        assert 0 < len(line) < 1200
    else:
        assert 1 <= len(request.question) <= 500


def test_error_in_constraints_alone_lists_their_fields() -> None:
    with pytest.raises(ValidationError) as caught:
        ResearchConstraints.model_validate({"tokens": 5})
    assert refusal(caught.value).startswith("unknown argument tokens (allowed: max_iterations, token_budget,")


@pytest.mark.parametrize("source_filter", [None, "", " ", ".gov", " .gov , Example.org,", "münchen.de,127.0.0.2:8080"])
def test_a_source_filter_of_domains_is_accepted(source_filter: str | None) -> None:
    request = parse_request({"question": "q", "constraints": {"source_filter": source_filter}})
    assert request.limits().source_filter == source_filter


@pytest.mark.parametrize(
    ("source_filter", "quoted"),
    [("???", "'???'"), (".gov,nasa gov", "'nasa gov'"), (",", "','"), ("a@b.org\x1b,???", r"'a@b.org\x1b'")],
)
def test_a_source_filter_with_anything_else_is_refused(source_filter: str, quoted: str) -> None:
    for constraints in ({"source_filter": source_filter}, ResearchConstraints(source_filter=source_filter)):
        with pytest.raises(InvalidInput) as refused:
            parse_request({"question": "q", "constraints": constraints})
        assert str(refused.value) == (
            f"constraints.source_filter: {quoted} is not a domain; "
            "separate domains or suffixes by commas, such as .gov,example.org"
        )


def test_further_errors_are_counted() -> None:
    with pytest.raises(InvalidInput, match="; and 3 more"):
        parse_request({"question": "q", **{f"x{number}": 1 for number in range(8)}})
