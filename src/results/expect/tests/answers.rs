//! Compares results on small tables with numbers computed by hand.

use super::*;

/// A run of three jobs: two small jobs, and a large job that did not end.
fn one_run() -> Run {
    Run::default()
        .table::<JobRow>("job,name,class,pool,user,maps,reduces,submit_ms,first_launch_ms,maps_done_ms,finish_ms,sojourn_ms,wait_ms,node_local,rack_local,off_rack,failed,killed,suspended,outcome,alone_ms,chain_jobs,chain_sojourn_ms,chain_outcome
             0,a,small,x,ann,2,0,0,1000,5000,6000,6000,1000,2,0,0,0,0,0,succeeded,3000,2,11000,succeeded
             1,b,small,y,bob,4,1,1000,4000,8000,11000,10000,3000,1,2,1,1,0,2,succeeded,4000,,,
             2,c,large,y,bob,30,5,2000,9000,,,,7000,4,0,0,0,3,0,unfinished,1000,1,,unfinished",
        )
        .table::<AttemptRow>("job,kind,task,attempt,node,rack,locality,start_ms,finish_ms,commit_ms,suspended_ms,outcome,reason
             0,setup,0,0,n1,r1,,100,200,,0,succeeded,
             0,map,0,0,n1,r1,node,1000,3000,0,0,succeeded,first
             0,map,1,0,n2,r1,node,1000,2000,0,0,failed,first
             0,map,1,1,n2,r1,node,2000,5000,500,0,succeeded,first
             1,reduce,0,0,n1,r1,,6000,8000,0,1500,killed,first
             1,reduce,0,1,n2,r1,,7000,11000,0,0,succeeded,first",
        )
        .table::<SlotsRow>("time_ms,kind,job,pool,running,slots,suspended,pending
             1000,map,0,x,2,2,0,0
             2000,map,1,y,1,1,0,3
             4000,map,0,x,0,0,0,0
             4000,map,1,y,3,3,0,1
             8000,map,1,y,0,0,0,0
             8000,reduce,1,y,1,1,0,0",
        )
        .number("virtual_s", 10.0)
        .number("map_slots", 4.0)
        .number("makespan_s", 12.0)
}

fn plan(text: &str, space: &Space) -> ExprPlan {
    let complain = |complaint| panic!("{text}: {complaint:?}");
    Expr::parse(text).and_then(|expr| expr.expectation(space)).unwrap_or_else(complain)
}

fn measure_of(run: Run, text: &str) -> Option<f64> {
    let runs = Grid(vec![vec![run]]);
    plan(text, &Space::default()).measure(&runs, &[]).unwrap()[0]
}

#[track_caller]
fn measures(text: &str, expected: impl Into<Option<f64>>) {
    let (measured, expected) = (measure_of(one_run(), text), expected.into());
    let near = match (measured, expected) {
        (Some(measured), Some(expected)) => (measured - expected).abs() < 1e-9,
        (measured, expected) => measured == expected,
    };
    assert!(near, "{text}: {measured:?}, not {expected:?}");
}

#[test]
fn jobs_that_did_not_succeed_have_no_times_unless_a_filter_chooses_them() {
    const JOBS: &str =
        "job,name,maps,submit_ms,first_launch_ms,maps_done_ms,finish_ms,sojourn_ms,wait_ms,outcome,alone_ms,chain_jobs,chain_sojourn_ms,chain_outcome
             0,a,2,0,1000,5000,8000,8000,1000,succeeded,4000,1,8000,succeeded
             1,b,2,0,1000,1000,2000,2000,1000,killed,4000,2,2000,killed
             2,c,2,0,1000,1000,1500,1500,1000,failed,4000,,,";
    const ATTEMPTS: &str = "job,kind,task,attempt,start_ms,finish_ms,outcome
             0,reduce,0,0,5000,8000,succeeded
             1,reduce,0,0,1000,2000,killed";
    let run = || Run::default().table::<JobRow>(JOBS).table::<AttemptRow>(ATTEMPTS);
    for (text, expected) in [
        ("mean(sojourn)", 8.0),
        ("min(slowdown)", 2.0),
        ("mean(run)", 7.0),
        ("mean(map_phase)", 5.0),
        ("mean(reduce_time)", 3.0),
        ("mean(chain.sojourn)", 8.0),
        ("count(sojourn)", 1.0),
        // A job without a time meets no condition, as one that has not ended.
        ("share(sojourn <= 1h)", 1.0 / 3.0),
        ("mean(sojourn, outcome=killed)", 2.0),
        ("mean(sojourn, outcome=[succeeded, killed, failed])", 11.5 / 3.0),
        ("mean(slowdown[outcome=killed])", 0.5),
        ("mean(reduce_time, outcome=killed)", 1.0),
        ("mean(chain.sojourn, outcome=killed)", 2.0),
        ("count(wait)", 3.0),
        ("max(finish)", 8.0),
        ("mean(attempt.time)", 2.0),
    ] {
        assert_eq!(measure_of(run(), text), Some(expected), "{text}");
    }
}

