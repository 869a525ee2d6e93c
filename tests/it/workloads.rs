//! The bundled workloads match the descriptions in their papers, for every seed.

use std::collections::BTreeMap;

use mumakil::emulation::{Options, Prepared};
use mumakil::mapred::{Input, JobSpec, StopReason};
use mumakil::scenario;
use mumakil::workload::Workload;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=20;

fn prepared(preset: &str, seed: u64, sets: &[&str]) -> Prepared {
    let text = format!("seed: {seed}\nworkload: {preset}");
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let registry = mumakil::registry();
    let loaded = scenario::parse("test.yaml", &text, &sets, &registry);
    let scenario = loaded.unwrap_or_else(|error| panic!("{preset}: {error}")).scenario;
    Prepared::new(scenario, &registry).unwrap()
}

fn workload(preset: &str, seed: u64, sets: &[&str]) -> Workload {
    prepared(preset, seed, sets).workload
}

fn jobs(workload: &Workload) -> impl Iterator<Item = &JobSpec> {
    workload.arrivals.iter().map(|arrival| &*arrival.spec)
}

/// Returns the number of jobs of each class.
fn classes(workload: &Workload) -> BTreeMap<&str, usize> {
    let mut classes = BTreeMap::new();
    for job in jobs(workload) {
        *classes.entry(&*job.class).or_default() += 1;
    }
    classes
}

/// Returns the number of jobs with each number of maps and reduces.
fn sizes(workload: &Workload) -> BTreeMap<(u32, u32), usize> {
    let mut sizes = BTreeMap::new();
    for job in jobs(workload) {
        *sizes.entry((job.maps, job.reduces)).or_default() += 1;
    }
    sizes
}

/// Returns when the jobs that follow no other job are submitted, in seconds.
fn submissions(workload: &Workload) -> Vec<f64> {
    let waits_for_none = |batch: usize| workload.follows[batch].is_empty();
    let arrivals = workload.arrivals.iter().filter(|job| waits_for_none(job.batch.index()));
    arrivals.map(|job| job.delay.as_secs_f64()).collect()
}

/// Asserts the mean gap between jobs over all seeds, within the error of sampling.
fn assert_mean_gap(preset: &str, mean: f64) {
    let spans: Vec<(f64, usize)> = SEEDS
        .map(|seed| {
            let submissions = submissions(&workload(preset, seed, &[]));
            (submissions.last().unwrap() - submissions[0], submissions.len() - 1)
        })
        .collect();
    let gaps: usize = spans.iter().map(|(_, gaps)| gaps).sum();
    let sampled = spans.iter().map(|(span, _)| span).sum::<f64>() / gaps as f64;
    // The standard deviation of an exponential gap is its mean.
    let error = mean / (gaps as f64).sqrt();
    assert!((sampled - mean).abs() < 3.0 * error, "{preset}: {sampled} s instead of {mean} s");
}

#[test]
fn fb2009_has_its_three_classes() {
    let mut maps = Vec::new();
    for seed in SEEDS {
        let workload = workload("fb2009", seed, &[]);
        let counts = [("large", 6), ("medium", 41), ("small", 53)];
        assert_eq!(classes(&workload), BTreeMap::from(counts));
        let of = |class: &str, fits: &dyn Fn(&JobSpec) -> bool| {
            jobs(&workload).filter(|job| &*job.class == class && fits(job)).count()
        };
        assert_eq!(of("small", &|job| (job.maps, job.reduces) == (1, 0)), 40);
        assert_eq!(of("small", &|job| (job.maps, job.reduces) == (2, 0)), 13);
        assert_eq!(of("medium", &|job| (5..=500).contains(&job.maps)), 41);
        assert_eq!(of("medium", &|job| job.reduces == 0), 20);
        assert_eq!(of("medium", &|job| (2..=100).contains(&job.reduces)), 21);
        assert_eq!(of("large", &|job| (job.maps, job.reduces) == (3000, 0)), 2);
        assert_eq!(of("large", &|job| (job.maps, job.reduces) == (200, 1000)), 1);
        let range =
            |job: &JobSpec| (700..=1500).contains(&job.maps) && (150..=250).contains(&job.reduces);
        assert_eq!(of("large", &range), 3);
        maps.push(jobs(&workload).map(|job| f64::from(job.maps)).sum::<f64>());
    }
    let mean = maps.iter().sum::<f64>() / maps.len() as f64;
    assert!((13_500.0..14_500.0).contains(&mean), "over 14,000 maps, but {mean}");
    assert_mean_gap("fb2009", 13.0);
}

