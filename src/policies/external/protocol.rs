//! The lines between Mumakil and a policy that is another process: one JSON object a line.
//!
//! Mumakil begins with [`Hello`] and hears [`WireHello`]. From then on it asks [`Question`]s, each of which
//! is [`Answer`]ed before anything else is asked. Instants and spans are whole microseconds of the
//! run. Jobs and trackers are numbers from 0; two numbers side by side are of maps and reduces.
//!
//! Some types repeat those of [`mapred`] word by word, such as [`State`] and [`WireReach`]. This is on purpose:
//! programs of others read these words, so they are those of a [`VERSION`], whatever becomes of the names in
//! the emulator. The conversions below are exhaustive, and a test pins the words.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use mumakil_core::mapred::{self, AttemptId, JobId, TaskId, TaskKind};

/// The protocol's version. A policy that speaks another is not asked anything.
// Goes up when a line may mean something else to a policy that was written before.
pub const VERSION: u32 = 1;

/// A line from Mumakil to the policy.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Said")]
pub enum WireToPolicy {
    /// The first line; to be answered with `hello`.
    Hello(Hello),
    /// A tracker may get tasks; to be answered.
    Offer(Question),
    /// Time has passed, for a policy that has asked for this; to be answered. Nothing can be launched.
    Tick(Question),
    /// Another policy, or this one in a JobTracker that died, has suspended these attempts; to be
    /// answered with `inherit`: whether this policy will let them go on. If not, they are killed.
    Inherit(Vec<(WireAttempt, u32)>),
    /// The run is over; the process ends.
    End {},
}

/// Where the policy is to work.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Hello {
    /// The version of the protocol.
    pub protocol: u32,
    /// The version of Mumakil.
    pub mumakil: String,
    /// The seed of the run, for a policy that draws.
    pub seed: u64,
    /// The line of Hadoop.
    pub hadoop: String,
    /// The trackers: the number of the rack, map slots, reduce slots.
    pub trackers: Vec<(u32, u32, u32)>,
    /// The options of the scenario.
    pub options: Value,
}

/// The policy's wishes. Each but the version may be left out and then has its default.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Wishes")]
pub struct WireHello {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// The information that it wants beside the usual.
    #[serde(default)]
    pub wants: Vec<Want>,
    /// After how long it is to be asked again and again, whether a tracker may get tasks or not.
    #[serde(default)]
    pub tick_us: Option<u64>,
    /// For how long it may put off what it could do at once. After that, in a cluster in which nothing is
    /// due, the run has stalled. A day, if it does not say.
    #[serde(default)]
    pub patience_us: Option<u64>,
}

/// Information that a policy gets only if it asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Want {
    /// The launches and ends of attempts: `launched` and `attempt` among the news.
    Attempts,
    /// How far the attempts of a tracker are that makes an offer. It costs the JobTracker a look-up for
    /// each, in every heartbeat.
    Progress,
    /// Offers of trackers without a free slot that a task waits for, too.
    AllOffers,
    /// How long the tasks of jobs really take: the policy is an oracle.
    Truth,
}

/// A question, and what has happened since the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Question {
    /// Its number, which the answer repeats.
    pub number: u64,
    /// The instant.
    pub now_us: u64,
    /// The cluster as the JobTracker sees it, if that has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The news since the last question, in the order of time, each with its instant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub news: Vec<(u64, WireNews)>,
    /// The tracker that makes an offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracker: Option<u32>,
    /// Its free slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free: Option<[u32; 2]>,
    /// Of which jobs maps wait that have their input near the tracker: the job, how many on it, and how
    /// many on it or in its rack; counted up to its free slots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub near: Vec<(u32, u32, u32)>,
    /// Jobs with tasks of a kind that wait of which none is launched on this tracker: too many have failed
    /// there, or each of these has.
    #[serde(skip_serializing_if = "names_no_job")]
    pub not_here: [Vec<u32>; 2],
    /// How far the attempts on the tracker are, from 0 to 1, for a policy that wants to hear it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub progress: Vec<(WireAttempt, f32)>,
}

/// The cluster as the JobTracker sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Cluster {
    /// How many trackers may get tasks: those that are registered and not blacklisted.
    pub trackers: u32,
    /// Their slots.
    pub slots: [u32; 2],
    /// The slots that were taken by their last heartbeats.
    pub occupied: [u32; 2],
    /// Tasks that have not succeeded, of each job from when it gives tasks to the end of its cleanup;
    /// reduces only once they may start.
    pub unfinished: [u64; 2],
    /// The time between two heartbeats of a tracker.
    pub heartbeat_us: u64,
}

