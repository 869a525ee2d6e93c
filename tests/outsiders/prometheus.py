"""Reads metrics.prom as Prometheus, as promtool, and as readers of OpenMetrics do."""

import re
import shutil
import subprocess

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as plain


def check(run):
    text = (run / "metrics.prom").read_text()
    families = {family.name: family.samples for family in plain(text)}
    strict = {family.name: family.samples for family in openmetrics(text)}
    assert families == strict, "the two formats are read differently"
    counted = 0
    for table in (run / "histograms").glob("*.hgrm"):
        name, _, of_class = table.stem.partition("-")
        family = "mumakil_class_sojourn_seconds" if of_class else f"mumakil_{name}_seconds"
        samples = [it for it in families[family] if it.labels.get("class", "") == of_class]
        count = next(it.value for it in samples if it.name.endswith("_count"))
        assert count == float(re.search(r"Total count *= *(\d+)", table.read_text())[1]), table.name
        buckets = [it.value for it in samples if it.name.endswith("_bucket")]
        assert buckets == sorted(buckets) and buckets[-1] == count, table.name
        counted += 1
    yield f"prometheus_client reads {len(families)} families, with the counts of {counted} histograms"
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        yield "promtool finds nothing"
    else:
        yield "SKIPPED: there is no promtool"
