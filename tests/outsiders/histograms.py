"""Reads the log of histograms with Python's HdrHistogram, and compares it with the percentile tables."""

from bisect import bisect_right

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader


def check(run):
    log = run / "latency.hlog"
    reader = HistogramLogReader(str(log), HdrHistogram(1, 1 << 62, 3))
    seen = set()
    while True:
        histogram = reader.get_next_interval_histogram()
        if histogram is None:
            break
        name = histogram.get_tag()
        seen.add(name)
        compare(histogram, run / "histograms" / f"{name}.hgrm")
    tables = {path.stem for path in (run / "histograms").glob("*.hgrm")}
    assert seen == tables, f"the log has {sorted(seen)}, the folder {sorted(tables)}"
    yield f"{len(seen)} histograms are the same in {log.name} and as tables"


def compare(histogram, table):
    """Asserts that up to each value a table has the same count as the histogram."""
    values, counts = [-1], [0]
    for item in histogram.get_recorded_iterator():
        # The table has the highest value that equals this value to three digits, in milliseconds.
        values.append(histogram.get_lowest_equivalent_value(item.value_iterated_to))
        counts.append(item.total_count_to_this_value)
    lines = [line.split() for line in table.read_text().splitlines()[2:]]
    for value, _, count, *_ in (line for line in lines if line[0][0].isdigit()):
        found = counts[bisect_right(values, round(float(value) * 1000)) - 1]
        assert found == int(count), f"{table.name}: {count} up to {value}, but {found} in the log"
    assert int(count) == histogram.get_total_count(), f"{table.name}: {count} values"
