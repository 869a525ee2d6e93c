//! Properties that the readers of traces, of handwritten files, and of results (`folders`) must
//! have for any bytes. The fuzz targets and `tests/it` check them.

pub(crate) mod folders;

use std::fmt::Debug;
use std::fs;
use std::io::{self, Cursor};
use std::path::Path;

use mumakil::emulation::{EmulationError, Options, Prepared, emulate};
use mumakil::expect::{Expr, Space};
use mumakil::mapred::ProgramPermit;
use mumakil::scenario::{self, Draft, Starter};
use mumakil::study::{Plan, Study};
use mumakil::trace::{Record, Records, Strictness, TraceError};
use mumakil::traces::list;
use mumakil::traces::rumen::{LoggedJob, LoggedTopology};
use mumakil::traces::sls::{SlsJob, SlsRack, Synth};
use mumakil::traces::swim::SwimJob;
use mumakil::units::{Bytes, SimSpan};
use mumakil::workload::exchange::{PackedJobs, check_listed, convert};
use mumakil::workload::format::{FormatContents, Trace, TraceJob, TraceToRead};

pub(crate) fn swim(bytes: &[u8]) {
    read_and_write(bytes, |job: &SwimJob, to| job.write_to(to));
}

pub(crate) fn rumen(bytes: &[u8]) {
    read_and_write(bytes, |job: &LoggedJob, to| job.write_to(to));
    run_and_inspect(bytes, "rumen: {lenient: true, trace: trace}");
    prepare(bytes, "rumen: {model: mumak, lenient: true, trace: trace}");
}

pub(crate) fn topology(bytes: &[u8]) {
    read_and_write(bytes, |root: &LoggedTopology, to| root.write_to(to));
}

/// Reads bytes as a list of jobs, writes the jobs that are not broken, and checks that they read
/// back the same.
pub(crate) fn list(bytes: &[u8]) {
    let path = Path::new("list");
    let block = Bytes::from_mib(64);
    let lenient = Strictness::Lenient;
    let file = |key: &str, strictness| {
        let format = mumakil::traces::formats().written_as(key).expect("a format of our own");
        TraceToRead { format, path, block, strictness }
    };
    let table = |bytes: &[u8], how| {
        let rows = Records::from_reader("list", Cursor::new(bytes.to_vec()), how)?;
        Trace::collected(|see| list::read_table(file("csv", how), rows, &[], see))
    };
    let yaml = |bytes: &[u8], how| {
        let entries = Records::from_reader("list", Cursor::new(bytes.to_vec()), how)?;
        Trace::collected(|see| list::read_yaml(file("yaml", how), entries, see))
    };
    for read in [table(bytes, lenient), yaml(bytes, lenient)] {
        let jobs = match read {
            Ok(list) => list.into_own(),
            Err(error) => {
                assert!(error.to_string().len() < 2_000, "{error}");
                continue;
            }
        };
        let mut written = Vec::new();
        list::write_table(&PackedJobs::of(&jobs, block), &mut written)
            .expect("memory can be written");
        assert_eq!(table(&written, Strictness::Strict).expect("a table").into_own(), jobs);
        let mut written = Vec::new();
        list::write_yaml(&PackedJobs::of(&jobs, block), &mut written)
            .expect("memory can be written");
        assert_eq!(yaml(&written, Strictness::Strict).expect("a list").into_own(), jobs);
    }
}

/// Reads bytes in the format that their first line shows, and checks that the jobs of a list read
/// back the same.
pub(crate) fn batch(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = folder.path().join("trace");
    fs::write(&path, bytes).expect("there is room for a file");
    let block = Bytes::from_mib(64);
    let formats = mumakil::traces::formats();
    let strict = Trace::read(&path, block, Strictness::Strict, &formats);
    let jobs = match Trace::read(&path, block, Strictness::Lenient, &formats) {
        Ok(trace) => trace,
        Err(error) => {
            assert!(strict.is_err(), "lenient reading refuses less");
            return assert!(error.to_string().len() < 2_000, "{error}");
        }
    };
    if !matches!(jobs.format.contents, FormatContents::List { .. }) {
        return;
    }
    let jobs = jobs.into_own();
    let mut written = Vec::new();
    list::write_table(&PackedJobs::of(&jobs, block), &mut written).expect("memory can be written");
    let format = formats.written_as("csv").expect("a format of our own");
    let strictness = Strictness::Strict;
    let rows = Records::from_reader("list", Cursor::new(written), strictness);
    let rows = rows.expect("bytes can be read");
    let file = TraceToRead { format, path: &path, block, strictness };
    let table = Trace::collected(|see| list::read_table(file, rows, &[], see));
    assert_eq!(table.expect("a table").into_own(), jobs);
}

