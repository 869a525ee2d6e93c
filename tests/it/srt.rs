//! Tests of SRT, which gives reduces an order of their own, and of the reduce gate, which starts
//! reduces in step with the maps.

use mumakil::output::results::RunResults;
use mumakil::tables::{AttemptEnd, AttemptKind, AttemptRow, JobRow};
use tempfile::TempDir;

use crate::fair::{EXACT, run};

/// The policies that can use SRT and the reduce gate.
const WEARERS: [&str; 7] =
    ["fifo", "naive-fair", "fair-skip", "fair", "fair-deficit", "modified-fair", "capacity"];

/// Returns for each job its reduces: the start of each in seconds, and how many maps of the job had
/// ended by then.
fn reduces(folder: &TempDir, jobs: usize) -> Vec<Vec<(f64, usize)>> {
    let (mut starts, mut ends) = (vec![Vec::new(); jobs], vec![Vec::new(); jobs]);
    let rows: Vec<AttemptRow> = RunResults::new(folder.path()).all().unwrap();
    for row in rows {
        if let Some((start, finish)) = row.start_ms.zip(row.finish_ms) {
            match row.kind {
                AttemptKind::Map => ends[row.job as usize].push(finish as f64),
                AttemptKind::Reduce => starts[row.job as usize].push(start as f64),
                _ => {}
            }
        }
    }
    let of_job = |(mut starts, ends): (Vec<f64>, Vec<f64>)| {
        starts.sort_by(f64::total_cmp);
        let ended = |start: f64| ends.iter().filter(|end| **end <= start).count();
        starts.iter().map(|start| (start / 1e3, ended(*start))).collect()
    };
    starts.into_iter().zip(ends).map(of_job).collect()
}

/// Returns a scenario with a large job whose reduces could take all slots, and a small job that
/// comes later.
fn large_and_small(policy: &str) -> String {
    format!(
        "{EXACT}
cluster: {{nodes: 4, map_slots: 4, reduce_slots: 1}}
workload:
  jobs:
    - {{name: large, maps: 200, reduces: 12, map_time: 20s, reduce_time: 10s}}
    - {{name: small, submit: 60s, maps: 4, reduces: 2, map_time: 10s, reduce_time: 10s}}
scheduler: {{{policy}}}
"
    )
}

fn small_jobs_end(policy: &str) -> f64 {
    let (folder, _) = run(&large_and_small(policy));
    let rows: Vec<JobRow> = RunResults::new(folder.path()).all().unwrap();
    let small = rows.iter().find(|row| row.name == "small");
    small.and_then(|row| row.finish_ms).map_or(f64::NAN, |finish| finish as f64 / 1e3)
}

#[test]
fn a_small_job_overtakes_a_large_one_in_the_line_of_reduces() {
    // The large job's first four reduces hold all slots until its maps have ended. By then the
    // small job's reduces have waited long. Without SRT they start after the other eight reduces of
    // the large job.
    for (plain, srt) in [
        (
            "fair: {allocations: {order: fifo}}",
            "fair: {allocations: {order: fifo}, reduce_order: srt}",
        ),
        ("capacity: {rules: \"0.21\"}", "capacity: {rules: \"0.21\", reduce_order: srt}"),
        ("fifo: {}", "fifo: {reduce_order: srt}"),
    ] {
        let (plain, srt) = (small_jobs_end(plain), small_jobs_end(srt));
        assert!(srt < plain, "{srt} against {plain}");
    }
}

#[test]
fn every_way_to_reckon_serves_every_reduce() {
    for how in ["ignored", "as_pending", "by_progress"] {
        for host in WEARERS {
            let policy = format!(
                "{host}: {{reduce_order: srt, srt: {{running_maps: {how}, shuffle_rate: 20MB/s}}}}"
            );
            let (folder, run) = run(&large_and_small(&policy));
            assert_eq!(run.summary.jobs_succeeded, 2, "{policy}");
            assert_eq!(reduces(&folder, 2).iter().map(Vec::len).sum::<usize>(), 14);
        }
    }
}

#[test]
fn coupled_reduces_start_in_step_with_maps() {
    for host in WEARERS {
        let yaml = large_and_small(&format!("{host}: {{reduce_gate: coupling}}"))
            .replace("reduce_slots: 1", "reduce_slots: 4")
            .replace("hadoop: {", "hadoop: {slow_start: 0, ");
        let (folder, run) = run(&yaml);
        assert_eq!(run.summary.jobs_succeeded, 2, "{host}");
        let all = reduces(&folder, 2);
        for (number, (_, ended)) in all[0].iter().enumerate() {
            // When the n-th of 12 reduces starts, more than (n - 1) / 12 of the 200 maps have
            // ended.
            assert!(number * 200 / 12 < *ended, "{host}: reduce {number} after {ended} maps");
        }
        assert!(all[0][0].1 < 40, "{host}: the first reduce starts early: {:?}", all[0]);
    }
}

#[test]
fn reduces_that_are_held_back_claim_no_slots() {
    // The first map ends after 4 min. Until then the pool `a` has guaranteed slots but can use none
    // of them.
    let yaml = |gate: &str| {
        format!(
            "{EXACT}
cluster: {{nodes: 4, map_slots: 4, reduce_slots: 2}}
until: 4min
workload:
  jobs:
    - {{name: b, pool: b, maps: 1, reduces: 40, map_time: 1s, reduce_time: 5min}}
    - {{name: a, pool: a, submit: 30s, maps: 100, reduces: 8, map_time: 4min, reduce_time: 10s}}
scheduler:
  fair:
    reduce_gate: {gate}
    preemption: kill
    allocations: {{pools: {{a: {{min_reduces: 4, min_share_after: 30s}}}}}}
"
        )
        .replace("hadoop: {", "hadoop: {slow_start: 0, ")
    };
    let killed = |gate: &str| {
        let (folder, _) = run(&yaml(gate));
        let rows: Vec<AttemptRow> = RunResults::new(folder.path()).all().unwrap();
        rows.iter().filter(|row| row.outcome == AttemptEnd::Killed).count()
    };
    assert_eq!(killed("coupling"), 0);
    assert!(0 < killed("open"));
}
