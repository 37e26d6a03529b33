"""All benchmarks, one after the other: `make bench`, or `python -m benchmarks FOLDER` for documents of your own."""

from benchmarks import asking, index, startup

for title, benchmark in (("Start-up", startup), ("Index and search", index), ("One ask", asking)):
    print(f"\n== {title}\n", flush=True)
    benchmark.main()
