//! The file of the SLS' generator: classes of jobs, and the distributions from which they are
//! drawn.
//!
//! In older files a class has means and deviations of maps and reduces as single numbers; in newer
//! files it has a list of tasks with a [`SynthSample`] for each quantity. A class has only one of
//! the two forms. Times are seconds, memory is megabytes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, de};

use mumakil_core::trace::{FirstFew, Framing, Record, RecordFault, json};

/// The most jobs that can be drawn: as many as the largest `count` of a list's entry.
const MOST_JOBS: u32 = 1_000_000;

/// The settings of the generator.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Synth {
    /// The purpose of the file.
    pub description: Option<String>,
    /// How many nodes the cluster has.
    pub num_nodes: u32,
    /// How many nodes a rack has.
    pub nodes_per_rack: u32,
    /// How many jobs are drawn.
    pub num_jobs: u32,
    /// The seed of the generator's random numbers.
    pub rand_seed: i64,
    /// The workloads from which jobs are drawn.
    pub workloads: Vec<SynthWorkload>,
}

/// A queue, and the classes of jobs that are submitted to it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SynthWorkload {
    /// The name of the workload.
    pub workload_name: Option<String>,
    /// The purpose of the workload.
    pub description: Option<String>,
    /// The weight of this workload among all workloads.
    pub workload_weight: SynthAmount,
    /// The queue of its jobs.
    pub queue_name: Option<String>,
    /// The classes of its jobs.
    pub job_classes: Vec<SynthClass>,
    /// How the times of submission are distributed.
    pub time_distribution: Vec<TimeSample>,
}

/// A piece of the distribution of submission times: from this sample's time to the next sample's.
/// The last piece is its time alone.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct TimeSample {
    /// The start of the piece, in seconds.
    pub time: u32,
    /// The weight of the piece among all pieces.
    pub weight: SynthAmount,
}

/// A class of jobs. Each quantity of an older file is a mean (`avg`) and a deviation (`stddev`).
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names are explained above")]
pub struct SynthClass {
    /// The name of the class.
    pub class_name: Option<String>,
    /// The user who submits the jobs of the class.
    pub user_name: Option<String>,
    /// The weight of this class among all classes.
    pub class_weight: SynthAmount,

    /// The kind of application. This field and the next ones are only in newer files.
    #[serde(rename = "type")]
    pub class_type: Option<String>,
    /// How long a job takes.
    pub duration: Option<SynthSample>,
    /// The deadline of a job, as a multiple of its duration.
    pub deadline_factor: Option<SynthSample>,
    /// The probability that capacity is reserved for a job.
    pub reservation: Option<SynthSample>,
    /// The tasks of a job.
    pub tasks: Option<Vec<SynthTask>>,
    /// The parameters of the application.
    pub params: Option<BTreeMap<String, String>>,

    /// The number of maps. This field and the next ones are only in older files.
    pub mtasks_avg: SynthAmount,
    pub mtasks_stddev: SynthAmount,
    pub rtasks_avg: SynthAmount,
    pub rtasks_stddev: SynthAmount,
    pub dur_avg: SynthAmount,
    pub dur_stddev: SynthAmount,
    pub mtime_avg: SynthAmount,
    pub mtime_stddev: SynthAmount,
    pub rtime_avg: SynthAmount,
    pub rtime_stddev: SynthAmount,
    pub map_max_memory_avg: SynthAmount,
    pub map_max_memory_stddev: SynthAmount,
    pub map_max_vcores_avg: SynthAmount,
    pub map_max_vcores_stddev: SynthAmount,
    pub reduce_max_memory_avg: SynthAmount,
    pub reduce_max_memory_stddev: SynthAmount,
    pub reduce_max_vcores_avg: SynthAmount,
    pub reduce_max_vcores_stddev: SynthAmount,
    pub map_execution_type: Option<String>,
    pub reduce_execution_type: Option<String>,
    pub chance_of_reservation: SynthAmount,
    pub deadline_factor_avg: SynthAmount,
    pub deadline_factor_stddev: SynthAmount,
}

