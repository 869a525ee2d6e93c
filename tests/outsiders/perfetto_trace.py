"""Compares the trace for Perfetto with tasks.csv.

The trace is read by the rules of Chrome's trace event format. Perfetto's trace processor, if it can be
downloaded, must find the same slices, and no error.
"""

import json
from collections import defaultdict
from itertools import product
from subprocess import CalledProcessError

import pandas

import tables

WORK = ["map", "reduce", "setup", "cleanup"]


class Reading:
    """The processes, threads, slices and counters of a trace."""

    def __init__(self, path):
        self.slices, self.counters, self.names = [], defaultdict(list), {}
        events = json.loads(path.read_text())["traceEvents"]
        for event in events:
            if event["ph"] == "M" and event["name"].endswith("_name"):
                self.names[event["pid"], event["tid"]] = event["args"]["name"]
        events = [event for event in events if event["ph"] != "M"]
        # Sort as Perfetto does: at one instant longer slices come first, and equally long slices
        # stay in the order of the file.
        events.sort(key=lambda event: (event["ts"], -event.get("dur", 0)))
        self.events = len(events)
        self.span = (events[0]["ts"], max(event["ts"] + event.get("dur", 0) for event in events))
        self.free = defaultdict(int)
        for event in events:
            self.enter(event)

    def enter(self, event):
        at, kind, track = event["ts"], event["ph"], (event["pid"], event["tid"])
        if kind == "C":
            for what, value in event["args"].items():
                self.counters[event["name"], what].append((at, value))
        elif kind == "X":
            assert self.free[track] <= at, f"{event} overlaps the slice before it"
            end = self.free[track] = at + event["dur"]
            one = {
                "name": event["name"],
                "category": event["cat"],
                "node": self.names[event["pid"], event["pid"]],
                "begin": at,
                "end": end,
                "args": event["args"] or {},
            }
            self.slices.append(one)


def check(run, path):
    reading = Reading(path)
    size = path.stat().st_size
    yield f"{size:,} bytes, {reading.events:,} events, {len(reading.names):,} tracks"
    yield attempts(run, reading)
    yield counters(reading)
    yield by_trace_processor(path, reading)


def attempts(run, reading):
    tasks = tables.load(run, "tasks.csv")
    tasks = tasks[tasks.start_ms.notna() & tasks.kind.isin(WORK)]
    rows = {(row.job, row.kind, row.task, row.attempt): row for row in tasks.itertuples()}
    found = [one for one in reading.slices if one["category"] in WORK]
    assert len(found) == len(rows), f"{len(found)} slices, but {len(rows)} rows in tasks.csv"
    for one in found:
        args = one["args"]
        who = (args["job"], one["category"], args["task"], args["attempt"])
        row = rows.pop(who)
        assert one["begin"] // 1_000 == row.start_ms, f"{who} starts at {one['begin']} µs"
        if pandas.notna(row.finish_ms):
            assert one["end"] // 1_000 == row.finish_ms, f"{who} ends at {one['end']} µs"
        assert args.get("locality") == (None if pandas.isna(row.locality) else row.locality), who
        assert args["outcome"] == row.outcome, f"{who}: {args['outcome']}, not {row.outcome}"
        assert args.get("reason", "") == ("" if pandas.isna(row.reason) else row.reason), who
        assert one["node"] == f"{row.node} ({row.rack})", f"{who} is on {one['node']}"
    return f"{len(found):,} slices of attempts are the rows of tasks.csv"


def counters(reading):
    assert reading.span[0] == 0, f"the trace begins at {reading.span[0]} µs"
    # The cluster's count is the sum of the pools' counts at every instant.
    for kind, count in product(["maps", "reduces"], ["running", "pending"]):
        assert (kind, count) in reading.counters, f"no {kind} {count}"
        steps = defaultdict(int)
        for (counter, what), values in reading.counters.items():
            if counter.split(" of pool ")[0] == kind and what == count:
                sign, before = (-1 if counter == kind else 1), 0
                for at, value in values:
                    steps[at] += sign * (value - before)
                    before = value
        assert not any(steps.values()), f"{kind} {count}: the pools do not add up to the cluster"
    return f"{len(reading.counters)} counters, and the pools add up to the cluster"


def by_trace_processor(path, reading):
    from perfetto.trace_processor import TraceProcessor

    try:
        processor = TraceProcessor(trace=str(path))
    # The package downloads the trace processor at the first use.
    except (CalledProcessError, OSError) as why:
        return f"SKIPPED, Perfetto's trace processor cannot be had: {why}"
    with processor:
        count = lambda query: next(iter(processor.query(f"select count(*) as n {query}"))).n
        slices = count("from slice")
        assert slices == len(reading.slices), f"the trace processor finds {slices} slices"
        errors = [
            f"{row.name} {row.value}"
            for row in processor.query(
                "select name, value from stats where severity = 'error' and 0 < value"
            )
        ]
        assert not errors, f"the trace processor complains: {errors}"
    return "Perfetto's trace processor finds the same"
