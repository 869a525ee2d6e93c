//! Studies on the command line. Their results are the same bytes in whatever order the runs are
//! done, even after interruptions.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mumakil::output::results::RunResults;
use mumakil::study::{Store, read_manifest};

use crate::{Room, files};

/// Eight cells with two seeds each; a run takes a tenth of a second.
pub(crate) const STUDY: &str = "
name: small
cluster: {nodes: 4}
workload:
  jobs: [{name: a, count: 40, every: 20s, maps: 12, reduces: 1, map_time: 10s, reduce_time: 5s}]
sweep:
  cluster.nodes: [2, 3, 4, 5]
  hadoop.commit_pending: [quirk, slot-held]
  seeds: 2
compare: commit_pending
metrics: [mean(sojourn), makespan, locality.node, p99(heartbeat_rtt)]
expect:
  - falling(mean(sojourn, commit_pending=quirk), by=nodes)
  - {that: \"makespan[commit_pending=quirk] < 1s\", known_gap: a test of the mark}
charts:
  - {line: mean(sojourn), over: nodes, by: commit_pending}
  - {ecdf: sojourn, by: nodes, where: {commit_pending: quirk}}
  - {percentiles: heartbeat_rtt, by: commit_pending, where: {nodes: 4}}
  - {stack: map, where: {nodes: 4, commit_pending: quirk}}
";

/// Returns the files of a study's folder that do not depend on the machine.
pub(crate) fn results(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let is_result = |file: &String| !file.ends_with("perf.json") && !file.starts_with("at-work/");
    let files = files(folder).into_iter().filter(is_result);
    let read = |file: String| {
        let mut bytes = fs::read(folder.join(&file)).unwrap();
        if file == "study.resolved.yaml" {
            // Leave out the comments, which contain the command line of the study.
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            bytes = lines.filter(|line| !line.starts_with(b"#")).flatten().copied().collect();
        }
        (file, bytes)
    };
    files.map(read).collect()
}

pub(crate) fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (results(one), results(other));
    let names =
        |files: &[(String, Vec<u8>)]| files.iter().map(|(n, _)| n.clone()).collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    for ((name, left), (_, right)) in one.iter().zip(&other) {
        assert!(left == right, "{name} differs");
    }
}

pub(crate) fn study(room: &Room, arguments: &str) {
    room.mumakil(&format!("study study.yaml --quiet {arguments}")).assert().success();
}

/// Returns the colour and the marker of a series in the legend of a chart.
fn look<'s>(chart: &'s str, series: &str) -> (&'s str, &'s str) {
    let (before, _) = chart.split_once(&format!(">{series}</text>")).expect(series);
    let last = |attribute: &str| {
        let (_, rest) = before.rsplit_once(attribute).unwrap();
        rest.split_once('"').unwrap().0
    };
    (last("class=\"c-"), last(" d=\""))
}

#[test]
fn a_policy_has_one_colour_and_one_marker_on_all_charts_of_a_study() {
    let room = Room::new();
    room.write(
        "colours.yaml",
        "
name: colours
workload:
  jobs: [{name: a, count: 10, every: 20s, maps: 12, map_time: 10s}]
sweep: {cluster.nodes: [2, 3], scheduler: [fifo, fair, hfsp], seeds: 2}
compare: scheduler
metrics: [mean(sojourn)]
charts:
  - {line: mean(sojourn), over: nodes, by: scheduler}
  - {ratio: mean(sojourn), over: nodes}
  - {boxes: sojourn, over: scheduler, where: {nodes: 2}}
",
    );
    room.mumakil("study colours.yaml --out out --quiet").assert().success();
    let [lines, ratios, boxes] = ["01.svg", "02.svg", "03.svg"]
        .map(|name| fs::read_to_string(room.path("out/charts").join(name)).unwrap());
    for policy in ["fair", "hfsp"] {
        assert_eq!(look(&lines, policy), look(&ratios, &format!("{policy} / fifo")));
    }
    assert_ne!(look(&lines, "fair"), look(&lines, "hfsp"));
    let colours = ["fifo", "fair", "hfsp"].map(|policy| look(&lines, policy).0);
    let first = |colour: &&str| boxes.find(&format!("<g class=\"c-{colour}\">"));
    let places = colours.iter().map(first).collect::<Option<Vec<_>>>().expect("each has a box");
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_results_are_the_same_whatever_the_workers_and_the_drive() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--jobs 1 --out one");
    study(&room, "--jobs 5 --out five");
    assert_same(&room.path("one"), &room.path("five"));
    study(&room, "--drive bare --out bare");
    assert_same(&room.path("one"), &room.path("bare"));
    // A scaled clock follows real time, so the run needs actors.
    room.write("scaled.yaml", &format!("{STUDY}clock: 600x\n"));
    let refused = room.mumakil("study scaled.yaml --drive bare --out scaled").assert().code(2);
    let told = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(told.contains("`--drive bare` needs `clock: virtual`"), "{told}");
    assert!(!room.path("scaled").exists());
    for name in ["runs.csv", "cells.csv", "comparisons.csv", "summary.json", "report.html"] {
        assert!(room.path("one").join(name).is_file(), "{name}");
    }
    assert_eq!(crate::names(&room.path("one/charts")).len(), 4);
    let runs = fs::read_to_string(room.path("one/runs.csv")).unwrap();
    assert_eq!(runs.lines().count(), 1 + 16, "{runs}");
}

