//! Tests of all formats together: how each is recognised, and what is lost from one to another.

mod recognised;

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use crate::formats;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::trace::Strictness;
use mumakil_scenario::workload::JobEntry;
use mumakil_scenario::workload::exchange::{PackedJobs, check_listed, convert};
use mumakil_scenario::workload::format::{Format, FormatContents, Trace, TraceJob};

pub(super) const BLOCK: Bytes = Bytes::from_mib(128);

pub(super) fn read(text: &[u8]) -> Trace {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("trace");
    fs::write(&path, text).unwrap();
    Trace::read(&path, BLOCK, Strictness::Strict, &formats()).unwrap()
}

fn format(key: &str) -> &'static Format {
    formats().written_as(key).unwrap()
}

/// Returns the content of a trace's file.
pub(super) fn said(trace: &Trace) -> String {
    let mut text = Vec::new();
    trace.write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Returns a trace after writing and reading it in another format, and the fields that are
/// lost.
fn through(trace: &Trace, to: &str) -> (Trace, Vec<String>) {
    let (text, lost) = converted(&trace.entries(BLOCK), to);
    let read = read(&text);
    assert_eq!(said(&read).as_bytes(), text);
    (read, lost)
}

/// Returns the text of jobs in another format, and the fields that are lost.
fn converted(entries: &[JobEntry], to: &str) -> (Vec<u8>, Vec<String>) {
    let mut text = Vec::new();
    let jobs = PackedJobs::of(entries, BLOCK);
    let lost = convert(&jobs, format(to), &mut text).unwrap();
    (text, lost.into_keys().collect())
}

pub(super) const SWIM: &[u8] = b"a\t5\t5\t1000\t0\t7\tin\nb\t9\t4\t134217729\t3000000000\t9\tin\n";
pub(super) const RUMEN: &[u8] = include_bytes!("../../tests/fuzz/seeds/rumen/older.json");

#[test]
fn a_swim_trace_goes_through_every_list_and_back() {
    let trace = read(SWIM);
    for own in ["csv", "yaml"] {
        let (list, lost) = through(&trace, own);
        assert!(lost.is_empty());
        let (back, lost) = through(&list, "swim");
        assert_eq!((said(&back), lost), (said(&trace), vec![]));
    }
}

#[test]
fn a_job_that_could_not_be_read_back_is_not_written() {
    let late = read(b"name,submit,maps,map_time\na,36000d,1,1000d\n");
    let jobs = PackedJobs::of(&late.entries(BLOCK), BLOCK);
    for to in ["rumen", "sls"] {
        let error = convert(&jobs, format(to), &mut io::sink()).unwrap_err().to_string();
        assert!(error.starts_with("the job `a` ends after more than a hundred years"), "{error}");
    }
    assert!(convert(&jobs, format("csv"), &mut io::sink()).is_ok());
    let large = read(b"name,maps,input\na,3,900PiB\n");
    let jobs = PackedJobs::of(&large.entries(BLOCK), BLOCK);
    let error = convert(&jobs, format("swim"), &mut io::sink()).unwrap_err().to_string();
    assert!(error.starts_with("the job `a` could not be read back: "), "{error}");
}

#[test]
fn more_tasks_than_memory_holds_are_not_converted_one_by_one() {
    let job = |maps, count| {
        let list = format!("name,maps,map_time,count\na,{maps},1s,{count}\n");
        read(list.as_bytes()).entries(BLOCK)
    };
    let check = |jobs: &[JobEntry], to| check_listed(&PackedJobs::of(jobs, BLOCK), format(to));
    let many = job(10_000_000, 2);
    let error = check(&many, "rumen").unwrap_err();
    assert!(error.contains("20000000 tasks are more than 10000000"), "{error}");
    assert!(check(&many, "sls").is_err());
    // A line of SWIM is a job, whatever its tasks.
    assert_eq!(check(&many, "csv"), Ok(()));
    assert_eq!(check(&job(10_000_000, 1), "rumen"), Ok(()));
}

#[test]
fn a_rumen_trace_keeps_times_and_sizes_through_a_list() {
    let trace = read(RUMEN);
    let (first, _) = through(&trace, "csv");
    let (rumen, lost) = through(&first, "rumen");
    assert_eq!(lost, Vec::<String>::new());
    let (again, _) = through(&rumen, "csv");
    assert_eq!(said(&again), said(&first));
    assert!(said(&rumen).contains("\"hdfsBytesRead\":53639"), "{}", said(&rumen));
}

#[test]
fn a_time_that_nobody_knows_stays_unknown() {
    let list = read(
        b"name,pool,maps,input,reduces,map_memory,reduce_memory\n\
        a,q,2,0,1,1GiB,1GiB\n",
    );
    let (rumen, lost) = through(&list, "rumen");
    assert_eq!(lost, Vec::<String>::new());
    assert_eq!(said(&through(&rumen, "csv").0), said(&list));
}

#[test]
fn the_generator_of_the_sls_is_drawn_and_converted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fuzz/seeds/sls/synth-newer.json");
    let format = formats().recognise(Path::new(path)).unwrap();
    let FormatContents::Generator { draw, size } = format.contents else { panic!("a generator") };
    let drawn = |seed| draw(Path::new(path), seed).unwrap();
    assert_eq!(drawn(7), drawn(7));
    assert_ne!(drawn(7), drawn(8));
    assert!(drawn(7).len() as u64 <= size(Path::new(path)).unwrap().jobs);
    let jobs = drawn(7).into_iter().map(|job| Box::new(job) as Box<dyn TraceJob>);
    let (list, _) = through(&Trace::of_jobs(format, jobs.collect()), "csv");
    assert_eq!(list.own().cloned().collect::<Vec<_>>(), drawn(7));
}

#[test]
fn losses_of_a_format_are_listed() {
    let list = read(
        b"name,after,count,maps,map_time,user,reduces,reduce_time\n\
          a,,2,2,\"[1s, 2s]\",ann,1,3s\nb,[a],,1,1500us,,,\n",
    );
    let (sls, lost) = through(&list, "sls");
    // The trace becomes three jobs; microseconds of times are cut off.
    assert_eq!(sls.jobs.len(), 3);
    assert_eq!(lost, ["after", "map_time", "reduce_time"]);
    let (_, lost) = through(&list, "swim");
    assert_eq!(lost, ["after", "map_time", "reduce_time", "reduces", "user"]);
}

#[test]
fn jobs_of_a_clock_on_the_wall_come_as_long_after_the_first_as_they_did() {
    let job = |id: &str, submit: u64| {
        format!(
            r#"{{"jobID": "{id}", "submitTime": {submit}, "totalMaps": 1, "mapTasks": [
                 {{"taskID": "t_m_0", "taskType": "MAP"}}]}}"#
        )
    };
    let text = job("a", 1_297_228_032_218) + &job("b", 1_297_228_039_218);
    let trace = read(text.as_bytes());
    for to in ["swim", "sls", "csv", "rumen"] {
        let made = read(&converted(&trace.entries(BLOCK), to).0);
        let submits: Vec<SimSpan> = made.jobs.iter().map(|job| job.submit()).collect();
        assert_eq!(submits, [SimSpan::ZERO, SimSpan::from_secs(7)], "{to}");
    }
}
