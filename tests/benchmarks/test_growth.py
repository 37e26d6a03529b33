from itertools import islice
from xml.etree import ElementTree as ET

from benchmarks.asking import Asking, Waits
from benchmarks.corpus import documents, laid_out
from benchmarks.growth import Size, picture, table, verdicts
from benchmarks.index import Spent


def size(count: int, cpu: float) -> Size:
    waits = Waits((Spent(2 * cpu, cpu), Spent(2 * cpu, cpu)))
    return Size(count, Spent(1.0, 1.0), Asking(waits, waits), waits, waits)


def test_made_up_documents_are_the_same_every_time():
    assert list(islice(documents(), 20)) == list(islice(documents(), 40))[:20]


def test_every_made_up_document_holds_what_its_question_asks_about():
    made = list(islice(documents(), 50))
    assert len({one.title for one in made}) == 50
    assert all(one.title in one.question and one.title in one.text for one in made)


def test_documents_are_added_to_those_that_lie_there(tmp_path):
    source = documents()
    asked = [*laid_out(tmp_path, source, 0, 3), *laid_out(tmp_path, source, 3, 5)]
    assert len(list(tmp_path.rglob("*.txt"))) == 5
    assert asked == [one.question for one in islice(documents(), 5)]


def test_a_cost_that_grows_with_the_documents_is_worse_than_logarithmic():
    assert all("WORSE" in line for line in verdicts([size(1_000, 0.01), size(100_000, 1.0)]))
    assert all("no worse" in line for line in verdicts([size(1_000, 0.01), size(100_000, 0.016)]))


def test_table_and_picture_show_every_size():
    sizes = [size(1_000, 0.01), size(10_000, 0.012)]
    assert all(line.count("×") == 2 for line in list(table(sizes))[3:])
    drawn = ET.fromstring(picture(sizes))
    assert len(drawn.findall("{*}polyline")) == 4
