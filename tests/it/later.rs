//! Entries of `later` in scenarios, and branches of runs, as users see them.

use std::fs;

use crate::Room;

/// Long and short jobs on a small cluster, so that policies decide differently and suspend
/// attempts.
const SCENARIO: &str = "
cluster: {nodes: 4, map_slots: 2, reduce_slots: 1}
workload:
  jobs:
    - {name: long, maps: 60, reduces: 4, map_time: 20s, reduce_time: 60s}
    - {name: short, submit: 40s, count: 3, every: 45s, maps: 6, reduces: 1, map_time: 10s, \
       reduce_time: 20s}
record: {events: true}
";

/// Runs the scenario with more lines; returns its events and its summary.
fn run(more: &str) -> (String, String) {
    let room = Room::new();
    room.write("a.yaml", &format!("{SCENARIO}{more}\n"));
    let output = room.mumakil("run a.yaml --verify --quiet --time-limit 1min").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{more}: {told}");
    let read = |file: &str| fs::read_to_string(room.path(&format!("out/a-42/{file}"))).unwrap();
    (read("events.jsonl"), read("summary.json"))
}

/// Returns the events before an instant.
fn before(events: &str, secs: u64) -> String {
    let at = |line: &str| {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        event["at_us"].as_u64().unwrap()
    };
    events.lines().filter(|line| at(line) < secs * 1_000_000).collect::<Vec<_>>().join("\n")
}

fn count(events: &str, what: &str) -> usize {
    events.lines().filter(|line| line.contains(what)).count()
}

