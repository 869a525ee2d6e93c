"""Executes a notebook in an empty folder, with the command `mumakil` of the path and the module that it writes."""

import subprocess
import tempfile
from pathlib import Path

import nbclient
import nbformat

# Importing them tells at once which package a cell would miss.
import ipykernel, matplotlib, pandas  # noqa: E401, F401


def check(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    with tempfile.TemporaryDirectory() as room:
        subprocess.run(["mumakil", "py", "-o", Path(room) / "mumakil.py"], check=True, capture_output=True)
        client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": room}})
        client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [output.get("data", {}) for cell in cells for output in cell.outputs]
    pictures = sum("image/png" in data for data in shown)
    assert pictures, "no picture is shown"
    yield f"{len(cells)} cells run, {pictures} pictures are shown"