#[test]
fn numbers_of_jobs_are_aggregated_and_filtered() {
    measures("mean(sojourn)", 8.0);
    measures("count(sojourn)", 2.0);
    measures("count(wait)", 3.0);
    measures("median(wait)", 3.0);
    measures("p75(wait)", 5.0);
    measures("max(wait, class=small)", 3.0);
    measures("max(wait, maps=3..)", 7.0);
    measures("max(wait, maps=[2, 4])", 3.0);
    measures("max(wait, time=1s..1500ms)", 3.0);
    measures("sum(run, name=a)", 5.0);
    measures("sum(map_phase)", 12.0);
    measures("sum(suspended)", 2.0);
    measures("sum(killed, outcome=unfinished)", 3.0);
    measures("jobs_refused", 0.0);
    measures("sd(wait, class=small)", 2_f64.sqrt());
    measures("jain(wait[class=small])", 0.8);
    measures("mean(sojourn, class=huge)", None);
}

#[test]
fn a_chain_has_one_number_and_is_chosen_by_its_first_job() {
    measures("mean(chain.sojourn)", 11.0);
    measures("max(chain.sojourn, user=ann)", 11.0);
    measures("max(chain.sojourn, user=bob)", None);
    measures("share(chain.sojourn <= 1h)", 1.0 / 2.0);
    measures("count(chain.sojourn[class=small] > 1s)", 1.0);
}

#[test]
fn inner_and_outer_filters_hold_both() {
    measures("count(wait[user=[ann, bob]], user=[bob, cat])", 2.0);
    measures("max(wait[maps=..10], maps=3..)", 3.0);
    measures("max(wait[maps=[2, 4]], maps=[2, 30])", 1.0);
    measures("sum(wait[class=small] / max(wait, class=large))", 4.0 / 7.0);
    measures("mean(slots[kind=map, time=1s..3s], time=2s..6s)", 3.0);
    measures("share(count(wait, maps=3..) == 1, by=maps[2..4, 3..40])", 0.5);
}

#[test]
fn a_comparison_with_what_is_missing_does_not_hold() {
    measures("share(sojourn <= 1h)", 2.0 / 3.0);
    measures("count(sojourn > 7s)", 1.0);
    measures("count(wait[maps=2..4])", 2.0);
}

#[test]
fn localities_are_shares_of_sums() {
    measures("locality.node", 0.7);
    measures("locality.off_rack[class=small]", 1.0 / 6.0);
    measures("min(locality.node, by=class[small, large])", 0.5);
    measures("locality.rack[class=huge]", None);
}

#[test]
fn tasks_and_attempts_are_told_apart() {
    measures("count(attempt.time)", 5.0);
    measures("count(attempt.time, kind=setup)", 1.0);
    measures("sum(attempt.time, outcome=[failed, killed])", 3.0);
    measures("count(task.time)", 3.0);
    measures("mean(task.time, kind=map)", 2.5);
    measures("max(attempt.commit)", 0.5);
    measures("share(attempt.suspended > 0s, kind=reduce)", 0.5);
    measures("min(attempt.start, class=small, user=bob)", 6.0);
    measures("sum(reduce_time)", 5.0);
    measures("mean(slowdown)", 2.25);
}

