//! Checks of a mix before its jobs are drawn, and of the drawn jobs.

use super::arrivals::Arrivals;
use super::{DrawnAspect, JobStreams, Mix};
use crate::workload::jobs::{JobEntry, MOST_JOBS, cycle, in_order};
use mumakil_base::units::SimSpan;
use mumakil_yaml::{Path, YamlProblem};

/// The most types of a mix: with delays of 100 years each, the last job of a family is submitted
/// after 100,000 years, the latest possible time.
const MOST_TYPES: usize = 1_000;

/// Returns the jobs of a mix, and adds its problems to `found`; no jobs if they cannot be drawn.
pub(super) fn draw(mix: &Mix, seed: u64, found: &mut Vec<YamlProblem>) -> Vec<JobEntry> {
    check_types(mix, found);
    // These checks look up types by the names in `after`, which must exist.
    if found.is_empty() {
        check_shares(mix, found);
        check_families(mix, found);
        check_number(mix, found);
    }
    if !found.is_empty() {
        return Vec::new();
    }
    let jobs = mix.draw(seed);
    let first = || jobs.iter().filter(|job| job.after.is_empty());
    // The draw has stopped at the largest number of jobs, before the end of `duration`.
    if mix.said().is_none() && first().count() == Mix::MOST as usize {
        let message = format!("{} jobs and more are submitted within that time", Mix::MOST);
        found.push(YamlProblem::value(Path::of("duration"), message));
    }
    if jobs.is_empty() {
        let message = "there are no jobs: a run would end before it began";
        found.push(YamlProblem::value(Path::default(), message));
    }
    // Times stop at the longest span, so later jobs pile up there.
    if first().any(|job| job.submit == SimSpan::LONGEST) {
        let message = format!("jobs are submitted after {} and later", SimSpan::LONGEST);
        found.push(YamlProblem::value(Path::of("arrivals"), message));
    }
    jobs
}

/// Up to this share of a type's jobs may get more maps than were drawn without a warning.
// Chosen: the mean then changes by less than jobs differ from run to run.
const FEW: f64 = 0.05;

/// Warns of types many of whose jobs were drawn without a map and get one.
pub(super) fn doubts(mix: &Mix, seed: u64, jobs: &[JobEntry]) -> Vec<String> {
    let mut draws = vec![(0_u32, 0_u32); mix.types.len()];
    for job in jobs {
        let type_and_rank = job.name.rsplit_once('-');
        let place = type_and_rank.and_then(|(of, _)| mix.types.get_index_of(of));
        let rank = type_and_rank.and_then(|(_, rank)| rank.parse().ok());
        let Some((place, rank)) = place.zip(rank) else { continue };
        let of = &mix.types[place].maps;
        let drawn = JobStreams { seed, place, rank }.draw(DrawnAspect::Maps, of).get();
        draws[place].0 += 1;
        draws[place].1 += u32::from(!of.is_constant() && drawn == 0);
    }
    let told = mix.types.iter().zip(draws);
    // With a floor in the scenario, its author knows that small draws become larger.
    let told = told.filter(|((_, of), (all, raised))| {
        of.maps_at_least.is_none() && FEW * f64::from(*all) < f64::from(*raised)
    });
    told.map(|((name, _), (all, raised))| {
        format!(
            "{raised} of {all} jobs of the type `{name}` were drawn without a map and get one, so \
             jobs have more maps on average than the distribution says; choose a distribution of \
             one map and more, or accept this with `maps_at_least: 1`"
        )
    })
    .collect()
}

fn of_type(name: &str) -> Path {
    Path::of("types").key(name)
}

/// Checks that there are types, and that `after` names some of them.
fn check_types(mix: &Mix, found: &mut Vec<YamlProblem>) {
    match mix.types.len() {
        0 => {
            let message = "a mix has at least one type of jobs";
            found.push(YamlProblem::value(Path::default(), message));
        }
        1..=MOST_TYPES => {}
        many => {
            let message = format!("{many} types are more than {MOST_TYPES}");
            found.push(YamlProblem::value(Path::of("types"), message));
        }
    }
    for (name, of) in &mix.types {
        for (index, other) in of.after.iter().enumerate() {
            if !mix.types.contains_key(other) {
                let message = format!("there is no type `{other}`");
                let at = of_type(name).key("after").index(index);
                let known = mix.types.keys().map(String::as_str);
                found.push(YamlProblem::value(at, message).nearest(other, known));
            }
        }
    }
}

