//! The last lines of a run: the main results, in words and units.

use std::time::Duration;

use super::lines::TerminalLines;
use super::table::{Align, table};
use mumakil_base::units::tell::{self, Detail, counted, percent, span};
use mumakil_core::mapred::ExternalWork;
use mumakil_run::record::{AttemptFate, FaultSummary, GroupSummary, Summary};

/// The most pools or users that are told.
// Chosen: as many as have colours of their own in charts.
const MOST_GROUPS: usize = 8;

/// The last lines of a run.
pub(super) struct RunStory<'a> {
    /// The numbers of the run.
    pub(super) summary: &'a Summary,
    /// The main causes, in sentences.
    pub(super) gist: &'a [String],
    /// The real time that the run took.
    pub(super) real: Duration,
    /// The 99th percentile of the delays of timers, in virtual seconds; only with the scaled clock.
    pub(super) lag: Option<f64>,
    /// The digest of its outputs; `None` if another run may give other bytes.
    pub(super) digest: Option<String>,
    /// The work of the policy, if it is an external program.
    pub(super) external_work: Option<ExternalWork>,
    /// The number of broken invariants; `None` if they were not checked.
    pub(super) violations: Option<u64>,
}

impl RunStory<'_> {
    /// Returns the lines; one thing in them is bold.
    pub(super) fn tell(&self) -> TerminalLines {
        let summary = self.summary;
        let mut lines = TerminalLines::default();
        let about = format!(
            "   {} · {} · {} · seed {}",
            counted(u64::from(summary.run.nodes), "tracker"),
            counted(summary.jobs, "job"),
            summary.policies(),
            summary.run.seed
        );
        lines.bold(&summary.run.scenario, about);
        self.gist.iter().for_each(|sentence| lines.line(format!("  {sentence}")));
        line(&mut lines, "jobs", &self.outcomes());
        line(
            &mut lines,
            "sojourn",
            &[
                named("mean", summary.mean_sojourn_s.map(span)),
                named("median", summary.median_sojourn_s.map(span)),
                named("p95", summary.p95_sojourn_s.map(span)),
                // Nothing is left out of a mean that there is not.
                summary.mean_sojourn_s.and(summary.left_out()).map(|told| format!("({told})")),
            ],
        );
        line(&mut lines, "wait", &[named("mean", summary.mean_wait_s.map(span))]);
        line(
            &mut lines,
            "locality",
            &[
                named("node", summary.locality.node.map(percent)),
                named("rack", summary.locality.rack.map(percent)),
                named("off-rack", summary.locality.off_rack.map(percent)),
            ],
        );
        line(&mut lines, "attempts", &summary.bad_outcomes().map(some));
        let slots = &summary.slot_utilisation;
        let waiting = summary.maps_wait.filter(|share| 0.0 < *share);
        line(
            &mut lines,
            "slots",
            &[
                named("map", slots.map.map(percent)),
                named("reduce", slots.reduce.map(percent)),
                waiting.map(|share| format!("{} of that waits for maps", percent(share))),
            ],
        );
        let resources = summary.resource_utilisation.unwrap_or_default();
        let held = [("memory", resources.memory), ("cores", resources.cores)];
        line(&mut lines, "held", &held.map(|(word, share)| named(word, share.map(percent))));
        let load = &summary.load;
        let told = |load: f64| (0.0 < load).then(|| tell::significant(load, 3));
        line(
            &mut lines,
            "load",
            &[
                named("map", load.offered.map.and_then(told)),
                named("reduce", load.offered.reduce.and_then(told)),
                Some(load.words()),
            ],
        );
        self.add_rare(&mut lines);
        for (word, groups) in [("pool", &summary.pools), ("user", &summary.users)] {
            lines += by_group(word, groups);
        }
        self.add_cost(&mut lines);
        line(&mut lines, "digest", std::slice::from_ref(&self.digest));
        lines
    }

    /// Adds the lines about the work of the program itself.
    fn add_cost(&self, lines: &mut TerminalLines) {
        // The real time may be a few milliseconds: show them.
        let close = |seconds| tell::time(seconds, Detail::Mark);
        let (of, real) = (span(self.summary.virtual_s), close(self.real.as_secs_f64()));
        line(lines, "ran", &[Some(format!("{of} of cluster time in {real}"))]);
        line(
            lines,
            "policy",
            &self
                .external_work
                .map_or([None, None], |external_work| external_lines(external_work, self.real)),
        );
        line(lines, "lag", &[named("p99", self.lag.map(close))]);
        line(lines, "verified", &[self.violations.map(|found| counted(found, "violation"))]);
    }

    /// Adds the lines of what not every run has: a warm-up, waste and faults.
    fn add_rare(&self, lines: &mut TerminalLines) {
        let summary = self.summary;
        if let Some(jobs) = summary.warm_up_jobs {
            let left_out = format!("{} left out", counted(jobs, "job"));
            line(lines, "warm-up", &[Some(span(summary.warm_up_s)), Some(left_out)]);
        }
        let expenses = summary.expenses.unwrap_or_default();
        let energy = expenses.energy_kwh.map(|kwh| tell::significant(kwh, 3) + " kWh");
        let cost = expenses.cost.map(|cost| tell::significant(cost, 3));
        line(lines, "expenses", &[named("energy", energy), named("cost", cost)]);
        if let Some(waste) = &summary.waste {
            let wasted = AttemptFate::IN_VAIN.map(|fate| {
                let seconds = waste.by_fate[fate];
                (0.0 < seconds).then(|| format!("{} {}", fate.word(), span(seconds)))
            });
            let useful = waste.goodput.map(percent);
            line(lines, "goodput", &[[useful].as_slice(), wasted.as_slice()].concat());
        }
        if let Some(FaultSummary { incidents, attempts_lost, slots_lost_s }) = summary.faults {
            let lost = (0 < attempts_lost).then(|| {
                let attempts = counted(attempts_lost, "attempt");
                format!("{attempts} lost   {} of slots wasted", span(slots_lost_s))
            });
            line(lines, "faults", &[Some(counted(incidents, "incident")), lost]);
        }
    }

    /// Returns the outcomes of the jobs. Shows `0 succeeded`, but no other zeros.
    fn outcomes(&self) -> [Option<String>; 5] {
        let [succeeded, others @ ..] = self.summary.outcomes();
        let [failed, killed, refused, left] = others.map(some);
        [Some(told(succeeded)), failed, killed, refused, left]
    }
}

