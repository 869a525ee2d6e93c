//! The protocol between Mumakil and a policy in another process: lines with one JSON object each.
//!
//! Mumakil begins with [`Hello`] and gets [`WireHello`] back. Then it asks [`Question`]s, and waits
//! for the [`Answer`] to each before the next. Instants and spans are whole microseconds of the
//! run. Jobs and trackers are numbers from 0. In a pair of numbers, the first is for maps, the
//! second for reduces.
//!
//! Some types repeat types of [`mapred`] word by word, such as [`State`] and [`WireReach`]. This is
//! on purpose: programs of other people read these words. So a word changes only together with
//! [`VERSION`], even if a name in the emulator changes. The conversions below cover every case, and
//! a test checks the words.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use mumakil_core::mapred::{self, AttemptId, JobId, TaskId, TaskKind};

/// The protocol's version. A run refuses a policy with another version.
// Raise this when a message may mean something else to a policy written for the old version.
pub const VERSION: u32 = 1;

/// A line from Mumakil to the policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Said")]
pub enum WireToPolicy {
    /// The first line; the policy answers with `hello`.
    Hello(Hello),
    /// A tracker may get tasks; the policy answers with `answer`.
    Offer(Question),
    /// Time has passed, for a policy that has asked for ticks; it answers with `answer`. Nothing
    /// can be launched.
    Tick(Question),
    /// Another policy, or this one in a JobTracker that died, has suspended these attempts. The
    /// policy answers with `inherit`: whether it will resume them later. If not, they are killed.
    Inherit(Vec<(WireAttempt, u32)>),
    /// The run is over; the process ends.
    End {},
}

/// The first message: the cluster and the options that the policy works with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The version of Mumakil.
    pub mumakil: String,
    /// A seed for a policy that draws random numbers: the same for the same seed of the run, which it
    /// does not reveal.
    pub seed: u64,
    /// The version of Hadoop that is emulated.
    pub hadoop: String,
    /// Of each tracker: the number of its rack, its map slots and its reduce slots.
    pub trackers: Vec<(u32, u32, u32)>,
    /// The policy's options in the scenario.
    pub options: Value,
}

/// The policy's wishes. Each field but the version may be left out and then has its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Wishes")]
pub struct WireHello {
    /// The version of the protocol that the policy speaks.
    pub protocol: u32,
    /// The information that the policy wants beside the usual.
    #[serde(default)]
    pub wants: Vec<Want>,
    /// The time between two ticks: questions that do not depend on offers of trackers. Without
    /// this, there are none.
    #[serde(default)]
    pub tick_us: Option<u64>,
    /// How long the policy may delay a launch that is possible at once. If it launches nothing for
    /// longer while nothing else is due in the cluster, the run counts as stalled. A day by
    /// default.
    #[serde(default)]
    pub patience_us: Option<u64>,
}

/// Information that a policy gets only if it asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// The launches and ends of attempts: `launched` and `attempt` among the news.
    Attempts,
    /// The progress of the attempts on the tracker that makes an offer. The JobTracker then looks
    /// up each of them in every heartbeat.
    Progress,
    /// Offers of all trackers, even if no waiting task has a free slot there.
    AllOffers,
    /// How long each task really takes: the policy is an oracle.
    Truth,
}

/// A question, and what has happened since the last question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Question {
    /// The number of the question, which the answer repeats.
    pub number: u64,
    /// The time of the question, in the run.
    pub now_us: u64,
    /// The cluster as the JobTracker sees it, if it has changed since the last question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The news since the last question, ordered by time, each with its instant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub news: Vec<(u64, WireNews)>,
    /// The tracker that makes an offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracker: Option<u32>,
    /// All slots of the tracker, if they are others than at its last offer, or than in `hello`: it
    /// has restarted with other slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slots: Option<[u32; 2]>,
    /// The free slots of the tracker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<[u32; 2]>,
    /// The jobs with waiting maps whose input is near the tracker. The numbers are the job, its
    /// waiting maps with input on the tracker, and those with input on the tracker or in its rack;
    /// both are counted only up to the free slots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<(u32, u32, u32)>,
    /// Jobs with waiting tasks that cannot be launched on this tracker: too many tasks of the job
    /// have failed there, or each waiting task has failed there.
    #[serde(skip_serializing_if = "names_no_job")]
    pub not_here: [Vec<u32>; 2],
    /// The progress of the attempts on the tracker, from 0 to 1, for a policy that wants it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<(WireAttempt, f32)>,
}