#[test]
fn series_are_weighted_by_time() {
    // Pool x holds 2 map slots from 1 s to 4 s. Pool y holds 1 map slot from 2 s to 4 s, then 3 map
    // slots until 8 s, and then 1 reduce slot until 10 s.
    measures("mean(slots)", 2.2);
    measures("mean(slots, kind=map, pool=x)", 0.6);
    measures("mean(slots[kind=map], time=2s..6s)", 3.0);
    measures("max(slots[user=bob])", 3.0);
    measures("share(slots[kind=map] >= 3)", 0.6);
    measures("max(slots[pool=y, kind=map] / slots[kind=map])", 1.0);
    measures("mean(slots[pool=y, kind=map] / slots[kind=map], time=2s..4s)", 1.0 / 3.0);
    measures("until(slots[pool=y, kind=map] / map_slots >= 75 %, from=1s)", 3.0);
    measures("until(slots[pool=y] >= 1, from=3s)", 0.0);
    measures("until(slots > 100)", None);
    measures("max(slots, time=20s..30s)", None);
}

#[test]
fn a_level_that_only_passes_a_band_does_not_reach_it() {
    // Pool y passes 1 map slot on its way from 0 to 3.
    measures("until(slots[pool=y, kind=map] within 0.5 of 1)", None);
    measures("until(slots[pool=y, kind=map] within 0.5 of 1, time=0s..4s)", 2.0);
    // The means from 2 s and from 4 s to 8 s are 2.33 and 3.
    measures("until(slots[pool=y, kind=map] within 1.5 of 2.4, time=0s..8s)", 2.0);
    measures("until(slots[pool=y, kind=map] within 0.5 of 3, time=0s..8s)", 4.0);
    measures("until(slots[pool=y, kind=map] within 0.5 of 3, time=0s..8s, from=5s)", 0.0);
}

#[test]
fn jobs_of_the_warm_up_do_not_count() {
    let run = Run { warm_up: SimTime::from_micros(1_000_000), ..one_run() };
    assert_eq!(measure_of(run, "count(wait)"), Some(2.0));
}

#[test]
fn histograms_have_percentiles_in_seconds() {
    let run = || Run { micros: vec![1_000, 2_000, 3_000], ..Run::default() };
    assert_eq!(measure_of(run(), "median(heartbeat_rtt)"), Some(0.002));
    assert_eq!(measure_of(run(), "count(heartbeat_rtt)"), Some(3.0));
    assert_eq!(measure_of(Run::default(), "max(heartbeat_rtt)"), None);
    let runs = Grid(vec![vec![run(), Run { micros: vec![9_000; 7], ..Run::default() }]]);
    let pooled = plan("median(heartbeat_rtt, seeds=pooled) within 1 % of 9ms", &Space::default());
    assert_eq!(pooled.judge(&runs, false).unwrap().state, VerdictState::Holds);
}

#[test]
fn plain_numbers_are_computed_as_usual() {
    for (text, number) in [
        ("2 + 3 * 2 ^ 3 ^ 0", 8.0),
        ("-2 ^ 2", -4.0),
        ("2 ^ -1", 0.5),
        ("7 - 2 - 1", 4.0),
        ("exp(ln(x=5))", 5.0),
        ("sqrt(abs(-9))", 3.0),
        ("1h 30min / 90min", 1.0),
        ("15 % * 2 + 10 points", 0.4),
    ] {
        measures(text, number);
    }
    measures("ln(0)", None);
    measures("1 / 0", None);
}

#[test]
fn closed_forms_are_functions() {
    for (text, number) in [
        ("sticky_locality(jobs=1 / 10 %, replicas=1, slots=1)", 0.1),
        ("head_locality(10, 1, 1)", 0.1),
        ("head_locality_distinct(4, 2, 2)", 0.625),
        ("delay_locality(10, 1, 1, skips=2)", 0.19),
        ("delay_locality_exact(10, 1, 1, skips=1)", 0.19),
        ("delay_locality_least(100, 3, 20, delay_skips(100, 3, 20, locality=95 %))", 0.95),
        ("delay_wait(nodes=100, slots=8, skips=40) * 20s / 1s", 1.0),
    ] {
        measures(text, number);
    }
    measures("sticky_locality(0, 3, 4)", None);
}

/// A study of two schedulers with two seeds. `sojourns` are the seconds that the jobs take.
fn study(sojourns: [[[u32; 2]; 2]; 2]) -> (Space, Grid) {
    let run = |[a, b]: [u32; 2]| {
        let rows =
            format!("job,name,submit_ms,sojourn_ms,class\n0,a,0,{a}000,small\n1,b,0,{b}000,large");
        Run::default().table::<JobRow>(&rows).number("makespan_s", f64::from(a.max(b)))
    };
    let space = space(&[("scheduler", &["fair", "hfsp"])], Some(0));
    (space, Grid(sojourns.into_iter().map(|seeds| seeds.map(run).into()).collect()))
}

