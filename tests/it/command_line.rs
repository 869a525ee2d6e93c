//! Behaviour that transcripts cannot show: exit codes, pipes, read-only folders, Ctrl-C.

use std::fs;
use std::io;
use std::process::{Command, Stdio};

use crate::{Room, root};

/// A scenario that runs in an instant.
const SMALL: &str = "name: small\nworkload: {jobs: [{name: a, maps: 2, map_time: 5s}]}\n";

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_wrong_command_line_exits_2_and_help_exits_0() {
    let room = Room::new();
    for wrong in [
        "",
        "walk",
        "run",
        "run a b",
        "run a --sed 1",
        "run a --clock 600",
        "list x",
        "show",
        "show xyzzy",
        "show scenario x",
        "scenarios x",
        "help xyzzy",
        "reference x",
    ] {
        room.mumakil(wrong).assert().code(2);
    }
    for right in [
        "--help",
        "--version",
        "run --help",
        "help",
        "help run",
        "help trace convert",
        "help studies",
        "list",
        "show reference",
        "show cluster.hdfs",
        "show fair",
        "man",
        "man run",
        "man trace convert",
        "show schema",
        "py -o -",
    ] {
        room.mumakil(right).assert().success();
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = room.mumakil(&format!("completions {shell}")).assert().success();
        let script = String::from_utf8(output.get_output().stdout.clone()).unwrap();
        // The scripts of other shells have no names of arguments.
        if matches!(shell, "bash" | "zsh") {
            for name in ["extending", "cluster.hdfs.replication", "heavy-tails"] {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
    }
}

#[test]
fn slips_of_the_command_line_are_told_what_to_write() {
    let room = Room::new();
    room.write("small.yaml", SMALL);
    fs::create_dir(room.path("empty")).unwrap();
    room.mumakil("run small.yaml --quiet --out out/small").assert().success();
    for (wrong, told) in [
        ("run smal.yaml", "= did you mean small.yaml?"),
        ("run empty", "= it is a folder: name a scenario's file"),
        ("run out/small", "name a file in it, such as out/small/scenario.resolved.yaml"),
        ("explain out", "= it has `out/small`"),
        ("explain nowhere", "there is no folder nowhere\n   = name one with results"),
        ("run small.yaml --seed x", ": expected a whole number"),
        ("study small.yaml --jobs 0", ": expected a number above 0"),
        ("run small.yaml --set cluster.nodes", "write `PATH=VALUE`, such as `cluster.nodes=50`"),
        ("run small.yaml --set nodes=5", "= `nodes` belongs in `cluster`"),
        ("run small.yaml --set workload.jobs.maps=5", "such as `workload.jobs[0].maps`"),
        ("run small.yaml --set workload.jobs[1].maps=5", "the list has one entry, `[0]`"),
    ] {
        let output = room.mumakil(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(stderr(&output).contains(told), "{wrong}: {}", stderr(&output));
    }
}

#[test]
fn help_of_a_command_can_be_asked_of_the_command() {
    let room = Room::new();
    let told = |arguments| room.mumakil(arguments).assert().success().get_output().stdout.clone();
    assert_eq!(told("trace help convert"), told("help trace convert"));
    assert_eq!(told("study help"), told("help study"));
}

#[test]
fn five_mistakes_are_five_errors() {
    let file = root().join("tests/invalid/five-mistakes.yaml");
    for command in ["run", "check"] {
        let room = Room::new();
        let output = room.mumakil(command).arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        let text = stderr(&output);
        assert_eq!(text.lines().filter(|line| line.starts_with("error: ")).count(), 5, "{text}");
        assert_eq!(text.matches("five-mistakes.yaml:").count(), 5, "{text}");
        assert!(output.stdout.is_empty() && room.names().is_empty());
    }
}

/// A chain of two jobs, `scan` and `merge`, and an independent query.
const CHAIN: &str = "
name: chain
cluster: {nodes: 3}
workload:
  jobs:
    - {name: scan, class: join, submit: 10s, maps: 6, map_time: 20s}
    - {name: query, submit: 40s, maps: 2, map_time: 20s}
    - {name: merge, class: join, after: [scan], submit: 1min, maps: 2, reduces: 1, map_time: 20s}
expect:
  - count(chain.sojourn > 0s) == 2
  - max(chain.sojourn, class=join) within 1ms of max(finish, name=merge) - max(submit, name=scan)
  - max(chain.sojourn, class=join) > 1min + max(sojourn, name=scan)
  - max(chain.sojourn, name=query) within 1ms of max(sojourn, name=query)
";

#[test]
fn a_chain_takes_from_the_arrival_of_its_first_job_to_the_end_of_its_last() {
    let room = Room::new();
    room.write("chain.yaml", CHAIN);
    let unasked = room.mumakil("run chain.yaml").output().unwrap();
    assert_eq!(unasked.status.code(), Some(2));
    assert!(stderr(&unasked).contains("add `record: {chains: true}`"), "{}", stderr(&unasked));
    room.mumakil("run chain.yaml --set record.chains=true").assert().success();
    let table = fs::read_to_string(room.path("out/chain-42/jobs.csv")).unwrap();
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let chains: Vec<String> = table
        .lines()
        .map(cells)
        .map(|cells| format!("{},{}", cells[1], cells[cells.len() - 4]))
        .collect();
    assert_eq!(chains, ["name,chain_jobs", "scan,2", "query,1", "merge,"]);
}

#[test]
fn a_study_records_the_chains_that_it_reads() {
    let room = Room::new();
    room.write("study.yaml", &format!("{CHAIN}sweep: {{seeds: 2}}\n"));
    room.mumakil("study study.yaml --out out").assert().success();
}

#[test]
fn colours_are_for_terminals() {
    let room = Room::new();
    let file = root().join("tests/invalid/five-mistakes.yaml");
    let run = |[unset, set]: [&str; 2]| {
        let mut command = room.mumakil("check");
        stderr(&command.arg(&file).env_remove(unset).env(set, "1").output().unwrap())
    };
    let plain = run(["CLICOLOR_FORCE", "NO_COLOR"]);
    assert!(!plain.contains('\x1b'), "{plain:?}");
    let coloured = run(["NO_COLOR", "CLICOLOR_FORCE"]);
    let bold_red = "\x1b[1m\x1b[31m";
    assert_eq!(coloured.matches(&format!("{bold_red}error")).count(), 5, "{coloured:?}");
    assert_eq!(coloured.matches("\x1b[1m\x1b[36m--> ").count(), 5, "{coloured:?}");
    assert_eq!(coloured.matches(&format!("{bold_red}^")).count(), 5, "{coloured:?}");
}

#[test]
fn quiet_prints_nothing() {
    let room = Room::new();
    let output = room.write("small.yaml", SMALL).mumakil("run small.yaml -q").output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert!(room.path("out/small-42/summary.json").exists());
}

#[test]
fn results_go_to_stdout_and_warnings_to_stderr_once() {
    let room = Room::new();
    let output = room
        .write("small.yaml", SMALL)
        .mumakil("run small.yaml --set cluster.nodes=1")
        .output()
        .unwrap();
    assert!(String::from_utf8(output.stdout.clone()).unwrap().starts_with("small   1 tracker · "));
    assert_eq!(stderr(&output).matches("warning: ").count(), 1, "{}", stderr(&output));
}

#[test]
fn a_closed_pipe_is_no_error() {
    for arguments in ["show schema", "run small.yaml", "--help", "show quickstart"] {
        let room = Room::new();
        room.write("small.yaml", SMALL);
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let status = Command::new(env!("CARGO_BIN_EXE_mumakil"))
            .args(arguments.split(' '))
            .current_dir(room.path(""))
            .stdout(writer)
            .stderr(Stdio::null())
            .status();
        assert_eq!(status.unwrap().code(), Some(0), "{arguments}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_exits_3() {
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mumakil"))
        .args(["show", "schema"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).starts_with("error: cannot write to stdout\n  caused by: "));
}

#[test]
fn a_place_that_cannot_hold_a_folder_exits_3_and_is_named() {
    let room = Room::new();
    let output = room
        .write("small.yaml", SMALL)
        .mumakil("run small.yaml --out small.yaml/results")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).starts_with("error: cannot write small.yaml\n"), "{}", stderr(&output));
}

#[test]
#[cfg(unix)]
fn a_read_only_folder_exits_3() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    room.write("small.yaml", SMALL);
    fs::create_dir(room.path("locked")).unwrap();
    fs::set_permissions(room.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::create_dir(room.path("locked/probe")).is_ok() {
        eprintln!("skipped: this user may write into a read-only folder");
        return;
    }
    let output = room.mumakil("run small.yaml --out locked/results").output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).starts_with("error: cannot write locked\n"), "{}", stderr(&output));
}

#[test]
fn an_existing_folder_is_replaced_only_by_force_and_only_if_it_is_ours() {
    let room = Room::new();
    room.write("small.yaml", SMALL);
    room.mumakil("run small.yaml").assert().success();
    room.mumakil("run small.yaml").assert().code(2);
    room.mumakil("run small.yaml --force").assert().success();
    room.write("out/small-42/notes.txt", "mine");
    room.mumakil("run small.yaml --force").assert().code(2);
    assert_eq!(fs::read_to_string(room.path("out/small-42/notes.txt")).unwrap(), "mine");
    fs::create_dir(room.path("empty")).unwrap();
    room.mumakil("run small.yaml --force --out empty").assert().code(2);
    assert_eq!(room.names(), ["empty", "out", "small.yaml"]);
}

/// Other users must be able to read results, for example a web server that shows a report.
#[test]
#[cfg(unix)]
fn written_files_have_the_permissions_of_any_other() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::new();
    room.write("small.yaml", SMALL).write("study.yaml", &format!("{SMALL}sweep: {{seeds: 2}}\n"));
    for command in [
        "run small.yaml --out one --perfetto one.json",
        "run small.yaml --out two --seed 2",
        "compare one two --out compared.html",
        "study study.yaml --quiet --shard 1/2 --out part-1",
        "study study.yaml --quiet --shard 2/2 --out part-2",
        "study merge part-1 part-2 --out whole",
    ] {
        room.mumakil(command).assert().success();
    }
    room.write("jobs.csv", "name,maps,map_time\na,2,5s\n");
    for command in
        ["convert jobs.csv --to yaml -o jobs.yaml", "convert jobs.csv --to csv -o jobs.csv.gz"]
    {
        room.mumakil(&format!("trace {command}")).assert().success();
    }
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    fs::create_dir(room.path("usual")).unwrap();
    room.write("usual/file", "");
    let [folder, file] = ["usual", "usual/file"].map(|path| mode(&room.path(path)));
    for path in crate::files(&room.path("")) {
        assert_eq!(mode(&room.path(&path)), file, "{path}");
        for above in std::path::Path::new(&path).ancestors().skip(1).filter(|a| *a != "") {
            assert_eq!(mode(&room.path(above.to_str().unwrap())), folder, "{}", above.display());
        }
    }
    for name in ["jobs.yaml", "jobs.csv.gz", "compared.html", "whole/study.json"] {
        assert!(room.path(name).is_file(), "{name}");
    }
}