/// The tasks of a job that are of one kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SynthTask {
    /// The type of the tasks, such as `map` or `reduce`.
    #[serde(rename = "type")]
    pub task_type: String,
    /// The number of tasks.
    pub count: SynthSample,
    /// How long each task takes.
    pub time: SynthSample,
    /// How much memory each task asks for.
    pub max_memory: SynthSample,
    /// How many cores each task asks for.
    pub max_vcores: SynthSample,
    /// The priority of the tasks.
    #[serde(default)]
    pub priority: i32,
    /// The execution type, such as `GUARANTEED`: it decides whether the tasks may be preempted.
    pub execution_type: Option<String>,
}

/// A quantity: constant, drawn from a distribution, or one of several values.
#[derive(Clone, Debug, PartialEq)]
pub enum SynthSample {
    /// Always the same value.
    Constant(f64),
    /// Drawn from a distribution.
    Drawn {
        /// The shape of the distribution.
        dist: SynthDist,
        /// The mean of the distribution.
        mean: f64,
        /// The standard deviation of the distribution.
        deviation: f64,
    },
    /// One of these values, each with its weight.
    OneOf(Vec<(f64, f64)>),
}

/// The shape of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[expect(missing_docs, reason = "the names say all")]
pub enum SynthDist {
    #[serde(rename = "LOGNORM")]
    LogNormal,
    #[serde(rename = "NORM")]
    Normal,
}

impl<'de> Deserialize<'de> for SynthSample {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Attributes {
            val: Option<f64>,
            std: Option<f64>,
            dist: Option<SynthDist>,
            discrete: Option<Vec<SynthValue>>,
            weights: Option<Vec<f64>>,
        }
        let Attributes { val, std, dist, discrete, weights } = Attributes::deserialize(from)?;
        match (val, std, dist, discrete, weights) {
            (Some(value), None, None, None, None) => Ok(Self::Constant(value)),
            (Some(mean), Some(deviation), dist, None, None) => {
                // Without `dist` the SLS draws from a log-normal distribution.
                Ok(Self::Drawn { dist: dist.unwrap_or(SynthDist::LogNormal), mean, deviation })
            }
            (None, None, None, Some(values), weights) => {
                let weights = weights.unwrap_or_else(|| vec![1.0; values.len()]);
                if values.len() == weights.len() {
                    let values = values.into_iter().map(|SynthValue(value)| value);
                    Ok(Self::OneOf(values.zip(weights).collect()))
                } else {
                    let [values, weights] = [values.len(), weights.len()];
                    Err(de::Error::custom(format!("{values} values and {weights} weights")))
                }
            }
            _ => Err(de::Error::custom("expected `val`, `val` with `std`, or `discrete`")),
        }
    }
}

/// One of several values: a number, or a text with a number.
struct SynthValue(f64);

impl<'de> Deserialize<'de> for SynthValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl de::Visitor<'_> for ValueVisitor {
            type Value = SynthValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a text with one")
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<SynthValue, E> {
                Ok(SynthValue(number))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<SynthValue, E> {
                self.visit_f64(number as f64)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<SynthValue, E> {
                self.visit_f64(number as f64)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<SynthValue, E> {
                let number = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
                number
                    .map(SynthValue)
                    .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }
        from.deserialize_any(ValueVisitor)
    }
}

/// A number that is not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SynthAmount(pub f64);

impl<'de> Deserialize<'de> for SynthAmount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = f64::deserialize(from)?;
        // Refuses NaN, too.
        if 0.0 <= number {
            return Ok(Self(number));
        }
        Err(de::Error::invalid_value(de::Unexpected::Float(number), &"a number of zero or more"))
    }
}

impl Record for Synth {
    const NAME: &'static str = "generator of the SLS";
    const FRAMING: Framing = Framing::Object(None);

