import math
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from marchwarden.evidence.logistic import LabelledExample, Weight, fitted, logistic

OUTCOMES = st.lists(
    st.builds(
        LabelledExample,
        st.fixed_dictionaries({"bias": st.just(1.0), "one": st.floats(-3, 3), "other": st.floats(0, 1)}),
        st.booleans(),
    ),
    max_size=30,
)


def drawn(bias: float, slope: float, times: int = 3000) -> list[LabelledExample]:
    """Outcomes of a known model."""
    dice = Random(7)
    amounts = [dice.uniform(-2, 2) for _ in range(times)]
    return [LabelledExample({"bias": 1.0, "one": x}, dice.random() < logistic(bias + slope * x)) for x in amounts]


def test_the_weights_that_made_the_outcomes_are_found_again():
    found = fitted(drawn(-0.5, 1.5), {"bias": Weight(held=0.0), "one": Weight(held=0.0)})
    assert abs(found["bias"] + 0.5) < 0.15
    assert abs(found["one"] - 1.5) < 0.15


@given(OUTCOMES)
def test_no_outcomes_push_a_weight_beyond_its_bounds(outcomes):
    found = fitted(outcomes, {"bias": Weight(), "one": Weight(0.5, low=0.0), "other": Weight(-0.5, high=0.0)})
    assert found["one"] >= 0 >= found["other"]
    assert all(map(math.isfinite, found.values()))


def test_a_weight_that_nothing_speaks_of_stays_where_it_was():
    outcomes = [LabelledExample({"bias": 1.0, "one": 0.0}, right) for right in (True, False, True)]
    assert fitted(outcomes, {"bias": Weight(), "one": Weight(0.7)})["one"] == 0.7


def test_what_counts_twice_moves_as_much_as_two():
    twice = [LabelledExample({"bias": 1.0}, True, counts=2.0), LabelledExample({"bias": 1.0}, False)]
    two = [LabelledExample({"bias": 1.0}, True)] * 2 + [LabelledExample({"bias": 1.0}, False)]
    weights = {"bias": Weight()}
    assert math.isclose(fitted(twice, weights)["bias"], fitted(two, weights)["bias"], abs_tol=1e-6)