/// The cluster as the JobTracker sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cluster {
    /// How many trackers may get tasks: those that are registered and not blacklisted.
    pub trackers: u32,
    /// The slots of these trackers.
    pub slots: [u32; 2],
    /// The slots that were occupied at the trackers' last heartbeats.
    pub occupied: [u32; 2],
    /// Tasks that have not succeeded, of all jobs between setup and the end of cleanup; reduces
    /// count only once they may start.
    pub unfinished: [u64; 2],
    /// The time between two heartbeats of one tracker.
    pub heartbeat_us: u64,
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "News")]
pub enum WireNews {
    /// A job has arrived.
    Submitted(Submitted),
    /// The splits of a job are read.
    Initialised {
        /// The job.
        job: u32,
    },
    /// Tasks of a job can be launched from now on.
    Running {
        /// The job.
        job: u32,
    },
    /// The priority or the pool of a job has changed.
    Altered {
        /// The job.
        job: u32,
        /// Its pool or queue from now on.
        pool: String,
        /// Its priority from now on, as in `submitted`.
        priority: u32,
    },
    /// How many tasks of a job wait, run and are done.
    Counts(Counts),
    /// An attempt was launched.
    Launched(WireLaunched),
    /// The JobTracker has learned of an attempt's state.
    Attempt {
        /// The job of the attempt.
        job: u32,
        /// The attempt.
        attempt: WireAttempt,
        /// The state.
        state: State,
    },
    /// A job is over.
    Ended {
        /// The job.
        job: u32,
        /// How it ended.
        outcome: WireOutcome,
    },
}

/// A job that has arrived.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Submitted {
    /// The job.
    pub job: u32,
    /// The name of the job.
    pub name: String,
    /// The user of the job.
    pub user: String,
    /// The pool or queue of the job.
    pub pool: String,
    /// The priority: 0 is the highest, 4 the lowest, 2 the usual one.
    pub priority: u32,
    /// How many tasks the job has.
    pub tasks: [u32; 2],
    /// How long each task of the job really takes, for an oracle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_us: Option<[Vec<u64>; 2]>,
}

impl Submitted {
    /// Returns the facts about a job that every policy gets.
    pub(super) fn of(job: &mapred::Job) -> Self {
        let spec = job.spec();
        Self {
            job: spec.id.0,
            name: spec.name.to_string(),
            user: spec.user.to_string(),
            pool: spec.pool.to_string(),
            priority: job.priority() as u32,
            tasks: mapred::SlotKind::BOTH.map(|kind| job.tasks(kind).total()),
            truth_us: None,
        }
    }
}

/// How many tasks of a job wait, run and are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// The job.
    pub job: u32,
    /// Tasks that could be launched now: waiting tasks, and slow ones that may have a second
    /// attempt.
    pub pending: [u32; 2],
    /// Running attempts.
    pub running: [u32; 2],
    /// Tasks that have succeeded.
    pub done: [u32; 2],
    /// Whether a map may be waiting whose input is on no node.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub homeless: bool,
}

/// An attempt that was launched.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Launched")]
pub struct WireLaunched {
    /// The job of the attempt.
    pub job: u32,
    /// The attempt.
    pub attempt: WireAttempt,
    /// The tracker.
    pub tracker: u32,
    /// How far away its input is. Absent for reduces, and for maps whose input is on no node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locality: Option<WireLocality>,
}

/// How far away the input of a map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Locality")]
pub enum WireLocality {
    /// On the node of the tracker.
    Node,
    /// In the rack of the tracker.
    Rack,
    /// In another rack.
    OffRack,
}

/// An attempt: its job, the kind of task, the number of the task, the number of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Attempt")]
pub struct WireAttempt(pub u32, pub WireKind, pub u32, pub u32);

/// The kind of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Kind")]
pub enum WireKind {
    /// Reads a split of the input.
    Map,
    /// Merges the output of maps.
    Reduce,
    /// Prepares the job.
    Setup,
    /// Tidies up after the job.
    Cleanup,
}