const SOJOURNS: [[[u32; 2]; 2]; 2] = [[[10, 20], [12, 22]], [[5, 22], [6, 20]]];

fn judged(text: &str) -> (VerdictState, String) {
    let (space, runs) = study(SOJOURNS);
    let verdict = plan(text, &space).judge(&runs, false).unwrap();
    (verdict.state, verdict.measured)
}

#[test]
fn sides_are_compared_by_their_means_over_the_seeds() {
    let (state, measured) =
        judged("mean(sojourn, scheduler=hfsp) <= mean(sojourn, scheduler=fair)");
    assert_eq!(state, VerdictState::Undecided);
    assert_eq!(
        measured,
        "13.2 s <= 16.0 s (2 seeds: difference -2.8 s, 95 % from -18.6 s to 13.1 s); about 4 seeds \
         more would decide"
    );
    // The seeds give 15 s and 17 s: only their mean is within the bounds.
    let (state, measured) = judged("15500ms <= mean(sojourn, scheduler=fair) <= 16500ms");
    assert_eq!(state, VerdictState::Undecided);
    assert!(measured.contains("16.5 s; about ") && measured.ends_with(" seeds more would decide"));
}

#[test]
fn an_interval_on_one_side_of_a_bound_decides() {
    use VerdictState::{Fails, Holds, KnownGap, Undecided};
    // 15 s and 17 s under `fair`: their mean is 16.0 s, with an interval of 12.7 s on each side.
    let cell = "mean(sojourn, scheduler=fair)";
    for (bound, state) in [
        ("< 29s", Holds),
        ("< 28s", Undecided),
        ("< 4s", Undecided),
        ("< 3s", Fails),
        ("> 3s", Holds),
        ("within 13s of 16s", Holds),
        ("within 12s of 16s", Undecided),
        ("within 1s of 20s", Undecided),
        ("within 1s of 40s", Fails),
        ("== 16s", Undecided),
        ("== 30s", Fails),
        ("< 28s and 3s < 2s", Fails),
        ("< 28s or 1s < 2s", Holds),
        ("< 28s < 27s", Fails),
    ] {
        let text = format!("{cell} {bound}");
        assert_eq!(judged(&text).0, state, "{text}");
    }
    let (space, runs) = study(SOJOURNS);
    for (bound, state) in [("< 28s", Undecided), ("< 4s", KnownGap), ("< 3s", KnownGap)] {
        let plan = plan(&format!("{cell} {bound}"), &space);
        assert_eq!(plan.judge(&runs, true).unwrap().state, state, "{bound}");
    }
    let by_means = |bound: &str| {
        let verdict = plan(&format!("{cell} {bound}"), &space).judge(&runs, false).unwrap();
        (verdict.state, verdict.by_means())
    };
    assert_eq!(by_means("< 28s"), (Undecided, Holds));
    assert_eq!(by_means("< 4s"), (Undecided, Fails));
    let open = plan(&format!("{cell} < 28s"), &space);
    assert_eq!(open.judge(&AllSeeds(runs), false).unwrap().state, Holds, "no sample of others");
}

#[test]
fn a_metric_that_spans_cells_is_computed_seed_by_seed() {
    let (space, runs) = study(SOJOURNS);
    let metric = |text: &str| Expr::parse(text).unwrap().metric(&space).unwrap();
    // The means are 15 s and 17 s under fair, 13.5 s and 13 s under hfsp.
    let ratio = "mean(sojourn[scheduler=hfsp]) / mean(sojourn[scheduler=fair])";
    for cell in [0, 1] {
        let measured = metric(ratio).measure(&runs, &[cell]).unwrap();
        assert_eq!(measured, [Some(13.5 / 15.0), Some(13.0 / 17.0)]);
    }
    assert_eq!(metric(ratio).chosen(), [0]);
    // The second mean is always that of the cell with `fair`; the first mean is that of the current
    // cell.
    let beside = metric("mean(sojourn) / mean(sojourn[scheduler=fair])");
    assert!(beside.chosen().is_empty() && metric("mean(sojourn)").chosen().is_empty());
    assert_eq!(beside.measure(&runs, &[0]).unwrap(), [Some(1.0), Some(1.0)]);
    assert_eq!(beside.measure(&runs, &[1]).unwrap(), [Some(13.5 / 15.0), Some(13.0 / 17.0)]);
    // The ratios are 0.9 and 0.7647, so the result is 0.8324 ± t(0.975; 1) · 0.0676, and t(0.975;
    // 1) is 12.706.
    let told = "0.832 (2 seeds: 95 % from -0.027 to 1.692)";
    assert_eq!(judged(ratio), (VerdictState::Reported, told.to_owned()));
    assert_eq!(judged("mean(sojourn[scheduler=hfsp])").1, "13.2 s");
}

