//! What must hold of a mix before jobs can be drawn, and of the jobs that were.

use std::collections::BTreeSet;

use super::{Checked, cycle};
use crate::units::SimSpan;
use crate::workload::{Arrivals, JobEntry, Mix, in_order};
use crate::yaml::{Path, Problem, Step};

/// The most types that a mix may have: a family of jobs with the longest delays ends before time
/// does.
const MOST_TYPES: usize = 1_000;

/// Returns the jobs of a mix; none if it has mistakes.
pub(super) fn draw(mix: &Mix, seed: u64, found: &mut Checked) -> Vec<JobEntry> {
    let before = found.problems.len();
    check_types(mix, found);
    if found.problems.len() == before {
        check_shares(mix, found);
        check_families(mix, found);
        check_number(mix, found);
    }
    if found.problems.len() != before {
        return Vec::new();
    }
    let jobs = mix.jobs(seed);
    let first = || jobs.iter().filter(|job| job.after.is_empty());
    if mix.said().is_none() && first().count() == Mix::MOST as usize {
        let message = format!("{} jobs and more are submitted within that time", Mix::MOST);
        found.value("workload.mix.duration", message);
    }
    if jobs.is_empty() {
        found.value("workload.mix", "there are no jobs: a run would end before it began");
    }
    if first().any(|job| job.submit == SimSpan::LONGEST) {
        let message = format!("jobs are submitted after {} and later", SimSpan::LONGEST);
        found.value("workload.mix.arrivals", message);
    }
    jobs
}

/// Puts the mistakes of drawn jobs where they were made; of each type the first.
pub(super) fn point_at_types(jobs: &[JobEntry], problems: &mut Vec<Problem>) {
    let mut told = BTreeSet::new();
    problems.retain_mut(|problem| {
        let [Step::Key(workload), Step::Key(list), Step::Index(job), ..] = &problem.path.0[..]
        else {
            return true;
        };
        let of = jobs.get(*job).and_then(|job| job.name.rsplit_once('-'));
        match of {
            Some((of, _)) if workload == "workload" && list == "jobs" => {
                problem.path = types().key(of);
                told.insert(problem.path.clone())
            }
            _ => true,
        }
    });
}

fn types() -> Path {
    Path::of("workload.mix.types")
}

/// There are types, and `after` names such.
fn check_types(mix: &Mix, found: &mut Checked) {
    match mix.types.len() {
        0 => found.value("workload.mix", "a mix has at least one type of jobs"),
        1..=MOST_TYPES => {}
        many => {
            found.value("workload.mix.types", format!("{many} types are more than {MOST_TYPES}"));
        }
    }
    for (name, of) in &mix.types {
        for (index, other) in of.after.iter().enumerate() {
            if !mix.types.contains_key(other) {
                let path = types().key(name).key("after").index(index);
                let problem = Problem::value(path, format!("there is no type `{other}`"));
                let names = mix.types.keys().map(String::as_str);
                found.problems.push(problem.nearest(other, names));
            }
        }
    }
}

/// Types that follow none share the jobs: all by counts, or all by weights.
fn check_shares(mix: &Mix, found: &mut Checked) {
    let firsts = || mix.types.iter().filter(|(_, of)| of.after.is_empty());
    let counted = firsts().find(|(_, of)| of.count.is_some());
    for (name, of) in &mix.types {
        let path = types().key(name);
        let mut mistake = |field: &str, message| {
            found.problems.push(Problem::key(path.key(field), message));
        };
        if !of.after.is_empty() {
            let given = [("count", of.count.is_some()), ("weight", of.weight.is_some())];
            for (field, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                mistake(field, format!("there are as many `{name}` as jobs that they follow"));
            }
            continue;
        }
        match (of.count, of.weight, counted) {
            (Some(_), Some(_), _) => mistake("weight", format!("`{name}` has a `count` already")),
            (None, Some(_), Some((other, _))) => {
                mistake("weight", format!("`{other}` has a `count`: either all have one or none"));
            }
            (None, None, Some((other, _))) => {
                let message = format!("`{other}` has a `count`, and `{name}` has none");
                found.problems.push(Problem::value(path, message));
            }
            _ => {}
        }
    }
    let has_share = firsts().any(|(_, of)| match counted {
        Some(_) => of.count.is_some_and(|count| 0 < count.get()),
        None => of.weight.is_none_or(|weight| 0.0 < weight.get()),
    });
    if !has_share && firsts().next().is_some() {
        found.value("workload.mix.types", "every type has a `count` or a `weight` of 0");
    }
}

/// Types follow each other without coming round, and each from one beginning.
fn check_families(mix: &Mix, found: &mut Checked) {
    let follows = mix.follows();
    let name = |place: usize| mix.types.get_index(place).map_or("", |(name, _)| name);
    let after = |place| types().key(name(place)).key("after");
    if let Some(round) = cycle(&follows) {
        let names: Vec<String> =
            round.iter().chain(round.first()).map(|&place| format!("`{}`", name(place))).collect();
        let message = format!("these types wait for each other: {}", names.join(" after "));
        found.problems.push(Problem::value(after(round[0]), message));
        return;
    }
    let mut first: Vec<usize> = (0..follows.len()).collect();
    for place in in_order(&follows) {
        let mut firsts = follows[place].iter().map(|&before| first[before]);
        let Some(begin) = firsts.next() else { continue };
        if let Some(other) = firsts.find(|other| *other != begin) {
            let message = format!(
                "`{}` cannot follow both: a family of jobs begins with `{}`, another with `{}`",
                name(place),
                name(begin),
                name(other)
            );
            found.problems.push(Problem::value(after(place), message));
        }
        first[place] = begin;
    }
}

/// Something says how many jobs there are, and they are not too many.
fn check_number(mix: &Mix, found: &mut Checked) {
    match (&mix.arrivals, mix.said()) {
        (Arrivals::Times(times), Some(said)) if (times.len() as u64) < said => {
            let message = format!("there are {} times for {said} jobs", times.len());
            found.value("workload.mix.arrivals.times", message);
        }
        (_, None) if mix.duration.is_none() => found.value(
            "workload.mix",
            "nothing says how many jobs there are: give `jobs`, `duration`, or each type a `count`",
        ),
        (_, Some(said)) => {
            let followers = mix.types.values().filter(|of| !of.after.is_empty()).count() as u64;
            let all = said * (1 + followers);
            if u64::from(Mix::MOST) < said || super::MOST_JOBS < all {
                found.value("workload.mix", format!("{all} jobs are too many"));
            }
        }
        _ => {}
    }
    if let Arrivals::Daily { hours, .. } = &mix.arrivals {
        let all: f64 = hours.iter().map(|weight| weight.get()).sum();
        if all == 0.0 || all.is_infinite() {
            let message = "the weights of the hours add up to a finite number above zero";
            found.value("workload.mix.arrivals.daily.hours", message);
        }
    }
}
