"""Runs Mumakil, loads its results, the folder of a run or of a study, and draws them.

    import mumakil

    run = mumakil.run("quickstart", {"scheduler": "fair"})     # calls the command `mumakil`
    run = mumakil.load_run("out/quickstart-42")     # frames of pandas, or of polars if only that is there
    run.jobs["sojourn_s"].mean()
    mumakil.cdf(run).savefig("sojourns.png")

    study = mumakil.load_study("out/scaling-study", frames="polars")
    mumakil.policies(study, metric="mean(sojourn)").savefig("policies.png")

    python3 mumakil.py out/quickstart-42 pictures   # all pictures that can be drawn of it

Units stand in the names of columns: `sojourn_s` are seconds of virtual time, instants count from the
beginning of the scenario, `held_slot_s` are slots times seconds, `bytes` are bytes; `durations(frame)`
makes durations of the seconds. What is empty is null. The guide's chapters on results and on studies
say what each column means. Needs Python 3.10 and pandas or polars, and matplotlib for pictures.
"""

from __future__ import annotations

import atexit
import csv
import html
import importlib.util
import io
import itertools
import json
import math
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Frames = Literal["pandas", "polars"]
# A data frame of pandas or of polars.
Frame = Any

# The types of the columns in each table of a run.
COLUMNS: dict[str, dict[str, str]] = {}  # made of Mumakil's own tables
# The only columns of a study's tables whose types are known beforehand.
STUDY_TEXTS = frozenset("metric base other verdict outliers run".split())


# ---- Loading. ----


@dataclass(frozen=True)
class _Results:
    # The folder of a run; for a packed run, the folder in its ZIP file.
    folder: Path | zipfile.Path
    frames: Frames

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        return _json(self.folder / "summary.json")

    def _repr_html_(self) -> str:
        """The plain values of the summary, as a notebook shows them."""
        plain = {name: value for name, value in self.summary.items() if isinstance(value, str | int | float)}
        cells = (f"<th>{html.escape(name)}</th><td>{html.escape(str(value))}</td>" for name, value in plain.items())
        rows = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<table><caption>{html.escape(str(self.folder))}</caption>{rows}</table>"


class Run(_Results):
    """The folder of a run. A table is read when it is asked for."""

    @cached_property
    def jobs(self) -> Frame:
        """A row for each job."""
        return self.table("jobs")

    @cached_property
    def tasks(self) -> Frame:
        """A row for each attempt."""
        return self.table("tasks")

    @cached_property
    def timeline(self) -> Frame:
        """The running and waiting tasks of each job, and its slots, wherever these change."""
        return self.table("timeline")

    def table(self, name: str) -> Frame:
        """Returns any table, such as `decisions`."""
        path = self.folder / f"{name}.csv"
        if not path.exists():
            asked = name in ("tasks", "timeline", "decisions", "shares")
            hint = f" (`record: {{{name}: true}}` in the scenario)" if asked else ""
            raise FileNotFoundError(f"{path} is not there: the run has not recorded it{hint}")
        return _read(path, self.frames, partial(_kind, name))