/// Reads bytes as `trace inspect` and `trace convert` do, strictly and leniently.
/// Errors name their line, and the converted jobs can be read again.
pub(crate) fn inspect_and_convert(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = folder.path().join("trace");
    fs::write(&path, bytes).expect("there is room for a file");
    let (block, registry) = (Bytes::from_mib(64), mumakil::registry());
    let formats = registry.formats();
    let blame = |error: TraceError| {
        let text = error.to_string();
        let has_place = match &error {
            TraceError::Malformed { path, place, .. } => {
                text.starts_with(&format!("{}:{}: ", path.display(), place.line))
            }
            TraceError::Read { .. } => panic!("{text}"),
            _ => true,
        };
        assert!(has_place && text.len() < 2_000, "{text}");
    };
    let Ok(format) = formats.recognise(&path).map_err(blame) else { return };
    let mut counts = [None; 2];
    for (how, count) in [Strictness::Strict, Strictness::Lenient].into_iter().zip(&mut counts) {
        let (mut jobs, mut number) = (PackedJobs::new(block), 0);
        let file = TraceToRead { format, path: &path, block, strictness: how };
        let read = file.pass(&mut |job| {
            number += 1;
            job.entry(number, block).expect("it was checked").iter().for_each(|job| jobs.push(job));
        });
        let Ok(trace) = read.map_err(blame) else { continue };
        *count = Some((number, trace.skipped.count));
        trace.skipped.first.into_iter().for_each(blame);
        if format.is_wall_clock {
            jobs.count_from_first();
        }
        for target in formats.iter().filter(|format| format.target.is_some()) {
            if check_listed(&jobs, target).is_err() {
                continue;
            }
            let (mut text, again) = (Vec::new(), folder.path().join("again"));
            match convert(&jobs, target, &mut text) {
                Ok(_) if text.is_empty() => {}
                Ok(_) => {
                    fs::write(&again, &text).expect("there is room for a file");
                    let (path, strictness) = (&again, Strictness::Strict);
                    let read = TraceToRead { format: target, path, block, strictness }.read();
                    read.unwrap_or_else(|error| panic!("{target}: {error}"));
                }
                Err(error) => assert!(error.to_string().contains("read back"), "{error}"),
            }
        }
    }
    if let [Some((strict, _)), lenient] = counts {
        assert_eq!(lenient, Some((strict, 0)), "without a mistake both read the same");
    }
}

pub(crate) fn sls(bytes: &[u8]) {
    read_and_write(bytes, |job: &SlsJob, to| job.write_to(to));
    read_and_write(bytes, |rack: &SlsRack, to| rack.write_to(to));
    read::<Synth>(bytes, Strictness::Lenient);
    run_and_inspect(bytes, "sls: {lenient: true, file: trace}");
}

/// Reads bytes as a scenario and as a study.
pub(crate) fn scenario(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    resolve(text, &[]);
    let Ok(draft) = Draft::of("fuzz.yaml", text) else { return };
    let Ok(study) = Study::of_any(draft) else { return };
    // A plan of too many runs is refused, but this may take a while.
    let _ = Plan::new(&study, &mumakil::registry()).map_err(|error| error.to_string());
}

/// Reads each line as an argument of `--set`, over a starter scenario.
pub(crate) fn set(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let sets: Vec<String> = text.lines().map(str::to_owned).collect();
    let starter = Starter::find("quickstart").expect("a bundled scenario");
    resolve(starter.text, &sets);
}

/// Resolves a scenario, and checks that the resolved scenario resolves to itself.
fn resolve(text: &str, sets: &[String]) {
    let registry = mumakil::registry();
    let loaded = match scenario::parse("fuzz.yaml", text, sets, &registry) {
        Ok(loaded) => loaded,
        Err(error) => return assert!(error.to_string().len() < 100_000, "{error}"),
    };
    let resolved = loaded.scenario.to_yaml();
    match scenario::parse("resolved.yaml", &resolved, &[], &registry) {
        Ok(again) => assert_eq!(again.scenario.to_yaml(), resolved),
        Err(error) => panic!("{error}\n{resolved}"),
    }
}

/// Reads bytes as an expectation, as a metric and as the sample of a chart.
pub(crate) fn expression(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let expr = match Expr::parse(text) {
        Ok(expr) => expr,
        Err(complaint) => return assert!(complaint.to_string().len() < 10_000, "{complaint}"),
    };
    // Blanks around signs may make the text too long to be read again.
    let written = expr.to_string();
    if written.len() <= 2_000 {
        assert_eq!(Expr::parse(&written).as_ref(), Ok(&expr), "{expr}");
    }
    let space = Space::default();
    for plan in [expr.expectation(&space), expr.metric(&space), expr.sample(&space)] {
        let _ = plan.map_err(|complaint| complaint.to_string());
    }
}

/// Reads bytes as the allocation file of each policy that has one.
pub(crate) fn allocations(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is room for a file");
    fs::write(folder.path().join("file.xml"), bytes).expect("there is room for a file");
    let file = folder.path().join("fuzz.yaml").display().to_string();
    let registry = mumakil::registry();
    for policy in ["fair", "modified-fair", "capacity"] {
        let text = format!(
            "scheduler: {{{policy}: {{allocations: file.xml}}}}\n\
             workload: {{jobs: [{{name: a, maps: 1, map_time: 1s}}]}}\n"
        );
        match scenario::parse(&file, &text, &[], &registry) {
            Ok(loaded) => {
                let resolved = loaded.scenario.to_yaml();
                let again = scenario::parse(&file, &resolved, &[], &registry);
                assert_eq!(again.expect("it was resolved").scenario.to_yaml(), resolved);
            }
            Err(error) => assert!(error.to_string().len() < 100_000, "{error}"),
        }
    }
}

