//! Ranks with preemption: jobs end when theory says.

use crate::fluid::{FluidDiscipline, LateJobs};

use crate::Room;
use crate::hfsp::{ONE_SLOT, finishes, fluid};

/// A job of three maps comes first, then jobs of one and of two maps; each map takes ten seconds.
const JOBS: &str = "
workload:
  jobs:
    - {name: large, maps: 3, map_time: 10s}
    - {name: small, submit: 15s, maps: 1, map_time: 10s}
    - {name: middle, submit: 38s, maps: 2, map_time: 10s}
";

fn assert_finishes(scheduler: &str, expected: &[f64]) {
    let found = finishes(&format!("{ONE_SLOT}{JOBS}scheduler: {scheduler}\n"));
    // The round trips of heartbeats take up to 0.1 s for each task.
    let is_near = |(found, expected): (&f64, &f64)| (0.0..1.0).contains(&(found - expected));
    assert!(found.iter().zip(expected).all(is_near), "{scheduler}: {found:?}, not {expected:?}");
}

#[test]
fn by_remaining_tasks_with_suspension_jobs_end_as_in_the_fluid_model_of_srpt() {
    let expected = fluid(FluidDiscipline::Srpt(LateJobs::InTurn), [(0, 30), (15, 10), (38, 20)]);
    assert_eq!(expected, [40.0, 25.0, 60.0]);
    assert_finishes("{rank: {jobs: -remaining, preemption: eager}}", &expected);
}

#[test]
fn a_kill_costs_the_work_of_the_victim_and_waiting_a_place_in_line() {
    // The small job interrupts the second map of the large one, which begins again.
    assert_finishes("{rank: {jobs: -remaining, preemption: kill}}", &[45.0, 25.0, 65.0]);
    // When the second map of the large job ends, both have one map left, and the older one goes on.
    assert_finishes("{rank: {jobs: -remaining}}", &[30.0, 40.0, 60.0]);
}

/// Under least attained service new jobs come first, until they have had as much as the old ones.
#[test]
fn by_attained_service_new_jobs_interrupt_old_ones() {
    // At 38 s the large job has had 28 s; the middle one ends with 20 s.
    assert_finishes("{rank: {jobs: -attained, preemption: eager}}", &[60.0, 25.0, 58.0]);
    // The large job must have had 20 s more: the small one waits for the end of its map.
    let when = "victim.attained - attained > 20s";
    assert_finishes(
        &format!("{{rank: {{jobs: -attained, preemption: eager, preemption_when: {when}}}}}"),
        &[60.0, 30.0, 58.0],
    );
}

#[test]
fn decisions_and_explanations_say_for_whom_a_slot_was_taken() {
    let room = Room::new();
    let record =
        "record: {decisions: true}\nscheduler: {rank: {jobs: -remaining, preemption: kill}}\n";
    room.write("a.yaml", &format!("{ONE_SLOT}{JOBS}{record}"));
    room.mumakil("run a.yaml --verify --quiet").assert().success();
    let tasks = std::fs::read_to_string(room.path("out/a-42/tasks.csv")).unwrap();
    let killed = tasks.lines().filter(|line| line.contains(",preempted,1,"));
    assert_eq!(killed.count(), 1, "{tasks}");
    let told = room.mumakil("explain out/a-42 large").output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("small"), "{told}");
}
