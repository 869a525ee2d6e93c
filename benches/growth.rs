//! How the cost of a run grows: with nodes, with runnable jobs, with tasks, and with jobs that come
//! all at once.
//!
//! - By nodes: the trackers only run long maps and send heartbeats. No heartbeat looks at other
//!   nodes, so the time per message should grow only by cache misses and by the logarithm of the
//!   messages under way.
//! - By runnable jobs: the policy's time for an offer of free slots, in a full cluster. The median
//!   should grow at most like the logarithm of the number of jobs. The mean includes occasional
//!   work for all jobs, such as updates of shares, and may grow with the number of jobs.
//! - By tasks: all jobs are there from the beginning. The time per task and per heartbeat should
//!   stay the same, since no code goes through all tasks; memory should grow by a fixed number of
//!   bytes for each task.
//! - By jobs at once: all jobs are submitted at one instant. The time per job should grow at most
//!   like the logarithm of the number of jobs, since no message moves those that are due with it.
//!
//! Times are processor times of all threads, so that other programs hardly matter; only the times
//! of offers are wall times. Each time is of a single run: differences of ten per cent mean
//! nothing.

#![expect(clippy::print_stdout, reason = "a bench prints what it measures")]

use std::env;
use std::process::Command;
use std::time::Duration;

use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::output::peak_memory;
use mumakil::runtime::Transport;
use mumakil::scenario;
use rustix::time::{ClockId, clock_gettime};

/// The argument with which the bench calls itself, to measure the peak of memory of one row.
const ROW: &str = "--tasks-of-a-row=";

/// A queue that initialises all jobs of a user, but gives the user at most half of its slots.
const ONE_USER: &str = "{capacity: {allocations: {queues: {default: \
                        {minimum_user_limit: 0.5, max_initialised_per_user: 20000}}}}}";

/// Returns a scenario in which the JobTracker is never the bottleneck, with two map slots on every
/// node.
fn cluster(nodes: u32, until: &str, scheduler: &str, jobs: &str) -> String {
    format!(
        "
name: growth
{until}
hadoop: {{line: \"0.20\", heartbeat: 3s, setup_cleanup: false, start_up: 0s}}
cluster:
  nodes: {nodes}
  racks: {racks}
  map_slots: 2
  reduce_slots: 0
  jobtracker: {{per_heartbeat: 0s, per_task: 0s, init: 0s}}
workload: {{jobs: [{jobs}]}}
record: {{tasks: false, timeline: false, histograms: false}}
scheduler: {scheduler}
",
        racks = nodes.div_ceil(40),
    )
}

/// Returns jobs in up to 20 pools, with this many maps of 10 s in total.
fn jobs(count: u32, maps: u64) -> String {
    let pools = count.min(20);
    let (count, maps) = (count / pools, maps / u64::from(count));
    let one = |pool: u32| {
        format!("{{name: j{pool}, pool: p{pool}, count: {count}, maps: {maps}, map_time: 10s}}")
    };
    (0..pools).map(one).collect::<Vec<_>>().join(", ")
}

/// Returns the processor time of this process so far.
fn taken() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("processor time never falls")
}

/// Runs a scenario; returns the processor time that it took, and its result.
fn run(yaml: &str, transport: Transport) -> (Duration, Emulated) {
    let registry = mumakil::registry();
    let loaded = scenario::parse("bench.yaml", yaml, &[], &registry);
    let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
    let options = Options { transport, ..Options::default() };
    let before = taken();
    let run = emulate(&scenario, &registry, options).expect("the scenario runs");
    (taken() - before, run)
}

/// Returns a number with commas between the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let comma = |place: usize| place > 0 && (digits.len() - place).is_multiple_of(3);
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        text.extend(comma(place).then_some(','));
        text.push(digit);
    }
    text
}

/// Subtracts the costs of two runs of different length: the difference excludes the building of the
/// cluster and the launch of its maps.
fn by_nodes() {
    const BEATS: u32 = 600_000;
    println!("by nodes: every tracker runs two long maps and sends a heartbeat every 3 s");
    println!(
        "{:>8} {:>12} {:>18} {:>16}",
        "nodes", "messages", "actors ns/message", "bare ns/message"
    );
    for nodes in [100, 1_000, 10_000, 50_000] {
        let jobs = format!("{{name: long, maps: {}, map_time: 1000h}}", nodes * 2);
        // Use many heartbeats for each tracker: the time to build a large cluster varies, and must
        // be small compared with the time of the heartbeats.
        let beats = BEATS.max(nodes * 48);
        let (short, long) = (60, 60 + 3 * beats / nodes);
        let run = |seconds: u32, transport| {
            let yaml = cluster(nodes, &format!("until: {seconds}s"), "fifo", &jobs);
            let again = (0..2).map(|_| run(&yaml, transport));
            let (took, run) = again.min_by_key(|(took, _)| *took).expect("two runs");
            (took.as_secs_f64(), run.summary.messages)
        };
        let cost = |transport| {
            let ((before, few), (after, many)) = (run(short, transport), run(long, transport));
            (many - few, (after - before) * 1e9 / (many - few) as f64)
        };
        let ((messages, actors), (_, bare)) = (cost(Transport::Actors), cost(Transport::Bare));
        let (nodes, messages) = (grouped(nodes.into()), grouped(messages));
        println!("{nodes:>8} {messages:>12} {actors:>18.0} {bare:>16.0}");
    }
}

