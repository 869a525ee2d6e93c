//! What can be said of `capacity` and the rules of one line of Hadoop take no notice of.

use indexmap::IndexMap;

use super::options::CapacityOptions;
use super::queues::{Queue, Queues};
use super::rules::Rules;
use mumakil_core::mapred::Complaint;

/// A key, and whether something is said by it.
type Key = (&'static str, fn(&CapacityOptions, &Queues) -> bool);

/// What only the rules of 1.x heed.
const ONLY_LATER: [Key; 6] = [
    ("wait_factor", |options, _| options.wait_factor.is_some()),
    ("max_system_jobs", |_, queues| queues.max_system_jobs != Queues::default().max_system_jobs),
    ("maps_per_heartbeat", |_, queues| {
        queues.maps_per_heartbeat != Queues::default().maps_per_heartbeat
    }),
    ("user_limit_factor", |_, queues| any(&queues.queues, |q| q.user_limit_factor.is_some())),
    ("max_active_tasks", |_, queues| any(&queues.queues, |q| q.max_active_tasks.is_some())),
    ("max_active_tasks_per_user", |_, queues| {
        any(&queues.queues, |q| q.max_active_tasks_per_user.is_some())
    }),
];

/// What only the rules of 0.20 and 0.21 heed.
const ONLY_EARLIER: [Key; 1] = [("max_initialised_per_user", |_, queues| {
    any(&queues.queues, |q| q.max_initialised_per_user.is_some())
})];

fn any(queues: &IndexMap<String, Queue>, says: fn(&Queue) -> bool) -> bool {
    queues.values().any(|queue| says(queue) || any(&queue.queues, says))
}

/// Warns of what the rules that hold take no notice of.
pub(super) fn unheeded(options: &CapacityOptions) -> Vec<Complaint> {
    let (keys, others): (&[Key], _) = match options.rules {
        Rules::V1 => (&ONLY_EARLIER, "those of 0.20 and 0.21 do"),
        _ => (&ONLY_LATER, "those of 1.x do"),
    };
    let queues = options.allocations.given();
    let said = keys.iter().filter(|(_, is_said)| is_said(options, &queues));
    let warning = |(key, _): &Key| Complaint {
        path: Vec::new(),
        message: format!("the rules that hold take no notice of `{key}`"),
        hint: format!("leave it out, or choose other `rules`: {others}"),
        is_warning: true,
    };
    said.map(warning).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_told_under_the_rules_that_do_not_heed_it() {
        let told = |rules: &str, said: &str| {
            let options = format!("{{rules: {rules}, {said}}}");
            let options: CapacityOptions = serde_yaml::from_str(&options).unwrap();
            unheeded(&options).into_iter().map(|warning| warning.message).collect::<Vec<_>>()
        };
        for (key, said) in [
            ("wait_factor", "wait_factor: 2"),
            ("max_system_jobs", "allocations: {max_system_jobs: 7}"),
            ("maps_per_heartbeat", "allocations: {maps_per_heartbeat: 7}"),
            ("user_limit_factor", "allocations: {queues: {a: {user_limit_factor: 2}}}"),
            (
                "max_active_tasks",
                "allocations: {queues: {a: {queues: {b: {max_active_tasks: 7}}}}}",
            ),
            (
                "max_active_tasks_per_user",
                "allocations: {queues: {a: {max_active_tasks_per_user: 7}}}",
            ),
            (
                "max_initialised_per_user",
                "allocations: {queues: {a: {max_initialised_per_user: 7}}}",
            ),
        ] {
            let warned = format!("the rules that hold take no notice of `{key}`");
            let by_rules = ["\"0.20\"", "\"0.21\"", "1.x"].map(|rules| told(rules, said));
            let (none, one) = (vec![], vec![warned]);
            let expected = match key {
                "max_initialised_per_user" => [none.clone(), none, one],
                _ => [one.clone(), one, none],
            };
            assert_eq!(by_rules, expected, "{key}");
        }
    }
}
