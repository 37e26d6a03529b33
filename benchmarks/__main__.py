"""All benchmarks, one after the other: `make bench`, or `python -m benchmarks FOLDER` for documents of your own."""

from benchmarks import asking, fetching, fleet, growth, index, network, page, service, startup, thinking

ALL = (
    ("Start-up", startup),
    ("Index and search", index),
    ("One ask", asking),
    ("A hundred times the documents", growth),
    ("Fetching", fetching),
    ("Thinking with a model", thinking),
    ("Four researchers at once", network),
    ("The page with many runs", page),
    ("The fleet", fleet),
    ("Two thousand calls at once", service),
)

for title, benchmark in ALL:
    print(f"\n== {title}\n", flush=True)
    benchmark.main()
