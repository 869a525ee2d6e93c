//! The language can express every effect that a repeated experiment must show.
//!
//! Each entry is an experiment with the axes of its study, and an expression for each effect.

use super::*;

struct Experiment {
    id: &'static str,
    axes: &'static [(&'static str, &'static [&'static str])],
    compared: Option<usize>,
    shows: &'static [&'static str],
}

const POLICIES: (&str, &[&str]) = ("scheduler", &["fifo", "naive", "delay"]);
const SIZE_BASED: (&str, &[&str]) = ("scheduler", &["fifo", "fair", "hfsp"]);
const QUIRK: (&str, &[&str]) = ("hadoop.commit_pending", &["quirk", "slot-held"]);

const EXPERIMENTS: &[Experiment] = &[
    Experiment {
        id: "DS-F1",
        axes: &[],
        compared: None,
        shows: &[
            "median(task.time, kind=map, seeds=pooled) within 15 % of 19s",
            "median(task.time, kind=reduce, seeds=pooled) within 15 % of 231s",
            "median(sojourn, seeds=pooled) within 15 % of 84s",
        ],
    },
    Experiment {
        id: "DS-F2",
        axes: &[],
        compared: None,
        shows: &[
            "locality.node[maps=1..25] < 20 %",
            "rising(locality.node, by=maps[1..25, 26..100, 101..500, 501..2000, 3500..4800])",
            "locality.node[maps=3500..4800] > 90 %",
            "locality.rack[maps=1..25]",
        ],
    },
    Experiment {
        id: "DS-F3",
        axes: &[
            ("workload.concurrent", &["10", "20", "50"]),
            ("cluster.hdfs.replication", &["1", "3"]),
            ("cluster.map_slots", &["1", "4"]),
        ],
        compared: None,
        shows: &["locality.node within 10 points of \
             sticky_locality(concurrent, replication, cluster.map_slots)"],
    },
    Experiment {
        id: "DS-EQ2",
        axes: &[],
        compared: None,
        shows: &[
            "locality.node >= 0.92",
            "locality.node within 3 points of delay_locality_exact(nodes=100, replicas=3, \
             tasks=20, skips=delay_skips(100, 3, 20, locality=95 %))",
        ],
    },
    Experiment {
        id: "DS-F5-7",
        axes: &[POLICIES],
        compared: Some(0),
        shows: &[
            "median(task.time, scheduler=delay, kind=map, locality=node) within 1s of 9s",
            "min(locality.node[scheduler=delay], by=class[bin1, bin2, bin3, bin9]) >= 97 %",
            "max(locality.node[scheduler=[naive]], by=class[bin1, bin2, bin3]) < 60 %",
            "mean(sojourn[scheduler=naive], class=[bin1, bin2, bin3]) \
             < mean(sojourn[scheduler=fifo], class=[bin1, bin2, bin3])",
            "any(sojourn[scheduler=fifo] >= 3 * sojourn[scheduler=delay], class=[bin1, bin2, bin3])",
            "mean(sojourn, class=bin9, scheduler=naive) > mean(sojourn, class=bin9, scheduler=fifo)",
            "all(mean(sojourn[scheduler=delay]) < mean(sojourn[scheduler=naive]), \
             by=class[bin4, bin5, bin6])",
        ],
    },
    Experiment {
        id: "DS-F8",
        axes: &[POLICIES, ("workload.ds", &["io", "cpu"])],
        compared: Some(0),
        shows: &[
            "max(sojourn[scheduler=fifo] / sojourn[scheduler=naive], ds=cpu, class=bin1) \
             > max(sojourn[scheduler=fifo] / sojourn[scheduler=naive], ds=io, class=bin1)",
            "mean(sojourn[scheduler=delay], ds=cpu) within 5 % of mean(sojourn[scheduler=naive], ds=cpu)",
            "max(abs(mean(sojourn[scheduler=delay]) / mean(sojourn[scheduler=naive]) - 1), \
             by=class[bin1, bin2], ds=cpu) <= 15 %",
        ],
    },
    Experiment {
        id: "DS-F9-10",
        axes: &[POLICIES],
        compared: Some(0),
        shows: &[
            "all(mean(sojourn[scheduler=fifo] / sojourn[scheduler=delay]) > 1, by=class[bin1, bin6])",
            "mean(sojourn[scheduler=naive] / sojourn[scheduler=delay], class=select) \
             > mean(sojourn[scheduler=naive] / sojourn[scheduler=delay], class=aggregation)",
        ],
    },
    Experiment {
        id: "DS-F11",
        axes: &[QUIRK],
        compared: None,
        shows: &[
            "until(slots[pool=pool2, kind=map] / map_slots within 5 points of 50 %, from=57s) <= 30s",
            "until(slots[pool=pool3, kind=map] / map_slots within 5 points of 33.3 %, from=118s) <= 30s",
            "until(slots[name=[j1, j6], kind=map] / map_slots within 5 points of 25 %, from=494s) <= 30s",
            "mean(slots[pool=pool2, kind=map] / map_slots, time=90s..118s) within 5 points of 50 %",
            "max(slots[pool=pool2, kind=map] / map_slots, time=57s..118s, commit_pending=quirk) >= 51.5 %",
            "share(slots[pool=pool2, kind=map] / map_slots >= 51.5 %, time=57s..118s, \
             commit_pending=quirk) * 61s >= 2s",
            "max(slots[pool=pool2, kind=map] / map_slots, time=87s..118s, commit_pending=slot-held) <= 50.5 %",
        ],
    },
    Experiment {
        id: "DS-F12",
        axes: &[("scheduler", &["naive", "delay"]), ("workload.maps", &["3", "10", "100"])],
        compared: Some(0),
        shows: &[
            "locality.node[scheduler=delay, workload.maps=3] >= 70 %",
            "min(locality.node[scheduler=delay], by=workload.maps, workload.maps=[10, 100]) >= 90 %",
            "locality.node[scheduler=delay] + locality.rack[scheduler=delay] >= 94 %",
            "makespan[scheduler=naive] / makespan[scheduler=delay] > 1",
            "makespan[scheduler=naive, workload.maps=10] / makespan[scheduler=delay, workload.maps=10] \
             >= max(makespan[scheduler=naive] / makespan[scheduler=delay], by=workload.maps)",
        ],
    },
    Experiment {
        id: "DS-F13-14",
        axes: &[
            ("scheduler", &["none", "delay"]),
            ("workload.concurrent", &["5", "10", "20", "50"]),
            QUIRK,
        ],
        compared: Some(0),
        shows: &[
            "locality.node[scheduler=none, concurrent=10.., commit_pending=slot-held] \
             within 10 points of sticky_locality(concurrent, replicas=3, slots=4)",
            "locality.node[scheduler=delay, commit_pending=slot-held] >= 98 %",
            "rising(makespan[scheduler=none] / makespan[scheduler=delay], by=concurrent, \
             commit_pending=slot-held)",
            "makespan[scheduler=none, concurrent=50] / makespan[scheduler=delay, concurrent=50] >= 1.5",
            "locality.node[scheduler=none, concurrent=50, commit_pending=quirk] > 90 %",
        ],
    },
    Experiment {
        id: "DS-F15",
        axes: &[
            ("scheduler.fair.delay.w1", &["0s", "1s", "5s", "10s"]),
            ("workload.maps", &["4", "12"]),
        ],
        compared: None,
        shows: &[
            "rising(locality.node, by=w1)",
            "locality.node[w1=5s] >= 95 %",
            "locality.node[w1=10s] >= 98 %",
            "locality.node[w1=0s] < 25 %",
        ],
    },
    Experiment {
        id: "DS-preempt",
        axes: &[],
        compared: None,
        shows: &[
            "until(slots[pool=starved, kind=map] >= 20, from=60s) <= 5s + 2 * 3s",
            "min(attempt.start, pool=greedy, outcome=killed) \
             >= max(attempt.start, pool=greedy, outcome=succeeded, time=..50s)",
            "count(attempt.time, pool=[starved, modest], outcome=killed) == 0",
            "mean(slots[pool=starved, kind=map], time=90s..120s) within 10 % of 100 * 60 / (60 + 80)",
        ],
    },
    Experiment {
        id: "DS-3.5.1",
        axes: &[("scheduler.fair.balance_long_tasks", &["off", "on"])],
        compared: None,
        shows: &["locality.node[balance_long_tasks=on] > locality.node[balance_long_tasks=off]"],
    },
    Experiment {
        id: "H-F1, H-F2",
        axes: &[],
        compared: None,
        shows: &[
            "max(finish, name=j2) within 6s of 20s and max(finish, name=j3) within 6s of 30s \
             and max(finish, name=j1) within 6s of 50s",
            "max(finish, name=j2) < max(finish, name=j3) < max(finish, name=j1)",
        ],
    },
    Experiment {
        id: "H-F3-4",
        axes: &[SIZE_BASED],
        compared: Some(0),
        shows: &[
            "mean(sojourn, scheduler=hfsp) < mean(sojourn, scheduler=fair) < mean(sojourn, scheduler=fifo)",
            "mean(sojourn, scheduler=fifo) / mean(sojourn, scheduler=hfsp) >= 3",
            "mean(sojourn, scheduler=hfsp, class=small) \
             within 15 % of mean(sojourn, scheduler=fair, class=small)",
            "mean(sojourn[scheduler=hfsp], class=medium) <= 0.8 * mean(sojourn[scheduler=fair], class=medium)",
            "mean(sojourn[scheduler=hfsp], class=large) <= 0.9 * mean(sojourn[scheduler=fair], class=large)",
            "share(sojourn[scheduler=hfsp] <= sojourn[scheduler=fair] + 10s) >= 80 %",
        ],
    },
    Experiment {
        id: "H-FB10",
        axes: &[SIZE_BASED],
        compared: Some(0),
        shows: &[
            "median(map_phase, scheduler=hfsp) < 0.5 * median(map_phase, scheduler=fair)",
            "share(sojourn <= 60min, scheduler=hfsp) > 20 % > share(sojourn <= 60min, scheduler=fair)",
            "share(map_phase <= p80(map_phase, scheduler=hfsp), scheduler=fair) < 50 %",
            "max(suspended_tasks / (slots + suspended_tasks), scheduler=hfsp) <= 15 %",
            "share(attempt.suspended > 0s, scheduler=hfsp) <= 15 %",
        ],
    },
    Experiment {
        id: "H-F5",
        axes: &[SIZE_BASED, ("cluster.nodes", &["10", "50", "100"])],
        compared: Some(0),
        shows: &[
            "mean(sojourn, scheduler=hfsp) <= mean(sojourn, scheduler=fair)",
            "mean(sojourn[scheduler=fair], nodes=10) / mean(sojourn[scheduler=hfsp], nodes=10) \
             > mean(sojourn[scheduler=fair], nodes=100) / mean(sojourn[scheduler=hfsp], nodes=100)",
            "falling(mean(sojourn[scheduler=fair]) / mean(sojourn[scheduler=hfsp]), by=nodes)",
        ],
    },
    Experiment {
        id: "H-F6",
        axes: &[SIZE_BASED, ("scheduler.hfsp.error", &["0", "0.1", "0.5", "1"])],
        compared: Some(0),
        shows: &[
            "mean(sojourn, scheduler=hfsp, error=..0.5) <= 1.25 * mean(sojourn, scheduler=hfsp, error=0)",
            "mean(sojourn, scheduler=hfsp, error=1) <= 1.25 * mean(sojourn, scheduler=hfsp, error=0)",
            "mean(sojourn, scheduler=hfsp) < mean(sojourn, scheduler=fair)",
        ],
    },
    Experiment {
        id: "H-loc",
        axes: &[SIZE_BASED],
        compared: Some(0),
        shows: &[
            "min(locality.node, by=scheduler, scheduler=[fair, hfsp]) >= 95 %",
            "locality.node[scheduler=hfsp] >= locality.node[scheduler=fair] - 0.5 points",
        ],
    },
    Experiment {
        id: "H-F7",
        axes: &[
            ("scheduler.hfsp.preemption", &["eager", "wait", "kill"]),
            ("workload.arrival", &["early", "late"]),
        ],
        compared: Some(0),
        shows: &[
            "mean(sojourn, preemption=eager) < mean(sojourn, preemption=wait)",
            "8min <= mean(sojourn, preemption=eager, arrival=early) <= 10min",
            "13.5min <= mean(sojourn, preemption=wait, arrival=early) <= 16.5min",
            "mean(sojourn, preemption=eager) <= mean(sojourn, preemption=kill) + 3s",
            "max(finish[name=j1, preemption=kill], arrival=late) \
             > max(finish[name=j1, preemption=eager], arrival=late)",
            "sum(attempt.time, outcome=killed, preemption=kill, arrival=late) > 0s",
            "sum(attempt.time, outcome=killed, preemption=[eager]) == 0s",
            "max(suspended_tasks[name=j1], preemption=eager) <= 5",
            "count(attempt.time, name=j1, preemption=eager) == 11",
        ],
    },
    Experiment {
        id: "H-F8",
        axes: &[("workload.memory", &["1GiB", "2GiB", "4GiB", "6GiB"])],
        compared: None,
        shows: &[
            "linear(mean(attempt.time - attempt.suspended, name=j1), by=memory, memory=4GiB..) <= 5 %",
            "slope(mean(attempt.time, name=j1), by=memory) within 20 % of 2 * 1s / 100MB",
            "mean(attempt.time[name=j1, memory=1GiB] - attempt.suspended[name=j1, memory=1GiB]) - 500s <= 0",
            "memory / 100MB > 0 and 1GiB / 1s > 0",
        ],
    },
    Experiment {
        id: "H-hyst",
        axes: &[],
        compared: None,
        shows: &[
            "max(suspended_tasks) <= 4 * nodes",
            "count(attempt.start, reason=\"fell back to wait\") >= 1",
            "until(suspended_tasks == 0, from=200s) > 0s",
        ],
    },
    Experiment {
        id: "H-xi",
        axes: &[("scheduler.hfsp.xi", &["1", "1.5", "2", "unbounded"])],
        compared: None,
        shows: &["monotone(mean(sojourn), by=xi)", "mean(sojourn)"],
    },
    Experiment {
        id: "S-F3-7, S-F8, S-F11",
        axes: &[
            ("scheduler", &["fair", "fair-srt", "capacity", "capacity-srt"]),
            ("workload.each", &["10", "20", "30", "40"]),
        ],
        compared: Some(0),
        shows: &[
            "mean(sojourn, scheduler=fair-srt, class=small) < mean(sojourn, scheduler=fair, class=small)",
            "35 % * mean(sojourn, scheduler=fair, class=small, each=10) \
             <= mean(sojourn, scheduler=fair-srt, class=small, each=10) \
             <= 70 % * mean(sojourn, scheduler=fair, class=small, each=10)",
            "92 % * makespan[scheduler=fair] <= makespan[scheduler=fair-srt] \
             <= 108 % * makespan[scheduler=fair]",
            "25 % * mean(mean(reduce_time[scheduler=fair], class=small), by=each) \
             <= mean(mean(reduce_time[scheduler=fair-srt], class=small), by=each) \
             <= 75 % * mean(mean(reduce_time[scheduler=fair], class=small), by=each)",
            "mean(reduce_time, scheduler=fair-srt, class=large) \
             < mean(reduce_time, scheduler=fair, class=large)",
            "mean(sojourn, scheduler=capacity-srt, class=small) \
             < mean(sojourn, scheduler=capacity, class=small)",
        ],
    },
    Experiment {
        id: "S-F9-10",
        axes: &[
            ("scheduler", &["fair", "srt"]),
            ("cluster", &["srt-4", "srt-6", "srt-8", "srt-10"]),
        ],
        compared: Some(0),
        shows: &[
            "falling(mean(sojourn[scheduler=fair] - sojourn[scheduler=srt], class=small), by=cluster)",
        ],
    },
    Experiment {
        id: "M-A, M-B",
        axes: &[
            ("scheduler", &["fair", "modified", "fifo"]),
            ("workload.maps", &["6", "10", "18"]),
            ("workload.count", &["5", "10", "15"]),
        ],
        compared: Some(0),
        shows: &[
            "mean(sojourn, scheduler=modified) <= 90 % * mean(sojourn, scheduler=fair)",
            "45 % <= mean(mean(mean(sojourn[scheduler=modified]) / mean(sojourn[scheduler=fair]), \
             by=workload.maps), by=count) <= 85 %",
            "mean(mean(locality.node[scheduler=modified] - locality.node[scheduler=fair], \
             by=workload.maps), by=count) >= -5 %",
            "(abs(locality.node[scheduler=fair, workload.maps=6, count=5] - 9 %) \
             + abs(locality.node[scheduler=fair, workload.maps=6, count=10] - 22 %)) / 2 <= 15 %",
            "all(mean(mean(sojourn[scheduler=modified]) - mean(sojourn[scheduler=fair]), by=count) < 0, \
             by=workload.maps)",
            "makespan[scheduler=fifo]",
        ],
    },
    Experiment {
        id: "M-abl",
        axes: &[("scheduler", &["all", "no-estimate", "no-locality", "original"])],
        compared: Some(0),
        shows: &[
            "mean(sojourn, scheduler=no-estimate) / mean(sojourn, scheduler=all)",
            "mean(sojourn, scheduler=no-locality) / mean(sojourn, scheduler=all)",
        ],
    },
    Experiment {
        id: "MK-19",
        axes: &[],
        compared: None,
        shows: &[
            "jobs_succeeded == 19",
            "all(92s - 3s <= run[name=job_200912151529_0001] <= 95s + 3s)",
        ],
    },
    Experiment {
        id: "latencies",
        axes: &[],
        compared: None,
        shows: &[
            "p99.9(heartbeat_rtt, seeds=pooled) < 50ms",
            "max(preemption_to_launch) <= 2 * 3s and utilisation.map > 60 %",
            "jain(slowdown) >= 0.5",
            "heartbeats / virtual <= nodes / 3s",
        ],
    },
];

#[test]
fn every_effect_can_be_said_and_makes_sense() {
    for Experiment { id, axes, compared, shows } in EXPERIMENTS {
        let space = space(axes, *compared);
        for text in *shows {
            let planned = Expr::parse(text).and_then(|expr| expr.expectation(&space));
            if let Err(complaint) = planned {
                panic!("{id}: {text}\n{}: {complaint}", complaint.column(text));
            }
        }
    }
}

#[test]
fn a_plan_survives_being_printed() {
    for text in EXPERIMENTS.iter().flat_map(|experiment| experiment.shows) {
        let expr = Expr::parse(text).unwrap();
        assert_eq!(Expr::parse(&expr.to_string()), Ok(expr), "{text}");
    }
}
