"""The tables as Parquet by pyarrow: row by row the same as the CSV."""

from pandas.testing import assert_frame_equal
from pyarrow import parquet

from tables import load


def check(run):
    for file in sorted(run.glob("*.parquet")):
        name = file.with_suffix(".csv").name
        columns = parquet.read_table(file).to_pandas().convert_dtypes()
        expected = load(run, name)
        # A column without any value has no type of its own in CSV.
        full = [column for column in expected if expected[column].notna().any()]
        assert list(columns) == list(expected), f"{file.name} has other columns than {name}"
        assert_frame_equal(columns[full], expected[full], check_dtype=False, obj=file.name)
        yield f"{file.name} has the {len(columns)} rows of {name}"
