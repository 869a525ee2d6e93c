//! External policies: offers a second, and the cost of the parts of an exchange.
//!
//! There are two loads: an hour of heartbeats of 400 trackers with one endless job, and FB2009-like
//! work on 100 nodes. Each load runs with a built-in policy, with a compiled process
//! (`external/greedy.rs`, if `rustc` is installed) and with a FIFO in Python. An exchange is a
//! question and its answer. Its cost is the decision time minus the decision time of `fifo`. At its
//! end a process reports the number of exchanges and its computing time. The rest of the cost is
//! Mumakil's JSON, the system calls for the pipes, and the time until the system wakes the waiting
//! process.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench prints wall times")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::mapred::ProgramPermit;
use mumakil::scenario;

const ENDLESS: &str = "
name: endless
until: 1h
hadoop: {line: \"0.20\", heartbeat: 3s, start_up: 0s, setup_cleanup: false}
cluster:
  nodes: 400
  map_slots: 4
  reduce_slots: 0
  jobtracker: {per_heartbeat: 0.05ms, per_task: 0.01ms}
workload:
  jobs: [{name: endless, maps: 200000, map_time: 35s}]
record: {tasks: false, timeline: false}
";

/// A FIFO in Python that prints at its end the number of offers and its computing time.
const PYTHON: &str = "\
import sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import fifo
class Counted(fifo.Fifo):
    asked = 0
    def offer(self, offer):
        Counted.asked += 1
        super().offer(offer)
fifo.serve(Counted)
print(Counted.asked, time.process_time_ns(), file=sys.stderr)
";

/// The wall time and the decision time of a run, in seconds, and the last line that its policy
/// printed.
struct Took {
    wall: f64,
    decided: f64,
    said: Option<String>,
}

/// Runs a scenario three times; returns the times of the fastest run.
fn run(yaml: &str, scheduler: &str) -> Took {
    let once = || {
        let heard = Arc::new(Mutex::new(None));
        let mut registry = mumakil::registry();
        registry.permit_programs(ProgramPermit::Trusted);
        let voice = heard.clone();
        registry.voice = Arc::new(move |line: &str| {
            *voice.lock().expect("no thread panics") = Some(line.to_owned());
        });
        let sets = [format!("scheduler={scheduler}")];
        let loaded = scenario::parse("bench.yaml", yaml, &sets, &registry);
        let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
        let start = Instant::now();
        let run = emulate(&scenario, &registry, Options::default()).expect("the scenario runs");
        let wall = start.elapsed().as_secs_f64();
        let Emulated { decision_time, .. } = run;
        let decided = decision_time.mean() * decision_time.len() as f64 / 1e9;
        let said = heard.lock().expect("no thread panics").take();
        Took { wall, decided, said }
    };
    (1..3)
        .map(|_| once())
        .fold(once(), |best, next| if next.wall < best.wall { next } else { best })
}

/// Prints the times of a run with an external process, beside a run with `fifo`.
fn tell(name: &str, took: &Took, own: &Took) {
    let said = took.said.as_deref().unwrap_or_default();
    let numbers = said.rsplit(": ").next().and_then(|numbers| numbers.split_once(' '));
    let numbers = numbers.and_then(|(asked, ns)| Some((asked.parse().ok()?, ns.parse().ok()?)));
    let Some((asked, computed)): Option<(f64, f64)> = numbers else {
        println!("  {name:<9} said `{said}`, which is no count");
        return;
    };
    let of = |secs: f64| secs / asked * 1e6;
    let exchange = took.decided - own.decided;
    println!(
        "  {name:<9} {:6.2} s  {asked:>6} exchanges, {:>6.0} a second: {:5.1} us each, {:5.1} of them in the \
         process; {:>6.0} offers a second in the whole run",
        took.wall,
        asked / exchange,
        of(exchange),
        of(computed / 1e9),
        asked / took.wall,
    );
}

/// Returns whether a program is installed.
fn has(program: &str) -> bool {
    let version = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::TempDir::new().expect("there is room for a program");
    let greedy = folder.path().join("greedy");
    let source = root.join("benches/external/greedy.rs");
    let compiled = has("rustc") && {
        let mut rustc = Command::new("rustc");
        rustc.args(["--edition", "2024", "-O", "-o"]).args([&greedy, &source]);
        rustc.status().is_ok_and(|status| status.success())
    };
    let fb2009 = include_str!("../scenarios/fb2009-like.yaml");
    for (name, yaml) in
        [("400 trackers, one endless job", ENDLESS), ("FB2009-like, 100 nodes", fb2009)]
    {
        println!("external: {name}");
        let own = run(yaml, "fifo");
        println!("  fifo      {:6.2} s, of which the policy {:.2} s", own.wall, own.decided);
        match compiled {
            true => {
                let command = serde_json::json!([greedy]);
                let took = run(yaml, &format!("{{external: {{command: {command}}}}}"));
                tell("compiled", &took, &own);
            }
            false => println!("  compiled  skipped: there is no rustc"),
        }
        match has("python3") {
            true => {
                let command =
                    serde_json::json!(["python3", "-c", PYTHON, root.join("scenarios/policies")]);
                let took = run(yaml, &format!("{{external: {{command: {command}}}}}"));
                tell("Python", &took, &own);
            }
            false => println!("  Python    skipped: there is no python3"),
        }
    }
}
