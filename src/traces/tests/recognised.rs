//! A file shows its format by its first record.

use crate::formats;
use crate::list::format::JOB_TABLE;
use mumakil_scenario::workload::format::Format;

fn of(text: &str) -> Result<&'static str, String> {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("t");
    std::fs::write(&path, text).unwrap();
    let found = formats().recognise(&path).map(|format| format.name);
    let folder = format!("{}/", folder.path().display());
    found.map_err(|error| error.to_string().replace(&folder, ""))
}

#[test]
fn a_format_is_told_by_the_first_record() {
    for (text, format) in [
        ("job0\t9\t9\tmany\t2\t3\n", "SWIM"),
        (r#" {"user": {"a": [1]}, "jobID": "j"}"#, "Rumen's jobs"),
        (r#"{"jobID": "j", "submitTime": oops}"#, "Rumen's jobs"),
        (r#"{"jobID": "j", "mapTasks": ["#, "Rumen's jobs"),
        (r#"{"name": "<root>", "children": null}"#, "Rumen's topology"),
        (r#"{"am.type": "mapreduce", "job.id": "j"}"#, "the SLS' jobs"),
        (r#"{"num.nodes": 3}"#, "the SLS' jobs"),
        (r#"{"rack": "r", "nodes": []}"#, "the SLS' nodes"),
        (r#"{"description": "d", "workloads": []}"#, "the SLS' generator"),
        ("submit,name\n", "a table of jobs"),
        ("\u{feff}name\n", "a table of jobs"),
        ("\"name\",\"maps\"\n", "a table of jobs"),
        ("maps; name\n", "a table of jobs"),
        ("name\tsubmit\tmaps\treduces\tinput\tshuffle\n", "a table of jobs"),
        ("job,maps\n", "a table of jobs"),
        ("# jobs\n- name: a\n", "a list of jobs in YAML"),
        ("jobs:\n- name: a\n", "a list of jobs in YAML"),
    ] {
        assert_eq!(of(text), Ok(format), "{text}");
    }
}

/// Mumakil's table with another name.
static OWN_TABLE: Format = Format {
    has_line: |line| (JOB_TABLE.has_line)(line),
    target: JOB_TABLE.target,
    ..Format::new("a table of one's own", JOB_TABLE.contents)
};

#[test]
fn of_two_formats_that_fit_the_last_added_is_read_and_written() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("t");
    std::fs::write(&path, "name\n").unwrap();
    let mut formats = formats();
    formats.add(&OWN_TABLE);
    assert_eq!(formats.recognise(&path).unwrap().name, OWN_TABLE.name);
    assert_eq!(formats.written_as("csv").unwrap().name, OWN_TABLE.name);
    assert!(formats.written_as("tsv").is_none());
}

#[test]
fn tried_cases_are_counted() {
    let hint = "\n  hint: known are SWIM (6 to 8 columns, separated by tabs), Rumen's jobs \
                (objects with `jobID`) and topology (`name`, `children`), the SLS' jobs \
                (`job.tasks`), nodes (`rack`, `nodes`) and generator (`workloads`), \
                the Standard Workload Format (18 numbers), Google's `task_events` of 2011, \
                Alibaba's `batch_task.csv`, and Mumakil's own lists of jobs (CSV with a column `name`, or YAML)";
    for (text, what) in [
        ("\n \n", "t:3: the file is empty"),
        ("\n{\"a\": 1}", "t:2: a JSON object, but of no known trace format"),
        ("name: x\n", "t:1: a line of 1 column, of no known trace format"),
    ] {
        assert_eq!(of(text), Err(format!("{what}{hint}")));
    }
}