#[test]
fn jobs_are_paired_by_their_names_within_a_seed() {
    let slower = "sojourn[scheduler=hfsp] - sojourn[scheduler=fair]";
    let (space, runs) = study(SOJOURNS);
    let measure = |text: &str| plan(text, &space).measure(&runs, &[0]).unwrap();
    assert_eq!(measure(&format!("max({slower})")), [Some(2.0), Some(-2.0)]);
    assert_eq!(measure(&format!("share({slower} <= 1s)")), [Some(0.5), Some(1.0)]);
    // Half of the jobs with one seed, all with the other.
    assert_eq!(judged(&format!("share({slower} <= 1s) >= 75 %")).0, VerdictState::Undecided);
    // The condition must hold for each seed.
    assert_eq!(judged(&format!("any({slower} >= 2s)")).0, VerdictState::Fails);
    assert_eq!(
        judged(&format!("any({slower} >= 2s)")).1,
        format!("in 1 of 2 seeds: any({slower} >= 2s)")
    );
}

#[test]
fn an_axis_that_nobody_chooses_is_for_all_and_the_worst_is_shown() {
    let (mut space, runs) = study(SOJOURNS);
    space.compared = None;
    let verdict = plan("max(sojourn) <= 40s", &space).judge(&runs, true).unwrap();
    assert_eq!((verdict.cells, verdict.held), (2, 2));
    assert!(verdict.gap_closed);
    // Both cells are open, and the mean of one breaks the bound.
    let verdict = plan("mean(sojourn) <= 15s", &space).judge(&runs, true).unwrap();
    assert_eq!((verdict.state, verdict.cells, verdict.held), (VerdictState::KnownGap, 2, 0));
    assert_eq!(verdict.worst, "scheduler=fair");
    assert!(verdict.more_seeds.is_some());
    let verdict = plan("mean(sojourn)", &space).judge(&runs, false).unwrap();
    assert_eq!(verdict.state, VerdictState::Reported);
    assert_eq!(verdict.measured, "scheduler=fair: 16.0 s; scheduler=hfsp: 13.2 s");
}

#[test]
fn a_list_of_values_restricts_what_is_for_all() {
    let (mut space, runs) = study(SOJOURNS);
    space.compared = None;
    let verdict =
        plan("mean(sojourn, scheduler=[hfsp]) <= 20s", &space).judge(&runs, false).unwrap();
    assert_eq!((verdict.state, verdict.cells), (VerdictState::Holds, 1));
}

/// Judges `text` on runs on 1, 2 and 4 nodes with these makespans.
fn trend(makespans: [f64; 3], text: &str) -> ExpectationVerdict {
    let space = space(&[("cluster.nodes", &["1", "2", "4"])], None);
    let run = |makespan| vec![Run::default().number("makespan_s", makespan)];
    let runs = Grid(makespans.map(run).into());
    plan(text, &space).judge(&runs, false).unwrap()
}

#[test]
fn trends_go_along_an_axis() {
    let holds = |makespans, text| trend(makespans, text).state == VerdictState::Holds;
    assert!(holds([1.0, 2.0, 2.0], "rising(makespan, by=nodes)"));
    assert!(!holds([1.0, 3.0, 2.0], "rising(makespan, by=nodes)"));
    assert!(holds([1.0, 3.0, 2.0], "rising(makespan, by=nodes, nodes=..2)"));
    assert!(!holds([2.0, 2.0, 2.0], "rising(makespan, by=nodes)"));
    assert!(holds([4.0, 2.0, 1.0], "falling(makespan, by=cluster.nodes)"));
    assert!(holds([4.0, 2.0, 1.0], "monotone(makespan, by=nodes)"));
    assert!(holds([3.0, 5.0, 9.0], "slope(makespan, by=nodes) == 2s"));
    assert!(holds([3.0, 5.0, 9.0], "linear(makespan, by=nodes) <= 1 %"));
    assert!(holds([4.0, 2.0, 1.0], "max(makespan, by=nodes) == 4s"));
    assert!(holds([4.0, 2.0, 1.0], "falling(makespan / makespan[nodes=1], by=nodes)"));
    assert!(holds([4.0, 2.0, 2.0], "all(makespan >= 2s, by=nodes)"));
    assert_eq!(
        trend([1.0, 3.0, 2.0], "rising(makespan, by=nodes)").measured,
        "1.0 s, 3.0 s, 2.0 s"
    );
}