#[test]
fn a_run_in_which_nothing_can_move_exits_1_and_keeps_its_results() {
    let room = Room::new();
    let stalled = "name: stalled\ncluster: {nodes: 1, hdfs: {replication: 1}}\n\
                   faults: [{at: 10s, stop: node-1}]\n\
                   workload: {jobs: [{name: a, maps: 2, map_time: 60s}]}\n";
    let output = room.write("a.yaml", stalled).mumakil("run a.yaml").output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stderr(&output).starts_with("error: the run stalled after "), "{}", stderr(&output));
    assert!(room.path("out/stalled-42/summary.json").exists());
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_leaves_nothing() {
    let room = Room::new();
    let endless = "name: endless\ncluster: {nodes: 500}\n\
                   workload: {jobs: [{name: a, maps: 5000000, map_time: 60s}]}\n";
    room.write("endless.yaml", endless);
    let mut run = Command::new(env!("CARGO_BIN_EXE_mumakil"))
        .args(["run", "endless.yaml"])
        .current_dir(room.path(""))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // A run has begun as soon as its first table exists.
    let begun = || {
        let out = room.path("out");
        let hidden = out.exists().then(|| crate::names(&out).pop()).flatten();
        hidden.is_some_and(|hidden| out.join(hidden).join("tasks.csv").exists())
    };
    while !begun() {
        std::thread::yield_now();
        assert!(run.try_wait().unwrap().is_none(), "the run ended without a table");
    }
    let kill = format!("kill -INT {}", run.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert!(crate::names(&room.path("out")).is_empty());
}

#[test]
fn a_long_pause_is_no_stall() {
    let room = Room::new();
    room.write(
        "pause.yaml",
        "name: pause\nworkload: {jobs: [{name: a, maps: 1, count: 3, every: 1h, map_time: 5s}]}\n",
    );
    room.mumakil("run pause.yaml --quiet").assert().success();
}

#[test]
fn waits_longer_than_time_hang_nobody() {
    let room = Room::new();
    room.write("small.yaml", SMALL);
    for set in ["cluster.speed=1e-300", "workload.jobs[0].noise=1e300"] {
        let mut run = room.mumakil("run small.yaml --quiet --force --set until=1h --set");
        run.arg(set).assert().success();
    }
}

#[test]
fn reduces_that_wait_in_vain_do_not_keep_a_run_going() {
    let room = Room::new();
    room.write(
        "orphans.yaml",
        "name: orphans\nhadoop: {line: mumak, slow_start: 0}\ncluster: {nodes: 1, reduce_slots: 1}\n\
         workload: {jobs: [{name: a, maps: 1, reduces: 1, map_time: 1h}, {name: b, maps: 1, reduces: \
         1, submit: 20min}]}\nfaults: [{at: 10min, kill: a}]\n",
    );
    let output = room.mumakil("run orphans.yaml").output().unwrap();
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("1 job left under `fifo`"), "{text}");
}

/// The viewer is a program of the user's system; here it is one of the test.
#[cfg(unix)]
#[test]
fn a_page_is_shown_when_it_is_written() {
    use std::os::unix::fs::PermissionsExt as _;

    let room = Room::new();
    room.write("one.yaml", "workload: {jobs: [{name: a, maps: 1, map_time: 5s}]}\n");
    room.write("xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$1\" >> shown\n");
    let viewer = room.path("xdg-open");
    fs::set_permissions(&viewer, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", room.path("").display());
    for arguments in [
        "run one.yaml --out a --quiet --open",
        "run one.yaml --out b --quiet --seed 7",
        "compare a b --out c.html --open",
        "study one.yaml --set sweep.seeds=2 --out s --quiet --open",
    ] {
        room.mumakil(arguments).env("PATH", &path).assert().success();
    }
    let shown = fs::read_to_string(room.path("shown")).unwrap();
    assert_eq!(shown, "a/report.html\nc.html\ns/report.html\n");
    let output =
        room.mumakil("compare a b --out c.html --force --open").env("PATH", "/nowhere").output();
    let told = String::from_utf8(output.unwrap().stderr).unwrap();
    assert_eq!(told, "warning: no program to show c.html; open it in a browser\n");
}
