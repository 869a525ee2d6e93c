"""Loads the tables with pandas: they have the right types, and agree with the summary."""

import json

import pandas

TIMES = ["start_ms", "shuffle_ms", "sort_ms", "finish_ms", "commit_ms", "suspended_ms"]


def load(run, name):
    # Only an empty cell means no value: a job may be called "none" or "NA".
    table = pandas.read_csv(run / name, keep_default_na=False, na_values=[""])
    return table.convert_dtypes()


def check(run):
    summary = json.loads((run / "summary.json").read_text())
    jobs = load(run, "jobs.csv")
    integers(jobs, "jobs.csv", ["job", "maps", "reduces", "submit_ms", "finish_ms", "sojourn_ms"])
    yield f"jobs.csv has {len(jobs)} jobs"
    # The summary leaves out the jobs of the warm-up; the tables do not.
    if len(jobs) == summary["jobs"]:
        equal("jobs that succeeded", (jobs.outcome == "succeeded").sum(), summary["jobs_succeeded"])
        equal("maps", jobs.maps.sum(), summary["maps"])
        equal("reduces", jobs.reduces.sum(), summary["reduces"])
        equal("attempts that failed", jobs.failed.sum(), summary["attempts_failed"])
        equal("attempts that were killed", jobs.killed.sum(), summary["attempts_killed"])
        equal("suspensions", jobs.suspended.sum(), summary["suspensions"])
        if summary["mean_sojourn_s"] is not None:
            mean = jobs.sojourn_ms.mean() / 1000
            assert abs(mean - summary["mean_sojourn_s"]) < 0.001, f"a mean sojourn of {mean} s"
        yield "jobs.csv agrees with summary.json"
    if (run / "tasks.csv").exists():
        tasks = load(run, "tasks.csv")
        integers(tasks, "tasks.csv", ["job", "task", "attempt", *TIMES])
        # A map whose output is lost has a second row.
        attempts = tasks[tasks.outcome != "lost"]
        work = attempts[attempts.kind.isin(["map", "reduce"])]
        if len(jobs) == summary["jobs"]:
            equal("attempts", len(work), summary["attempts"])
        assert not attempts.duplicated(["job", "kind", "task", "attempt"]).any(), "an attempt twice"
        yield f"tasks.csv has {len(work)} attempts of maps and reduces"
    if (run / "timeline.csv").exists():
        timeline = load(run, "timeline.csv")
        integers(timeline, "timeline.csv", ["time_ms", "running", "slots", "suspended", "pending"])
        assert timeline.time_ms.is_monotonic_increasing, "timeline.csv goes back in time"
        yield f"timeline.csv has {len(timeline)} rows"


def integers(table, name, columns):
    for column in columns:
        kind = table[column].dtype
        # A column without any value has no type.
        assert kind == "Int64" or table[column].isna().all(), f"{name}: {column} is {kind}"


def equal(what, found, expected):
    assert found == expected, f"{found} {what}, but {expected} in summary.json"
