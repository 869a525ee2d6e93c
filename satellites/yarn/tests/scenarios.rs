//! Runs from scenarios, as users write them.

use std::fs;
use std::path::{Path, PathBuf};
use std::{env, io::Read as _};

use crate::line::YarnLine;
use mumakil_core::mapred::{SlotKind, StopReason};
use mumakil_results::tables::{ContainerRow, JobEnd, JobRow, read_rows};
use mumakil_run::emulation::{Emulated, EmulationError, Options, Prepared};
use mumakil_runtime::Transport;
use mumakil_scenario::{Draft, Registry};

fn registry() -> Registry {
    let mut registry = Registry::new();
    mumakil_traces::bring(&mut registry);
    registry.bring_line(&YarnLine);
    registry
}

/// Returns the mistakes or the warnings that the check of a scenario finds.
fn told(yaml: &str) -> String {
    let draft = Draft::of("test.yaml", yaml).unwrap();
    match draft.resolve(&registry()) {
        Ok(loaded) => loaded.warnings.iter().map(|it| format!("warning: {it}\n")).collect(),
        Err(error) => error.to_string(),
    }
}

fn run(draft: &Draft, folder: &Path, transport: Transport) -> Result<Emulated, EmulationError> {
    let registry = registry();
    let scenario = draft.resolve(&registry).unwrap_or_else(|error| panic!("{error}")).scenario;
    let options =
        Options { folder: Some(folder.to_owned()), transport, verify: true, ..Options::default() };
    Prepared::new(scenario, &registry)?.emulate(&registry, options)
}

/// Runs a scenario, and returns its tables.
fn tables(yaml: &str, transport: Transport) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    run(&Draft::of("test.yaml", yaml).unwrap(), folder.path(), transport).unwrap();
    let files = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().path());
    let mut files: Vec<PathBuf> = files.filter(|it| it.is_file()).collect();
    files.sort();
    let named = files
        .into_iter()
        .map(|it| (it.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&it).unwrap()));
    named.collect()
}

/// Returns all that is said of a scenario: by its check, before its run, or when it stalls.
fn said(yaml: &str) -> String {
    let checked = told(yaml);
    let draft = Draft::of("test.yaml", yaml).unwrap();
    if draft.resolve(&registry()).is_err() {
        return checked + "\n";
    }
    let folder = tempfile::tempdir().unwrap();
    let outcome = match run(&draft, folder.path(), Transport::Bare) {
        Err(error) => format!("error: {error}\n"),
        Ok(Emulated { stop: StopReason::Stalled(stall), .. }) => format!("stalled: {stall}\n"),
        Ok(_) => "done\n".to_owned(),
    };
    checked + &outcome
}

#[test]
fn a_master_that_dies_by_its_scenario_is_started_again() {
    let line = "hadoop: {line: yarn, protocol: {yarn: {master: managed, \
                master_faults: {b: [{at: 15s}]}}}}";
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft::of("test.yaml", &SMALL.replace("hadoop: yarn", line)).unwrap();
    let emulated = run(&draft, folder.path(), Transport::Bare).unwrap();
    assert_eq!(emulated.summary.jobs_succeeded, 4);
    let containers: Vec<ContainerRow> = rows(folder.path());
    let failed = containers.iter().filter(|it| &*it.kind == "am" && &*it.exit == "failed");
    assert_eq!(failed.map(|it| it.job).collect::<Vec<_>>(), [2]);
}

/// The file has each scenario and what is said of it; `MUMAKIL_UPDATE=1` writes what is said now.
#[test]
fn bad_input_is_told_in_full() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input.txt");
    let text = fs::read_to_string(&path).unwrap();
    let mut now = String::new();
    for case in text.split("==== ").skip(1) {
        let (title, rest) = case.split_once('\n').unwrap();
        let (yaml, _) = rest.split_once("----\n").unwrap();
        now += &format!("==== {title}\n{yaml}----\n{}\n", said(yaml).trim_end());
    }
    if env::var_os("MUMAKIL_UPDATE").is_some() {
        fs::write(&path, &now).unwrap();
    }
    assert_eq!(now, fs::read_to_string(&path).unwrap());
}

fn rows<R: mumakil_results::tables::TableRow>(folder: &Path) -> Vec<R> {
    let mut all = Vec::new();
    let path = folder.join(R::FILE);
    read_rows(fs::File::open(&path).unwrap(), &path, |row: R| {
        all.push(row);
        Ok(())
    })
    .unwrap();
    all
}

