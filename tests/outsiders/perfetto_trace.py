"""The trace for Perfetto against tasks.csv.

It is read with Perfetto's own messages, and, where its trace processor can be had, by that too,
which must find the same slices and flows, and no error.
"""

from collections import Counter, defaultdict
from subprocess import CalledProcessError

import pandas
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

import tables

WORK = ["map", "reduce", "setup", "cleanup"]
FLOWS = 100


class Reading:
    """Tracks, slices, counters and flows, as Perfetto's documentation says how to find them."""

    def __init__(self, path):
        self.tracks, self.slices, self.counters = {}, [], defaultdict(list)
        self.flows, self.words = Counter(), {}
        trace = protos.Trace.FromString(path.read_bytes())
        events = []
        for packet in trace.packet:
            if packet.HasField("interned_data"):
                self.intern(packet.interned_data)
            if packet.HasField("track_descriptor"):
                self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                events.append((packet.timestamp, packet.track_event))
        events.sort(key=lambda event: event[0])  # Stable, as Perfetto's own.
        self.events = len(events)
        self.span = (events[0][0], events[-1][0])
        began, stacks = {}, defaultdict(list)
        for at, event in events:
            self.enter(at, event, stacks[event.track_uuid], began)
        assert not any(stacks.values()), "a slice has no end"

    def intern(self, data):
        kinds = ["event_categories", "event_names", "debug_annotation_names"]
        for kind in kinds:
            self.words[kind] = {entry.iid: entry.name for entry in getattr(data, kind)}
        values = data.debug_annotation_string_values
        self.words["values"] = {entry.iid: entry.str.decode() for entry in values}

    def enter(self, at, event, stack, began):
        if event.type == event.TYPE_COUNTER:
            self.counters[self.path(event.track_uuid)].append((at, event.counter_value))
        elif event.type == event.TYPE_SLICE_BEGIN:
            one = self.slice(at, event, len(stack))
            stack.append(one)
            self.slices.append(one)
            for flow in event.flow_ids:
                began[flow] = one
            for flow in event.terminating_flow_ids:
                if flow in began:
                    source = began.pop(flow)
                    assert source["begin"] <= at, "a flow leads back in time"
                    job = source["args"]["job"]
                    assert job == stack[0]["args"]["job"], "a flow leads to another job"
                    self.flows[job] += 1
        elif event.type == event.TYPE_SLICE_END:
            stack.pop()["end"] = at

    def slice(self, at, event, depth):
        names, values = self.words["debug_annotation_names"], self.words["values"]
        args = {}
        for one in event.debug_annotations:
            field = one.WhichOneof("value")
            value = getattr(one, field)
            args[names[one.name_iid]] = values[value] if field == "string_value_iid" else value
        return {
            "name": event.name or self.words["event_names"][event.name_iid],
            "category": self.words["event_categories"][event.category_iids[0]],
            "path": self.path(event.track_uuid),
            "depth": depth,
            "begin": at,
            "args": args,
        }

    def path(self, uuid):
        track = self.tracks[uuid]
        above = self.path(track.parent_uuid) if track.parent_uuid else ()
        return (*above, track.name)


def check(run, path):
    reading = Reading(path)
    size = path.stat().st_size
    yield f"{size:,} bytes, {reading.events:,} events, {len(reading.tracks):,} tracks"
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
        assert one["begin"] // 1_000_000 == row.start_ms, f"{who} starts at {one['begin']} ns"
        if pandas.notna(row.finish_ms):
            assert one["end"] // 1_000_000 == row.finish_ms, f"{who} ends at {one['end']} ns"
        assert args.get("locality") == (None if pandas.isna(row.locality) else row.locality), who
        assert args["outcome"] == row.outcome, f"{who}: {args['outcome']}, not {row.outcome}"
        assert args.get("reason", "") == ("" if pandas.isna(row.reason) else row.reason), who
        assert one["path"][:2] == (row.rack, row.node), f"{who} is on {one['path']}"
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
    assert reading.span[0] == 0, f"the trace begins at {reading.span[0]} ns"
    for kind in ["maps", "reduces"]:
        for what in ["running", "pending"]:
            assert ("JobTracker", f"{what} {kind}") in reading.counters, f"no {what} {kind}"
    # At every instant the cluster's count is the sum of the pools'.
    for name in ["running maps", "pending maps", "running reduces", "pending reduces"]:
        steps = defaultdict(int)
        for path, values in reading.counters.items():
            if path[-1] == name:
                sign, before = (1 if path[0] == "Pools" else -1), 0
                for at, value in values:
                    steps[at] += sign * (value - before)
                    before = value
        assert not any(steps.values()), f"{name}: the pools do not add up to the cluster"
    return f"{len(reading.counters)} counters, and the pools add up to the cluster"


def by_trace_processor(path, reading):
    from perfetto.trace_processor import TraceProcessor

    try:
        processor = TraceProcessor(trace=str(path))
    # Its program is fetched at the first use.
    except (CalledProcessError, OSError) as why:
        return f"SKIPPED, Perfetto's trace processor cannot be had: {why}"
    with processor:
        count = lambda query: next(iter(processor.query(f"select count(*) as n {query}"))).n
        slices, arrows = count("from slice"), count("from flow")
        assert slices == len(reading.slices), f"the trace processor finds {slices} slices"
        assert arrows == sum(reading.flows.values()), f"the trace processor finds {arrows} flows"
        errors = [
            f"{row.name} {row.value}"
            for row in processor.query(
                "select name, value from stats where severity = 'error' and 0 < value"
            )
        ]
        assert not errors, f"the trace processor complains: {errors}"
    return "Perfetto's trace processor finds the same"