/// Checks that the types that follow no others share the jobs by counts alone or by weights alone.
fn check_shares(mix: &Mix, found: &mut Vec<YamlProblem>) {
    let firsts = || mix.types.iter().filter(|(_, of)| of.after.is_empty());
    let counted = firsts().find(|(_, of)| of.count.is_some());
    for (name, of) in &mix.types {
        let mut surplus = |field: &str, message| {
            found.push(YamlProblem::key(of_type(name).key(field), message));
        };
        if !of.after.is_empty() {
            let given = [("count", of.count.is_some()), ("weight", of.weight.is_some())];
            // A type with `after` has as many jobs as the first of its family.
            for (field, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
                surplus(
                    field,
                    format!("each job that `{name}` follows has one `{name}`: leave this out"),
                );
            }
            continue;
        }
        match (of.count, of.weight, counted) {
            (Some(_), Some(_), _) => surplus("weight", format!("`{name}` has a `count` already")),
            (None, Some(_), Some((other, _))) => {
                surplus("weight", format!("`{other}` has a `count`: either all have one or none"));
            }
            (None, None, Some((other, _))) => {
                let message = format!("`{other}` has a `count`, and `{name}` has none");
                found.push(YamlProblem::value(of_type(name), message));
            }
            _ => {}
        }
    }
    let has_share = firsts().any(|(_, of)| match counted {
        Some(_) => of.count.is_some_and(|count| 0 < count.get()),
        None => of.weight.is_none_or(|weight| 0.0 < weight.get()),
    });
    if !has_share && firsts().next().is_some() {
        let message = "every type has a `count` or a `weight` of 0";
        found.push(YamlProblem::value(Path::of("types"), message));
    }
}

/// Checks that types follow each other without a cycle, and that all types that a type follows are
/// in one family.
fn check_families(mix: &Mix, found: &mut Vec<YamlProblem>) {
    let follows = mix.follows();
    let name = |place: usize| mix.types.get_index(place).map_or("", |(name, _)| name);
    let after = |place, message| YamlProblem::value(of_type(name(place)).key("after"), message);
    if let Some(round) = cycle(&follows) {
        let names: Vec<String> =
            round.iter().chain(round.first()).map(|&place| format!("`{}`", name(place))).collect();
        let message = format!("these types wait for each other: {}", names.join(" after "));
        found.push(after(round[0], message));
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
            found.push(after(place, message));
        }
        // Set this even after a mistake, so that the types that follow this type do not repeat the
        // mistake.
        first[place] = begin;
    }
}

/// Checks that the number of jobs is limited, and not too large.
fn check_number(mix: &Mix, found: &mut Vec<YamlProblem>) {
    match (mix.said(), mix.duration) {
        (None, Some(_)) => {}
        (None, None) => {
            let message = "nothing says how many jobs there are: give `jobs`, `duration`, or each \
                           type a `count`";
            found.push(YamlProblem::value(Path::default(), message));
        }
        (Some(said), _) => check_said(mix, said, found),
    }
    if let Arrivals::Daily { hours, .. } = &mix.arrivals {
        let all: f64 = hours.iter().map(|weight| weight.get()).sum();
        if all == 0.0 || all.is_infinite() {
            let message = "the weights of the hours add up to a finite number above zero";
            found.push(YamlProblem::value(Path::of("arrivals.daily.hours"), message));
        }
    }
}

/// Checks that each of `said` jobs has a time, and that these jobs and the jobs that follow them
/// are not too many.
fn check_said(mix: &Mix, said: u64, found: &mut Vec<YamlProblem>) {
    if let Arrivals::Times(times) = &mix.arrivals
        && (times.len() as u64) < said
    {
        let message = format!("there are {} times for {said} jobs", times.len());
        found.push(YamlProblem::value(Path::of("arrivals.times"), message));
        return;
    }
    let followers = mix.types.values().filter(|of| !of.after.is_empty()).count() as u64;
    let all = said * (1 + followers);
    if u64::from(Mix::MOST) < said || MOST_JOBS < all {
        found.push(YamlProblem::value(Path::default(), format!("{all} jobs are too many")));
    }
}
