from itertools import islice
from xml.etree import ElementTree as ET

from benchmarks.ask import AskTimings, Timings
from benchmarks.corpus import generate_documents, write_documents
from benchmarks.growth import Size, compare_growth, draw_chart, render_table
from benchmarks.index import Duration


def size(count: int, cpu: float) -> Size:
    timings = Timings((Duration(2 * cpu, cpu), Duration(2 * cpu, cpu)))
    return Size(count, Duration(1.0, 1.0), AskTimings(timings, timings), timings, timings)


def test_synthetic_documents_are_deterministic():
    assert list(islice(generate_documents(), 20)) == list(islice(generate_documents(), 40))[:20]


def test_synthetic_documents_contain_the_topic_of_their_question():
    generated = list(islice(generate_documents(), 50))
    assert len({document.title for document in generated}) == 50
    assert all(document.title in document.question and document.title in document.text for document in generated)


def test_documents_are_added_to_existing_ones(tmp_path):
    source = generate_documents()
    questions = [*write_documents(tmp_path, source, 0, 3), *write_documents(tmp_path, source, 3, 5)]
    assert len(list(tmp_path.rglob("*.txt"))) == 5
    assert questions == [document.question for document in islice(generate_documents(), 5)]


def test_linear_growth_is_reported_as_worse_than_logarithmic():
    assert all("WORSE" in line for line in compare_growth([size(1_000, 0.01), size(100_000, 1.0)]))
    assert all("no worse" in line for line in compare_growth([size(1_000, 0.01), size(100_000, 0.016)]))


def test_table_and_chart_show_every_size():
    sizes = [size(1_000, 0.01), size(10_000, 0.012)]
    assert all(line.count("×") == 2 for line in list(render_table(sizes))[3:])
    chart = ET.fromstring(draw_chart(sizes))
    assert len(chart.findall("{*}polyline")) == 4