#[test]
fn fb2010_has_its_six_kinds_of_jobs() {
    for seed in SEEDS {
        let workload = workload("fb2010", seed, &[]);
        let of = |maps: std::ops::RangeInclusive<u32>, reduces: std::ops::RangeInclusive<u32>| {
            let fits = |job: &&JobSpec| maps.contains(&job.maps) && reduces.contains(&job.reduces);
            jobs(&workload).filter(fits).count()
        };
        assert_eq!(jobs(&workload).count(), 93);
        assert_eq!(of(501..=1500, 10..=10), 39);
        assert_eq!(of(501..=1500, 11..=100), 16);
        assert_eq!(of(501..=1500, 101..=200), 11);
        assert_eq!(of(1501..=2500, 10..=100), 10);
        assert_eq!(of(1501..=2500, 101..=200), 7);
        assert_eq!(of(2501..=4000, 101..=200), 10);
    }
    assert_mean_gap("fb2010", 38.0);
}

#[test]
fn jobs_of_the_macrobenchmarks_have_their_bins_and_a_user_each() {
    let bins =
        [(1, 38), (2, 16), (10, 14), (50, 8), (100, 6), (200, 6), (400, 4), (800, 4), (4800, 4)];
    for preset in ["ds-io", "ds-cpu"] {
        for seed in SEEDS {
            let workload = workload(preset, seed, &[]);
            let expected = bins.map(|(maps, count)| ((maps, 0), count));
            assert_eq!(sizes(&workload), BTreeMap::from(expected));
            let mut users: Vec<&str> = jobs(&workload).map(|job| &*job.user).collect();
            users.sort_unstable();
            users.dedup();
            assert_eq!(users.len(), 100);
        }
        assert_mean_gap(preset, 14.0);
    }
}

#[test]
fn the_mixed_benchmark_has_two_chains_of_four_and_the_submissions_of_the_others() {
    let workloads = ["ds-mixed", "ds-io", "ds-cpu"].map(|preset| workload(preset, 7, &[]));
    let [mixed, io, cpu] = &workloads;
    assert_eq!(submissions(mixed), submissions(io));
    assert_eq!(submissions(mixed), submissions(cpu));
    let bins = [
        ((1, 0), 38),
        ((2, 0), 16),
        ((10, 3), 14),
        ((50, 0), 8),
        ((100, 0), 6),
        ((200, 50), 6),
        ((400, 0), 4),
        ((800, 180), 4),
        ((2400, 360), 2),
        ((240, 36), 2),
        ((24, 4), 2),
        ((3, 1), 2),
        ((4800, 0), 2),
    ];
    assert_eq!(sizes(mixed), BTreeMap::from(bins));
    let user = |name: &str| jobs(mixed).find(|job| &*job.name == name).unwrap().user.clone();
    for join in ["bin-9-1", "bin-9-2"] {
        let (_, number) = join.rsplit_once('-').unwrap();
        let mut before = join.to_owned();
        for stage in ["bin-9b", "bin-9c", "bin-9d"] {
            let name = format!("{stage}-{number}");
            let batch = |name: &str| mixed.names.iter().position(|other| other == name).unwrap();
            let follows: Vec<usize> =
                mixed.follows[batch(&name)].iter().map(|before| before.index()).collect();
            assert_eq!(follows, [batch(&before)]);
            assert_eq!(user(&name), user(join));
            before = name;
        }
    }
    assert_eq!(classes(mixed)["bin-9"], 8);
}

#[test]
fn scans_read_one_file_and_filters_one_each() {
    let files = |preset: &str, sets: &[&str]| {
        let workload = workload(preset, 1, sets);
        let file = |job: &JobSpec| match job.input {
            Some(Input::File { file, .. }) => file.0,
            _ => panic!("no file"),
        };
        let mut files: Vec<u32> = jobs(&workload).map(file).collect();
        files.sort_unstable();
        files.dedup();
        (jobs(&workload).count(), files.len(), sizes(&workload))
    };
    assert_eq!(files("ds-scan", &[]), (20, 1, BTreeMap::from([((1440, 0), 20)])));
    let fifty = ["workload.mix.jobs=50"];
    assert_eq!(files("ds-scan", &fifty), (50, 1, BTreeMap::from([((1440, 0), 50)])));
    assert_eq!(files("ds-small", &[]), (200, 200, BTreeMap::from([((4, 0), 200)])));
    let twelve = ["workload.mix.types.filter.maps=12"];
    assert_eq!(files("ds-small", &twelve), (200, 200, BTreeMap::from([((12, 0), 200)])));
}

