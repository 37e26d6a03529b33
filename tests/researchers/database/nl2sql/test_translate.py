"""Questions about a database that declares its references, and the rows of the best statement."""

from dataclasses import replace

import pytest

from marchwarden.researchers.database.nl2sql import QuestionParser, translate
from tests.researchers.database.nl2sql.sample_databases import SampleDatabase

MUSIC_QUESTIONS = {
    "How many customers are in Brazil?": [(2,)],
    "How many tracks are there?": [(4,)],
    "How many albums does Iron Maiden have?": [(3,)],
    "How many customers are there in each country?": [("Brazil", 2), ("Canada", 1), ("Germany", 1)],
    "How many different countries do customers come from?": [(3,)],
    "How many withdrawn tracks are there?": [(1,)],
    "How many invoices were made after 2009?": [(3,)],
    "How many invoices were made between 2010-01-01 and 2010-12-31?": [(2,)],
    "How many invoices are dated before January 8, 2010?": [(1,)],
    "How many invoices were made in January 2010?": [(1,)],
    "What is the total of invoices in 2010?": [(7.92,)],
    "What is the total of invoices per country?": [("Brazil", 9.9), ("Germany", 11.98)],
    "What is the average unit price of tracks?": [(1.315,)],
    "What is the highest unit price?": [(1.99,)],
    "What is the longest track?": [("Go Down",)],
    "What is the name of the most expensive track?": [("The Trooper",)],
    "What are the 2 most expensive tracks?": [("The Trooper", 1.99), ("Aces High", 1.29)],
    "What are the top 2 customers by total invoice amount?": [
        ("Leonie", "Köhler", 11.98),
        ("Eduardo", "Martins", 5.94),
    ],
    "What is the most common country of customers?": [("Brazil",)],
    "What is the email of Luis Goncalves?": [("luis@example.org",)],
    "When was the first invoice?": [("2009-03-01 00:00:00",)],
    "Which artist has the most albums?": [("Iron Maiden",)],
    "Which artists have no albums?": [("Azymuth",)],
    "Which countries have more than 1 customer?": [("Brazil",)],
    "Which customers are from Germany?": [("Leonie", "Köhler")],
    "Which customers are not from Brazil?": [("Leonie", "Köhler"), ("Mark", "Philips")],
    'Which customers have a first name that starts with "L"?': [("Leonie", "Köhler"), ("Luís", "Gonçalves")],
    "Which genres does AC/DC have?": [("Rock",)],
    "Which invoice has the highest total?": [(4,)],
    "Which tracks are longer than 300000 milliseconds?": [("Go Down",)],
    "Which tracks are not withdrawn?": [("Aces High",), ("Bad Boy Boogie",), ("Go Down",)],
    "List the albums of AC/DC": [("Let There Be Rock",)],
    "List the countries of customers": [("Brazil",), ("Canada",), ("Germany",)],
    "List the tracks of the album Let There Be Rock": [("Bad Boy Boogie",), ("Go Down",)],
    "Show customers whose country is Germany or Canada": [("Leonie", "Köhler"), ("Mark", "Philips")],
}


@pytest.mark.parametrize(("question", "rows"), MUSIC_QUESTIONS.items(), ids=list(MUSIC_QUESTIONS))
def test_best_statement_returns_the_expected_rows(music: SampleDatabase, question: str, rows: list[tuple[object, ...]]):
    best = QuestionParser(music.schema).translate(question)[0]
    found = [tuple(round(each, 4) if isinstance(each, float) else each for each in row) for row in music.rows(best.sql)]
    assert sorted(found) == sorted(rows)


def test_rows_are_in_the_requested_order(music: SampleDatabase):
    best = translate("List the titles of albums ordered alphabetically", music.schema)[0]
    assert [title for (title,) in music.rows(best.sql)] == [
        "Killers",
        "Let There Be Rock",
        "Piece of Mind",
        "Powerslave",
    ]


def test_rows_repeated_by_joins_are_summed_once(music: SampleDatabase):
    best = translate("What is the total of invoices with rock tracks?", music.schema)[0]
    ((total,),) = music.rows(best.sql)
    assert total == pytest.approx(3.96 + 1.98)


def test_name_that_was_not_sampled_is_guessed(music: SampleDatabase):
    tables = tuple(
        replace(table, columns=tuple(replace(each, values=(), complete=False) for each in table.columns))
        for table in music.schema.tables
    )
    found = translate("List the albums of Iron Maiden", replace(music.schema, tables=tables))
    assert found[0].score < 0.7
    assert any(len(music.rows(each.sql)) == 3 for each in found)


def test_names_are_quoted_for_the_dialect(music: SampleDatabase):
    best = translate("How many customers are in Brazil?", replace(music.schema, dialect="mysql"))[0]
    assert best.sql == "SELECT COUNT(*) FROM `Customer` WHERE `Country` = 'Brazil'"


def test_quotation_mark_in_a_value_is_escaped(music: SampleDatabase):
    tables = tuple(
        replace(table, columns=tuple(replace(each, values=("Sinéad O'Connor",)) for each in table.columns))
        for table in music.schema.tables
        if table.name in {"Artist", "Album"}
    )
    best = translate("List the albums of the artist Sinead O'Connor", replace(music.schema, tables=tables))[0]
    assert best.sql.endswith("""WHERE "Artist"."Name" = 'Sinéad O''Connor'""")
    assert music.rows(best.sql) == []
