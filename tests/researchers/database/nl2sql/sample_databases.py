"""Two small databases: a music shop that declares its references, and a country that does not."""

import sqlite3
from collections.abc import Sequence

from marchwarden.researchers.database.models import Column, ColumnKind, Reference, Schema, Table

MUSIC = """
CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, Title NVARCHAR(160), ArtistId INTEGER REFERENCES Artist (ArtistId));
CREATE TABLE Genre (GenreId INTEGER PRIMARY KEY, Name NVARCHAR(120));
CREATE TABLE Track (TrackId INTEGER PRIMARY KEY, Name NVARCHAR(200), AlbumId INTEGER REFERENCES Album (AlbumId),
    GenreId INTEGER REFERENCES Genre (GenreId), Milliseconds INTEGER, UnitPrice NUMERIC(10, 2), Withdrawn BOOLEAN);
CREATE TABLE Customer (CustomerId INTEGER PRIMARY KEY, FirstName NVARCHAR(40), LastName NVARCHAR(20),
    City NVARCHAR(40), Country NVARCHAR(40), Email NVARCHAR(60));
CREATE TABLE Invoice (InvoiceId INTEGER PRIMARY KEY, CustomerId INTEGER REFERENCES Customer (CustomerId),
    InvoiceDate DATETIME, BillingCountry NVARCHAR(40), Total NUMERIC(10, 2));
CREATE TABLE InvoiceLine (InvoiceLineId INTEGER PRIMARY KEY, InvoiceId INTEGER REFERENCES Invoice (InvoiceId),
    TrackId INTEGER REFERENCES Track (TrackId), Quantity INTEGER);
INSERT INTO Artist VALUES (1, 'AC/DC'), (2, 'Iron Maiden'), (3, 'Azymuth');
INSERT INTO Album VALUES (1, 'Let There Be Rock', 1), (2, 'Powerslave', 2), (3, 'Piece of Mind', 2), (4, 'Killers', 2);
INSERT INTO Genre VALUES (1, 'Rock'), (2, 'Metal');
INSERT INTO Track VALUES (1, 'Go Down', 1, 1, 331180, 0.99, 0), (2, 'Bad Boy Boogie', 1, 1, 267728, 0.99, 0),
    (3, 'Aces High', 2, 2, 269531, 1.29, 0), (4, 'The Trooper', 3, 2, 245000, 1.99, 1);
INSERT INTO Customer VALUES (1, 'Luís', 'Gonçalves', 'São Paulo', 'Brazil', 'luis@example.org'),
    (2, 'Eduardo', 'Martins', 'São Paulo', 'Brazil', 'edu@example.org'),
    (3, 'Leonie', 'Köhler', 'Stuttgart', 'Germany', 'leonie@example.org'),
    (4, 'Mark', 'Philips', 'Edmonton', 'Canada', 'mark@example.org');
INSERT INTO Invoice VALUES (1, 1, '2009-03-01 00:00:00', 'Brazil', 3.96), (2, 2, '2010-01-08 00:00:00', 'Brazil', 5.94),
    (3, 3, '2010-12-31 12:00:00', 'Germany', 1.98), (4, 3, '2011-01-01 00:00:00', 'Germany', 10);
INSERT INTO InvoiceLine VALUES (1, 1, 1, 2), (2, 1, 2, 2), (3, 2, 3, 1), (4, 3, 1, 1), (5, 4, 4, 5);
"""

COUNTRY = """
CREATE TABLE state (state_name TEXT, population INT, area DOUBLE, capital TEXT);
CREATE TABLE city (city_name TEXT, population INT, state_name TEXT);
CREATE TABLE river (river_name TEXT, length INT, traverse TEXT);
CREATE TABLE border_info (state_name TEXT, border TEXT);
INSERT INTO state VALUES ('texas', 14229, 266807, 'austin'), ('ohio', 10800, 41300, 'columbus'),
    ('utah', 1461, 84900, 'salt lake city'), ('maine', 1125, 33265, 'augusta'), ('mississippi', 2520, 47700, 'jackson');
INSERT INTO city VALUES ('austin', 345, 'texas'), ('houston', 1595, 'texas'), ('columbus', 564, 'ohio'),
    ('portland', 61, 'maine'), ('provo', 74, 'utah'), ('biloxi', 49, 'mississippi');
INSERT INTO river VALUES ('red', 1638, 'texas'), ('mississippi', 3778, 'ohio'), ('mississippi', 3778, 'mississippi'),
    ('mississippi', 3778, 'maine'), ('green', 1175, 'utah');
INSERT INTO border_info VALUES ('texas', 'ohio'), ('ohio', 'texas'), ('ohio', 'utah'), ('utah', 'ohio'),
    ('maine', 'utah'), ('utah', 'maine'), ('mississippi', 'texas'), ('texas', 'mississippi'), ('utah', 'texas'),
    ('texas', 'utah');
"""


class SampleDatabase:
    """An in-memory database and its schema."""

    def __init__(self, script: str) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.executescript(script)
        names = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
        self.schema = Schema("sqlite", tuple(self._table(name) for (name,) in names))

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return [tuple(row) for row in self._connection.execute(sql).fetchall()]

    def close(self) -> None:
        self._connection.close()

    def _table(self, name: str) -> Table:
        columns = [self._column(name, row) for row in self.rows(f'PRAGMA table_info("{name}")')]
        references = self.rows(f'PRAGMA foreign_key_list("{name}")')
        declared = tuple(Reference(str(row[3]), str(row[2]), str(row[4])) for row in references)
        return Table(name, tuple(columns), declared, rows=len(self.rows(f'SELECT 1 FROM "{name}"')))

    def _column(self, table: str, row: Sequence[object]) -> Column:
        name, declared = str(row[1]), str(row[2])
        kind = _kind(declared)
        found = self.rows(f'SELECT DISTINCT "{name}" FROM "{table}"') if kind is ColumnKind.TEXT else []
        values = tuple(str(row[0]) for row in found)
        return Column(name, kind, declared, is_key=bool(row[5]), values=values, complete=True)


def _kind(declared: str) -> ColumnKind:
    kinds = {
        "INT": ColumnKind.NUMBER,
        "NUMERIC": ColumnKind.NUMBER,
        "DOUBLE": ColumnKind.NUMBER,
        "DATE": ColumnKind.DATETIME,
        "BOOL": ColumnKind.BOOLEAN,
    }
    return next((kind for word, kind in kinds.items() if word in declared), ColumnKind.TEXT)