#[test]
fn numbers_that_differ_look_different_unless_rounding_hides_nothing() {
    for (makespan, text, measured) in [
        (24.96, "makespan < 25s", "24.96 s < 25.00 s"),
        (24.996, "makespan > 25s", "24.996 s > 25.000 s"),
        (25.0, "makespan < 25s", "25.0 s < 25.0 s"),
        (149.8, "2min < makespan < 2min 30s", "2 min 00.0 s < 2 min 29.8 s < 2 min 30.0 s"),
        (24.96, "makespan within 1s of 25s", "25.0 s within 1.0 s of 25.0 s"),
        (24.96, "makespan <= 25s", "25.0 s <= 25.0 s"),
        (25.04, "makespan <= 25s", "25.04 s <= 25.00 s"),
        (25.04, "makespan < 25s", "25.04 s < 25.00 s"),
        (
            24.96,
            "makespan < 25s and makespan < 1h",
            "24.96 s < 25.00 s and 25.0 s < 1 h 00 min 00 s",
        ),
    ] {
        let runs = Grid(vec![vec![Run::default().number("makespan_s", makespan)]]);
        let verdict = plan(text, &Space::default()).judge(&runs, false).unwrap();
        assert_eq!(verdict.measured, measured, "{text}");
    }
    let level = trend([25.0, 24.96, 25.3], "rising(makespan, by=nodes)").measured;
    assert_eq!(level, "25.00 s, 24.96 s, 25.30 s");
}

/// Runs on 5 and 20 nodes with a heartbeat every 1 s and 3 s; one combination is left out.
struct AllBut([usize; 2], [[Run; 2]; 2]);

impl Runs for AllBut {
    fn seeds(&self) -> usize {
        1
    }
    fn has(&self, cell: &[usize]) -> bool {
        cell != self.0
    }
    fn run(&self, cell: &[usize], _: usize) -> Result<&dyn Results, ReadError> {
        assert!(self.has(cell), "{cell:?} is left out");
        Ok(&self.1[cell[0]][cell[1]])
    }
}

fn all_but(cell: [usize; 2], text: &str) -> ExpectationVerdict {
    let axes: [(&str, &[&str]); 2] = [("nodes", &["5", "20"]), ("heartbeat", &["1s", "3s"])];
    let run = |makespan| Run::default().number("makespan_s", makespan);
    let runs = AllBut(cell, [[8.0, 9.0], [4.0, 5.0]].map(|row: [f64; 2]| row.map(run)));
    plan(text, &space(&axes, None)).judge(&runs, false).unwrap()
}

#[test]
fn cells_that_the_study_leaves_out_are_no_failures() {
    // The expectation uses only one cell, which exists. So it does not matter that another cell is
    // left out.
    for cell in [[0, 0], [0, 1], [1, 0]] {
        let verdict = all_but(cell, "makespan[nodes=20, heartbeat=3s] == 5s");
        assert_eq!((verdict.state, verdict.left_out), (VerdictState::Holds, 0), "{cell:?}");
    }
    let verdict = all_but([0, 1], "makespan[heartbeat=1s] < makespan[heartbeat=3s]");
    assert_eq!((verdict.state, verdict.cells, verdict.left_out), (VerdictState::Holds, 1, 1));
    let verdict = all_but([0, 0], "falling(makespan, by=nodes, heartbeat=3s)");
    assert_eq!((verdict.state, &*verdict.measured), (VerdictState::Holds, "9.0 s, 5.0 s"));
    // A single point makes no trend.
    let verdict = all_but([0, 0], "falling(makespan, by=nodes)");
    assert_eq!((verdict.state, verdict.cells, verdict.left_out), (VerdictState::Holds, 1, 1));
    let verdict = all_but([1, 1], "makespan[nodes=20, heartbeat=3s] < 9s");
    assert_eq!((verdict.state, verdict.left_out), (VerdictState::Fails, 1));
}

