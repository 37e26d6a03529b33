"""Run all benchmarks: `make bench`, or `python -m benchmarks FOLDER` for your own documents."""

from benchmarks import ask, fetching, fleet, growth, index, model_latency, pi, service, startup, ui

ALL = (
    ("Start-up", startup),
    ("Index and search", index),
    ("One question", ask),
    ("Growing number of documents", growth),
    ("Fetching", fetching),
    ("Latency with a model", model_latency),
    ("Four researchers in parallel", pi),
    ("Browser interface with many runs", ui),
    ("Fleet", fleet),
    ("2,000 concurrent calls", service),
)

for title, benchmark in ALL:
    print(f"\n== {title}\n", flush=True)
    benchmark.main()
