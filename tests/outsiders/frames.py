"""Checks the module that `mumakil py` writes, with the installed pandas, polars and matplotlib.

    frames.py RUN STUDY PACKED

The test `python` makes the folders, so their contents are known. PYTHONPATH must have the module.
"""

import math
import sys
from datetime import timedelta

import mumakil

RUN, STUDY, PACKED = sys.argv[1:]
TABLES = ["jobs", "tasks", "timeline", "decisions", "faults"]


def hidden(*packages):
    """Makes packages look as if they were not installed."""
    for package in packages:
        sys.modules[package] = None


def close(one, other):
    return one == other or math.isclose(one, other, rel_tol=1e-12)


def loads(frames):
    run = mumakil.load_run(RUN)
    assert run.frames == frames, run.frames
    name, pool = (mumakil._values(run.jobs, column) for column in ("name", "pool"))
    assert name == ["NA", "a, b"] and pool == ["007", "12"], (name, pool)
    mean = run.jobs["sojourn_s"].mean()
    assert abs(mean - run.summary["mean_sojourn_s"]) < 0.001, mean
    spans = mumakil._values(mumakil.durations(run.jobs), "sojourn")
    for span, seconds in zip(spans, mumakil._values(run.jobs, "sojourn_s"), strict=True):
        assert span == timedelta(seconds=seconds), (span, seconds)
    waste = run.jobs
    assert "held_slot_s" in waste.columns and "map_straggling_s" in waste.columns, waste.columns
    assert sum(mumakil._values(waste, "held_slot_s")) > 20
    faults = run.table("faults")
    assert "job 1 map 2 attempt 0" in mumakil._values(faults, "attempt")
    assert 0.5 in mumakil._values(faults, "cpu")
    study = mumakil.load_study(STUDY)
    assert study.axes == ["cluster.nodes", "scheduler"], study.axes
    assert study.metrics == ["mean(sojourn) [s]", "locality.node"], study.metrics
    jobs = study.jobs
    assert study._repr_html_().count("<tr") > len(study.metrics), study._repr_html_()
    assert "<th>makespan_s</th>" in run._repr_html_(), run._repr_html_()
    assert jobs.shape[0] == 16, jobs.shape
    assert list(jobs.columns)[:5] == ["cluster.nodes", "scheduler", "seed", "run", "job"]
    assert set(mumakil._values(jobs, "cluster.nodes")) == {2, 4}
    packed = mumakil.load_study(PACKED).table("jobs")
    for column in jobs.columns:
        assert mumakil._values(packed, column) == mumakil._values(jobs, column), column
    try:
        run.table("shares")
    except FileNotFoundError as why:
        assert "`record: {shares: true}`" in str(why), why
    else:
        raise AssertionError("shares are there")
    return {name: run.table(name) for name in TABLES} | {
        "runs": study.runs,
        "cells": study.cells,
        "comparisons": study.comparisons,
    }


def draws():
    from matplotlib.colors import to_hex

    run, study = mumakil.load_run(RUN), mumakil.load_study(STUDY)
    figure = mumakil.cdf(run)
    assert figure._repr_png_().startswith(b"\x89PNG"), "a notebook does not show it"
    [axes] = figure.axes
    assert "(s)" in axes.get_xlabel() and axes.lines[0].get_ydata()[-1] == 1
    # A name keeps its look, whatever is drawn beside it; marks have the order of the reports.
    [axes] = mumakil.cdf({"fifo": run, "hfsp": run, "fair": run}).axes
    looks = {line.get_label(): (to_hex(line.get_color()), line.get_marker()) for line in axes.lines}
    assert list(looks.values()) == list(zip(mumakil.COLOURS, "os^")), looks
    [axes] = mumakil.cdf({"fair": run}).axes
    [line] = axes.lines
    assert (to_hex(line.get_color()), line.get_marker()) == looks["fair (2 jobs)"], looks
    [axes] = mumakil.slots(run).axes
    assert len(axes.collections) == 2, "a layer for each pool"
    # The first pool of the jobs has the first colour, as in reports, although the other has more slots.
    colours = {layer.get_label(): to_hex(layer.get_facecolor()[0]) for layer in axes.collections}
    assert list(colours.items()) == list(zip(["007", "12"], mumakil.COLOURS)), colours
    # All four maps read on their own node.
    [axes] = mumakil.locality(run).axes
    assert [round(bar.get_height(), 6) for bar in axes.patches] == [1, 1, 0, 0, 0, 0]
    [axes] = mumakil.slowdown(run).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1 map\n(1 job)", "2–10\n(1 job)"]
    assert not axes.patches, "a single job is a point"
    [axes] = mumakil.gantt(run).axes
    [bars] = axes.collections
    assert len(bars.get_paths()) == len(run.tasks)
    patches = axes.get_legend().get_patches()
    assert {patch.get_label(): to_hex(patch.get_facecolor()) for patch in patches} == colours
    [axes] = mumakil.policies(study).axes
    fifo = [row[1:] for row in mumakil._rows(study.cells, "scheduler", "cluster.nodes", "mean(sojourn) mean [s]")
            if row[0] == "fifo"]
    drawn = axes.containers[0].lines[0]
    assert list(zip(*drawn.get_data(), strict=True)) == fifo, drawn.get_data()
    assert axes.get_ylabel() == "mean(sojourn) (s)" and axes.get_legend().get_title().get_text() == "scheduler"
    for folder, pictures in ((RUN, 5), (STUDY, 1)):
        files = mumakil.draw(folder, "pictures")
        assert len(files) == pictures and all(file.read_bytes()[:4] == b"\x89PNG" for file in files), files


def main():
    draws()
    # Loading needs only one of pandas and polars, and no matplotlib.
    for module in [name for name in sys.modules if name.startswith("matplotlib")]:
        del sys.modules[module]
    hidden("matplotlib", "polars")
    pandas = loads("pandas")
    del sys.modules["polars"]
    hidden("pandas")
    polars = loads("polars")
    for name, table in pandas.items():
        assert list(table.columns) == list(polars[name].columns), name
        for column in table.columns:
            one, other = mumakil._values(table, column), mumakil._values(polars[name], column)
            assert all(close(*pair) for pair in zip(one, other, strict=True)), (name, column, one, other)


main()