class Study(_Results):
    """The folder of a study. A table is read when it is asked for."""

    @cached_property
    def runs(self) -> Frame:
        """A row for each run: its values on the axes, its seed, its metrics."""
        return _read(self.folder / "runs.csv", self.frames, _study_kind)

    @cached_property
    def cells(self) -> Frame:
        """A row for each combination of the axes: means over the seeds with 95 % intervals, and so on."""
        return _read(self.folder / "cells.csv", self.frames, _study_kind)

    @cached_property
    def jobs(self) -> Frame:
        """A row for each job of each run; in front of it the axes, the seed and the run."""
        return self.table("jobs")

    def _repr_html_(self) -> str:
        """The table of the cells, as a notebook shows it."""
        found: str = self.cells._repr_html_()
        return found

    @cached_property
    def comparisons(self) -> Frame:
        """Differences and ratios of the compared values, paired by seed; only if the study has `compare`."""
        return _read(self.folder / "comparisons.csv", self.frames, _study_kind)

    @cached_property
    def axes(self) -> list[str]:
        """The names of the axes, the seeds aside."""
        heading = _heading(self.folder / "runs.csv")
        return heading[: heading.index("seed")]

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics as the columns of `runs` are called, with their units."""
        heading = _heading(self.folder / "runs.csv")
        return heading[heading.index("seed") + 1 : -3]

    def run(self, run: str) -> Run:
        """Returns a run by its name in the column `run` of `runs`."""
        folder = self.folder / "runs" / run
        pack = Path(str(folder) + ".zip")
        if not folder.exists():
            folder = zipfile.Path(pack, f"{run}/") if pack.exists() else self._packed.get(run, folder)
        return Run(folder, self.frames)

    @cached_property
    def _packed(self) -> dict[str, zipfile.Path]:
        """The runs in packs of many, as earlier versions wrote them."""
        found = {}
        for path in sorted(Path(str(self.folder)).glob("runs/whole*.zip")):
            try:
                pack = zipfile.ZipFile(path)
            except zipfile.BadZipFile:
                warnings.warn(f"{path} is damaged", stacklevel=2)
                continue
            runs = {name.split("/")[0] for name in pack.namelist()}
            found |= {run: zipfile.Path(pack, f"{run}/") for run in runs}
        return found

    def table(self, name: str) -> Frame:
        """Returns a table of all runs, such as `jobs`: in front of it the axes, the seed and the run. An axis
        that is called as one of its columns has ` (axis)` behind its name."""
        keys = [*self.axes, "seed", "run"]
        columns = {key: _values(self.runs, key) for key in keys}
        tables = []
        for number, run in enumerate(columns["run"]):
            table = self.run(run).table(name)
            called = {key: f"{key} (axis)" if key in table.columns else key for key in keys}
            tables.append(_front(table, {called[key]: columns[key][number] for key in keys}))
        return _concat(tables)


def load_run(folder: str | Path, frames: Frames | None = None) -> Run:
    """Returns a run, with frames of pandas unless only polars is there."""
    return Run(_folder_with("summary.json", folder), _chosen(frames))


def load_study(folder: str | Path, frames: Frames | None = None) -> Study:
    """Returns a study, with frames of pandas unless only polars is there."""
    return Study(_folder_with("study.json", folder), _chosen(frames))


# A scenario or a study: the name of one that Mumakil brings, a file, or its content.
Scenario = str | Path | Mapping[str, Any]


def run(
    scenario: Scenario,
    settings: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    out: str | Path | None = None,
    frames: Frames | None = None,
) -> Run:
    """Runs a scenario with other settings, such as `{"cluster.nodes": 50}`, and returns its results.

    They are written into a folder that is removed when Python ends, unless `out` names one, in which an earlier
    run is replaced. A scenario with mistakes, or a run that fails, is a `RuntimeError` with Mumakil's words.
    """
    options = [] if seed is None else ["--seed", str(seed)]
    return load_run(_call("run", scenario, settings, [*options, "--quiet", "--force"], out), frames)


def study(
    study: Scenario,
    settings: Mapping[str, Any] | None = None,
    *,
    jobs: int | None = None,
    out: str | Path | None = None,
    frames: Frames | None = None,
) -> Study:
    """Runs a study with other settings, such as `{"sweep.seeds": 5}`, and returns its results. In the folder
    `out` a study goes on where an earlier call has ended; `jobs` runs at the same time."""
    options = [] if jobs is None else ["--jobs", str(jobs)]
    return load_study(_call("study", study, settings, [*options, "--quiet"], out), frames)


def _call(
    command: str,
    scenario: Scenario,
    settings: Mapping[str, Any] | None,
    options: list[str],
    out: str | Path | None,
) -> Path:
    """Calls Mumakil; returns the folder of the results."""
    room = Path(tempfile.mkdtemp(prefix="mumakil-"))
    # Tables are read when they are asked for, so the folder is kept as long as Python runs.
    atexit.register(shutil.rmtree, room, ignore_errors=True)
    target = Path(out) if out is not None else room / "out"
    if isinstance(scenario, Mapping):
        # JSON is YAML, too.
        text, scenario = json.dumps(scenario), room / "scenario.yaml"
        scenario.write_text(text, encoding="utf-8")
    sets = [word for path, value in (settings or {}).items() for word in ("--set", f"{path}={json.dumps(value)}")]
    # A program that was installed with this module goes before another one.
    beside = shutil.which("mumakil", path=sysconfig.get_path("scripts"))
    program = beside or shutil.which("mumakil")
    if program is None:
        raise FileNotFoundError("there is no command `mumakil`: install it, or add its folder to PATH")
    done = subprocess.run(
        [program, command, str(scenario), *sets, *options, "--out", str(target)],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    )
    # With 1 an expectation fails, or the run did; then there are no results.
    if done.returncode not in (0, 1) or not (target / "summary.json").exists() and not (target / "study.json").exists():
        raise RuntimeError(done.stderr.strip() or f"mumakil {command} ended with {done.returncode}")
    if done.stderr:
        warnings.warn(done.stderr.strip(), stacklevel=3)
    return target


def durations(frame: Frame) -> Frame:
    """Returns the frame with durations instead of seconds: `sojourn_s` becomes `sojourn`."""
    names = {name: name[:-2] for name in frame.columns if name.endswith("_s") and not name.endswith("_slot_s")}
    if _is_polars(frame):
        import polars

        spans = [(polars.col(name) * 1e6).round().cast(polars.Duration("us")) for name in names]
        return frame.with_columns(spans).rename(names)
    import pandas

    times = {name: pandas.to_timedelta((frame[name] * 1e3).round().astype("Int64"), unit="ms") for name in names}
    return frame.assign(**times).rename(columns=names)


def _folder_with(file: str, folder: str | Path) -> Path:
    if not (Path(folder) / file).exists():
        raise FileNotFoundError(f"{folder} is not the folder that is asked for: it has no {file}")
    return Path(folder)


def _chosen(frames: Frames | None) -> Frames:
    is_polars = importlib.util.find_spec("polars") and not importlib.util.find_spec("pandas")
    return frames or ("polars" if is_polars else "pandas")


def _need(package: str, use: str) -> None:
    """Raises an error that says what to install if a package is not there."""
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"{use}, but {package} is not installed: pip install {package}", name=package)


def _json(path: Path | zipfile.Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _heading(path: Path | zipfile.Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file))


def _kind(table: str, column: str) -> str:
    return COLUMNS.get(table, {}).get(column, "number")


def _study_kind(column: str) -> str | None:
    return "text" if column in STUDY_TEXTS else None


def _read(path: Path | zipfile.Path, frames: Frames, kind: Callable[[str], str | None]) -> Frame:
    """Reads a table, and turns milliseconds into seconds. `kind` gives the type of a column; if it gives
    none, the cells decide."""
    _need(frames, "tables become frames of pandas or polars")
    heading = _heading(path)
    kinds = {name: known for name in heading if (known := kind(name))}
    milliseconds = [name for name in heading if name.endswith("_ms")]
    names = {name: name[:-3] + ("_slot_s" if kinds.get(name) == "slot time" else "_s") for name in milliseconds}
    types: dict[str, Any]
    if frames == "polars":
        import polars

        types = {"text": polars.String, "decimal": polars.Float64, "flag": polars.Boolean, "number": polars.Int64}
        types["slot time"] = polars.Int64
        schema = {name: types[known] for name, known in kinds.items()}
        table = polars.read_csv(_whole(path), schema_overrides=schema, infer_schema_length=None)
        return table.with_columns(polars.col(milliseconds) / 1000).rename(names)
    import pandas

    types = {"text": "string", "decimal": "Float64", "flag": "boolean", "number": "Int64", "slot time": "Int64"}
    dtype = {name: types[known] for name, known in kinds.items()}
    # "NA" and "none" are names that a job may have.
    frame = pandas.read_csv(_whole(path), dtype=dtype, keep_default_na=False, na_values=[""])
    return frame.assign(**{name: frame[name] / 1000 for name in milliseconds}).rename(columns=names)


def _whole(path: Path | zipfile.Path) -> Path | io.BytesIO:
    """Returns what the libraries read: they know no files in ZIP files."""
    return path if isinstance(path, Path) else io.BytesIO(path.read_bytes())


def _is_polars(frame: Frame) -> bool:
    return type(frame).__module__.startswith("polars")


def _values(frame: Frame, column: str) -> list[Any]:
    """Returns a column as Python's own values, with None for null."""
    values = frame[column]
    if _is_polars(frame):
        found: list[Any] = values.to_list()
        return found
    return [None if empty else value for value, empty in zip(values.tolist(), values.isna(), strict=True)]