/// Something that has happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "News")]
pub enum WireNews {
    /// A job has arrived.
    Submitted(Submitted),
    /// Its splits are read.
    Initialised {
        /// The job.
        job: u32,
    },
    /// It gives tasks from here on.
    Running {
        /// The job.
        job: u32,
    },
    /// How many of a job's tasks wait and run.
    Counts(Counts),
    /// An attempt was launched.
    Launched(WireLaunched),
    /// The JobTracker has learned of an attempt's state.
    Attempt {
        /// Its job.
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
    /// Its name.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its pool or queue.
    pub pool: String,
    /// How much it matters: 0 for the most, to 4; 2 is usual.
    pub priority: u32,
    /// How many tasks it has.
    pub tasks: [u32; 2],
    /// How long each of its tasks really takes, for an oracle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth_us: Option<[Vec<u64>; 2]>,
}

/// How many of a job's tasks wait and run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// The job.
    pub job: u32,
    /// Tasks that could be launched now: those that wait, and slow ones that may have a second attempt.
    pub pending: [u32; 2],
    /// Attempts that run.
    pub running: [u32; 2],
    /// Tasks that have succeeded.
    pub done: [u32; 2],
    /// Whether a map may be waiting whose input is nowhere.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub homeless: bool,
}

/// An attempt that was launched.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Launched")]
pub struct WireLaunched {
    /// Its job.
    pub job: u32,
    /// The attempt.
    pub attempt: WireAttempt,
    /// The tracker.
    pub tracker: u32,
    /// How far its input is; without it for reduces, and for maps whose input is nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locality: Option<WireLocality>,
}

/// How far the input of a map is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Locality")]
pub enum WireLocality {
    /// On the node.
    Node,
    /// In its rack.
    Rack,
    /// In another.
    OffRack,
}

/// An attempt: its job, what it does, the number of the task, the number of the try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Attempt")]
pub struct WireAttempt(pub u32, pub WireKind, pub u32, pub u32);

/// The work of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Kind")]
pub enum WireKind {
    /// Reads a split.
    Map,
    /// Reduces.
    Reduce,
    /// Prepares the job.
    Setup,
    /// Tidies up after it.
    Cleanup,
}

/// The state of an attempt, as the JobTracker knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Launched, and not started yet.
    Unassigned,
    /// It works.
    Running,
    /// It is stopped, and keeps its memory.
    Suspended,
    /// Its work is done, and is to be committed.
    CommitPending,
    /// It broke, and its output is to be removed.
    FailedUnclean,
    /// It was killed, and its output is to be removed.
    KilledUnclean,
    /// Done.
    Succeeded,
    /// Broke.
    Failed,
    /// Was killed.
    Killed,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Outcome")]
pub enum WireOutcome {
    /// All of its tasks are done.
    Succeeded,
    /// A task failed too often.
    Failed,
    /// Somebody killed it.
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
    /// The orders of the policy; Mumakil carries them out one after the other.
    #[serde(default, rename = "do")]
    pub deeds: Vec<WireAction>,
}

