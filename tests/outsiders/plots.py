"""Draws the percentile tables with hdr-plot, which reads every row of them."""

import contextlib
import io
import re
import sys
import tempfile
import types
from pathlib import Path

# hdr-plot imports it for its version alone, and newer Pythons come without it.
sys.modules.setdefault("pkg_resources", types.ModuleType("pkg_resources"))

from hdr_plot import hdr_plot  # noqa: E402


def check(run):
    tables = sorted((run / "histograms").glob("*.hgrm"))
    for table in tables:
        rows = [line.split() for line in table.read_text().splitlines() if re.match(r"\s*[0-9]", line)]
        read = hdr_plot.parse_percentiles(table)
        # It leaves out the last row, which has no fourth number.
        values = [float(row[0]) for row in rows if len(row) == 4]
        assert list(read["Latency"]) == values, f"{table.name}: {len(values)} rows, but {len(read)} are read"
        most = max(float(row[0]) for row in rows)
        assert float(hdr_plot.parse_metadata(table)["Max"]) <= most * 1.001, table.name
    with tempfile.TemporaryDirectory() as room, contextlib.redirect_stdout(io.StringIO()):
        picture = Path(room) / "all.png"
        sys.argv = ["hdr-plot", "--noversion", "--output", str(picture), *map(str, tables)]
        hdr_plot.main()
        assert picture.stat().st_size > 0, "no picture"
    yield f"hdr-plot draws {len(tables)} tables"