def _front(frame: Frame, values: Mapping[str, Any]) -> Any:
    """Returns the frame with columns of one value each in front."""
    if _is_polars(frame):
        import polars

        return frame.select(*(polars.lit(value).alias(name) for name, value in values.items()), polars.all())
    for place, (name, value) in enumerate(values.items()):
        frame.insert(place, name, value)
    return frame


def _concat(tables: list[Frame]) -> Frame:
    if _is_polars(tables[0]):
        import polars

        return polars.concat(tables, how="vertical_relaxed")
    import pandas

    return pandas.concat(tables, ignore_index=True)


# ---- Pictures. Each is a figure of matplotlib, to be shown by a notebook or saved. ----
#
# Pools, users, jobs and classes have the looks that they have in the report of their run. A name of a run, or of a
# line of a study, keeps the look of its first picture until Python ends: draw a study first, and its policies have
# the looks of its report in all pictures.

# The colours of Okabe and Ito, which are distinct with any colour vision. Reports have the same colours, marks
# and hatches in the same order.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#4d4d4d", "#b5a400"]
INK = "#1d2126"
GREY = "#5a626c"
# The last two marks are a flat bar and an upright bar.
BAR = [(-1, -0.4), (1, -0.4), (1, 0.4), (-1, 0.4), (-1, -0.4)]
MARKERS: list[Any] = ["o", "s", "^", "D", "v", "P", BAR, [(y, x) for x, y in BAR]]
HATCHES = ["", "//", "--", "\\\\", "||", "xx", "..", "++"]
# The shares at which the line of a distribution has a mark.
MARKED = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99]
OTHERS = "others"
# The names of runs and of lines of a study that were drawn since Python began; the place of a name is its look.
NAMED: dict[str, int] = {}
# For each size of job, the most maps and the name.
SIZES = [(1, "1 map"), (10, "2–10"), (100, "11–100"), (1_000, "101–1,000"), (2**63, "more than 1,000")]


