#!/usr/bin/env python3
"""Makes the gallery: static pages with a picture each, and an index of all of them.

    scenarios/gallery/pages.py MUMAKIL FOLDER

A picture is a scenario or study beside this file. Its comment says the question and what one sees; `expect` checks
that. Pages are cut out of reports: so they have the look, the dark mode and the charts of these.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# In the order of the index.
PICTURES = ["fifo-or-fair", "small-jobs", "waiting-for-data", "heartbeats", "a-node-dies"]
INDEX = "index.html"


class Picture:
    """A picture: its scenario or study, the report of that, and the charts to show."""

    def __init__(self, mumakil: str, name: str, results: Path) -> None:
        self.name, self.page = name, f"{name}.html"
        file = Path(__file__).with_name(f"{name}.yaml")
        lines = file.read_text(encoding="utf-8").splitlines()
        comment = [line.removeprefix("#").strip() for line in lines if line.startswith("#")]
        self.question, self.seen = comment[0], " ".join(comment[1:]).strip()
        self.yaml = "\n".join(line for line in lines if not line.startswith("#"))
        is_study = "\nsweep:" in self.yaml
        self.kind = "study" if is_study else "run"
        self.report = report(mumakil, [self.kind, str(file)], results / name)
        # A study shows its charts. A run has many, of which the attempts tell most.
        self.charts = figures(self.report) if is_study else [figure(self.report, "attempts")]


def main(mumakil: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as results:
        best = report(mumakil, ["run", "quickstart"], Path(results) / "quickstart")
        pictures = [Picture(mumakil, name, Path(results)) for name in PICTURES]
    write(folder / "quickstart-report.html", best)
    write(folder / INDEX, index(best, pictures))
    for picture, after in zip(pictures, [*pictures[1:], None]):
        write(folder / f"{picture.name}-report.html", picture.report)
        write(folder / picture.page, page(picture, after))
    print(f"wrote {folder} (start with {INDEX})")


def report(mumakil: str, command: list[str], out: Path) -> str:
    # An expectation that fails ends this: the text would not be true.
    subprocess.run([mumakil, *command, "--quiet", "--out", str(out)], check=True)
    return (out / "report.html").read_text(encoding="utf-8")


def index(best: str, pictures: list[Picture]) -> str:
    numbers = re.search(r'<dl class="numbers">.*?</dl>', best, re.DOTALL)[0]
    body = [
        section(
            link("quickstart-report.html", "The report of a run"),
            prose(
                "Each run leaves a report: numbers, charts, and for each job what it waited for. This one is of "
                "`mumakil run quickstart`, an ordinary morning on twenty nodes."
            ),
            numbers,
            charts([figure(best, "slots-map"), figure(best, "sojourn")]),
        )
    ]
    for picture in pictures:
        title = link(picture.page, html.escape(picture.question))
        body.append(section(title, charts(picture.charts), prose(picture.seen)))
    subtitle = "A report, and five questions about a cluster, each with a picture and what makes it"
    return cut_out(best, "What Mumakil shows", subtitle, [], body)


def page(picture: Picture, after: Picture | None) -> str:
    ways = [link(INDEX, "All pictures"), link(f"{picture.name}-report.html", "The whole report")]
    if after:
        ways.append(link(after.page, f"Next: {html.escape(after.question)}"))
    file = f"{picture.name}.yaml"
    body = [
        section("", charts(picture.charts), prose(picture.seen)),
        section(
            "How to make it",
            prose(f"Save this as `{file}`. The lines under `expect` check what is said above, and can be left out:"),
            code(picture.yaml),
            prose("Then type:"),
            code(f"mumakil {picture.kind} {file} --open"),
        ),
    ]
    return cut_out(picture.report, picture.question, "", ways, body)


def cut_out(report: str, title: str, subtitle: str, ways: list[str], body: list[str]) -> str:
    """Returns the report's page with another header and content."""
    title = html.escape(title)
    head, _ = report.split("<header>")
    _, foot = report.split("</main>")
    head = re.sub(r"<title>.*?</title>", lambda _: f"<title>{title}</title>", head, count=1)
    subtitle = f'<p class="subtitle">{html.escape(subtitle)}</p>' if subtitle else ""
    nav = f'<nav aria-label="Pages">{"".join(ways)}</nav>' if ways else ""
    return f"{head}<header><h1>{title}</h1>{subtitle}{nav}</header><main>{''.join(body)}</main>{foot}"


def figures(report: str) -> list[str]:
    return re.findall(r"<figure\b.*?</figure>", report, re.DOTALL)


def figure(report: str, name: str) -> str:
    return next(one for one in figures(report) if f'id="{name}"' in one)


def charts(figures: list[str]) -> str:
    return f'<div class="charts">{"".join(figures)}</div>'


def section(title: str, *blocks: str) -> str:
    heading = f"<h2>{title}</h2>" if title else ""
    return f"<section>{heading}{''.join(blocks)}</section>"


def link(page: str, text: str) -> str:
    return f'<a href="{page}">{text}</a>'


def prose(text: str) -> str:
    return "<p>" + re.sub("`(.*?)`", r"<code>\1</code>", html.escape(text, quote=False)) + "</p>"


def code(text: str) -> str:
    return f'<div class="code"><pre tabindex="0"><code>{html.escape(text, quote=False)}</code></pre></div>'


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