#[test]
fn another_type_does_not_take_away_that_of_the_preset() {
    let sets = ["workload.mix.types.other.maps=5", "workload.mix.jobs=40"];
    let workload = workload("ds-scan", 1, &sets);
    assert_eq!(classes(&workload).into_keys().collect::<Vec<_>>(), ["other", "scan"]);
}

#[test]
fn pools_of_the_hierarchy_get_their_jobs_when_the_paper_says() {
    let workload = workload("ds-hierarchy", 1, &[]);
    let jobs: Vec<(&str, u32, f64)> = workload
        .arrivals
        .iter()
        .map(|job| (&*job.spec.pool, job.spec.maps, job.delay.as_secs_f64()))
        .collect();
    let expected = [
        ("pool-1", 12_000, 0.0),
        ("pool-2", 12_000, 57.0),
        ("pool-3", 800, 118.0),
        ("pool-3", 800, 118.0),
        ("pool-3", 800, 118.0),
        ("pool-1", 800, 494.0),
    ];
    assert_eq!(jobs, expected);
}

#[test]
fn small_and_large_jobs_are_as_many_in_another_order_each_time() {
    let order = |seed, sets: &[&str]| -> Vec<String> {
        let workload = workload("srt", seed, sets);
        let steps: Vec<f64> = (0..submissions(&workload).len()).map(|job| job as f64).collect();
        assert_eq!(submissions(&workload), steps);
        jobs(&workload).map(|job| job.class.to_string()).collect()
    };
    assert_ne!(order(1, &[]), order(2, &[]));
    for (sets, each) in [(&[][..], 10), (&["workload.mix.jobs=80"][..], 40)] {
        let order = order(1, sets);
        assert_eq!(order.iter().filter(|class| *class == "small").count(), each);
        assert_eq!(order.len(), 2 * each);
    }
}

#[test]
fn word_counts_are_spread_over_three_pools() {
    for (preset, kinds) in [("mfs-a", 1), ("mfs-b", 5)] {
        for jobs in [5, 10, 15] {
            let workload = workload(preset, 1, &[&format!("workload.mix.jobs={jobs}")]);
            assert_eq!(submissions(&workload), vec![0.0; jobs]);
            let sizes = sizes(&workload);
            assert_eq!(sizes.values().copied().collect::<Vec<_>>(), vec![jobs / kinds; kinds]);
            assert!(sizes.keys().all(|(_, reduces)| *reduces == 1));
            let mut pools = BTreeMap::new();
            for job in workload.arrivals.iter().map(|arrival| &arrival.spec.pool) {
                *pools.entry(&**job).or_insert(0) += 1;
            }
            let (fewest, most) = (pools.values().min().unwrap(), pools.values().max().unwrap());
            assert_eq!((pools.len(), most - fewest <= 1), (3, true), "{pools:?}");
        }
    }
}

#[test]
fn every_workload_runs_to_its_end() {
    let runs: [(&str, &[&str]); 11] = [
        ("fb2009", &["workload.mix.jobs=30", "workload.mix.time_factor=0.5"]),
        ("fb2010", &["workload.mix.jobs=2"]),
        ("ds-io", &["workload.mix.jobs=20"]),
        ("ds-cpu", &["workload.mix.jobs=10"]),
        (
            "ds-mixed",
            &[
                "workload.mix.types.bin-10.count=0",
                "workload.mix.types.bin-9.maps=240",
                "workload.mix.types.bin-9.reduces=12",
                "workload.mix.types.bin-9b.reduces=6",
            ],
        ),
        ("ds-scan", &["workload.mix.jobs=3"]),
        ("ds-small", &["workload.mix.jobs=60", "workload.submission.closed.active=20"]),
        ("ds-hierarchy", &["cluster=ec2-100"]),
        ("srt", &["workload.mix.jobs=6"]),
        ("mfs-a", &["cluster=vm-8"]),
        ("mfs-b", &["cluster=vm-8"]),
    ];
    for (preset, sets) in runs {
        let prepared = prepared(preset, 3, sets);
        let options = Options { verify: true, ..Options::default() };
        let run = prepared.emulate(&mumakil::registry(), options).unwrap();
        assert_eq!(run.stop, StopReason::Done, "{preset}");
        assert_eq!(run.summary.jobs_succeeded, prepared.jobs(), "{preset}");
        assert_eq!(run.verifier.unwrap().violations().len(), 0, "{preset}");
    }
}