def cdf(runs: Run | Mapping[str, Run]) -> Figure:
    """Draws the share of jobs that took at most so long, of those that succeeded: a line for each named run, or for
    each class of jobs of a single run.

    A class has the look that it has in the run's report. A named run keeps its look: `fair` is of one colour in all
    pictures that are drawn until Python ends, whichever runs are drawn beside it.
    """
    figure, axes = _figure("Sojourns of jobs", "Sojourn (s)", "Share of jobs")
    lines: dict[str, list[float]] = {}
    looks: dict[str, dict[str, Any]] = {}
    if isinstance(runs, Run):
        _, order = _order(runs)
        for name, time in _succeeded(runs, "class", "sojourn_s"):
            lines.setdefault(name or "", []).append(time)
        looks = {name: _look(order.index(name)) for name in lines}
        if 1 < len(lines):
            lines = {"all": [time for times in lines.values() for time in times], **lines}
            # The line of all jobs is not in the report: it has no colour of a class.
            looks.setdefault("all", {"color": INK, "ls": "-", "lw": 1.8})
    else:
        lines = {name: [row[0] for row in _succeeded(run, "sojourn_s")] for name, run in runs.items()}
        looks = {name: _named(name) for name in lines}
    for name, times in lines.items():
        times = sorted(time for time in times if time is not None)
        if times:
            shares = [number / len(times) for number in range(len(times) + 1)]
            marked = sorted({max(math.ceil(share * len(times)), 1) for share in MARKED})
            label = f"{name or ('no class' if 1 < len(lines) else 'all')} ({_counted(len(times))})"
            # A single job is a point: a line from 0 to 1 would look like many jobs.
            look = looks[name] | ({"ls": "none"} if len(times) == 1 else {})
            axes.plot([times[0], *times], shares, drawstyle="steps-post", label=label, markevery=marked, **look)
    _logarithmic(axes, "x")
    # Leave room for whole marks at 1.
    axes.set_ylim(0, 1.03)
    axes.legend()
    return figure