    fn parse(object: &[u8], unknown: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let synth: Self = json::parse(object, unknown)?;
        if MOST_JOBS < synth.num_jobs {
            let jobs = synth.num_jobs;
            return Err(RecordFault::new(format!("num_jobs: {jobs} jobs, more than {MOST_JOBS}")));
        }
        Ok(synth)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use mumakil_core::trace::{Records, Strictness};

    fn read(text: &str) -> Result<Synth, String> {
        let text = Cursor::new(text.to_owned());
        let mut records = Records::from_reader("t", text, Strictness::Strict).unwrap();
        let synth = records.only().map_err(|error| error.to_string());
        assert_eq!(records.notes().unknown.count, 0, "{:?}", records.notes());
        synth
    }

    const OLDER: &str = include_str!("../../../tests/fuzz/seeds/sls/synth-older.json");
    const NEWER: &str = include_str!("../../../tests/fuzz/seeds/sls/synth-newer.json");

    #[test]
    fn an_older_class_has_means_and_deviations() {
        let synth = read(OLDER).unwrap();
        assert_eq!((synth.num_nodes, synth.nodes_per_rack, synth.num_jobs), (10, 4, 10));
        assert_eq!(
            synth.workloads[0].time_distribution[1],
            TimeSample { time: 60, weight: SynthAmount(0.0) }
        );
        let class = &synth.workloads[0].job_classes[0];
        assert_eq!((class.mtasks_avg, class.mtime_stddev), (SynthAmount(5.0), SynthAmount(2.0)));
        assert_eq!(class.reduce_max_memory_avg, SynthAmount(2_048.0));
        assert_eq!(class.deadline_factor_avg, SynthAmount(10.0));
        assert_eq!(class.tasks, None);
    }

    #[test]
    fn a_newer_class_has_tasks() {
        let synth = read(NEWER).unwrap();
        let class = &synth.workloads[0].job_classes[0];
        let [maps, reduces] = class.tasks.as_deref().unwrap() else { panic!("two kinds") };
        assert_eq!((maps.task_type.as_str(), maps.priority), ("map", 20));
        assert_eq!(
            maps.count,
            SynthSample::Drawn { dist: SynthDist::LogNormal, mean: 5.0, deviation: 1.0 }
        );
        assert_eq!(
            maps.time,
            SynthSample::Drawn { dist: SynthDist::Normal, mean: 10.0, deviation: 2.0 }
        );
        assert_eq!(maps.max_memory, SynthSample::Constant(1_024.0));
        assert_eq!(reduces.count, SynthSample::OneOf(vec![(1.0, 0.5), (2.0, 0.5)]));
    }

    #[test]
    fn values_are_numbers_or_texts_with_numbers() {
        let count = |values: &str| {
            let text = NEWER.replacen(r#"["1", "2"]"#, values, 1);
            assert_ne!(text, NEWER);
            let classes = read(&text)?.workloads.remove(0).job_classes;
            Ok::<_, String>(classes[0].tasks.as_ref().unwrap()[1].count.clone())
        };
        let one_of = SynthSample::OneOf(vec![(2.0, 0.5), (4.5, 0.5)]);
        assert_eq!(count("[2, 4.5]"), Ok(one_of.clone()));
        assert_eq!(count(r#"["2", 4.5]"#), Ok(one_of));
        let error = count(r#"["2", "few"]"#).unwrap_err();
        assert!(error.contains("text \"few\", expected a number, or a text with one"), "{error}");
    }

    #[test]
    fn mistakes_of_a_generator_are_named() {
        let bad = |from: &str, to: &str| {
            assert!(NEWER.contains(from), "{from}");
            read(&NEWER.replacen(from, to, 1)).unwrap_err()
        };
        let at = |error: String| error.rsplit_once(" (byte").unwrap().0.to_owned();
        assert_eq!(
            at(bad(r#""num_jobs": 10"#, r#""num_jobs": -1"#)),
            "t:5: num_jobs: invalid value: integer `-1`, expected a whole number of zero or more"
        );
        assert_eq!(
            bad(r#""num_jobs": 10"#, r#""num_jobs": 2147483648"#),
            "t:1: num_jobs: 2147483648 jobs, more than 1000000"
        );
        assert_eq!(
            at(bad(r#""class_weight": 1.0"#, r#""class_weight": -1.0"#)),
            "t:14: workloads[0].job_classes[0].class_weight: invalid value: floating point \
             `-1.0`, expected a number of zero or more"
        );
        assert_eq!(
            at(bad(r#"{"val": 1024}"#, r#"{"std": 1024}"#)),
            "t:24: workloads[0].job_classes[0].tasks[0].max_memory: expected `val`, `val` with \
             `std`, or `discrete`"
        );
        assert_eq!(
            at(bad("[0.5, 0.5]", "[0.5]")),
            "t:29: workloads[0].job_classes[0].tasks[1].count: 2 values and 1 weights"
        );
    }
}
