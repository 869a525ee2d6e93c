//! `help WORD` and `show WORD` answer a newcomer's words at once.

use std::collections::BTreeSet;

use crate::{Room, root};

/// Words that newcomers look up, each with a part of the answer.
const WORDS: [(&str, &str); 48] = [
    ("HFSP", "## `scheduler.hfsp`"),
    ("DRF", "## `scheduler.drf`"),
    ("EDF", "## `scheduler.edf`"),
    ("FIFO", "## `scheduler.fifo`"),
    ("Fair-Scheduler", "fair"),
    ("capacity scheduler", "capacity"),
    ("delay scheduling", "How long jobs wait for their input"),
    ("slow start", "## `hadoop.slow_start`"),
    ("block size", "## `cluster.hdfs.block`"),
    ("warm-up", "## `record.warm_up`"),
    ("data locality", "locality.node"),
    ("poisson", "Exponential gaps make a Poisson process"),
    ("bandwidth", "cluster.network"),
    ("ec2-100", "# cluster.preset: ec2-100"),
    ("fb2009", "# workload.preset: fb2009"),
    ("mumak", "# hadoop.line: mumak"),
    ("utilization", "utilisation.map"),
    ("container", "cluster.map_slots"),
    ("rack", "cluster.racks"),
    ("heartbeat", "# heartbeats"),
    ("replication", "## `cluster.hdfs.replication`"),
    ("speculative execution", "## `hadoop.speculation`"),
    ("preemption", "preemption"),
    ("deadline", "deadline"),
    ("Makespan", "From the first arrival to the last end"),
    ("response time", "# sojourn"),
    ("latency", "sojourn"),
    ("throughput", "makespan"),
    ("percentile", "percentile"),
    ("confidence interval", "95 %"),
    ("seeds", "seed"),
    ("random numbers", "random"),
    ("queue", "queue"),
    ("pool", "pool"),
    ("Priority", "priority"),
    ("memory", "show key cluster.memory"),
    ("vcores", "## `cluster.cores`"),
    ("node failure", "fault"),
    ("straggler", "straggl"),
    ("shuffle", "shuffle"),
    ("SWIM", "swim"),
    ("rumen", "rumen"),
    ("JobTracker", "cluster.jobtracker"),
    ("TaskTracker", "## `cluster.nodes`"),
    ("shortest job first", "hfsp"),
    ("starvation", "starv"),
    ("perfetto", "perfetto"),
    ("Python", "ython"),
];

#[test]
fn the_words_of_newcomers_are_answered_at_once() {
    let room = Room::new();
    let mut wrong = Vec::new();
    for (number, (word, part)) in WORDS.into_iter().enumerate() {
        let command = ["show", "help"][number % 2];
        let output = room.mumakil(command).args(word.split(' ')).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        if !output.status.success() || !text.contains(part) {
            wrong.push(format!("{command} {word}: {text}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), WORDS.len());
}

#[test]
fn both_commands_answer_alike_and_a_slip_is_told() {
    let room = Room::new();
    let told = |words: &str| room.mumakil(words).output().unwrap();
    for word in ["rack", "block size", "nodes"] {
        let [show, help] = ["show", "help"].map(|command| told(&format!("{command} {word}")));
        assert_eq!((show.status.success(), show.stdout), (true, help.stdout), "{word}");
    }
    let slip = told("help fiar");
    assert_eq!(slip.status.code(), Some(2));
    assert!(String::from_utf8(slip.stderr).unwrap().contains("did you mean `fair`?"));
}

#[test]
fn each_synonym_stands_for_names_that_there_are() {
    let text = std::fs::read_to_string(root().join("src/cli/synonyms.txt")).unwrap();
    let room = Room::new();
    let names = text.lines().map(|line| line.split_once(": ").unwrap().1);
    for name in names.flat_map(|names| names.split(", ")).collect::<BTreeSet<_>>() {
        room.mumakil("show").arg(name).assert().success();
    }
}

#[test]
fn an_option_means_one_thing_on_every_command() {
    let room = Room::new();
    let help = |command: &str| {
        let output = room.mumakil(&format!("{command} -h")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for command in ["run", "study", "branch", "predict", "policy score", "live", "compare"] {
        let help = help(command);
        assert!(help.contains("--force") && help.contains("--out <"), "{command}: {help}");
    }
    for command in ["run", "study", "branch", "predict", "policy rank", "live", "study plan"] {
        assert!(help(command).contains("--no-external"), "{command}");
    }
    for command in ["list", "show", "help", "man", "completions", "trace inspect", "compare"] {
        assert!(!help(command).contains("external"), "{command}");
        room.mumakil(&format!("{command} --no-external")).assert().code(2);
    }
    for command in ["run", "study", "compare", "predict", "explain", "study status"] {
        assert!(help(command).contains("--json"), "{command}");
    }
    for command in ["run", "study", "branch", "predict", "live", "study plan"] {
        assert!(help(command).contains("--seed <NUMBER>"), "{command}");
    }
}

#[test]
fn results_are_printed_for_other_programs() {
    let room = Room::new();
    room.write("s.yaml", "workload: {jobs: [{name: a, maps: 2, map_time: 5s}]}\n");
    let json = |words: &str| -> serde_json::Value {
        let output = room.mumakil(words).output().unwrap();
        assert!(output.status.success(), "{words}");
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let run = json("run s.yaml --json --out out/a");
    assert_eq!((&run["jobs"], &run["folder"]), (&1.into(), &"out/a".into()));
    json("run s.yaml --json --out out/b --seed 7");
    let compared = json("compare out/a out/b --json");
    assert!(compared[1]["rows"][0]["a"].is_number(), "{compared}");
    let study = json("study s.yaml --set sweep.scheduler=[fifo,fair] --json --out out/s --seed 7");
    assert_eq!(study["folder"], "out/s");
    let csv = room.mumakil("study out/s --csv").output().unwrap();
    let csv = String::from_utf8(csv.stdout).unwrap();
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("scheduler,"), "{csv}");
    let markdown = room.mumakil("study out/s --markdown --force").output().unwrap();
    assert!(String::from_utf8(markdown.stdout).unwrap().starts_with("| scheduler"));
}