def slots(run: Run, kind: Literal["map", "reduce"] = "map") -> Figure:
    """Draws who held the slots of a kind over time: a layer for each pool, user, job or class."""
    figure, axes = _figure(f"Slots for {kind}s", "Time (s)", "Slots held")
    end = run.summary["virtual_s"]
    parties, looks = _parties(run)
    # The changes in the number of slots, by party and instant, and the slots that each job holds.
    changes: dict[str, dict[float, int]] = {}
    held: dict[int, int] = {}
    for time, of, job, number in _rows(run.timeline, "time_s", "kind", "job", "slots"):
        change = number - held.get(job, 0)
        if of == kind and change:
            held[job] = number
            instants = changes.setdefault(parties[job], {})
            instants[time] = instants.get(time, 0) + change
    across = sorted({0.0, end, *(time for instants in changes.values() for time in instants)})
    drawn = [name for name in looks if name in changes]
    layers = {name: list(itertools.accumulate(changes[name].get(time, 0) for time in across)) for name in drawn}
    if layers:
        colours = [looks[name] for name in layers]
        axes.stackplot(across, *layers.values(), labels=layers, colors=colours, step="post", lw=0)
    total = run.summary[f"{kind}_slots"]
    axes.axhline(total, color="black", ls=":", label=f"all slots ({total:,})")
    axes.set(xlim=(0, end), ylim=(0, total * 1.05 or 1))
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def locality(run: Run) -> Figure:
    """Draws where maps ran, by the size of their job: on a node with their input, in its rack, elsewhere."""
    figure, axes = _figure("Where maps ran", "Maps of the job", "Share of maps")
    sums: dict[str, list[int]] = {}
    for row in _rows(run.jobs, "maps", "node_local", "rack_local", "off_rack"):
        of_size = sums.setdefault(_size(row[0]), [0, 0, 0])
        of_size[:] = [a + (b or 0) for a, b in zip(of_size, row[1:], strict=True)]
    names = [name for _, name in SIZES if any(sums.get(name, ()))]
    feet = [0.0] * len(names)
    for place, level in enumerate(["node", "rack", "off-rack"]):
        shares = [sums[name][place] / sum(sums[name]) for name in names]
        look: Any = {"color": COLOURS[place], "hatch": HATCHES[place], "ec": "white"}
        axes.bar(names, shares, bottom=feet, label=level, **look)
        feet = [foot + share for foot, share in zip(feet, shares, strict=True)]
    axes.set_ylim(0, 1)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def slowdown(run: Run) -> Figure:
    """Draws the slowdowns of jobs that succeeded (the sojourn divided by that alone on the empty cluster), by their
    size; needs `record: {alone: true}`. Boxes are from quartile to quartile, whiskers from the 5th percentile to the 95th,
    diamonds are means."""
    figure, axes = _figure("Slowdown of jobs", "Maps of the job", "Slowdown (sojourn ÷ time alone)")
    if "alone_s" not in run.jobs.columns:
        raise KeyError("the run did not record how long jobs take alone: `record: {alone: true}` in the scenario")
    sizes: dict[str, list[float]] = {}
    for maps, sojourn, alone in _succeeded(run, "maps", "sojourn_s", "alone_s"):
        if sojourn is not None and alone:
            sizes.setdefault(_size(maps), []).append(sojourn / alone)
    names = [name for _, name in SIZES if name in sizes]
    if names:
        # A single job has neither quartiles nor a spread: it is a diamond without a box.
        boxes = {place: sizes[name] for place, name in enumerate(names, 1) if 1 < len(sizes[name])}
        mean: Any = {"marker": "D", "markerfacecolor": INK, "markeredgecolor": "white"}
        looks: Any = {"boxprops": {"facecolor": COLOURS[0]}, "medianprops": {"color": "white", "lw": 2}, "meanprops": mean}
        for place, sample in boxes.items():
            axes.boxplot([sample], positions=[place], whis=(5, 95), patch_artist=True, showmeans=True, **looks)
        single = {place: sizes[name][0] for place, name in enumerate(names, 1) if place not in boxes}
        axes.plot(list(single), list(single.values()), ls="none", **mean)
        axes.set_xticks(range(1, len(names) + 1), [f"{name}\n({_counted(len(sizes[name]))})" for name in names])
        axes.set_xlim(0.5, len(names) + 0.5)
    axes.axhline(1, color="black", ls=":")
    _logarithmic(axes, "y")
    return figure