/// The state of an attempt, as the JobTracker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Launched, but not started yet.
    Unassigned,
    /// Working.
    Running,
    /// Stopped; it keeps its memory.
    Suspended,
    /// Finished, and waiting to commit its output.
    CommitPending,
    /// Failed; its output is still to be removed.
    FailedUnclean,
    /// Killed; its output is still to be removed.
    KilledUnclean,
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed,
    /// Killed.
    Killed,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Outcome")]
pub enum WireOutcome {
    /// All of its tasks have succeeded.
    Succeeded,
    /// A task failed too often.
    Failed,
    /// It was killed.
    Killed,
}

fn names_no_job(jobs: &[Vec<u32>; 2]) -> bool {
    jobs.iter().all(Vec::is_empty)
}

/// A line from the policy to Mumakil.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Heard")]
pub enum WireFromPolicy {
    /// The answer to `hello`.
    Hello(WireHello),
    /// The answer to a question.
    Answer(Answer),
    /// The answer to `inherit`.
    Inherit(bool),
}

/// The answer to a question.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The number of the question.
    pub number: u64,
    /// The orders of the policy. Mumakil carries them out one after another.
    #[serde(default, rename = "do")]
    pub deeds: Vec<WireAction>,
}

/// An order of the policy.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "Deed")]
pub enum WireAction {
    /// Launch the job's best map on the tracker that makes the offer. If no map is within reach,
    /// nothing is launched.
    Map {
        /// The job.
        job: u32,
        /// How far away its input may be.
        #[serde(default)]
        reach: WireReach,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// Launch the job's next reduce on the tracker that makes the offer.
    Reduce {
        /// The job.
        job: u32,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// Kill an attempt, at its tracker's next heartbeat.
    Kill(WireOrder),
    /// Stop a running attempt; it keeps its memory and its work.
    Suspend(WireOrder),
    /// Resume a suspended attempt.
    Resume(WireOrder),
    /// Let an attempt write its state to disk and end; a later attempt of its task goes on from there.
    Checkpoint(WireOrder),
    /// Record that the job gets no slot of a kind here. It changes nothing in the run.
    Refuse {
        /// The job.
        job: u32,
        /// The kind of slot.
        kind: Slot,
        /// Why.
        why: WireWhy,
    },
}

/// An order about an attempt.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct WireOrder {
    /// The attempt.
    pub attempt: WireAttempt,
    /// Why.
    #[serde(default)]
    pub why: Option<WireWhy>,
}

/// How far away the input of a map may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Reach")]
pub enum WireReach {
    /// On the node of the tracker.
    Node,
    /// On the node of the tracker or in its rack.
    Rack,
    /// Anywhere.
    #[default]
    Any,
}

/// A kind of slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// For maps.
    Map,
    /// For reduces.
    Reduce,
}

/// The reason of an order: words, or one of Mumakil's own reasons with its numbers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Why")]
pub enum WireWhy {
    /// Words, up to 120 characters.
    Words(String),
    /// A reason with a code.
    Coded(WireReason),
}

/// One of Mumakil's own reasons, with the numbers behind it. Tables have a column for each number.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Coded")]
pub enum WireReason {
    /// The job had this position in the queue, from 0.
    InLine {
        /// The position.
        place: u32,
    },
    /// As `in_line`, for a job without input in the node's rack.
    InLineFar {
        /// The position.
        place: u32,
    },
    /// The job has waited this long for a node near its input.
    Waited {
        /// The time that it has waited.
        waited_us: u64,
    },
    /// The job or its group has less of its share than the others.
    Share(WireStanding),
    /// A task of a sample, which serves to estimate the job's size.
    Sample {},
    /// The job would end before the others.
    EndsFirst {},
    /// The job still waits for a node nearer to its input.
    Delay {
        /// The time that it has waited so far.
        waited_us: u64,
    },
    /// The job's group has as many slots as it may have.
    GroupLimit(WireStanding),
    /// The group of the attempt has more slots than its share.
    OverShare(WireStanding),
    /// The policy's own words, with numbers.
    Other(WireOwnReason),
}