/// Reads bytes as the jobs of a run, and as a trace. Both must have the same jobs at the same
/// times, and no job may come so late that the run would not end.
fn run_and_inspect(bytes: &[u8], workload: &str) {
    let Some((run, inspected)) = prepare(bytes, workload) else { return };
    let run: Vec<(SimSpan, String)> =
        run.workload.arrivals.iter().map(|job| (job.delay, job.spec.name.to_string())).collect();
    let Some(inspected) = inspected else { return };
    let mut listed: Vec<(SimSpan, String)> = Vec::new();
    for job in inspected.entries(Bytes::from_mib(64)) {
        let names = match job.count.get() {
            1 => vec![job.name.clone()],
            count => (1..=count).map(|number| format!("{}-{number}", job.name)).collect(),
        };
        listed.extend(names.into_iter().map(|name| (job.submit, name)));
    }
    listed.sort_by_key(|(submit, _)| *submit);
    assert_eq!(run, listed);
    assert!(run.iter().all(|(submit, _)| *submit <= SimSpan::LONGEST));
}

/// Reads bytes as the jobs of a scenario, and as a trace. Returns `None` if the bytes are no jobs;
/// the trace is `None` if the bytes are no trace.
fn prepare(bytes: &[u8], workload: &str) -> Option<(Prepared, Option<Trace>)> {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let path = folder.path().join("trace");
    fs::write(&path, bytes).expect("there is room for a file");
    let text = format!("cluster: {{nodes: 3}}\nworkload: {{{workload}}}\n");
    let file = folder.path().join("fuzz.yaml").display().to_string();
    let registry = mumakil::registry();
    let loaded = scenario::parse(&file, &text, &[], &registry).expect("a scenario");
    let run = Prepared::new(loaded.scenario, &registry).ok()?;
    let (block, how) = (Bytes::from_mib(64), Strictness::Lenient);
    let inspected = Trace::read(&path, block, how, registry.formats()).ok();
    Some((run, inspected))
}

/// Reads all records that are not broken, writes them, and checks that they read back the same.
fn read_and_write<T: Record + Debug + PartialEq>(
    bytes: &[u8],
    write: fn(&T, &mut Vec<u8>) -> io::Result<()>,
) {
    let strict = read::<T>(bytes, Strictness::Strict);
    let lenient = read::<T>(bytes, Strictness::Lenient);
    assert_eq!(lenient[..strict.len()], strict, "both reads agree up to the first error");
    let mut written = Vec::new();
    for record in &lenient {
        write(record, &mut written).expect("memory can be written");
    }
    assert_eq!(read::<T>(&written, Strictness::Strict), lenient);
}

fn read<T: Record>(bytes: &[u8], strictness: Strictness) -> Vec<T> {
    let bytes = Cursor::new(bytes.to_vec());
    let Ok(mut pass) = Records::<T>::from_reader("trace", bytes, strictness) else {
        return Vec::new();
    };
    let mut records = Vec::new();
    let mut errors = 0;
    for record in pass.by_ref() {
        match record {
            Ok(record) => records.push(record),
            Err(error) => {
                errors += 1;
                assert!(error.to_string().len() < 2_000, "{error}");
            }
        }
    }
    assert!(errors <= 1, "an error ends a pass");
    assert_eq!(pass.sha256().is_some(), errors == 0, "a pass without an error is whole");
    for error in &pass.notes().skipped.first {
        assert!(error.to_string().len() < 2_000, "{error}");
    }
    records
}

/// Runs a small scenario whose policy is a program that answers with these lines. The run must end
/// or blame the program. Returns the words of the blame; `None` if the run ended.
pub(crate) fn protocol(bytes: &[u8]) -> Option<String> {
    const RUN: &str = "
cluster: {nodes: 2}
until: 1h
workload: {jobs: [{name: a, maps: 3, map_time: 5s}, {name: b, maps: 1, reduces: 1, map_time: 5s}]}
";
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("lines");
    fs::write(&file, bytes).expect("a file can be written");
    // The program writes all answers before it is asked, then waits until its input ends.
    let command = format!("[sh, -c, 'cat \"$0\"; exec cat > /dev/null', {:?}]", file);
    let scheduler = format!("scheduler: {{external: {{command: {command}, timeout: 200ms}}}}");
    let mut registry = mumakil::registry();
    registry.permit_programs(ProgramPermit::Trusted);
    let text = format!("{RUN}{scheduler}");
    let scenario = scenario::parse("run.yaml", &text, &[], &registry).expect("a scenario").scenario;
    match emulate(&scenario, &registry, Options { verify: true, ..Options::default() }) {
        Ok(run) => {
            assert!(run.verifier.expect("`verify` is on").violations().is_empty());
            None
        }
        Err(EmulationError::PolicyFailed { words }) => {
            assert!(words.len() < 20_000, "{words}");
            Some(words)
        }
        Err(error) => panic!("{error}"),
    }
}
