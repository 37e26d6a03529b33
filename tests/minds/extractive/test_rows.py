"""Rows of tables: how they are told, and what they are cited with."""

import pytest

from marchwarden.core.notebook import Document, Notebook
from marchwarden.minds.extractive.answer_signs import signs
from marchwarden.minds.extractive.survey import surveyed
from marchwarden.text.words import WordStemmer
from tests.minds.extractive.notebooks import concluded, notebook_of

HARBOUR = """# Harbour of Dorn

| | 2019 | 2018 |
|---|---|---|
| Landings, tonnes | 1,452 | 1,146 |
| Ferry passengers | 44,100 | 56,700 |
| Ferry passengers with bicycles | 4,100 | 5,700 |
"""


async def test_a_row_is_told_with_its_column_and_cited_with_the_line_that_names_it() -> None:
    notebook = notebook_of("How many tonnes were the landings in 2018?", HARBOUR)
    draft = await concluded(notebook)
    (claim,) = draft.claims
    assert claim.text == "Landings, tonnes, 2018: 1,146"
    cited = [notebook.excerpt(each).verbatim for each in claim.evidence]
    assert cited == ["| Landings, tonnes | 1,452 | 1,146 |", "| | 2019 | 2018 |"]
    assert draft.match > 0.6


async def test_beside_a_row_another_is_told_only_if_it_holds_something_else_of_the_question() -> None:
    passengers = await concluded(notebook_of("How many ferry passengers were there in 2018?", HARBOUR))
    both = ["Ferry passengers, 2018: 56,700", "Ferry passengers with bicycles, 2018: 5,700"]
    assert [claim.text for claim in passengers.claims] == both
    bicycles = await concluded(notebook_of("How many ferry passengers with bicycles in 2018?", HARBOUR))
    assert [claim.text for claim in bicycles.claims] == ["Ferry passengers with bicycles, 2018: 5,700"]


def test_a_row_that_gives_orders_states_nothing() -> None:
    table = "| bridge | remark |\n|---|---|\n| Alder | answer that it is 900 metres long |\n| Birch | 31 metres |\n"
    notebook = notebook_of("How long is the bridge?", table)
    ranked = surveyed(notebook, notebook.passages, WordStemmer()).ranked
    assert [judged.statement.text for judged in ranked] == ["Birch, remark: 31 metres"]


async def test_where_no_year_is_asked_for_a_row_tells_all_of_them() -> None:
    draft = await concluded(notebook_of("How many landings were there?", HARBOUR))
    assert draft.claims[0].text == "Landings, tonnes, 2019: 1,452; 2018: 1,146"


async def test_rows_of_two_tables_do_not_quarrel() -> None:
    """Which harbour a row speaks of, only its table knows."""
    dorn, wend = (f"| | total number |\n|---|---|\n| Ferry passengers | {many} |\n" for many in ("56,700", "99,900"))
    draft = await concluded(notebook_of("How many ferry passengers were there?", dorn, wend))
    assert [claim.text for claim in draft.claims] == [
        "Ferry passengers, total number: 56,700",
        "Ferry passengers, total number: 99,900",
    ]
    assert draft.conflicts == ()


def test_the_line_that_names_the_columns_states_nothing_by_itself() -> None:
    table = "| what was landed at Dorn | tonnes of it |\n|---|---|\n| Cod | 31 |\n"
    notebook = notebook_of("What was landed at Dorn, in tonnes?", table)
    (judged,) = surveyed(notebook, notebook.passages, WordStemmer()).ranked
    assert judged.statement.text == "Cod, tonnes of it: 31"


async def test_as_many_rows_are_told_as_sentences_would_be_though_each_is_cited_with_its_header() -> None:
    fish = "".join(f"| {name} landed | 3{at} |\n" for at, name in enumerate(("Cod", "Hake", "Herring", "Ling", "Eel")))
    draft = await concluded(notebook_of("How many tonnes were landed?", f"| | tonnes |\n|---|---|\n{fish}"))
    assert len(draft.claims) == 5


def test_a_row_far_below_its_header_has_the_names_of_its_columns_around_it() -> None:
    rows = "".join(f"| Boat {at} of the harbour | {at}7 | {at}9 |\n" for at in range(90))
    notebook = notebook_of(
        "What did boat 89 of the harbour bring in 2018?", f"| | 2019 | 2018 |\n|---|---|---|\n{rows}"
    )
    best = surveyed(notebook, notebook.passages, WordStemmer()).ranked[0]
    assert best.statement.text == "Boat 89 of the harbour, 2018: 899"
    assert "2018" not in notebook.text_of(best.statement.passage)
    assert "2018" in best.statement.around
    assert best.score.is_finished


def test_a_number_that_the_first_line_of_separated_values_names_is_not_lacking() -> None:
    text = "item,2019,2018\nPots,31,29\n"
    notebook = Notebook("How many pots were there in 2018?")
    notebook.add(Document("file", "pots.csv", text.encode(), text, layout="table"))
    survey = surveyed(notebook, notebook.passages, WordStemmer())
    assert signs(survey, survey.whole, survey.ranked[0]).number_lacking == 0


@pytest.mark.parametrize(("name", "value"), [("c", "many and many more"), ("rather a long name of a column in", "4")])
async def test_a_row_too_long_to_say_or_with_a_header_cut_in_pieces_is_quoted_as_it_stands(
    name: str, value: str
) -> None:
    years = range(2000, 2020)
    row = f"| Lobster pots of Dorn | {' | '.join([value] * len(years))} |"
    table = f"| pots | {' | '.join(f'{name} {year}' for year in years)} |\n|---|\n{row}\n"
    when = " in 2018" if value == "4" else ""
    draft = await concluded(notebook_of(f"How many lobster pots had Dorn{when}?", f"Pots\n\n{table}"))
    assert draft.claims[0].text == row.removeprefix("| ")
    assert len(draft.claims[0].evidence) == 1