const SMALL: &str = "
hadoop: yarn
cluster: {nodes: 4, racks: 2, memory: 4GiB, cores: 4}
workload: {jobs: [
  {name: a, pool: x, count: 3, every: 3s, maps: 9, reduces: 2, map_time: 7s, reduce_time: 4s},
  {name: b, pool: y, submit: 5s, maps: 12, map_time: 3s, map_memory: 3GiB},
]}
scheduler: {yarn-fair: {queues: {x: 1, y: 2}}}
";

#[test]
fn a_scenario_leaves_the_tables_of_all_runs_and_one_of_containers() {
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft::of("test.yaml", SMALL).unwrap();
    let emulated = run(&draft, folder.path(), Transport::Bare).unwrap();
    assert_eq!((emulated.stop, emulated.summary.jobs_succeeded), (StopReason::Done, 4));
    assert_eq!(emulated.verifier.unwrap().violations(), []);
    let jobs: Vec<JobRow> = rows(folder.path());
    assert!(jobs.iter().all(|job| job.outcome == JobEnd::Succeeded));
    let containers: Vec<ContainerRow> = rows(folder.path());
    let of = |kind: &str| containers.iter().filter(|it| &*it.kind == kind).count();
    assert_eq!(["am", "map", "reduce", "none"].map(of), [4, 39, 6, 0]);
    assert!(containers.iter().any(|it| it.reserved_ms.is_some()), "3 GiB do not fit at once");
    for it in containers.iter().filter(|it| &*it.kind != "am") {
        let times = [it.acquired_ms, it.launched_ms, it.running_ms, it.finished_ms, it.heard_ms];
        let times: Vec<u64> = times.into_iter().map(Option::unwrap).collect();
        assert!(it.allocated_ms <= times[0] && times.is_sorted(), "{it:?}");
        assert_eq!(times[1] - times[0], 1_000, "an answer is looked at a second later");
    }
    assert_eq!(emulated.summary.attempts, 45);
    assert!(emulated.summary.slot_utilisation[SlotKind::Map] < Some(1.0));
}

#[test]
fn masters_of_mapreduce_overlap_maps_and_shuffles() {
    let line = "hadoop: {line: yarn, slow_start: 0.1, protocol: {yarn: {master: mapreduce}}}";
    let yaml = SMALL.replace("hadoop: yarn", line).replace("map_time: 3s", "map_time: 9s");
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft::of("test.yaml", &yaml).unwrap();
    let emulated = run(&draft, folder.path(), Transport::Bare).unwrap();
    assert_eq!((emulated.stop, emulated.summary.jobs_succeeded), (StopReason::Done, 4));
    assert_eq!(emulated.verifier.unwrap().violations(), []);
    assert!(emulated.summary.attempts_killed <= 2, "only reduces that give way to maps");
    let jobs: Vec<JobRow> = rows(folder.path());
    let containers: Vec<ContainerRow> = rows(folder.path());
    let is_early = |it: &&ContainerRow| {
        let job = jobs.iter().find(|job| job.job == it.job).unwrap();
        &*it.kind == "reduce" && it.launched_ms < job.maps_done_ms
    };
    assert!(
        0 < containers.iter().filter(is_early).count(),
        "reduces begin before the last map ends"
    );
}

#[test]
fn a_node_that_stops_loses_its_containers_and_jobs_end_elsewhere() {
    let yaml = format!(
        "{SMALL}faults: [{{at: 10s, stop: {{nodes: [node-2], for: 20s}}}}, \
        {{at: 1s, slow: {{nodes: [node-3], cpu: 0.5}}}}]"
    );
    let folder = tempfile::tempdir().unwrap();
    let draft = Draft::of("test.yaml", &yaml).unwrap();
    let emulated = run(&draft, folder.path(), Transport::Bare).unwrap();
    assert_eq!(emulated.verifier.unwrap().violations(), []);
    let containers: Vec<ContainerRow> = rows(folder.path());
    assert!(containers.iter().any(|it| &*it.exit == "lost" && &*it.node == "node-2"));
    assert!(emulated.summary.faults.is_some());
}