def gantt(run: Run) -> Figure:
    """Draws what ran where and when: each attempt in its slot, in the colour of its pool, user, job or class;
    killed ones are pale, failed ones black."""
    _need("matplotlib", "pictures are drawn by matplotlib")
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    figure, axes = _figure("Attempts on nodes", "Time (s)", "Node")
    end = run.summary["virtual_s"]
    parties, looks = _parties(run)
    rows = _rows(run.tasks, "node", "start_s", "finish_s", "job", "outcome")
    # Lost output has a row of its own, without a start.
    attempts = [(*row[:2], end if row[2] is None else row[2], *row[3:]) for row in rows if row[1] is not None]
    attempts.sort(key=lambda attempt: attempt[1:3])
    # Put each attempt into the first free lane of its node; a lane's number is when it becomes
    # free.
    lanes: dict[str, list[float]] = {node: [] for node in sorted({row[0] for row in attempts}, key=_natural)}
    bars = []
    for node, start, finish, job, outcome in attempts:
        free = lanes[node]
        lane = next((place for place, until in enumerate(free) if until <= start), len(free))
        free[lane : lane + 1] = [finish]
        colour = looks[parties[job]]
        shade = "#000000" if outcome == "failed" else colour + "55" if outcome == "killed" else colour
        bars.append((node, lane, start, finish, shade))
    feet: dict[str, int] = {}
    height = 0
    for node, free in lanes.items():
        feet[node] = height
        height += len(free) + 1
    boxes = []
    for node, lane, start, finish, _ in bars:
        foot, head = feet[node] + lane + 0.05, feet[node] + lane + 0.95
        boxes.append([(start, foot), (finish, foot), (finish, head), (start, head)])
    # Give each row at least some pixels.
    figure.set_figheight(min(max(4.5, height * 0.04), 20))
    edges = "white" if len(bars) < 2_000 else "none"
    axes.add_collection(PolyCollection(boxes, facecolors=[bar[4] for bar in bars], edgecolors=edges, linewidths=0.2))
    some = list(lanes)[:: 1 + len(lanes) // 40]
    axes.set_yticks([feet[node] + len(lanes[node]) / 2 for node in some], some, fontsize=7)
    axes.set(xlim=(0, end), ylim=(height or 1, 0))
    axes.grid(False, axis="y")
    ran = {parties[job] for _, _, _, job, _ in attempts}
    patches = [Patch(color=colour, label=name) for name, colour in looks.items() if name in ran]
    axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def policies(
    study: Study,
    metric: str | None = None,
    over: str | None = None,
    by: str | None = None,
    where: Mapping[str, Any] | None = None,
) -> Figure:
    """Draws a metric of a study (by default the first) over an axis: a line for each value of another axis,
    with 95 % intervals over the seeds. `over` is by default the first axis of numbers, `by` the first other axis;
    `where` fixes the values of further axes. A value keeps its look in all pictures that are drawn until Python ends."""
    metrics = {re.sub(r" \[[^][]*\]$", "", name): name for name in study.metrics}
    metric = metric or next(iter(metrics))
    if metric not in metrics:
        raise ValueError(f"no metric `{metric}`: there is {', '.join(metrics)}")
    values = {axis: _values(study.cells, axis) for axis in study.axes}
    of_numbers = [axis for axis, of in values.items() if all(isinstance(value, (int, float)) for value in of)]
    over = over or next(iter(of_numbers or study.axes))
    where = dict(where or {})
    left = [axis for axis in study.axes if axis != over and axis not in where]
    by = by or next(iter(left), None)
    if unheld := [axis for axis in left if axis != by]:
        raise ValueError(f"`where` has to say which {' and which '.join(unheld)}")
    unit = metrics[metric].removeprefix(metric)
    columns = [f"{metric} {word}{unit}" for word in ("mean", "low", "high")]
    label = metric + unit.replace(" [", " (").replace("]", ")")
    figure, axes = _figure(metric, over, label)
    lines: dict[Any, list[Any]] = {}
    # Values that `where` leaves out keep their looks: number all of them, as the report does.
    looks = {name: _named(str(name)) for name in (values[by] if by else [metric])}
    for row in _rows(study.cells, *study.axes, *columns):
        cell = dict(zip(study.axes, row, strict=False))
        if all(value in (cell[axis], str(cell[axis])) for axis, value in where.items()):
            lines.setdefault(cell[by] if by else metric, []).append((cell[over], *row[len(study.axes) :]))
    for name, points in lines.items():
        points = [point for point in points if point[1] is not None]
        if over in of_numbers:
            points.sort(key=lambda point: point[0])
        across, mean, low, high = (list(part) for part in zip(*points, strict=True)) if points else ([], [], [], [])
        errors = [
            [middle - (middle if end is None else end) for middle, end in zip(mean, low, strict=True)],
            [(middle if end is None else end) - middle for middle, end in zip(mean, high, strict=True)],
        ]
        axes.errorbar(across, mean, errors, label=str(name), capsize=3, **looks[name])
    axes.set_ylim(bottom=0)
    if by:
        axes.legend(title=by)
    return figure


def draw(folder: str | Path, to: str | Path) -> list[Path]:
    """Draws all pictures that can be drawn of a run or a study into a folder; returns their files."""
    to = Path(to)
    to.mkdir(parents=True, exist_ok=True)
    pictures: dict[str, Callable[[], Figure]]
    if (Path(folder) / "study.json").exists():
        study = load_study(folder)
        pictures = {"policies": lambda: policies(study)}
    else:
        run = load_run(folder)
        pictures = {of.__name__: partial(of, run) for of in (cdf, slots, locality, slowdown, gantt)}
    drawn = []
    for name, picture in pictures.items():
        try:
            figure = picture()
        except (FileNotFoundError, ValueError) as why:
            print(f"{name}: left out, {why}", file=sys.stderr)
            continue
        drawn.append(to / f"{name}.png")
        figure.savefig(drawn[-1], dpi=150)
    return drawn


def _figure(title: str, x: str, y: str) -> tuple[Figure, Any]:
    _need("matplotlib", "pictures are drawn by matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    # By this method a notebook shows a figure that pyplot does not know.
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(color="#e1e4e8", lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def _logarithmic(axes: Any, name: Literal["x", "y"]) -> None:
    """Makes an axis logarithmic, with plain numbers at 1, 2, 5, 10 …"""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(**{f"{name}scale": "log"})
    axis = getattr(axes, f"{name}axis")
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(NullFormatter())


def _parties(run: Run) -> tuple[dict[int, str], dict[str, str]]:
    """Returns the name by which each job is coloured, and the colour of each name, in the order of legends. The name
    is the job's pool; its user if all jobs are in one pool; its own name if there is also only one user, or its class
    if there are more names than colours. Reports have the same names and colours."""
    groups, order = _order(run)
    shown = [name for name in order if name in set(groups.values())]
    called = {name: name or "unnamed" for name in shown}
    looks = {called[name]: colour for name, colour in zip(shown, COLOURS, strict=False)}
    if len(COLOURS) < len(shown):
        # The names with the most tasks come first and get colours; the others share a grey.
        looks[OTHERS] = GREY
    return {job: called[name] if called[name] in looks else OTHERS for job, name in groups.items()}, looks


def _order(run: Run) -> tuple[dict[int, str], list[str]]:
    """Returns the group of each job, and the names of groups and then of classes; the place of a name is its look in
    the run's report."""
    jobs = [
        (job, *(name or "" for name in names), maps + reduces)
        for job, *names, maps, reduces in _rows(run.jobs, "job", "pool", "user", "name", "class", "maps", "reduces")
    ]
    columns: list[Any] = [{row[place] for row in jobs} for place in range(5)]
    place = 1 if 1 < len(columns[1]) else 2 if 1 < len(columns[2]) else 3 if len(columns[3]) <= len(COLOURS) else 4
    order: dict[str, None] = {}
    for of in (place, 4):
        tasks: dict[str, int] = {}
        for row in jobs:
            tasks[row[of]] = tasks.get(row[of], 0) + row[5]
        names = list(tasks)
        if len(COLOURS) < len(names):
            names.sort(key=lambda name: -tasks[name])
        order |= dict.fromkeys(names)
    return {row[0]: row[place] for row in jobs}, list(order)


def _rows(frame: Frame, *columns: str) -> Iterable[tuple[Any, ...]]:
    return zip(*(_values(frame, column) for column in columns), strict=True)


def _succeeded(run: Run, *columns: str) -> Iterable[tuple[Any, ...]]:
    """Returns these columns of the jobs that succeeded: the time until a job failed is no sojourn to be drawn."""
    return (row[1:] for row in _rows(run.jobs, "outcome", *columns) if row[0] == "succeeded")


def _look(place: int) -> dict[str, Any]:
    """Returns the colour, the dashes and the marks of a line. When the colours repeat, the marks are other ones, and
    each second line of a colour is dashed."""
    again = place // len(COLOURS)
    marker = MARKERS[(place + again) % len(MARKERS)]
    colour, dashes = COLOURS[place % len(COLOURS)], "-." if again % 2 else "-"
    return {"color": colour, "ls": dashes, "lw": 1.8, "marker": marker, "ms": 6}


def _named(name: str) -> dict[str, Any]:
    """Returns the look of a name, the same in all pictures; a new name gets the next look."""
    return _look(NAMED.setdefault(name, len(NAMED)))


def _counted(jobs: int) -> str:
    return "1 job" if jobs == 1 else f"{jobs:,} jobs"


def _size(maps: int) -> str:
    return next(name for most, name in SIZES if maps <= most)


def _natural(name: str) -> tuple[Any, ...]:
    """Returns a key by which node-2 comes before node-10."""
    head = name.rstrip("0123456789")
    return (head, int(name[len(head) :] or 0))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: mumakil.py FOLDER [PICTURES]")
    for path in draw(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else "pictures"):
        print(path)