#[test]
fn charts_say_what_they_count_and_what_they_stand_over() {
    let room = Room::new();
    let charts = "charts:
  - {ecdf: sojourn, by: nodes, where: {commit_pending: quirk}}
  - {bars: makespan, by: nodes, where: {commit_pending: quirk}}
  - {bars: {mean one: mean(sojourn), longest: max(sojourn)}, over: nodes, where: {commit_pending: quirk}}
";
    let (study_of, _) = STUDY.split_once("charts:").unwrap();
    room.write("study.yaml", &format!("{study_of}{charts}"));
    study(&room, "--out out");
    let chart = |name: &str| fs::read_to_string(room.path("out/charts").join(name)).unwrap();
    assert!(chart("01.svg").contains("Share of jobs (%)"), "{}", chart("01.svg"));
    assert!(chart("02.svg").contains(">nodes</text>"), "{}", chart("02.svg"));
    // Several expressions have a colour each, and stand together over each value of the axis.
    for label in [">mean one</text>", ">longest</text>", ">2</text>"] {
        assert_eq!(chart("03.svg").matches(label).count(), 1, "{label}: {}", chart("03.svg"));
    }
}

#[test]
fn published_numbers_stand_beside_ours_in_all_that_a_study_leaves() {
    let room = Room::new();
    let published = "expect:
  - {that: \"makespan[commit_pending=quirk]\", published: [100s, ~, 100s, 100s]}
  - {that: \"makespan[commit_pending=quirk] < 1s\", known_gap: {class: setting, why: a test}}
charts:
  - line: makespan
    over: nodes
    by: commit_pending
    published: {quirk: [100s, ~, 100s, 100s], slot-held: {3.5: 100s}}
  - {bars: makespan, over: nodes, where: {commit_pending: quirk}, published: [100s, ~, 100s, 100s]}
  - {ecdf: sojourn, by: nodes, where: {commit_pending: quirk}, published: {4: {1h: 90 %}}}
";
    let (study_of, _) = STUDY.split_once("expect:").unwrap();
    room.write("study.yaml", &format!("{study_of}{published}"));
    let told = room.mumakil("study study.yaml --out out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("nodes=2: published 100s, ours ") && told.contains("known (setting): a"));
    let summary = fs::read_to_string(room.path("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let [reported, gap] = [0, 1].map(|place| &summary["expectations"][place]);
    assert_eq!(
        (&reported["published"], &gap["gap_class"]),
        (&"100s, –, 100s, 100s".into(), &"setting".into())
    );
    let figures = reported["figures"].as_array().unwrap();
    assert_eq!(figures.len(), 3);
    assert_eq!(figures[1]["what"], "nodes=4");
    // The fifth cell has four nodes and the quirk.
    let ours = summary["metrics"][1]["cells"][4]["mean"].as_f64().unwrap();
    assert_eq!(figures[1]["ours"].as_f64().unwrap(), ours);
    assert_eq!(figures[1]["ratio"].as_f64().unwrap(), ours / 100.0);
    for (name, marks) in [("01.svg", 4), ("02.svg", 3), ("03.svg", 1)] {
        let chart = fs::read_to_string(room.path("out/charts").join(name)).unwrap();
        assert_eq!(chart.matches(", published: ").count(), marks, "{name}");
        assert_eq!(chart.matches(">published<").count(), 1, "{name}");
    }
    let report = fs::read_to_string(room.path("out/report.html")).unwrap();
    assert_eq!(report.matches("published and ours</caption>").count(), 3);
    for row in
        ["commit_pending=quirk, nodes=5", "commit_pending=slot-held, nodes=3.5", "nodes=4, 1h"]
    {
        assert!(report.contains(&format!(">{row}</td>")), "{row}");
    }
}

/// Three policies on two sizes, with three seeds.
const PAIRED: &str = "
name: paired
cluster: {nodes: 4}
workload:
  jobs: [{name: a, count: 20, every: 20s, maps: 12, reduces: 1, map_time: 10s, reduce_time: 5s}]
sweep:
  cluster.nodes: [2, 3]
  scheduler: [fifo, fair, hfsp]
  seeds: 3
compare: {axis: scheduler, base: fair}
metrics: [mean(sojourn), \"mean(sojourn[scheduler=hfsp]) / mean(sojourn[scheduler=fair])\"]
charts:
  - {ratio: mean(sojourn), over: nodes}
  - {line: \"mean(sojourn[scheduler=hfsp]) / mean(sojourn[scheduler=fair])\", over: nodes}
";

/// Returns the rows of a table by their headings.
fn table(path: &Path) -> Vec<std::collections::BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

#[test]
fn compared_values_are_paired_in_all_that_a_study_leaves() {
    let room = Room::new();
    room.write("study.yaml", PAIRED);
    let told = room.mumakil("study study.yaml --out out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let text = fs::read_to_string(room.path("out/comparisons.csv")).unwrap();
    assert_eq!(
        text.lines().next().unwrap(),
        "metric,cluster.nodes,base,other,difference,low,high,ratio,ratio low,ratio high,n,p,verdict,\
         more seeds,outliers,base unsuccessful,other unsuccessful"
    );
    // The second metric chooses both policies itself, so there is nothing to compare.
    let rows = table(&room.path("out/comparisons.csv"));
    let sides: Vec<[&str; 3]> =
        rows.iter().map(|row| ["cluster.nodes", "base", "other"].map(|key| &*row[key])).collect();
    assert_eq!(
        sides,
        [
            ["2", "fair", "fifo"],
            ["2", "fair", "hfsp"],
            ["3", "fair", "fifo"],
            ["3", "fair", "hfsp"]
        ]
    );
    // Compute the expected mean and interval of three logarithms from the runs; t(0.975; 2) is
    // 4.30265.
    let runs = table(&room.path("out/runs.csv"));
    let sojourns = |scheduler: &str| -> Vec<f64> {
        let own = runs.iter().filter(|run| run["cluster.nodes"] == "2");
        let own = own.filter(|run| run["scheduler"] == scheduler);
        own.map(|run| run["mean(sojourn) [s]"].parse().unwrap()).collect()
    };
    let (fair, hfsp) = (sojourns("fair"), sojourns("hfsp"));
    let logs: Vec<f64> = hfsp.iter().zip(&fair).map(|(hfsp, fair)| (hfsp / fair).ln()).collect();
    let mean = logs.iter().sum::<f64>() / 3.0;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2.0;
    let half = 4.302_652_7 * (variance / 3.0).sqrt();
    let expected = [mean.exp(), (mean - half).exp(), (mean + half).exp()];
    for (name, expected) in ["ratio", "ratio low", "ratio high"].into_iter().zip(expected) {
        let ours: f64 = rows[1][name].parse().unwrap();
        assert!((ours / expected - 1.0).abs() < 1e-6, "{name}: {ours}, by hand {expected}");
    }
    // A metric that spans cells has the same number in both cells, for each seed.
    let spanning = "mean(sojourn[scheduler=hfsp]) / mean(sojourn[scheduler=fair])";
    for (place, run) in runs.iter().enumerate().filter(|(_, run)| run["cluster.nodes"] == "2") {
        let ours: f64 = run[spanning].parse().unwrap();
        let expected = logs[place % 3].exp();
        assert!((ours / expected - 1.0).abs() < 1e-6, "{ours}, by hand {expected}");
    }
    // The console and the JSON have the same sentence; the page has its numbers in a table, behind
    // the charts.
    let summary = fs::read_to_string(room.path("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let comparison = &summary["comparisons"][1];
    let words = comparison["words"].as_str().unwrap();
    assert!(words.starts_with("hfsp against fair at 2 nodes: "), "{words}");
    assert!(told.contains("  compared mean(sojourn)\n"), "{told}");
    assert!(told.contains(&format!("\n    {words}\n")), "{told}");
    let report = fs::read_to_string(room.path("out/report.html")).unwrap();
    let [charts, table] =
        ["<h2>Charts</h2>", ">hfsp against fair</td>"].map(|part| report.find(part).unwrap());
    assert!(charts < table, "charts come first");
    assert_eq!(comparison["verdict"], rows[1]["verdict"].as_str());
    let chart = fs::read_to_string(room.path("out/charts/01.svg")).unwrap();
    assert!(chart.contains(">hfsp / fair<") && chart.contains("Ratio of mean(sojourn)"), "{chart}");
    let words = words.split_once(": ").unwrap().1;
    assert!(chart.contains(&format!("2, hfsp / fair: {words}")), "{chart}");
    assert_eq!(crate::names(&room.path("out/charts")).len(), 2, "one line for both policies");
}

#[test]
fn another_base_turns_ratios_round_and_none_compares_each_with_each() {
    let room = Room::new();
    room.write("study.yaml", PAIRED);
    study(&room, "--out out");
    let ratio = |base: &str, other: &str| -> Option<f64> {
        let rows = table(&room.path("out/comparisons.csv"));
        let row = rows.iter().find(|row| row["base"] == base && row["other"] == other)?;
        row["ratio"].parse().ok()
    };
    let there = ratio("fair", "hfsp").unwrap();
    room.write("study.yaml", &PAIRED.replace("base: fair", "base: hfsp"));
    study(&room, "--out out");
    let back = ratio("hfsp", "fair").unwrap();
    assert!((there * back - 1.0).abs() < 1e-6, "{there} {back}");
    room.write("study.yaml", &PAIRED.replace(", base: fair", ""));
    study(&room, "--out out");
    let all = [("fifo", "fair"), ("fifo", "hfsp"), ("fair", "hfsp")];
    assert!(all.iter().all(|(base, other)| ratio(base, other).is_some()));
    assert_eq!(table(&room.path("out/comparisons.csv")).len(), 6);
}

#[test]
fn a_seed_that_stands_apart_is_told_and_its_runs_are_named() {
    let room = Room::new();
    let paired = PAIRED.replace("cluster.nodes: [2, 3]", "cluster.nodes: [2]");
    let paired = paired.split_once("charts:").unwrap().0.replace("seeds: 3", "seeds: 5");
    let paired = paired.replace("metrics: [mean(sojourn), ", "metrics: [makespan, ");
    room.write("study.yaml", &paired);
    study(&room, "--out out");
    let sheet = read_manifest(&room.path("out")).unwrap();
    let of = |scheduler| &sheet.cells.iter().find(|cell| cell.values[1] == scheduler).unwrap().runs;
    let (fair, hfsp) = (&of(1)[3], &of(2)[3]);
    let path = room.path("out/runs").join(hfsp).join("summary.json");
    let mut summary: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let makespan = summary["makespan_s"].as_f64().unwrap();
    summary["makespan_s"] = (makespan * 50.0).into();
    fs::write(&path, summary.to_string()).unwrap();
    // As a run of an earlier version: with its checksums the edited file would be noticed.
    fs::remove_file(path.with_file_name("perf.json")).unwrap();
    let told = room.mumakil("study study.yaml --out out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let seed = sheet.seeds[3];
    let words = format!("  warning  seed {seed} stands apart: makespan of hfsp against fair is ");
    assert!(told.contains(&words), "{told}");
    assert!(told.contains(&format!("see runs/{fair}/ and runs/{hfsp}/")), "{told}");
    let report = fs::read_to_string(room.path("out/report.html")).unwrap();
    for run in [fair, hfsp] {
        assert!(report.contains(&format!("runs/{run}/")), "{run}");
    }
    let rows = table(&room.path("out/comparisons.csv"));
    assert_eq!(rows[1]["outliers"], seed.to_string());
    assert_eq!(rows[0]["outliers"], "");
}

#[test]
fn the_histograms_of_a_cell_are_merged_over_its_runs() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    let histograms = |folder: &Path| RunResults::new(folder).histograms(|_| true).unwrap();
    let merged = histograms(&room.path("out"));
    assert_eq!(merged.keys().filter(|tag| tag.starts_with("heartbeat_rtt:")).count(), 8);
    let sheet = read_manifest(&room.path("out")).unwrap();
    for cell in &sheet.cells {
        let labels: Vec<&str> = sheet.labels(cell).collect();
        let tag = format!("heartbeat_rtt:nodes={}:commit_pending={}", labels[0], labels[1]);
        let runs = cell.runs.iter().map(|id| histograms(&room.path("out/runs").join(id)));
        let count: u64 = runs.map(|run| run["heartbeat_rtt"].len()).sum();
        assert_eq!(merged[&tag].len(), count, "{tag}");
    }
}

/// Returns the files in a study's folder that belong to no run.
fn beside_runs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    results(folder).into_iter().filter(|(name, _)| !name.starts_with("runs/")).collect()
}

#[test]
fn runs_that_are_packed_are_read_as_those_in_folders_are() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out folders");
    study(&room, "--out packed --keep packed --jobs 3 --set record.tasks=true");
    study(&room, "--out other --set record.tasks=true");
    let all = crate::names(&room.path("packed/runs"));
    assert!(all.len() == 16 && all.iter().all(|name| name.ends_with(".zip")), "{all:?}");
    assert!(beside_runs(&room.path("packed")) == beside_runs(&room.path("other")));
    // A packed run has the same name as a run in a folder.
    let sheet = read_manifest(&room.path("other")).unwrap();
    let [one, two] = [0, 1].map(|cell| &sheet.cells[cell].runs[0]);
    let told = |folder: &str, command: &str| {
        let runs = [one, two].map(|run| format!("{folder}/runs/{run}"));
        let named = command.replace("ONE", &runs[0]).replace("TWO", &runs[1]);
        let output = room.mumakil(&named).output().unwrap();
        assert!(output.status.success(), "{named}: {output:?}");
        output.stdout
    };
    let commands = [
        "compare ONE TWO",
        "explain ONE TWO --json",
        "explain ONE",
        "explain TWO 3 --json",
        "explain ONE TWO 3 --json",
    ];
    for command in commands {
        assert!(told("packed", command) == told("other", command), "{command}");
    }
    // Another program, `unzip`, unpacks the same folders.
    let mut unzip = Command::new("unzip");
    let unzip = unzip.args(["-q", "*.zip", "-d", "unzipped"]);
    match unzip.current_dir(room.path("packed/runs")).status() {
        Err(_) => eprintln!("skipped: there is no unzip"),
        Ok(status) => {
            assert!(status.success());
            let (ours, theirs) = (room.path("other/runs"), room.path("packed/runs/unzipped"));
            assert!(results(&ours) == results(&theirs));
            fs::remove_dir_all(theirs).unwrap();
        }
    }
    // No run is done again, whether the runs are packed or in folders.
    let again = |arguments: &str| {
        let output = room.mumakil(&format!("study study.yaml {arguments}")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for form in ["folders", "packed"] {
        let told = again(&format!("--out packed --keep {form} --set record.tasks=true"));
        assert!(told.contains("ran      nothing: every run was there"), "{told}");
    }
    // If the study has changed, its new runs go beside the old runs.
    let told = again("--out packed --set record.tasks=true --set sweep.seeds=3");
    assert!(told.contains("ran      8 runs in "), "{told}");
    assert_eq!(crate::names(&room.path("packed/runs")).len(), 24);
    study(&room, "--out other --set record.tasks=true --set sweep.seeds=3");
    assert!(beside_runs(&room.path("packed")) == beside_runs(&room.path("other")));
}

#[test]
fn parts_that_are_merged_are_the_whole() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out whole");
    for part in 1..=4 {
        study(&room, &format!("--shard {part}/4 --out part-{part}"));
    }
    let few = room.mumakil("study merge part-1 part-2 --out merged").output().unwrap();
    assert_eq!(few.status.code(), Some(1));
    let told = String::from_utf8(few.stderr).unwrap();
    assert!(told.contains("8 runs of 16 missing"), "{told}");
    room.mumakil("study merge merged part-3 part-4 --out merged").assert().success();
    assert_same(&room.path("whole"), &room.path("merged"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a process is killed by the wall clock")]
fn a_study_that_is_killed_goes_on_where_it_was() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out whole");
    let sheet = read_manifest(&room.path("whole")).unwrap();
    // Test packs, too, and folders of runs beside a pack.
    for [out, first, second] in [
        ["killed", "folders", "folders"],
        ["packed", "packed", "packed"],
        ["both", "packed", "folders"],
    ] {
        let kept = || {
            let store = Store::of(&room.path(out)).unwrap();
            sheet.runs().filter(|run| store.has(run)).count()
        };
        for (least, form) in [(1, first), (6, second)] {
            let mut child = Command::new(env!("CARGO_BIN_EXE_mumakil"))
                .current_dir(room.path("."))
                .args([
                    "study",
                    "study.yaml",
                    "--quiet",
                    "--jobs",
                    "1",
                    "--out",
                    out,
                    "--keep",
                    form,
                ])
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let began = Instant::now();
            while kept() < least && began.elapsed() < Duration::from_secs(60) {
                thread::sleep(Duration::from_millis(1));
            }
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(least <= kept());
        }
        // A killed study may leave these files.
        fs::create_dir_all(room.path(out).join("charts")).unwrap();
        room.write(&format!("{out}/.mumakil-a"), "half");
        room.write(&format!("{out}/charts/.mumakil-b"), "half");
        study(&room, &format!("--out {out} --keep {second}"));
        assert_eq!(kept(), 16);
        assert!(beside_runs(&room.path("whole")) == beside_runs(&room.path(out)));
    }
    assert_same(&room.path("whole"), &room.path("killed"));
}

#[test]
fn runs_that_are_there_are_not_done_again() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    let again = room.mumakil("study study.yaml --out out").output().unwrap();
    let told = String::from_utf8(again.stdout).unwrap();
    assert!(told.contains("nothing: every run was there"), "{told}");
    // A longer axis needs only the new runs.
    let plan =
        room.mumakil("study plan study.yaml --out out --set sweep.seeds=3").output().unwrap();
    let told = String::from_utf8(plan.stdout).unwrap();
    assert!(told.contains("24 in 8 cells, of which 8 are left to do"), "{told}");
}

#[test]
fn a_study_whose_runs_are_cut_says_so_and_has_no_makespan() {
    let room = Room::new();
    room.write("study.yaml", &STUDY.replace("expect:", "until: 2min\nexpect:"));
    let told = room.mumakil("study study.yaml --out out").output().unwrap();
    let told = String::from_utf8(told.stdout).unwrap();
    let warning = "In 16 of 16 runs jobs were left";
    assert!(told.contains(&format!("\n  warning  {warning}")), "{told}");
    assert!(fs::read_to_string(room.path("out/report.html")).unwrap().contains(warning));
    let mut runs = csv::Reader::from_path(room.path("out/runs.csv")).unwrap();
    let column = |name: &str| runs.headers().unwrap().iter().position(|n| n == name).unwrap();
    let [makespan, left] = ["makespan [s]", "left"].map(column);
    for run in runs.records() {
        let run = run.unwrap();
        assert_eq!(&run[makespan], "");
        assert_ne!(&run[left], "0");
    }
}

#[test]
fn results_of_a_study_that_was_changed_since_are_not_compared() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out before");
    study(&room, "--out after");
    room.mumakil("compare before after").assert().success();
    // A single shard has no results to compare.
    study(&room, "--set cluster.racks=2 --shard 1/9 --out after");
    let compared = room.mumakil("compare before after").output().unwrap();
    let told = String::from_utf8(compared.stderr).unwrap();
    assert_eq!(compared.status.code(), Some(2), "{told}");
    assert!(told.contains("after has no results yet"), "{told}");
}

#[test]
fn an_expectation_that_fails_exits_1_and_a_known_gap_0() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    room.write("fails.yaml", &STUDY.replace(", known_gap: a test of the mark", ""));
    let fails = room.mumakil("study fails.yaml --out out").output().unwrap();
    assert_eq!(fails.status.code(), Some(1));
    assert!(String::from_utf8(fails.stdout).unwrap().contains("FAILS"));
    assert!(String::from_utf8(fails.stderr).unwrap().contains("1 expectation does not hold"));
}

#[test]
fn a_run_that_fails_is_told_and_the_others_are_kept() {
    let room = Room::new();
    // Four nodes stop: a cluster of five keeps one node, and a cluster of four keeps none.
    let stops = (1..=4).map(|node| format!("  - {{stop: node-{node}, at: 1min}}\n"));
    let faults = format!("faults:\n{}", stops.collect::<String>());
    room.write("study.yaml", &(STUDY.replace("[2, 3, 4, 5]", "[4, 5]") + &faults));
    let failed = room.mumakil("study study.yaml --out out").output().unwrap();
    let told = String::from_utf8(failed.stderr).unwrap();
    assert_eq!(failed.status.code(), Some(1), "{told}");
    assert!(told.contains("4 runs failed; the others are kept"), "{told}");
    assert!(told.contains("nodes 4, quirk, seed 42: it stalled"), "{told}");
    let repeat = told.lines().find_map(|line| line.split_once("repeat it with `mumakil ")).unwrap();
    let again = room.mumakil(repeat.1.trim_end_matches('`')).output().unwrap();
    let told = String::from_utf8(again.stderr).unwrap();
    assert!(again.status.code() == Some(1) && told.contains("the run stalled"), "{told}");
    assert_eq!(crate::names(&room.path("out/runs")).len(), 4);
    // The results cover the runs that did not fail.
    let cells = fs::read_to_string(room.path("out/cells.csv")).unwrap();
    let nodes: Vec<&str> =
        cells.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(nodes, ["5", "5"]);
    let report = fs::read_to_string(room.path("out/report.html")).unwrap();
    assert!(report.contains("Of 4 combinations 2 are left out, in which a run failed."));
}

/// Returns the results of a folder without its runs.
fn conclusions(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let is_run = |file: &str| file.starts_with("runs/") || file.starts_with("failed/");
    results(folder).into_iter().filter(|(file, _)| !is_run(file)).collect()
}

/// Same-sized clusters make the first expectation fail; the second fails already.
const SABOTAGE: &str = "sabotage:
  - {as: no node more, set: {sweep: {cluster.nodes: [2, {as: 3, value: 2}, {as: 4, value: 2}, \
     {as: 5, value: 2}], hadoop.commit_pending: [quirk, slot-held], seeds: 2}}, fails: [1]}
";

#[test]
fn a_study_tries_its_sabotages_and_keeps_its_own_results() {
    let room = Room::new();
    room.write("study.yaml", &format!("{STUDY}{SABOTAGE}"));
    study(&room, "--out plain");
    let tried = room.mumakil("study study.yaml --sabotage --out tried").output().unwrap();
    let told = String::from_utf8(tried.stdout).unwrap();
    assert!(tried.status.success(), "{told}");
    assert!(told.contains("noticed    no node more"), "{told}");
    assert!(conclusions(&room.path("plain")) == conclusions(&room.path("tried")));
    // The four cells with two nodes are there already; each of the others needs two seeds.
    let runs = |folder: &str| crate::names(&room.path(folder).join("runs")).len();
    assert_eq!((runs("plain"), runs("tried")), (16, 16));

    let harmless = "sabotage: [{as: nothing, set: {cluster.racks: 1}, fails: [1]}]\n";
    room.write("study.yaml", &format!("{STUDY}{harmless}"));
    let tried = room.mumakil("study study.yaml --sabotage --out tried").output().unwrap();
    let told = String::from_utf8(tried.stdout).unwrap();
    assert_eq!(tried.status.code(), Some(1), "{told}");
    for line in ["UNNOTICED  nothing", "should fail, but holds: falling", "TOOTHLESS  falling"] {
        assert!(told.contains(line), "{told}");
    }
    let told = String::from_utf8(tried.stderr).unwrap();
    assert!(told.contains("1 sabotage not noticed, 1 expectation toothless"), "{told}");
}

#[test]
fn a_sabotaged_run_that_fails_leaves_the_results_of_the_study() {
    let room = Room::new();
    // A cluster of four keeps no node.
    let stops = (1..=4).map(|node| format!("{{stop: node-{node}, at: 1min}}"));
    let stops = stops.collect::<Vec<_>>().join(", ");
    let sabotage = format!("sabotage: [{{set: {{faults: [{stops}]}}, fails: [1]}}]\n");
    let study_of = STUDY.replace("[2, 3, 4, 5]", "[4, 5]");
    room.write("study.yaml", &format!("{study_of}{sabotage}"));
    study(&room, "--out plain");
    let tried = room.mumakil("study study.yaml --sabotage --out tried").output().unwrap();
    let told = String::from_utf8(tried.stderr).unwrap();
    assert_eq!(tried.status.code(), Some(1), "{told}");
    assert!(told.contains("nodes 4, quirk, seed 42: it stalled"), "{told}");
    assert!(conclusions(&room.path("plain")) == conclusions(&room.path("tried")));
}

#[test]
fn leftovers_of_an_earlier_study_do_not_stay() {
    let room = Room::new();
    let fewer =
        STUDY.replace("compare: commit_pending\n", "").replace("p99(heartbeat_rtt)", "jobs");
    let is_kept = |line: &&str| !line.contains("{stack") && !line.contains("{percentiles");
    let fewer: Vec<&str> = fewer.lines().filter(is_kept).collect();
    room.write("study.yaml", STUDY).write("fewer.yaml", &fewer.join("\n"));
    study(&room, "--out out");
    fs::create_dir(room.path("out/failed")).unwrap();
    room.write("out/failed/0123456789abcdef.yaml", "").write("out/notes.txt", "mine");
    room.mumakil("study fewer.yaml --quiet --out out").assert().success();
    let files = files(&room.path("out")).into_iter().filter(|file| !file.starts_with("runs/"));
    assert_eq!(
        files.collect::<Vec<_>>(),
        [
            ".lock",
            "at-work/whole.json",
            "cells.csv",
            "charts/01.svg",
            "charts/02.svg",
            "notes.txt",
            "report.html",
            "runs.csv",
            "study.json",
            "study.resolved.yaml",
            "summary.json",
        ]
    );
}

#[test]
fn a_run_that_cannot_be_read_is_told_with_its_folder() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    let run = crate::names(&room.path("out/runs")).remove(0);
    // A run of an earlier version has no checksums.
    room.write(&format!("out/runs/{run}/perf.json"), "{}");
    room.write(&format!("out/runs/{run}/jobs.csv"), "");
    let told = complaint(&room, "study study.yaml --out out", 2);
    let expected = format!("remove out/runs/{run} and start the study again");
    assert!(told.contains(&expected), "{told}");
    fs::remove_dir_all(room.path(&format!("out/runs/{run}"))).unwrap();
    study(&room, "--out out");
}

/// Returns what a command writes to stderr that ends with this exit code.
fn complaint(room: &Room, arguments: &str, code: i32) -> String {
    let output = room.mumakil(arguments).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {told}");
    told
}

#[test]
fn swapped_and_edited_runs_are_told_with_what_to_do() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    study(&room, "--keep packed --out packed");
    let runs = crate::names(&room.path("out/runs"));
    let [one, other] = [0, 1].map(|place| format!("out/runs/{}", runs[place]));
    let swap = || {
        fs::rename(room.path(&one), room.path("aside")).unwrap();
        fs::rename(room.path(&other), room.path(&one)).unwrap();
        fs::rename(room.path("aside"), room.path(&other)).unwrap();
    };
    swap();
    let again = |folder: &str| format!("\n   = remove {folder} and start the study again");
    for command in
        ["study out --quiet", "study study.yaml --out out --quiet", "study merge out --out new"]
    {
        let told = complaint(&room, command, 2);
        assert!(told.contains("it has the files of another run, "), "{told}");
        assert!(told.contains(&again(&one)) || told.contains(&again(&other)), "{told}");
    }
    swap();
    room.mumakil("study out --quiet").assert().success();
    for file in ["jobs.csv", "scenario.resolved.yaml"] {
        let whole = fs::read_to_string(room.path(&one).join(file)).unwrap();
        room.write(&format!("{one}/{file}"), &whole.replace('4', "5"));
        for command in
            ["study out".to_owned(), format!("explain {one}"), format!("compare {one} {other}")]
        {
            let told = complaint(&room, &command, 2);
            assert!(
                told.contains(&format!("{one}: `{file}` is not as the run wrote it")),
                "{told}"
            );
        }
        room.write(&format!("{one}/{file}"), &whole);
    }
    room.mumakil("study out --quiet").assert().success();
    // Give a packed run the name of another.
    let [pack, other] = [0, 1].map(|place: usize| format!("{}.zip", runs[place]));
    let mut bytes = fs::read(room.path("packed/runs").join(other)).unwrap();
    for place in 0..bytes.len() - 16 {
        let name = &mut bytes[place..place + 16];
        if name == runs[1].as_bytes() {
            name.copy_from_slice(runs[0].as_bytes());
        }
    }
    fs::write(room.path("packed/runs").join(&pack), bytes).unwrap();
    let told = complaint(&room, "study packed --quiet", 2);
    assert!(told.contains("it has the files of another run, "), "{told}");
    assert!(told.contains(&format!("remove packed/runs/{pack}")), "{told}");
}

#[test]
fn a_study_has_a_summary_only_when_all_else_is_written() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    study(&room, "--out out");
    for file in ["summary.json", "report.html"] {
        fs::remove_file(room.path("out").join(file)).unwrap();
    }
    // A folder with the report's name keeps the report from being written.
    fs::create_dir(room.path("out/report.html")).unwrap();
    room.write("out/report.html/mine", "");
    let broken = room.mumakil("study study.yaml --out out").output().unwrap();
    assert_eq!(broken.status.code(), Some(3));
    assert!(!room.path("out/summary.json").exists());
    fs::remove_dir_all(room.path("out/report.html")).unwrap();
    study(&room, "--out out");
    assert!(room.path("out/summary.json").exists());
}

#[test]
fn somebodys_files_are_not_written_over() {
    let room = Room::new();
    room.write("study.yaml", STUDY).write("parts.yaml", &STUDY.replace("small", "other"));
    room.mumakil("run quickstart --out run --quiet").assert().success();
    fs::create_dir(room.path("mine")).unwrap();
    room.write("mine/report.html", "my report");
    study(&room, "--shard 1/16 --out part");
    for arguments in [
        "study study.yaml --out mine",
        "study study.yaml --out run",
        "study parts.yaml --out part",
        "study merge part --out mine",
        "study merge missing --out new",
    ] {
        let refused = room.mumakil(arguments).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{arguments}");
    }
    assert_eq!(fs::read_to_string(room.path("mine/report.html")).unwrap(), "my report");
    assert_eq!(crate::names(&room.path("mine")), ["report.html"]);
    assert!(!room.path("new").exists());
}

#[test]
fn to_plan_a_study_makes_nothing() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    room.mumakil("study plan study.yaml --out out").assert().success();
    assert_eq!(room.names(), ["study.yaml"]);
}

#[test]
fn a_study_on_a_scaled_clock_warns_and_has_one_worker() {
    let room = Room::new();
    let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}\nclock: 5000x\n\
                cluster: {nodes: 3}\nsweep: {seeds: 2}";
    room.write("study.yaml", yaml);
    let done = room.mumakil("study study.yaml --jobs 2").output().unwrap();
    let (out, err) = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap()).into();
    assert!(err.contains("runs on a scaled clock cannot be repeated exactly"), "{err}");
    assert!(out.contains("with 1 worker\n"), "{out}");
}

#[test]
fn no_more_workers_and_parts_are_told_than_there_were() {
    let room = Room::new();
    room.write(
        "study.yaml",
        "base: quickstart\nsweep: {cluster.nodes: [{as: a, value: 3}, {as: b, value: 3}]}",
    );
    let told = |arguments: &str| {
        let done = room.mumakil(&format!("study {arguments}")).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let plan = told("plan study.yaml");
    assert!(plan.contains("2 in 2 cells, 1 different run, of which 1 is left to do"), "{plan}");
    let part = told("study.yaml --shard 9/10");
    assert!(part.contains("nothing: there are more parts than runs"), "{part}");
    let whole = told("study.yaml --jobs 1000");
    assert!(whole.contains("with 1 worker\n"), "{whole}");
}

#[test]
fn a_scenario_is_no_study_and_the_other_way_round() {
    let room = Room::new();
    room.write("study.yaml", STUDY);
    let run = room.mumakil("run study.yaml").output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8(run.stderr).unwrap().contains("mumakil study study.yaml"));
    let study = room.mumakil("study quickstart").output().unwrap();
    assert_eq!(study.status.code(), Some(2));
    assert!(String::from_utf8(study.stderr).unwrap().contains("quickstart has no `sweep`"));
}

#[test]
fn jobs_that_are_killed_do_not_improve_the_numbers() {
    let room = Room::new();
    let jobs = "cluster: {nodes: 2}\n\
                workload: {jobs: [{name: a, maps: 20, map_time: 30s}, {name: b, maps: 20, map_time: 30s}]}\n";
    let expect = "record: {alone: true}\n\
                  expect: [min(slowdown) >= 1, mean(sojourn) >= 2min, \"mean(sojourn, outcome=killed) <= 30s\"]\n";
    room.write("run.yaml", &format!("{jobs}{expect}faults: [{{at: 10s, kill: b}}]\n"));
    let ran = room.mumakil("run run.yaml --out run").output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{told}");
    assert!(told.contains("   (1 of 2 left out: 1 killed)\n"), "{told}");
    let study = "sweep: {faults: [{as: none, value: []}, {as: kill, value: [{at: 10s, kill: b}]}]}\n\
                 metrics: [mean(sojourn), p99(job_sojourn)]\ncompare: faults\n";
    room.write("study.yaml", &format!("{jobs}{study}"));
    let ran = room.mumakil("study study.yaml --out study").output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    let warning = "In 1 of 2 runs jobs were killed. Sojourns, slowdowns and other times of jobs leave them \
                   out: 1 of 2 jobs with faults=kill.";
    assert!(told.contains(warning), "{told}");
    assert!(told.contains("; 1 job did not succeed with kill, 0 with none\n"), "{told}");
    let both = room.mumakil("compare study study").output().unwrap();
    let both = String::from_utf8(both.stdout).unwrap();
    assert!(both.contains("times of jobs leave them out: 1 of study and 1 of study."), "{both}");
    assert!(fs::read_to_string(room.path("study/report.html")).unwrap().contains("leave them out"));
    room.mumakil("run run.yaml --set faults=[] --out all --quiet").assert().code(1);
    let compared = room.mumakil("compare all run").output().unwrap();
    let told = String::from_utf8(compared.stdout).unwrap();
    assert!(told.contains("times of jobs leave them out: 0 of all and 1 of run."), "{told}");
    let outcome = "run beside all: 1 job succeeded in both: 1 faster, 0 slower, 0 the same.";
    assert!(told.contains(outcome), "{told}");
}