/// Prints the time of an offer under each built-in policy, for several numbers of jobs.
fn by_jobs() {
    const JOBS: [u32; 4] = [10, 100, 1_000, 10_000];
    println!(
        "\nby runnable jobs: 1,000 nodes, 100,000 maps of 10 s, the first 90 s; mean and median µs per offer"
    );
    print!("{:<14}", "policy");
    JOBS.iter().for_each(|count| print!(" {:>11} jobs", grouped((*count).into())));
    println!();
    let registry = mumakil::registry();
    let policies = registry.names().filter(|name| *name != "external").map(|name| (name, name));
    for (name, policy) in policies.chain([("capacity, user", ONE_USER)]) {
        print!("{name:<14}");
        for count in JOBS {
            let jobs = jobs(count, 100_000);
            // This job is the last of the queue. The user of the other jobs is at the limit, so
            // this job gets the remaining slots.
            let modest = "{name: modest, user: modest, maps: 100000, map_time: 10s}";
            let jobs = if policy == ONE_USER { format!("{jobs}, {modest}") } else { jobs };
            let yaml = cluster(1_000, "until: 90s", policy, &jobs);
            let (_, run) = run(&yaml, Transport::Bare);
            let median = run.decision_time.value_at_quantile(0.5) as f64;
            print!(" {:>8.2} {:>7.2}", run.decision_time.mean() / 1e3, median / 1e3);
        }
        println!();
    }
}

/// Runs each row in a process of its own, since the peak of a process's memory never falls.
fn by_tasks() {
    println!(
        "\nby tasks: fair, 1,000 nodes, 100 jobs of equally many maps of 10 s, all there at once"
    );
    println!(
        "{:>11} {:>8} {:>9} {:>13} {:>9} {:>9} {:>11}",
        "tasks", "s", "ns/task", "ns/heartbeat", "ns/offer", "peak MiB", "bytes/task"
    );
    let row = |tasks: u64| {
        let own = env::current_exe().expect("the bench is a file");
        let said = Command::new(own).arg(format!("{ROW}{tasks}")).output();
        let said = String::from_utf8(said.expect("the bench can call itself").stdout);
        let said = said.expect("numbers are text");
        let numbers = said.split_whitespace().map(|number| number.parse().expect("a number"));
        numbers.collect::<Vec<f64>>()
    };
    // With one task for each job, the peak is the memory of everything but the tasks.
    let least = row(100)[3];
    for tasks in [10_000, 100_000, 1_000_000, 10_000_000] {
        let [seconds, heartbeats, offer, peak] = row(tasks)[..] else { panic!("four numbers") };
        println!(
            "{:>11} {seconds:>8.2} {:>9.0} {:>13.0} {offer:>9.0} {:>9.0} {:>11.0}",
            grouped(tasks),
            seconds * 1e9 / tasks as f64,
            seconds * 1e9 / heartbeats,
            peak / f64::from(1 << 20),
            (peak - least) / tasks as f64,
        );
    }
}

/// Prints the seconds of a run, the number of its heartbeats, the nanoseconds of an offer, and the
/// peak of memory in bytes.
fn row_of_tasks(tasks: u64) {
    let yaml = cluster(1_000, "", "fair", &jobs(100, tasks));
    let (took, run) = run(&yaml, Transport::Bare);
    let peak = peak_memory();
    println!(
        "{} {} {} {}",
        took.as_secs_f64(),
        run.summary.heartbeats,
        run.decision_time.mean(),
        peak.unwrap_or_default()
    );
}

/// Prints the time per job if all jobs, of one map each, are submitted at one instant.
fn by_instant() {
    println!("\nby jobs at once: fifo, 1,000 nodes, one map of 10 s each, the first 2 s");
    println!("{:>11} {:>8} {:>9}", "jobs", "s", "ns/job");
    for count in [10_000, 80_000, 640_000] {
        let job = format!("{{name: j, count: {count}, maps: 1, map_time: 10s, submit: 1s}}");
        let (took, _) = run(&cluster(1_000, "until: 2s", "fifo", &job), Transport::Bare);
        let seconds = took.as_secs_f64();
        let count: u64 = count;
        println!("{:>11} {seconds:>8.2} {:>9.0}", grouped(count), seconds * 1e9 / count as f64);
    }
}

fn main() {
    let row = env::args().find_map(|argument| argument.strip_prefix(ROW)?.parse().ok());
    if let Some(tasks) = row {
        return row_of_tasks(tasks);
    }
    by_nodes();
    by_jobs();
    by_tasks();
    by_instant();
}
