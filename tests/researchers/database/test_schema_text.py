"""The description of a schema: short, and shortened step by step."""

from dataclasses import replace

from marchwarden.researchers.database.models import Column, ColumnKind, Reference, Schema, Table
from marchwarden.researchers.database.schema_text import MAX_LENGTH, describe_schema

CUSTOMER = Table(
    "Customer",
    (
        Column("CustomerId", ColumnKind.NUMBER, is_key=True),
        Column("Home Country", ColumnKind.TEXT, values=("Brazil", "Canada"), comment="where\nthey live"),
    ),
    (Reference("CustomerId", "Person", "Id"),),
    comment="who buys",
    rows=59,
)


def test_table_is_described_in_one_line():
    (line,) = describe_schema(Schema("sqlite", (CUSTOMER,))).split("\n")[1:]
    columns = "CustomerId number key, \"Home Country\" text e.g. 'Brazil', 'Canada' (where they live)"
    assert line == f"table Customer (59 rows): {columns}; CustomerId references Person.Id -- who buys"


def test_samples_are_dropped_first_then_comments_then_tables():
    schema = Schema("sqlite", tuple(replace(CUSTOMER, name=f"T{at}") for at in range(42)))
    assert "'Canada'" not in describe_schema(schema) and "who buys" in describe_schema(schema)
    many = describe_schema(Schema("sqlite", tuple(replace(CUSTOMER, name=f"T{at}") for at in range(60))))
    assert "who buys" not in many and "table T59" in many
    crowd = describe_schema(Schema("sqlite", schema.tables * 20))
    assert len(crowd) <= MAX_LENGTH
    assert crowd.endswith("More tables are left out here.")