#[test]
fn actors_leave_the_same_bytes_and_so_does_another_time() {
    let [bare, again, actors] = [Transport::Bare, Transport::Bare, Transport::Actors]
        .map(|transport| tables(SMALL, transport));
    assert!(bare.iter().any(|(name, _)| name == "containers.csv"));
    assert!(bare == again, "twice");
    assert!(bare == actors, "actors");
}

#[test]
fn a_scaled_clock_runs_the_same_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = SMALL.to_owned();
    text += "clock: 400x";
    let draft = Draft::of("test.yaml", &text).unwrap();
    let emulated = run(&draft, folder.path(), Transport::Bare).unwrap();
    assert_eq!(emulated.summary.jobs_succeeded, 4);
}

#[test]
fn the_seed_draws_the_clocks_of_nodes() {
    let of = |seed: u32| tables(&format!("{SMALL}seed: {seed}"), Transport::Bare);
    assert!(of(1) != of(2));
    let fixed = SMALL.replace(
        "hadoop: yarn",
        "hadoop: {line: yarn, protocol: {yarn: {offsets: [1ms, 200ms, 300ms, 999ms]}}}",
    );
    let of = |seed: u32| {
        // The jobs of this scenario draw nothing but the nodes of their input.
        let text = format!("{fixed}seed: {seed}").replace("maps:", "input: 0, maps:");
        let tables = tables(&text, Transport::Bare);
        tables.into_iter().find(|(name, _)| name == "containers.csv")
    };
    assert!(of(1) == of(2));
}

#[test]
fn settings_that_yarn_does_not_have_are_told() {
    let with = |more: &str| told(&format!("{SMALL}{more}"));
    let replaced = |from: &str, to: &str| told(&SMALL.replace(from, to));
    for (text, words) in [
        (
            replaced("hadoop: yarn", "hadoop: {line: yarn, out_of_band: true}"),
            "`hadoop.out_of_band` has no effect with `hadoop: yarn`",
        ),
        (replaced("cores: 4}", "cores: 4, map_slots: 3}"), "`cluster.map_slots` has no effect"),
        (with("faults: [{at: 1s, kill: a}]"), "there is no such fault under YARN"),
        (with("later: [{at: 1s, scheduler: yarn-fifo}]"), "nothing changes during a run"),
        (replaced("maps: 12", "after: [a], maps: 12"), "a job cannot wait for another"),
        (
            replaced("yarn-fair: {queues: {x: 1, y: 2}}", "fair: {}"),
            "unknown policy `fair`, expected",
        ),
        (replaced("hadoop: yarn", "hadoop: 1.x"), "`yarn-fair` schedules containers of `yarn`\n"),
        (
            replaced("hadoop: yarn", "hadoop: {line: yarn, protocol: {yarn: {offset: [1s]}}}"),
            "did you mean `offsets`?",
        ),
        (
            replaced("hadoop: yarn", "hadoop: {protocol: {yarm: {}}}"),
            "unknown protocol `yarm`, expected `yarn`",
        ),
        (replaced("hadoop: yarn", "hadoop: yarm"), "did you mean `yarn`?"),
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(told(SMALL), "");
}

#[test]
fn mistakes_of_queues_are_told_before_the_run() {
    let told =
        |scheduler: &str| told(&SMALL.replace("yarn-fair: {queues: {x: 1, y: 2}}", scheduler));
    for (scheduler, words) in [
        (
            "yarn-capacity: {queues: {x: 100}}",
            "there is no queue `y`, but a job of `default` goes to `y`",
        ),
        (
            "yarn-capacity: {queues: {x: 40, y: 50}}",
            "the capacities below queue `root` add up to 90, not 100",
        ),
        ("yarn-capacity: {file: none.xml}", "cannot read none.xml"),
        ("yarn-fifo: {queues: {x: 1}}", "FIFO has no queues"),
        (
            "yarn-fair: {properties: {yarn.scheduler.fair.preemptoin: true}}",
            "did you mean `yarn.scheduler.fair.preemption`?",
        ),
        ("yarn-fair: {xml: '<allocations><queue/></allocations>'}", "a queue without a name"),
        ("yarn-fair: {properties: {yarn.scheduler.fair.allow-undeclared-pools: maybe}}", ""),
    ] {
        let text = told(scheduler);
        assert!(text.contains(words), "{scheduler}: {text}");
    }
}

#[test]
fn a_container_larger_than_any_is_refused_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |yaml: String| {
        let draft = Draft::of("test.yaml", &yaml).unwrap();
        let error = run(&draft, folder.path(), Transport::Bare).unwrap_err();
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "nothing is written");
        error.to_string()
    };
    assert_eq!(
        refused(SMALL.replace("map_memory: 3GiB", "map_memory: 5GiB")),
        "a map of `b` asks for 5GiB and 1 core, more than the largest container, 4GiB and \
         4 cores: the largest node, or `yarn.scheduler.maximum-allocation-…`; the real \
         ResourceManager refuses such an ask"
    );
    let offsets = "hadoop: {line: yarn, protocol: {yarn: {offsets: [1ms]}}}";
    let message = refused(SMALL.replace("hadoop: yarn", offsets));
    assert_eq!(message, "hadoop.protocol.yarn.offsets: 1 offsets for 4 nodes");
}

