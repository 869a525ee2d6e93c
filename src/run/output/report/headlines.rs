//! The headline numbers of the report.

use std::iter;

use super::count;
use crate::record::Summary;
use mumakil_base::units::tell;
use mumakil_draw::page::Headline;

/// Returns the headline numbers of a run; numbers without a value are left out.
pub(super) fn headlines(summary: &Summary) -> Vec<Headline> {
    let seconds = |value: Option<f64>| value.map(tell::span);
    let share = |value: Option<f64>| value.map(tell::percent);
    let locality = &summary.locality;
    let beyond = [("rack", locality.rack), ("off-rack", locality.off_rack)]
        .map(|(word, part)| share(part).map_or_else(String::new, |part| format!("{word} {part}")));
    let slots = |slots: u64| format!("of {} slots", count(slots as f64));
    let waiting = share(summary.maps_wait.filter(|share| 0.0 < *share))
        .map_or_else(String::new, |share| format!(", {share} waiting for maps"));
    let resources = summary.resource_utilisation.unwrap_or_default();
    // Of one job all would say the same.
    let is_several = 1 < summary.jobs_succeeded;
    let expenses = summary.expenses.unwrap_or_default();
    let numbers = [
        ("Jobs", Some(count(summary.jobs as f64)), outcomes(summary)),
        ("Mean sojourn", seconds(summary.mean_sojourn_s), summary.left_out().unwrap_or_default()),
        (
            "Median sojourn",
            seconds(summary.median_sojourn_s.filter(|_| is_several)),
            "of the middle two, if their number is even".to_owned(),
        ),
        (
            "95th percentile",
            seconds(summary.p95_sojourn_s.filter(|_| is_several)),
            "of sojourn".to_owned(),
        ),
        ("Mean wait", seconds(summary.mean_wait_s), "for the first slot".to_owned()),
        ("Makespan", seconds(summary.makespan_s), String::new()),
        ("Node-local maps", share(locality.node), beyond.join(", ")),
        ("Map slots held", share(summary.slot_utilisation.map), slots(summary.map_slots)),
        (
            "Reduce slots held",
            share(summary.slot_utilisation.reduce),
            slots(summary.reduce_slots) + &waiting,
        ),
        ("Memory held", share(resources.memory), "of all nodes".to_owned()),
        ("Cores held", share(resources.cores), "of all nodes".to_owned()),
        (
            "Energy",
            expenses.energy_kwh.map(|kwh| tell::significant(kwh, 3) + " kWh"),
            "of all nodes".to_owned(),
        ),
        ("Cost", expenses.cost.map(|cost| tell::significant(cost, 3)), "of all nodes".to_owned()),
        load(summary),
        ("Attempts", Some(count(summary.attempts as f64)), tasks(summary)),
    ];
    let headlines = numbers.into_iter().filter_map(|(label, value, note)| {
        Some(Headline { label: label.to_owned(), value: value?, note })
    });
    headlines.collect()
}

/// Returns the offered load of the kind of slots that is asked for most, with the verdict.
fn load(summary: &Summary) -> (&'static str, Option<String>, String) {
    let load = &summary.load;
    let loads = [("map", load.offered.map), ("reduce", load.offered.reduce)];
    let known = loads.into_iter().filter_map(|(kind, share)| Some((kind, share?)));
    let highest = known.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let value = highest.map(|(_, load)| tell::significant(load, 3));
    let of = highest.map_or_else(String::new, |(kind, _)| format!("of {kind} slots, "));
    // A batch has no load, but a reader should know that it is one.
    ("Offered load", Some(value.unwrap_or_else(|| "none".to_owned())), of + &load.words())
}

fn outcomes(summary: &Summary) -> String {
    if summary.jobs_succeeded == summary.jobs {
        return "all succeeded".to_owned();
    }
    some(summary.outcomes()).join(", ")
}

/// Returns the note under the number of attempts: how many tasks there were, and how many attempts
/// did not succeed.
fn tasks(summary: &Summary) -> String {
    let of = format!(
        "of {} maps, {} reduces",
        count(summary.maps as f64),
        count(summary.reduces as f64)
    );
    iter::once(of).chain(some(summary.bad_outcomes())).collect::<Vec<_>>().join(", ")
}

/// Returns each number above zero with its word.
fn some<const N: usize>(parts: [(u64, &str); N]) -> Vec<String> {
    let some = parts.into_iter().filter(|(number, _)| 0 < *number);
    some.map(|(number, word)| format!("{} {word}", count(number as f64))).collect()
}
