"""Checks the results of a run with other people's tools: do they read the same content?

    check.py [RUN] [--perfetto FILE] [--report FILE] [--screenshots DIR] [--notebook FILE]

RUN is the folder of a run. A check whose package or browser is missing is reported and skipped. A
wrong result ends in exit code 1.
"""

import argparse
import importlib
import sys
from pathlib import Path


def checks(arguments):
    """Yields the module of each check, and the paths that it checks."""
    if arguments.run:
        yield "histograms", [arguments.run]
        yield "plots", [arguments.run]
        yield "prometheus", [arguments.run]
        yield "tables", [arguments.run]
    if arguments.perfetto:
        yield "perfetto_trace", [arguments.run, arguments.perfetto]
    if arguments.report:
        yield "report", [arguments.report, arguments.screenshots]
    if arguments.notebook:
        yield "notebooks", [arguments.notebook]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, nargs="?", help="the folder of a run")
    parser.add_argument("--perfetto", type=Path, help="the run's trace")
    parser.add_argument("--report", type=Path, help="a report, an HTML file")
    parser.add_argument("--screenshots", type=Path, help="a folder for pictures of the report")
    parser.add_argument("--notebook", type=Path, help="a notebook to be executed")
    failed = 0
    for name, subjects in checks(parser.parse_args()):
        try:
            # Import the modules one by one, since each needs its own package.
            for line in importlib.import_module(name).check(*subjects):
                print(f"{name}: {line}")
        except ImportError as why:
            print(f"{name}: SKIPPED, {why}")
        except AssertionError as why:
            print(f"{name}: FAILED, {why}")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
