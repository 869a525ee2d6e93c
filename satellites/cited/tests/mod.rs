//! The policies of cited systems in whole runs, against the numbers and closed forms of their papers.

use mumakil::mapred::{PolicySite, SchedulerChoice};

use crate::Room;
use crate::reduces_by_place::off_rack;
use crate::resources::{assert_keeps_to_the_node, example};

mod budgets;
mod deadlines;
mod offers;

#[test]
fn dominant_shares_are_those_of_the_paper() {
    let room = Room::new();
    let expect = "expect:\n  - max(slots[pool=ann, kind=map], time=10s..1min) == 3\n  \
                  - max(slots[pool=bob, kind=map], time=10s..1min) == 2\n";
    room.write("example.yaml", &(example("memory+cores", "drf") + expect));
    room.mumakil("run example.yaml --out out").assert().success();
    // The first job of the queue leaves only what it cannot use.
    room.write("example.yaml", &(example("memory+cores", "fifo") + expect));
    room.mumakil("run example.yaml --out out2").assert().code(1);
}

#[test]
fn no_dominant_share_exceeds_what_a_node_has() {
    assert_keeps_to_the_node("drf");
}

#[test]
fn reduces_of_drf_that_wait_fetch_from_their_own_rack() {
    let share = off_rack("{drf: {delay: {reduces: 2min}}}");
    assert!((share - 0.25).abs() < 0.001, "{share}");
}

#[test]
fn a_policy_knows_true_sizes_however_deep_it_hides() {
    let registry = mumakil::registry();
    for (policy, knows) in [
        ("aria", true),
        ("offers: {others: {policy: srpt}}", true),
        ("offers: {frameworks: {a: {policy: {hfsp: {estimator: oracle}}}}}", true),
        ("offers: {others: {policy: hfsp}}", false),
    ] {
        let choice: SchedulerChoice = serde_yaml::from_str(policy).unwrap();
        registry.build(&choice).unwrap_or_else(|error| panic!("{policy}: {error}"));
        assert_eq!(registry.foresees(&choice), knows, "{policy}");
    }
}

/// As in the live page, where strangers choose policies.
#[test]
fn a_policy_inside_of_offers_reads_no_file_where_none_may_be_read() {
    let mut registry = mumakil::registry();
    registry.option_files = None;
    let yaml = "{offers: {others: {policy: {fair: {allocations: /etc/passwd}}}}}";
    let choice: SchedulerChoice = serde_yaml::from_str(yaml).unwrap();
    let problems = registry.complete(&choice, &PolicySite::unknown()).err().unwrap();
    assert_eq!(problems[0].message, "no file may be read here");
}