/// The policy's own words, and the slots of the job or its group.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Own")]
pub struct WireOwnReason {
    /// The words, up to 120 characters.
    pub words: String,
    /// The slots that the job or its group has.
    #[serde(default)]
    pub held: u32,
    /// Its fair share, in slots.
    #[serde(default)]
    pub share: Option<f64>,
    /// The slots that it is guaranteed.
    #[serde(default)]
    pub min_share: u32,
}

/// The slots of a job or a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Held")]
pub struct WireStanding {
    /// The slots that the job or group has.
    pub held: u32,
    /// Its fair share, in slots.
    pub share: Option<f64>,
    /// The slots that it is guaranteed.
    pub min_share: u32,
}

/// Returns the JSON Schema of the lines: `said` has those of Mumakil, `heard` those of the policy.
pub fn schema() -> Value {
    let lines = SchemaSettings::draft07();
    // Mumakil leaves empty fields out, so this is the schema for serialisation.
    let said =
        lines.clone().for_serialize().into_generator().into_root_schema_for::<WireToPolicy>();
    let heard = lines.into_generator().into_root_schema_for::<WireFromPolicy>();
    serde_json::json!({ "said": said, "heard": heard })
}

impl From<AttemptId> for WireAttempt {
    fn from(AttemptId { task: TaskId { job, kind, index }, number }: AttemptId) -> Self {
        Self(job.0, kind.into(), index, number)
    }
}

impl From<WireAttempt> for AttemptId {
    fn from(WireAttempt(job, kind, index, number): WireAttempt) -> Self {
        TaskId { job: JobId(job), kind: kind.into(), index }.attempt(number)
    }
}

/// Converts an enum into one with the same words.
macro_rules! convert {
    ($($from:ty => $to:ty { $($word:ident)* })*) => { $(
        impl From<$from> for $to {
            fn from(from: $from) -> Self {
                match from { $(<$from>::$word => Self::$word,)* }
            }
        }
    )* };
}