#[test]
fn one_number_for_all_seeds_has_no_interval() {
    let (_, measured) = judged("makespan[scheduler=fair] < 1min");
    assert!(measured.contains("2 seeds: difference"), "{measured}");
    for text in [
        "mean(sojourn, scheduler=fair, seeds=pooled) < mean(sojourn, scheduler=hfsp)",
        "median(sojourn, scheduler=fair, seeds=pooled) < 1min",
        "rising(mean(sojourn, scheduler=fair), by=class[small, large]) and 1 < 2",
        "all(sojourn < 1min, scheduler=fair, seeds=pooled)",
        "1 < 2",
    ] {
        let (_, measured) = judged(text);
        assert!(!measured.contains("seeds:"), "{text}: {measured}");
    }
}

#[test]
fn an_axis_is_a_number_where_no_quantity_has_its_name() {
    let space = space(&[("workload.copies", &["1", "2", "4"])], None);
    let run = |makespan| vec![Run::default().number("makespan_s", makespan)];
    let runs = Grid([4.0, 8.0, 17.0].map(run).into());
    let verdict = plan("makespan <= 4s * copies", &space).judge(&runs, false).unwrap();
    assert_eq!((verdict.state, verdict.held), (VerdictState::Fails, 2));
    assert_eq!(verdict.worst, "copies=4");
    assert_eq!(verdict.measured, "17.0 s <= 16.0 s");
}

#[test]
fn an_event_that_never_happens_fails_and_says_so() {
    let runs = Grid(vec![vec![one_run()]]);
    let verdict = plan("until(slots > 100) <= 3s", &Space::default()).judge(&runs, false).unwrap();
    assert_eq!((verdict.state, &*verdict.measured), (VerdictState::Fails, "never"));
    let verdict = plan("mean(wait, class=huge) > 3s", &Space::default());
    let verdict = verdict.judge(&runs, false).unwrap();
    assert_eq!(verdict.measured, "there is no mean(wait, class=huge): nothing was chosen");
}

#[test]
fn bands_are_relative_or_absolute_as_they_are_written() {
    for (text, holds) in [
        ("110 within 10 % of 100", true),
        ("111 within 10 % of 100", false),
        ("0.6 within 10 points of 50 %", true),
        ("0.61 within 10 points of 50 %", false),
        ("57s within 3s of 1min", true),
        ("1 < 2 and not 2 < 1 or 1 > 2", true),
        ("1 < 2 and 2 < 1", false),
        ("1 <= 1 < 2 != 3", true),
    ] {
        let runs = Grid(vec![vec![Run::default()]]);
        let verdict = plan(text, &Space::default()).judge(&runs, false).unwrap();
        assert_eq!(verdict.state == VerdictState::Holds, holds, "{text}: {}", verdict.measured);
    }
}

#[test]
fn only_what_is_needed_is_read() {
    let needs = |text: &str| plan(text, &Space::default()).needs();
    let tables = needs("mean(task.time, kind=map, class=a) > 3s").tables;
    assert_eq!(Vec::from_iter(tables), [JobRow::FILE, AttemptRow::FILE]);
    let mut needs_all = needs("p99(heartbeat_rtt)");
    needs_all.add(needs("makespan > 3s"));
    assert!(needs_all.tables.is_empty());
    assert!(needs_all.histograms.contains("heartbeat_rtt"));
    assert!(needs_all.numbers.contains("makespan_s"));
}

#[test]
fn jobs_whose_names_repeat_are_told_apart_by_their_numbers() {
    let run = Run::default().table::<JobRow>("job,name,submit_ms,wait_ms\n0,q,0,1000\n1,q,0,3000");
    assert_eq!(measure_of(run, "max(wait - wait)"), Some(0.0));
}

#[test]
fn a_row_that_cannot_be_read_is_an_error_with_its_line() {
    let run = Run::default().table::<JobRow>("job,name,submit_ms,wait_ms\n0,q,0,x");
    let runs = Grid(vec![vec![run]]);
    let error = plan("mean(wait)", &Space::default()).measure(&runs, &[]).unwrap_err();
    assert_eq!(error.to_string(), "jobs.csv:2: column `wait_ms`: `x` is not a whole number");
}

