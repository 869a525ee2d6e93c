//! The programs in `examples/` are compiled here, and their tests run them.

#[expect(dead_code, unreachable_pub, reason = "a program, of which tests need the policy")]
#[path = "../../examples/policy.rs"]
pub(crate) mod policy;
#[path = "../../examples/run.rs"]
mod run;
#[path = "../../examples/study.rs"]
mod study;

use mumakil::emulation::{Options, emulate};
use mumakil::scenario;

#[test]
fn the_policy_of_the_examples_runs() {
    let mut registry = mumakil::registry();
    registry.add::<policy::FewestFirst>();
    let yaml = "workload: {jobs: [{name: a, count: 2, maps: 90, reduces: 5, map_time: 20s}]}\n\
                scheduler: fewest-first\n";
    let scenario = scenario::parse("own", yaml, &[], &registry).unwrap().scenario;
    let summary = emulate(&scenario, &registry, Options::default()).unwrap().summary;
    assert_eq!((summary.jobs_succeeded, summary.run.policy.as_str()), (2, "fewest-first"));
}