#[test]
fn a_master_that_never_fits_stalls_the_run_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = "
hadoop: {line: yarn, protocol: {yarn: {master: managed, master_memory: 3GiB}}}
cluster: {nodes: 1, memory: 4GiB, cores: 4}
workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}
scheduler: yarn-fair
";
    let draft = Draft::of("test.yaml", yaml).unwrap();
    let emulated = run(&draft, folder.path(), Transport::Bare).unwrap();
    let StopReason::Stalled(stall) = emulated.stop else { panic!("{:?}", emulated.stop) };
    let words = stall.to_string();
    assert!(
        words.starts_with("job a: waits for a container for its master: `maxAMShare`"),
        "{words}"
    );
}

/// Returns the folders of golden runs; none without the variable.
fn golden_runs() -> Vec<PathBuf> {
    let Some(folder) = env::var_os("MUMAKIL_GOLDEN") else {
        eprintln!("skipped: no golden runs; set MUMAKIL_GOLDEN to their folder");
        return Vec::new();
    };
    let all = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    all.filter(|it| it.join("scenario.json").exists()).collect()
}

/// Returns the scenario of a golden run, and the jobs of its applications in the order of its table.
fn golden_scenario(folder: &Path) -> String {
    let text = fs::read_to_string(folder.join("scenario.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&text).unwrap();
    let nodes = told["nodes"].as_array().unwrap();
    let offsets: Vec<String> =
        nodes.iter().map(|node| format!("{}ms", node["offset_ms"])).collect();
    let policy = told["scheduler"].as_str().unwrap();
    let file = match policy {
        "fifo" => String::new(),
        policy => format!(", file: {policy}-scheduler.xml"),
    };
    format!(
        "hadoop: {{line: yarn, protocol: {{yarn: {{offsets: [{}]}}}}}}\n\
         cluster: {{memory: {}MiB, cores: {}}}\n\
         workload: {{sls: {{file: jobs.json, nodes: topology.json}}}}\n\
         scheduler: {{yarn-{policy}: {{site: yarn-site.xml{file}}}}}\n",
        offsets.join(", "),
        nodes[0]["memory_mb"],
        nodes[0]["vcores"],
    )
}

#[test]
fn golden_runs_are_repeated_from_their_scenarios() {
    for folder in golden_runs() {
        let out = tempfile::tempdir().unwrap();
        let file = folder.join("run.yaml");
        let draft = Draft::of(&file.display().to_string(), &golden_scenario(&folder)).unwrap();
        run(&draft, out.path(), Transport::Bare).unwrap_or_else(|error| panic!("{error}"));
        let ours: Vec<ContainerRow> = rows(out.path());
        let mut ours: Vec<_> =
            ours.into_iter().map(|it| (it.job, it.node.to_string(), it.allocated_ms)).collect();
        let mut text = String::new();
        let packed = fs::read(folder.join("containers.csv.gz")).unwrap();
        flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
        let jobs = fs::read_to_string(folder.join("jobs.csv")).unwrap();
        let apps: Vec<&str> =
            jobs.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
        let golden = text.lines().skip(1).map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let job = apps.iter().position(|app| *app == fields[0]).unwrap() as u32;
            (job, fields[6].to_owned(), fields[10].parse().unwrap())
        });
        let mut golden: Vec<(u32, String, u64)> = golden.collect();
        ours.sort();
        golden.sort();
        assert!(ours == golden, "{}", folder.display());
    }
}
