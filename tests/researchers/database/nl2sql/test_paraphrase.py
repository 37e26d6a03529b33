"""The reading of a statement: a noun phrase in the words of the question."""

import pytest

from marchwarden.researchers.database.nl2sql import translate
from tests.researchers.database.nl2sql.sample_databases import SampleDatabase

READINGS = {
    "How many customers are in Brazil?": "the number of customers whose country is Brazil",
    "List the albums of AC/DC": "the albums whose artist is AC/DC",
    "Which artist has the most albums?": "the artist with the most albums",
    "What is the total of invoices in 2010?": "the total of invoices whose invoice date is in 2010",
    "How many invoices were made in January 2010?": "the number of invoices whose invoice date is in 2010-01",
    "What is the average unit price of tracks?": "the average unit price of tracks",
    "How many customers are there in each country?": "the number of customers for each country",
    "What is the longest track?": "the longest track by milliseconds",
    "What are the 2 most expensive tracks?": "the 2 most expensive tracks by unit price",
    "Which countries have more than 1 customer?": "the countries where the number of customer is more than 1",
    "Which artists have no albums?": "the artists without albums",
    "Which tracks are withdrawn?": "the tracks whose withdrawn is true",
    "Show customers whose country is Brazil or Canada": "the customers whose country is Brazil or Canada",
    "List the titles of albums ordered alphabetically": "the titles of albums ordered by titles",
}


@pytest.mark.parametrize(("question", "reading"), READINGS.items(), ids=list(READINGS))
def test_reading_describes_the_statement(music: SampleDatabase, question: str, reading: str):
    assert translate(question, music.schema)[0].reading == reading