#[test]
fn the_past_stays_as_it_was_under_any_policy_and_whatever_comes_later() {
    let policies = ["fifo", "fair", "capacity", "hfsp", "fair-deficit", "srpt"];
    for (first, second) in policies.iter().zip(policies.iter().cycle().skip(1)) {
        let (plain, _) = run(&format!("scheduler: {first}"));
        let more = format!(
            "scheduler: {first}\nlater:\n- {{at: 90s, scheduler: {second}}}\n\
             - {{at: 95s, submit: {{name: urgent, maps: 4, reduces: 1, map_time: 5s}}}}"
        );
        let (changed, summary) = run(&more);
        assert_eq!(before(&plain, 90), before(&changed, 90), "{first} to {second}");
        assert_ne!(plain, changed);
        assert_eq!(count(&changed, r#"{"at_us":90000000,"fact":"policy changed"}"#), 1);
        assert_eq!(count(&changed, r#""name":"urgent""#), 1);
        assert!(summary.contains(r#""jobs_succeeded": 5"#), "{first} to {second}: {summary}");
        assert!(summary.contains(&format!(r#""policy": "{second}""#)), "{summary}");
    }
}

/// HFSP has suspended attempts when the next policy takes over. A next policy without suspension
/// would never resume these attempts.
#[test]
fn a_successor_resumes_or_kills_suspended_attempts() {
    let eager = "{hfsp: {preemption: eager, map_preemption: eager}}";
    let at = "scheduler: EAGER\nlater: [{at: 145s, scheduler: NEXT}]".replace("EAGER", eager);
    let fact = |order: &str| format!(r#""fact":"{order}""#);
    let (plain, _) = run(&format!("scheduler: {eager}"));
    let past = before(&plain, 145);
    let halted = count(&past, &fact("suspended")) - count(&past, &fact("resumed"));
    assert!(0 < halted, "no attempt is suspended then, so this tests nothing");
    let killed = |events: &str| count(events, r#""code":"policy-changed""#);
    let (fifo, _) = run(&at.replace("NEXT", "fifo"));
    assert!(halted <= killed(&fifo), "{halted} and {}", killed(&fifo));
    // The reference policies are HFSP with other job sizes, and resume suspended attempts like
    // HFSP. A rank does so if it may suspend attempts itself.
    let rank = "{rank: {jobs: -remaining, preemption: eager}}";
    for next in [eager, "fsp", "srpt", rank] {
        let (again, _) = run(&at.replace("NEXT", next));
        assert_eq!(killed(&again), 0, "{next}");
        assert!(count(&past, &fact("resumed")) < count(&again, &fact("resumed")), "{next}");
    }
}

/// A policy with timers takes over from a policy without timers, and is replaced again.
#[test]
fn a_policy_that_takes_over_has_its_own_time_and_only_once() {
    let pools = "{fair: {preemption: kill, allocations: {min_share_after: 10s, \
                 pools: {p: {min_maps: 6}}}}}";
    let urgent = "submit: {name: urgent, pool: p, maps: 6, map_time: 30s}";
    let changes = format!(
        "later:\n- {{at: 60s, scheduler: {pools}}}\n- {{at: 60500ms, scheduler: fifo}}\n\
         - {{at: 61s, scheduler: {pools}}}\n- {{at: 70s, {urgent}}}"
    );
    let (events, _) = run(&changes);
    let kills = r#""order":"kill""#;
    assert!(0 < count(&events, kills), "no attempt is killed for the pool's minimum");
    // A run without the changes in between kills the same number of attempts.
    let once = format!("later:\n- {{at: 60s, scheduler: {pools}}}\n- {{at: 70s, {urgent}}}");
    assert_eq!(count(&events, kills), count(&run(&once).0, kills));
}

#[test]
fn a_branch_has_the_same_past_and_can_be_run_again_alone() {
    let room = Room::new();
    room.write("a.yaml", SCENARIO);
    let told = |command: &str, code: i32| {
        let output = room.mumakil(command).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{command}");
        let both = [output.stdout, output.stderr].concat();
        String::from_utf8(both).unwrap()
    };
    let text = told("branch a.yaml --at 90s --set scheduler=hfsp --out b", 0);
    assert!(text.starts_with("the same up to 90s: "), "{text}");
    assert!(text.contains("fifo, then hfsp"), "{text}");
    let read = |file: &str| fs::read_to_string(room.path(file)).unwrap();
    let (run, branch) = (read("b/run/events.jsonl"), read("b/branch/events.jsonl"));
    assert_eq!(before(&run, 90), before(&branch, 90));
    assert_ne!(run, branch);
    assert!(read("b/compare.html").contains("fifo, then hfsp"));
    told("run b/branch/scenario.resolved.yaml --out again --quiet", 0);
    assert_eq!(read("again/events.jsonl"), branch);

    // A branch that would change the past is refused, and earlier results stay.
    assert!(told("branch a.yaml --at 90s --set scheduler=fair --out b", 2).contains("--force"));
    let ended = told("branch a.yaml --at 10h --set scheduler=hfsp --out c", 2);
    assert!(ended.contains("before 10h, so nothing could differ"), "{ended}");
    let other = told("branch a.yaml --at 90s --set cluster.nodes=5 --out c", 1);
    assert!(other.contains("the settings change what happens before 90s"), "{other}");
    assert!(!room.path("c").exists(), "nothing is left of it");
    assert!(told("branch a.yaml --at 90s --set seed=42 --out d", 2).contains("change nothing"));
    assert!(!room.path("d").exists());
}

/// To measure isolated times, all jobs, including a job of `later`, run one after the other under
/// one policy.
#[test]
fn how_long_a_job_takes_alone_is_known_of_one_that_came_later() {
    let room = Room::new();
    let later = "later: [{at: 9s, submit: {name: urgent, maps: 4, map_time: 5s}}, \
                 {at: 20s, scheduler: fair}]\nrecord: {alone: true}";
    let text = SCENARIO.replace("record: {events: true}", later);
    room.write("a.yaml", &text);
    let output = room.mumakil("run a.yaml --quiet").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let jobs = fs::read_to_string(room.path("out/a-42/jobs.csv")).unwrap();
    // `alone_ms` is the last column.
    let has_time = |line: &&str| !line.ends_with(',');
    assert_eq!(jobs.lines().filter(has_time).count(), 6, "{jobs}");
    assert!(jobs.contains("urgent"), "{jobs}");
}

/// In Mumak the next job comes when a job ends, but no job comes before `start`.
#[test]
fn a_job_that_came_and_ended_before_the_start_lets_no_other_come_twice() {
    let room = Room::new();
    let text = "name: a\nhadoop: {line: mumak}\nlater: [{at: 55s, submit: {name: aside, maps: 1, map_time: 5s}}]\n\
                workload: {submission: stress, start: 418s, jobs: [{name: first, maps: 1, map_time: 5s}]}";
    room.write("a.yaml", text);
    let output = room.mumakil("run a.yaml --verify --out out").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let jobs = fs::read_to_string(room.path("out/jobs.csv")).unwrap();
    assert_eq!(jobs.lines().count(), 3, "{jobs}");
}

/// The maps of the short jobs wait behind those of the long one, until they get a higher priority.
#[test]
fn a_job_is_served_by_its_new_priority_and_pool_from_the_instant_of_the_change() {
    let done = |more: &str| {
        let (events, _) = run(more);
        let end = |job: u32| {
            let is_end = |line: &&str| {
                line.contains(r#""fact":"maps done""#) && line.contains(&format!(r#""job":{job}"#))
            };
            let line = events.lines().find(is_end).unwrap();
            serde_json::from_str::<serde_json::Value>(line).unwrap()["at_us"].as_u64().unwrap()
        };
        (end(1), events)
    };
    let plain = done("scheduler: fifo").0;
    let change = "later: [{at: 50s, change: {job: short, priority: very_high, pool: web}}]";
    let (soon, events) = done(&format!("scheduler: fifo\n{change}"));
    assert!(soon < plain, "{soon} and {plain}");
    // Only the first of the three jobs was there; the other two come later, and are not changed.
    let told =
        r#"{"at_us":50000000,"fact":"job changed","job":1,"priority":"very_high","pool":"web"}"#;
    assert_eq!(count(&events, told), 1, "{events}");
    assert_eq!(before(&events, 50), before(&run("scheduler: fifo").0, 50));
    for policy in ["fair", "fair-deficit", "modified-fair", "capacity", "hfsp", "fair-skip", "srpt"]
    {
        let (_, events) = done(&format!("scheduler: {policy}\n{change}"));
        assert_eq!(count(&events, r#""fact":"job changed""#), 1, "{policy}");
    }
}

#[test]
fn pools_are_read_again_without_another_policy() {
    let fair = "scheduler: {fair: {allocations: {pools: {default: {max_maps: 1}}}}}";
    let more = format!("{fair}\nlater: [{{at: 60s, allocations: {{pools: {{default: {{}}}}}}}}]");
    let ((slow, _), (fast, summary)) = (run(fair), run(&more));
    assert_eq!(before(&slow, 60), before(&fast, 60));
    assert_eq!(count(&fast, r#"{"at_us":60000000,"fact":"allocations reloaded"}"#), 1);
    assert_eq!(count(&fast, "policy changed"), 0);
    let end = |events: &str| events.lines().last().unwrap().len() + events.lines().count();
    assert_ne!(end(&slow), end(&fast));
    assert!(summary.contains(r#""jobs_succeeded": 4"#), "{summary}");
}

#[test]
fn a_task_is_killed_or_failed_by_hand() {
    for (key, outcome, code) in
        [("kill_task", "killed", "killed-by-hand"), ("fail_task", "failed", "failed-by-hand")]
    {
        let more = format!(
            "scheduler: fifo\nhadoop: {{max_attempts: 2}}\nlater: [{{at: 25s, {key}: {{job: long, map: 0}}}}]"
        );
        let (events, summary) = run(&more);
        let ordered = format!(r#""order":"kill","code":"{code}""#);
        assert_eq!(count(&events, &ordered), 1, "{key}");
        let learned = format!(r#""state":"{outcome}""#);
        let of_task = events.lines().filter(|line| line.contains(r#""task":0,"attempt":0"#));
        assert!(of_task.clone().any(|line| line.contains(&learned)), "{key}: {events}");
        assert!(summary.contains(r#""jobs_succeeded": 4"#), "{summary}");
    }
}

#[test]
fn a_change_of_what_is_not_there_is_refused_with_its_place() {
    let room = Room::new();
    let told = |later: &str| {
        room.write(
            "a.yaml",
            &format!("{SCENARIO}scheduler: fair\nlater:\n- {{at: 60s, {later}}}\n"),
        );
        let output = room.mumakil("check a.yaml").output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    for (later, message) in [
        ("change: {job: sort, priority: high}", "there is no job `sort` in the workload"),
        ("change: {job: lang, priority: high}", "did you mean `long`?"),
        ("change: {job: long}", "it changes nothing"),
        ("change: {job: long, priority: hihg}", "did you mean `high`?"),
        ("kill_task: {job: long, map: 60}", "`long` has 60 maps, from 0 to 59"),
        ("fail_task: {job: long}", "a task is one of `map: 3` and `reduce: 3`"),
        ("kill_task: {job: long, map: 1}, scheduler: fifo", "write two entries"),
        ("allocations: {pools: {a: {wieght: 3}}}", "did you mean `weight`?"),
        ("allocations: {queues: {}}", "unknown field `queues`"),
    ] {
        let told = told(later);
        assert!(told.contains(message) && told.contains("later[0]"), "{later}: {told}");
    }
    assert!(told("change: {job: long, priority: high}").contains("fine"));
    room.write("a.yaml", &format!("{SCENARIO}later: [{{at: 60s, allocations: {{}}}}]\n"));
    let output = room.mumakil("check a.yaml").output().unwrap();
    let told = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(told.contains("`fifo` has no pools or queues to read again"), "{told}");
}

/// A tracker reads its numbers of slots when it starts, as in Hadoop.
#[test]
fn a_tracker_that_restarts_may_have_other_slots() {
    let slots = |events: &str| {
        let of = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            let is_it = event["fact"] == "tracker up" && event["node"] == "node-2";
            is_it.then(|| ["map_slots", "reduce_slots"].map(|kind| event[kind].as_u64().unwrap()))
        };
        events.lines().filter_map(of).collect::<Vec<_>>()
    };
    let more = "faults: [{at: 1min, restart: {nodes: node-2, for: 5s, map_slots: 6}}, \
                {at: 2min, restart: {nodes: node-2, for: 5s, map_slots: 0, reduce_slots: 3}}]";
    let (events, _) = run(more);
    assert_eq!(slots(&events), [[2, 1], [6, 1], [0, 3]]);
    let started = |from: u64, to: u64, kind: &str| {
        let (past, all) = (before(&events, from), before(&events, to));
        let of = |events: &str| {
            let is_it = |line: &&str| {
                line.contains(r#""fact":"started""#) && line.contains(r#""node":"node-2""#)
            };
            let works = |line: &&str| line.contains(r#""role":"work""#);
            let of_kind = format!(r#""kind":"{kind}""#);
            events.lines().filter(is_it).filter(works).filter(|it| it.contains(&of_kind)).count()
        };
        of(&all) - of(&past)
    };
    // Maps take more than 11 s, so six maps that start within 11 s run at the same time.
    assert_eq!(started(65, 76, "map"), 6);
    assert_eq!(started(125, 1_000, "map"), 0);
    assert!(1 < started(125, 1_000, "reduce"));
}