/// Returns the number of questions that the external policy has answered, and its share of the
/// time.
fn external_lines(external_work: ExternalWork, real: Duration) -> [Option<String>; 2] {
    let speed = tell::count(external_work.per_second() as u64);
    let share = percent(external_work.share_of(real));
    let questions = format!("{}, {speed} a second", counted(external_work.questions, "question"));
    [Some(questions), Some(format!("{share} of the time"))]
}

/// Adds a line about one thing, such as sojourns; adds nothing without numbers, such as those of
/// faults in a run without faults.
fn line(lines: &mut TerminalLines, word: &str, parts: &[Option<String>]) {
    let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
    if !parts.is_empty() {
        lines.line(format!("  {word:<9}{}", parts.join("   ")));
    }
}

/// Returns the lines about pools or users.
fn by_group(word: &str, groups: &[GroupSummary]) -> TerminalLines {
    if groups.is_empty() {
        return TerminalLines::default();
    }
    let time = |seconds: Option<f64>| seconds.map_or_else(|| "–".to_owned(), span);
    let row = |group: &GroupSummary| {
        vec![
            group.name.clone(),
            tell::count(group.jobs),
            time(group.mean_sojourn_s) + &left_out(group),
            time(group.p95_sojourn_s),
            time(group.mean_wait_s),
            group.slots.map_or_else(|| "–".to_owned(), percent),
        ]
    };
    let heading = [word, "jobs", "mean sojourn", "p95", "mean wait", "slots"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    // Of many groups the first may be small: show those that held most of the slots.
    let mut shown: Vec<&GroupSummary> = groups.iter().collect();
    if MOST_GROUPS < shown.len() {
        shown.sort_by(|a, b| b.slots.unwrap_or(0.0).total_cmp(&a.slots.unwrap_or(0.0)));
    }
    rows.extend(shown.iter().take(MOST_GROUPS).map(|group| row(group)));
    let columns =
        [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right];
    let mut lines = table(&rows, &columns);
    if MOST_GROUPS < groups.len() {
        let more = groups.len() - MOST_GROUPS;
        lines.line(format!("  … and {} more in summary.json", counted(more as u64, word)));
    }
    lines
}

/// Returns how many jobs the sojourns of a group leave out, to stand behind its mean.
fn left_out(group: &GroupSummary) -> String {
    let left_out = group.jobs_left_out;
    if left_out == 0 { String::new() } else { format!(" ({} left out)", tell::count(left_out)) }
}

fn told((count, word): (u64, &str)) -> String {
    format!("{} {word}", tell::count(count))
}

/// Prints a count with its noun; `None` for zero.
fn some(counted: (u64, &str)) -> Option<String> {
    (0 < counted.0).then(|| told(counted))
}

fn named(name: &str, value: Option<String>) -> Option<String> {
    value.map(|value| format!("{name} {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::PerSlot;
    use mumakil_run::record::{
        LoadSummary, LoadVerdict, LocalityShares, RunFacts, VerdictReason, WasteSummary,
    };

    fn summary() -> Summary {
        Summary {
            run: RunFacts {
                scenario: "demo".to_owned(),
                policy: "fifo".to_owned(),
                seed: 1,
                version: "0.0.0".to_owned(),
                nodes: 20,
                ..RunFacts::default()
            },
            map_slots: 40,
            reduce_slots: 40,
            warm_up_s: 0.0,
            warm_up_jobs: None,
            jobs: 12,
            jobs_succeeded: 12,
            jobs_failed: 0,
            jobs_killed: 0,
            jobs_refused: 0,
            attempts: 140,
            attempts_failed: 0,
            attempts_killed: 0,
            suspensions: 0,
            maps: 120,
            reduces: 20,
            makespan_s: Some(800.0),
            mean_sojourn_s: Some(105.25),
            median_sojourn_s: Some(92.0),
            p95_sojourn_s: Some(361.0),
            mean_wait_s: Some(4.3),
            locality: LocalityShares { node: Some(0.962), rack: Some(0.038), off_rack: None },
            slot_utilisation: PerSlot { map: Some(0.5), reduce: Some(0.25) },
            resource_utilisation: None,
            expenses: None,
            maps_wait: Some(0.4),
            load: LoadSummary {
                verdict: LoadVerdict::Stable,
                reason: VerdictReason::SpareTime,
                offered: PerSlot { map: Some(0.455), reduce: Some(0.0) },
                ..LoadSummary::CLOSED_LOOP
            },
            waste: None,
            faults: None,
            pools: Vec::new(),
            users: Vec::new(),
            heartbeats: 1_000,
            messages: 3_000,
            virtual_s: 848.0,
            stopped: None,
        }
    }

    fn tell(summary: &Summary) -> String {
        let real = Duration::from_millis(40);
        let digest = Some("jetaniro".to_owned());
        let story = RunStory {
            summary,
            gist: &[],
            real,
            lag: None,
            digest,
            external_work: None,
            violations: None,
        };
        story.tell().bare()
    }

    #[test]
    fn a_run_is_told_in_a_few_lines() {
        assert_eq!(
            tell(&summary()),
            "\
demo   20 trackers · 12 jobs · fifo · seed 1
  jobs     12 succeeded
  sojourn  mean 1 min 45 s   median 1 min 32 s   p95 6 min 01 s
  wait     mean 4.3 s
  locality node 96.2 %   rack 3.8 %
  slots    map 50.0 %   reduce 25.0 %   40.0 % of that waits for maps
  load     map 0.455   stable
  ran      14 min 08 s of cluster time in 40 ms
  digest   jetaniro
"
        );
    }

    #[test]
    fn jobs_that_sojourns_leave_out_stand_beside_the_mean() {
        let (jobs_succeeded, jobs_failed, jobs_killed) = (10, 1, 1);
        let group = |name: &str, jobs_left_out| GroupSummary {
            name: name.to_owned(),
            jobs: 6,
            jobs_left_out,
            mean_sojourn_s: Some(90.0),
            p95_sojourn_s: Some(100.0),
            mean_wait_s: Some(1.0),
            slots: Some(0.5),
            resources: None,
        };
        let pools = vec![group("a", 2), group("b", 0)];
        let text = tell(&Summary { jobs_succeeded, jobs_failed, jobs_killed, pools, ..summary() });
        let line = "p95 6 min 01 s   (2 of 12 left out: 1 failed, 1 killed)\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("1 min 30 s (2 left out)   1 min 40 s"), "{text}");
    }

    #[test]
    fn a_run_that_does_not_keep_up_says_so() {
        let mut run = summary();
        (run.load.verdict, run.load.reason) = (LoadVerdict::Overloaded, VerdictReason::Growth);
        (run.warm_up_s, run.warm_up_jobs) = (60.0, Some(4));
        run.load.offered = PerSlot { map: Some(2.5), reduce: None };
        let text = tell(&run);
        assert!(text.contains("  load     map 2.5   overloaded: work waits"), "{text}");
        assert!(text.contains("  warm-up  1 min 00 s   4 jobs left out\n"), "{text}");
    }

    #[test]
    fn waste_is_told_by_its_cause() {
        let mut waste = WasteSummary { goodput: Some(0.85), ..WasteSummary::default() };
        waste.by_fate[AttemptFate::Speculative] = 120.0;
        waste.by_fate[AttemptFate::Failed] = 7.0;
        let text = tell(&Summary { waste: Some(waste), ..summary() });
        let line = "  goodput  85.0 %   failed 7.0 s   speculative 2 min 00 s\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn faults_are_told_with_what_they_cost_if_there_were_any() {
        assert!(!tell(&summary()).contains("faults"));
        let faults = FaultSummary { incidents: 3, attempts_lost: 31, slots_lost_s: 724.0 };
        let text = tell(&Summary { faults: Some(faults), ..summary() });
        let line = "  faults   3 incidents   31 attempts lost   12 min 04 s of slots wasted\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn unknown_numbers_are_not_written() {
        let nothing = Summary {
            jobs: 1,
            jobs_succeeded: 0,
            attempts_killed: 1_200,
            suspensions: 3,
            mean_sojourn_s: None,
            median_sojourn_s: None,
            p95_sojourn_s: None,
            mean_wait_s: None,
            maps_wait: None,
            ..summary()
        };
        let text = tell(&nothing);
        assert!(text.contains("1 job · fifo") && text.contains("0 succeeded   1 left"), "{text}");
        assert!(text.contains("  attempts 1,200 killed   3 suspended\n"), "{text}");
        assert!(!text.contains("sojourn") && !text.contains("wait"), "{text}");
    }
}