convert! {
    TaskKind => WireKind { Map Reduce Setup Cleanup }
    WireKind => TaskKind { Map Reduce Setup Cleanup }
    mapred::AttemptState => State {
        Unassigned Running Suspended CommitPending FailedUnclean KilledUnclean Succeeded Failed Killed
    }
    mapred::Outcome => WireOutcome { Succeeded Failed Killed }
    mapred::Locality => WireLocality { Node Rack OffRack }
    WireReach => mapred::MapReach { Node Rack Any }
    mapred::SlotKind => Slot { Map Reduce }
    Slot => mapred::SlotKind { Map Reduce }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_leaves_out_what_is_empty() {
        let question = Question {
            number: 1,
            now_us: 7,
            news: vec![(5, WireNews::Running { job: 0 })],
            tracker: Some(1),
            free: Some([2, 0]),
            near: vec![(0, 1, 2)],
            ..Question::default()
        };
        assert_eq!(
            serde_json::to_string(&WireToPolicy::Offer(question)).unwrap(),
            r#"{"offer":{"number":1,"now_us":7,"news":[[5,{"running":{"job":0}}]],"tracker":1,"free":[2,0],"near":[[0,1,2]]}}"#
        );
        assert_eq!(serde_json::to_string(&WireToPolicy::End {}).unwrap(), r#"{"end":{}}"#);
    }

    #[test]
    fn answers_are_read_with_their_reasons() {
        let line = r#"{"answer":{"number":3,"do":[{"map":{"job":2,"reach":"node","why":"near"}},
            {"reduce":{"job":1}},{"kill":{"attempt":[0,"map",4,1],
            "why":{"code":"over-share","held":3,"share":1.5}}},{"map":{"job":0,"why":{"code":"in-line","place":2}}}]}}"#;
        let WireFromPolicy::Answer(answer) = serde_json::from_str(line).unwrap() else { panic!() };
        let why = Some(WireWhy::Words("near".to_owned()));
        assert_eq!(answer.deeds[0], WireAction::Map { job: 2, reach: WireReach::Node, why });
        assert_eq!(answer.deeds[1], WireAction::Reduce { job: 1, why: None });
        let held = WireStanding { held: 3, share: Some(1.5), min_share: 0 };
        let why = Some(WireWhy::Coded(WireReason::OverShare(held)));
        let attempt = WireAttempt(0, WireKind::Map, 4, 1);
        assert_eq!(answer.deeds[2], WireAction::Kill(WireOrder { attempt, why }));
        let why = Some(WireWhy::Coded(WireReason::InLine { place: 2 }));
        assert_eq!(answer.deeds[3], WireAction::Map { job: 0, reach: WireReach::Any, why });
    }

    #[test]
    fn a_misspelt_answer_is_none() {
        for line in [
            r#"{"answer":{"number":1,"deeds":[]}}"#,
            r#"{"answer":{"number":1,"do":[{"map":{"jobs":0}}]}}"#,
            r#"{"answer":{"number":-1}}"#,
            r#"{"hello":{"protocol":1,"wants":["all"]}}"#,
            r#"{"answer":{"number":1,"do":[{"kill":{"attempt":[0,"map",0]}}]}}"#,
            r#"{"answer":{"number":1,"do":[{"map":{"job":0,"why":{"code":"share","hold":1}}}]}}"#,
        ] {
            assert!(serde_json::from_str::<WireFromPolicy>(line).is_err(), "{line}");
        }
    }

    /// Adds the names of fields (with `!` if required) and the words of enums.
    fn words_of(schema: &Value, words: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                let must: Vec<&Value> = fields
                    .get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .collect();
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("properties", Value::Object(names)) => {
                            for (name, of) in names {
                                let mark = if must.iter().any(|it| *it == name) { "!" } else { "" };
                                words.push(format!("{name}{mark}"));
                                words_of(of, words);
                            }
                        }
                        ("enum", Value::Array(all)) => {
                            words.extend(all.iter().filter_map(Value::as_str).map(str::to_owned));
                        }
                        ("const", Value::String(word)) => words.push(word.clone()),
                        ("definitions", _) => {}
                        _ => words_of(value, words),
                    }
                }
            }
            Value::Array(all) => all.iter().for_each(|one| words_of(one, words)),
            _ => {}
        }
    }

    /// Programs of other people use these words. If one changes, the protocol needs a new version.
    #[test]
    fn the_words_are_those_of_this_version() {
        let mut lines = vec![format!("version: {VERSION}")];
        let mut line = |name: &str, schema: &Value| {
            let mut words = Vec::new();
            words_of(schema, &mut words);
            if !words.is_empty() {
                lines.push(format!("{name}: {}", words.join(" ")));
            }
        };
        for (side, schema) in schema().as_object().unwrap() {
            line(side, schema);
            for (name, definition) in schema["definitions"].as_object().unwrap() {
                line(name, definition);
            }
        }
        insta::assert_snapshot!(lines.join("\n"), @"
        version: 1
        said: hello! offer! tick! inherit! end!
        Hello: protocol! mumakil! seed! hadoop! trackers! options!
        Question: number! now_us! cluster news tracker slots free near not_here progress
        Cluster: trackers! slots! occupied! unfinished! heartbeat_us!
        News: submitted! initialised! job! running! job! altered! job! pool! priority! counts! launched! attempt! job! attempt! state! ended! job! outcome!
        Submitted: job! name! user! pool! priority! tasks! truth_us
        Counts: job! pending! running! done! homeless
        Launched: job! attempt! tracker! locality
        Kind: map reduce setup cleanup
        Locality: node rack off_rack
        State: unassigned running suspended commit_pending failed_unclean killed_unclean succeeded failed killed
        Outcome: succeeded failed killed
        heard: hello! answer! inherit!
        Wishes: protocol! wants tick_us patience_us
        Want: attempts progress all_offers truth
        Answer: number! do
        Deed: map! job! reach why reduce! job! why kill! attempt! why suspend! attempt! why resume! attempt! why checkpoint! attempt! why refuse! job! kind! why!
        Reach: node rack any
        Coded: code! in-line place! code! in-line-far place! code! waited waited_us! code! share held share min_share code! sample code! ends-first code! delay waited_us! code! group-limit held share min_share code! over-share held share min_share code! other words! held share min_share
        Kind: map reduce setup cleanup
        Slot: map reduce
        ");
    }
}
