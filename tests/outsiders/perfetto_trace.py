"""Compares the trace for Perfetto with tasks.csv.

The trace is read by the rules of Chrome's trace event format. Perfetto's trace processor, if it can be
downloaded, must find the same slices and flows, and no error.
"""

import json
from collections import Counter, defaultdict
from subprocess import CalledProcessError

import pandas

import tables

WORK = ["map", "reduce", "setup", "cleanup"]
FLOWS = 100


class Reading:
    """The processes, threads, slices, counters and flows of a trace."""

    def __init__(self, path):
        self.slices, self.counters, self.flows = [], defaultdict(list), Counter()
        self.names, self.marks = {}, 0
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
        self.began, self.open = {}, defaultdict(list)
        for event in events:
            self.enter(event)

    def enter(self, event):
        at, kind, track = event["ts"], event["ph"], (event["pid"], event["tid"])
        if kind == "C":
            for what, value in event["args"].items():
                name = f"{event['name']} {what}"
                self.counters[self.names[track], name].append((at, value))
        elif kind == "X":
            stack = self.open[track]
            while stack and stack[-1]["end"] <= at and (stack[-1]["begin"] < at or event["dur"]):
                stack.pop()
            end = at + event["dur"]
            assert all(end <= one["end"] for one in stack), f"{event} overlaps {stack[-1]}"
            one = {
                "name": event["name"],
                "category": event["cat"],
                "node": self.names[event["pid"], event["pid"]],
                "depth": len(stack),
                "begin": at,
                "end": end,
                "args": event["args"] or {},
            }
            stack.append(one)
            self.slices.append(one)
        elif kind == "i":
            self.marks += 1
        elif kind == "s":
            assert event["id"] not in self.began, f"flow {event['id']} begins twice"
            self.began[event["id"]] = self.open[track][-1]
        elif kind == "f":
            source, target = self.began.pop(event["id"]), self.open[track]
            assert source["begin"] <= at, "a flow leads back in time"
            job = target[0]["args"]["job"]
            assert source["args"].get("job") == job, "a flow comes from another job"
            assert "sort" in [one["name"] for one in target], "a flow arrives at no sort"
            self.flows[job] += 1


def check(run, path):
    reading = Reading(path)
    size = path.stat().st_size
    yield f"{size:,} bytes, {reading.events:,} events, {len(reading.names):,} tracks"
    yield attempts(run, reading)
    yield flows(run, reading)
    yield counters(reading)
    yield by_trace_processor(path, reading)


def attempts(run, reading):
    tasks = tables.load(run, "tasks.csv")
    tasks = tasks[tasks.start_ms.notna() & tasks.kind.isin(WORK)]
    rows = {(row.job, row.kind, row.task, row.attempt): row for row in tasks.itertuples()}
    found = [one for one in reading.slices if one["depth"] == 0 and one["category"] in WORK]
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
    commits = sum(one["name"] == "commit-pending" for one in reading.slices)
    assert tasks.commit_ms.notna().sum() <= commits, f"{commits} waits for a commit"
    return f"{len(found):,} slices of attempts are the rows of tasks.csv"


def flows(run, reading):
    jobs = tables.load(run, "jobs.csv")
    expected = {
        row.job: min(row.maps, FLOWS) * row.reduces
        for row in jobs.itertuples()
        if row.outcome == "succeeded" and 0 < row.maps * row.reduces
    }
    for job, count in expected.items():
        assert reading.flows[job] == count, f"job {job}: {reading.flows[job]} flows, not {count}"
    return f"{sum(expected.values()):,} flows lead from maps to reduces of their job"


def counters(reading):
    assert reading.span[0] == 0, f"the trace begins at {reading.span[0]} µs"
    # The cluster's count is the sum of the pools' counts at every instant.
    for name in ["maps running", "maps pending", "reduces running", "reduces pending"]:
        assert ("JobTracker", name) in reading.counters, f"no {name}"
        steps = defaultdict(int)
        for (place, counter), values in reading.counters.items():
            if counter == name:
                sign, before = (-1 if place == "JobTracker" else 1), 0
                for at, value in values:
                    steps[at] += sign * (value - before)
                    before = value
        assert not any(steps.values()), f"{name}: the pools do not add up to the cluster"
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
        slices, arrows = count("from slice"), count("from flow")
        # The trace processor stores a mark as a slice without a duration.
        assert slices == len(reading.slices) + reading.marks, f"the trace processor finds {slices} slices"
        assert arrows == sum(reading.flows.values()), f"the trace processor finds {arrows} flows"
        errors = [
            f"{row.name} {row.value}"
            for row in processor.query(
                "select name, value from stats where severity = 'error' and 0 < value"
            )
        ]
        assert not errors, f"the trace processor complains: {errors}"
    return "Perfetto's trace processor finds the same"