/// Returns the figures of an expectation of a study, in words.
fn figures(text: &str, published: &str) -> Vec<String> {
    let (mut space, runs) = study(SOJOURNS);
    if !text.contains("scheduler") {
        space.compared = None;
    }
    let published = serde_yaml::from_str(published).unwrap();
    let expected = Expectation { published: Some(published), ..Expectation::new(text) };
    let verdict = plan(text, &space).verdict(&runs, &expected).unwrap();
    let told = verdict
        .figures
        .iter()
        .map(|figure| format!("{}|{}|{}", figure.what, figure.published.text, figure.compared()));
    told.collect()
}

#[test]
fn a_published_number_stands_beside_what_a_bound_is_for() {
    let (fair, hfsp) = ("mean(sojourn, scheduler=fair)", "mean(sojourn, scheduler=hfsp)");
    assert_eq!(figures(&format!("{fair} within 5s of 20s"), "20s"), ["|20s|16.0 s (0.8 ×)"]);
    assert_eq!(figures(&format!("8s <= {fair} <= 12s"), "20s"), ["|20s|16.0 s (0.8 ×)"]);
    assert_eq!(figures(fair, "20s"), ["|20s|16.0 s (0.8 ×)"]);
    assert_eq!(figures(fair, "about 20 s"), Vec::<String>::new());
    // A number computed from two quantities is one number.
    let gain = format!("1 - {hfsp} / {fair} >= 10 %");
    assert_eq!(figures(&gain, "-20 %"), ["|-20 %|16.8 % (+36.8 points)"]);
    // An axis that the expectation does not fix has a published number for each value, or one
    // number for all values.
    let all = ["scheduler=fair|20s|16.0 s (0.8 ×)", "scheduler=hfsp|20s|13.2 s (0.662 ×)"];
    assert_eq!(figures("mean(sojourn) < 1min", "20s"), all);
    assert_eq!(figures("mean(sojourn) < 1min", "[20s, 20s]"), all);
    assert_eq!(figures("mean(sojourn) < 1min", "[~, 20s]"), all[1..]);
}

#[test]
fn each_side_of_a_comparison_has_its_published_number_and_slack_has_none() {
    let (fair, hfsp) = ("mean(sojourn, scheduler=fair)", "mean(sojourn, scheduler=hfsp)");
    let both = [
        "mean(sojourn, scheduler=hfsp)|12s|13.2 s (1.1 ×)",
        "mean(sojourn, scheduler=fair)|20s|16.0 s (0.8 ×)",
    ];
    for right in [fair.to_owned(), format!("1.05 * {fair}"), format!("{fair} + 5s")] {
        assert_eq!(figures(&format!("{hfsp} <= {right}"), "[12s, 20s]"), both);
    }
    assert_eq!(figures(&format!("{hfsp} < 1min and {fair} < 1min"), "[12s, 20s]"), both);
    let between = format!("50 % * {fair} <= {hfsp} <= 90 % * {fair}");
    assert_eq!(figures(&between, "[20s, 12s]"), [both[1], both[0]]);
    let trend = figures("falling(mean(sojourn), by=scheduler)", "[20s, 12s]");
    assert_eq!(trend, ["scheduler=fair|20s|16.0 s (0.8 ×)", "scheduler=hfsp|12s|13.2 s (1.1 ×)"]);
}

#[test]
fn published_numbers_that_cannot_stand_beside_ours_are_refused() {
    let (space, _) = study(SOJOURNS);
    let refused = |text: &str, published: &str| {
        let published = serde_yaml::from_str(published).unwrap();
        let misfit = plan(text, &space).check_published(&published).unwrap_err();
        (misfit.place, misfit.message)
    };
    let (fair, hfsp) = ("mean(sojourn, scheduler=fair)", "mean(sojourn, scheduler=hfsp)");
    let (place, message) = refused(fair, "98 %");
    assert_eq!(place, None);
    assert_eq!(message, format!("`98 %` is a share, and `{fair}` is a time"));
    let both = format!("{hfsp} < {fair}");
    assert_eq!(refused(&both, "20s").1, "one number was published, but 2 are measured");
    assert_eq!(refused(&both, "[20s]").1, "a list of 1 was published, but 2 numbers are measured");
    assert_eq!(refused(&both, "[20s, 5]").0, Some(1));
}