/// Something that the policy wants done.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schemars(rename = "Deed")]
pub enum WireAction {
    /// The job's best map for the tracker that makes the offer is launched there. If none is within
    /// reach, nothing is.
    Map {
        /// The job.
        job: u32,
        /// How far its input may be.
        #[serde(default)]
        reach: WireReach,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// The job's next reduce is launched there.
    Reduce {
        /// The job.
        job: u32,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// An attempt is killed, at its tracker's next heartbeat.
    Kill {
        /// The attempt.
        attempt: WireAttempt,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// A running attempt is stopped, and keeps its memory and its work.
    Suspend {
        /// The attempt.
        attempt: WireAttempt,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// A suspended attempt goes on.
    Resume {
        /// The attempt.
        attempt: WireAttempt,
        /// Why.
        #[serde(default)]
        why: Option<WireWhy>,
    },
    /// A job gets nothing of a kind here, for the record of decisions.
    Refuse {
        /// The job.
        job: u32,
        /// The kind of slot.
        kind: Slot,
        /// Why.
        why: WireWhy,
    },
}

/// How far the input of a map may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Reach")]
pub enum WireReach {
    /// On the node.
    Node,
    /// On the node or in its rack.
    Rack,
    /// Anywhere.
    #[default]
    Any,
}

/// A kind of slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// For maps.
    Map,
    /// For reduces.
    Reduce,
}

/// Why something is done: words, or one of Mumakil's own reasons with its numbers.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Why")]
pub enum WireWhy {
    /// Words, up to 120 characters.
    Words(String),
    /// A reason with a code.
    Coded(WireReason),
}

/// A reason with a code and the numbers that were weighed, which tables have in columns of their own.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(rename = "Coded")]
pub enum WireReason {
    /// The job stood at this place of the line, from 0.
    InLine {
        /// The place.
        place: u32,
    },
    /// The same, without input in the node's rack.
    InLineFar {
        /// The place.
        place: u32,
    },
    /// The job had waited for so long for a node near its input.
    Waited {
        /// How long.
        waited_us: u64,
    },
    /// The job or its group had less of its share than others.
    Share(WireStanding),
    /// A task of a sample, whose time tells the job's size.
    Sample {},
    /// The job would end first.
    EndsFirst {},
    /// The job waits for a node nearer to its input, for so long now.
    Delay {
        /// How long.
        waited_us: u64,
    },
    /// The job's group has as many slots as it may have.
    GroupLimit(WireStanding),
    /// The group of the attempt has more than its share.
    OverShare(WireStanding),
    /// Words of the policy's own, with numbers.
    Other(WireOwnReason),
}

/// Words of a policy's own, and how the job or its group stands.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Own")]
pub struct WireOwnReason {
    /// The words, up to 120 characters.
    pub words: String,
    /// The slots that it has.
    #[serde(default)]
    pub held: u32,
    /// Its share of them.
    #[serde(default)]
    pub share: Option<f64>,
    /// The slots that it is promised.
    #[serde(default)]
    pub min_share: u32,
}

/// How a job or a group stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "Held")]
pub struct WireStanding {
    /// The slots that it has.
    pub held: u32,
    /// Its share of them.
    pub share: Option<f64>,
    /// The slots that it is promised.
    pub min_share: u32,
}

/// Returns the JSON Schema of the lines: under `said` those of Mumakil, under `heard` those of the policy.
pub fn schema() -> Value {
    let lines = SchemaSettings::draft07();
    // Lines that are written leave empty parts out, so these are not required there.
    let said =
        lines.clone().for_serialize().into_generator().into_root_schema_for::<WireToPolicy>();
    let heard = lines.into_generator().into_root_schema_for::<WireFromPolicy>();
    serde_json::json!({ "said": said, "heard": heard })
}

impl From<AttemptId> for WireAttempt {
    fn from(AttemptId { task: TaskId { job, kind, index }, number }: AttemptId) -> Self {
        Self(
            job.0,
            match kind {
                TaskKind::Map => WireKind::Map,
                TaskKind::Reduce => WireKind::Reduce,
                TaskKind::Setup => WireKind::Setup,
                TaskKind::Cleanup => WireKind::Cleanup,
            },
            index,
            number,
        )
    }
}

impl From<WireAttempt> for AttemptId {
    fn from(WireAttempt(job, kind, index, number): WireAttempt) -> Self {
        let kind = match kind {
            WireKind::Map => TaskKind::Map,
            WireKind::Reduce => TaskKind::Reduce,
            WireKind::Setup => TaskKind::Setup,
            WireKind::Cleanup => TaskKind::Cleanup,
        };
        TaskId { job: JobId(job), kind, index }.attempt(number)
    }
}

impl From<mapred::AttemptState> for State {
    fn from(state: mapred::AttemptState) -> Self {
        use mapred::AttemptState as Of;
        match state {
            Of::Unassigned => Self::Unassigned,
            Of::Running => Self::Running,
            Of::Suspended => Self::Suspended,
            Of::CommitPending => Self::CommitPending,
            Of::FailedUnclean => Self::FailedUnclean,
            Of::KilledUnclean => Self::KilledUnclean,
            Of::Succeeded => Self::Succeeded,
            Of::Failed => Self::Failed,
            Of::Killed => Self::Killed,
        }
    }
}

impl From<mapred::Outcome> for WireOutcome {
    fn from(outcome: mapred::Outcome) -> Self {
        match outcome {
            mapred::Outcome::Succeeded => Self::Succeeded,
            mapred::Outcome::Failed => Self::Failed,
            mapred::Outcome::Killed => Self::Killed,
        }
    }
}

impl From<mapred::Locality> for WireLocality {
    fn from(locality: mapred::Locality) -> Self {
        match locality {
            mapred::Locality::Node => Self::Node,
            mapred::Locality::Rack => Self::Rack,
            mapred::Locality::OffRack => Self::OffRack,
        }
    }
}

impl From<WireReach> for mapred::MapReach {
    fn from(reach: WireReach) -> Self {
        match reach {
            WireReach::Node => Self::Node,
            WireReach::Rack => Self::Rack,
            WireReach::Any => Self::Any,
        }
    }
}

impl From<Slot> for mapred::SlotKind {
    fn from(slot: Slot) -> Self {
        match slot {
            Slot::Map => Self::Map,
            Slot::Reduce => Self::Reduce,
        }
    }
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
        assert_eq!(answer.deeds[2], WireAction::Kill { attempt, why });
        let why = Some(WireWhy::Coded(WireReason::InLine { place: 2 }));
        assert_eq!(answer.deeds[3], WireAction::Map { job: 0, reach: WireReach::Any, why });
    }

    #[test]
    fn what_is_misspelt_is_no_answer() {
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

    /// Adds the names of fields, those that must be there with a mark, and the words of choices.
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

    /// Programs of others speak these words. With others the protocol has another version.
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
        Question: number! now_us! cluster news tracker free near not_here progress
        Cluster: trackers! slots! occupied! unfinished! heartbeat_us!
        News: submitted! initialised! job! running! job! counts! launched! attempt! job! attempt! state! ended! job! outcome!
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
        Deed: map! job! reach why reduce! job! why kill! attempt! why suspend! attempt! why resume! attempt! why refuse! job! kind! why!
        Reach: node rack any
        Coded: code! in-line place! code! in-line-far place! code! waited waited_us! code! share held share min_share code! sample code! ends-first code! delay waited_us! code! group-limit held share min_share code! over-share held share min_share code! other words! held share min_share
        Kind: map reduce setup cleanup
        Slot: map reduce
        ");
    }
}
