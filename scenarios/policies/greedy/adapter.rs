//! The adapter: what Mumakil says, kept as values, and what the policy answers. The policy is in `main.rs`.

use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};

use crate::json::{Json, quoted};

/// Of two numbers side by side the first is of maps, the second of reduces.
pub const MAP: usize = 0;
pub const REDUCE: usize = 1;

#[derive(Clone, Debug, Default)]
pub struct Job {
    pub job: u64,
    pub name: String,
    pub user: String,
    pub pool: String,
    /// 0 is before all others, 2 is usual.
    pub priority: u64,
    /// All its maps and all its reduces, from the first to the last.
    pub tasks: [u64; 2],
    pub arrived_us: u64,
    /// Those of them that may be launched now: reduces once enough maps are done.
    pub pending: [u64; 2],
    /// Attempts, second ones included.
    pub running: [u64; 2],
    /// So `tasks` - `done` are left.
    pub done: [u64; 2],
    /// Whether a map may wait whose input is nowhere.
    pub homeless: bool,
}

/// How far from its input a map may be launched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    Node,
    Rack,
    Any,
}

/// A tracker's heartbeat: what can be launched there, and what is to be done.
#[derive(Debug, Default)]
pub struct Offer {
    pub now_us: u64,
    pub tracker: u64,
    pub free: [u64; 2],
    pub near: BTreeMap<u64, [u64; 2]>,
    pub not_here: [Vec<u64>; 2],
    deeds: Vec<String>,
}

impl Offer {
    /// Whether a task of the job could be launched here, a map at most so far from its input.
    pub fn can(&self, kind: usize, job: &Job, reach: Reach) -> bool {
        let [node, rack] = self.near.get(&job.job).copied().unwrap_or_default();
        let near = match reach {
            Reach::Node => node,
            Reach::Rack => rack,
            Reach::Any => 1,
        };
        0 < self.free[kind].min(job.pending[kind]).min(near) && !self.not_here[kind].contains(&job.job)
    }

    /// Launches the job's best task.
    pub fn launch(&mut self, kind: usize, job: &mut Job, reach: Reach, why: &str) {
        self.free[kind] -= 1;
        job.pending[kind] -= 1;
        job.running[kind] += 1;
        let (number, why) = (job.job, quoted(why));
        if kind == REDUCE {
            self.deeds.push(format!(r#"{{"reduce":{{"job":{number},"why":{why}}}}}"#));
            return;
        }
        let reach = match reach {
            Reach::Node => "node",
            Reach::Rack => "rack",
            Reach::Any => "any",
        };
        self.deeds.push(format!(r#"{{"map":{{"job":{number},"reach":"{reach}","why":{why}}}}}"#));
        self.near
            .entry(number)
            .and_modify(|near| *near = near.map(|count| count.saturating_sub(1)));
    }
}

/// The methods to fill in.
pub trait Policy {
    /// Its text after `"protocol":1`, such as `,"wants":["attempts"],"tick_us":1000000`.
    const WISHES: &str = "";
    fn new(hello: &Json) -> Self;
    fn news(&mut self, _what: &str, _job: &Job, _said: &Json, _at_us: u64) {}
    fn tick(&mut self, _jobs: &mut BTreeMap<u64, Job>, _offer: &mut Offer) {}
    fn offer(&mut self, jobs: &mut BTreeMap<u64, Job>, offer: &mut Offer);
}

/// Hears of a job; one that is over is heard of once more, and forgotten.
fn hear<P: Policy>(
    policy: &mut P,
    jobs: &mut BTreeMap<u64, Job>,
    what: &str,
    said: &Json,
    at_us: u64,
) {
    let number = said.get("job").number();
    if what == "submitted" {
        jobs.insert(number, Job::default());
    }
    // An attempt may outlive its job.
    let Some(job) = jobs.get_mut(&number) else { return };
    if what == "submitted" {
        let text = |key| said.get(key).words();
        let (priority, tasks) = (said.get("priority").number(), said.get("tasks").two());
        *job = Job {
            job: number,
            name: text("name"),
            user: text("user"),
            pool: text("pool"),
            priority,
            tasks,
            arrived_us: at_us,
            ..Job::default()
        };
    } else if what == "counts" {
        [job.pending, job.running, job.done] =
            ["pending", "running", "done"].map(|key| said.get(key).two());
        job.homeless = matches!(said.get("homeless"), Json::Bool(true));
    }
    policy.news(what, job, said, at_us);
    if what == "ended" {
        jobs.remove(&number);
    }
}

/// Answers until the run is over.
pub fn serve<P: Policy>() {
    let (mut policy, mut jobs) = (None, BTreeMap::new());
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Json::Map(mut said) = Json::read(&mut line.as_str()) else { panic!("{line}") };
        let (what, said) = said.remove(0);
        let answer = match (what.as_str(), policy.as_mut()) {
            ("hello", _) => {
                policy = Some(P::new(&said));
                format!(r#"{{"hello":{{"protocol":1{}}}}}"#, P::WISHES)
            }
            ("inherit", _) => r#"{"inherit":false}"#.to_owned(),
            (_, Some(policy)) if what != "end" => {
                for entry in said.get("news").list() {
                    let [at_us, Json::Map(news)] = entry.list() else { panic!("{line}") };
                    hear(policy, &mut jobs, &news[0].0, &news[0].1, at_us.number());
                }
                let number = |key| said.get(key).number();
                let near = said.get("near").list().iter().map(Json::list);
                let near = near
                    .map(|near| (near[0].number(), [near[1].number(), near[2].number()]))
                    .collect();
                let not_here = said.get("not_here").list();
                let not_here = [MAP, REDUCE].map(|kind| {
                    let jobs = not_here.get(kind).map(Json::list).unwrap_or_default();
                    jobs.iter().map(Json::number).collect()
                });
                let mut offer = Offer {
                    now_us: number("now_us"),
                    tracker: number("tracker"),
                    free: said.get("free").two(),
                    near,
                    not_here,
                    deeds: Vec::new(),
                };
                if what == "tick" {
                    policy.tick(&mut jobs, &mut offer)
                } else {
                    policy.offer(&mut jobs, &mut offer)
                }
                format!(
                    r#"{{"answer":{{"number":{},"do":[{}]}}}}"#,
                    number("number"),
                    offer.deeds.join(",")
                )
            }
            _ => return,
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("Mumakil listens");
    }
}
