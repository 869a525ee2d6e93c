//! A session over HTTP: the requests of a browser, and the requests of attackers.

mod session;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Room;
use crate::traces::{mutated, mutation, seeds};

const SCENARIO: &str = "
name: small
cluster: {nodes: 4}
workload:
  jobs:
    - {name: a, maps: 12, reduces: 2, map_time: 20s, reduce_time: 10s}
    - {name: b, maps: 6, map_time: 20s, submit: 5s}
";

/// A session with its server.
struct Live {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    host: String,
    token: String,
}

impl Live {
    fn new(room: &Room, more: &[&str]) -> Self {
        room.write("small.yaml", SCENARIO);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mumakil"));
        command.current_dir(room.path("")).args(["live", "small.yaml", "--port", "0"]).args(more);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("`live` starts");
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").expect("an address");
        let (host, token) = address.split_once("/?token=").expect("with a token");
        let (host, token) = (host.to_owned(), token.to_owned());
        Self { child, lines, host, token }
    }

    /// Sends raw bytes; returns the status and the whole answer.
    fn send(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        // The server may refuse a request before it has read all of it. Then it answers, and resets
        // the connection.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        (status.unwrap_or(0), answer)
    }

    fn ask(&self, method: &str, target: &str, headers: &str, body: &str) -> (u16, String) {
        let Self { host, .. } = self;
        let host =
            if headers.contains("Host:") { String::new() } else { format!("Host: {host}\r\n") };
        self.send(&format!(
            "{method} {target} HTTP/1.1\r\n{host}{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        ))
    }

    fn get(&self, path: &str) -> (u16, String) {
        let and = if path.contains('?') { '&' } else { '?' };
        self.ask("GET", &format!("{path}{and}token={}", self.token), "", "")
    }

    fn json(&self, path: &str) -> Value {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{answer}");
        let (start, end) = (answer.find('{').unwrap(), answer.rfind('}').unwrap());
        serde_json::from_str(&answer[start..=end]).unwrap()
    }

    fn command(&self, what: &Value) -> u16 {
        self.post(&what.to_string()).0
    }

    fn post(&self, body: &str) -> (u16, String) {
        let target = format!("/command?token={}", self.token);
        self.ask("POST", &target, "Content-Type: application/json\r\n", body)
    }

    /// Waits until the run is paused or has ended; returns its picture.
    fn stands(&self) -> Value {
        for _ in 0..20_000 {
            let picture = self.json("/picture");
            if ["paused", "ended"].contains(&picture["phase"].as_str().unwrap()) {
                return picture;
            }
            thread::yield_now();
        }
        panic!("the run neither pauses nor ends");
    }

    /// Waits for the end of the process; returns the exit code and the output.
    fn end(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        self.lines.read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn digest(text: &str) -> &str {
    let line = text.lines().find(|line| line.trim_start().starts_with("digest")).expect(text);
    line.split_whitespace().nth(1).unwrap()
}

#[test]
fn a_session_is_a_scenario_with_the_same_digest() {
    let room = Room::new();
    let live = Live::new(&room, &["--out", "session"]);
    assert_eq!(live.stands()["now_us"], 0);
    assert_eq!(live.command(&json!({"do": "step", "to": "decision"})), 200);
    let picture = live.stands();
    assert_eq!(picture["said"][0]["what"], "launch");
    assert_eq!(live.command(&json!({"do": "go", "at": "30s"})), 200);
    assert_eq!(live.stands()["now_us"], 30_000_000);
    for deed in [
        json!({"do": "stop", "node": 1}),
        json!({"do": "submit", "job": {"name": "urgent", "maps": 3, "map_time": "20s"}}),
        json!({"do": "scheduler", "scheduler": "fair"}),
        json!({"do": "kill", "job": "b"}),
    ] {
        assert_eq!(live.command(&deed), 200, "{deed}");
        assert_eq!(live.stands()["now_us"], 30_000_000, "{deed}");
    }
    assert_eq!(live.stands()["log"].as_array().unwrap().len(), 4);
    // Go back to an instant before these commands, and then forward again.
    assert_eq!(live.command(&json!({"do": "go", "at": "10s"})), 200);
    assert_eq!(live.stands()["now_us"], 10_000_000);
    assert_eq!(live.command(&json!({"do": "step", "to": "job"})), 200);
    live.stands();
    assert_eq!(live.command(&json!({"do": "start", "node": 1})), 200);
    live.stands();
    let (_, answer) = live.get("/scenario");
    let yaml = answer.split_once("\r\n\r\n").unwrap().1;
    // The answer may come in chunks.
    let yaml: Vec<&str> = yaml.split("\r\n").filter(|part| part.contains('\n')).collect();
    room.write("session.yaml", &yaml.concat());
    assert_eq!(live.command(&json!({"do": "finish"})), 200);
    let (code, told) = live.end();
    assert_eq!(code, Some(0), "{told}");
    let again = room.mumakil("run session.yaml --out again").output().unwrap();
    let again = String::from_utf8(again.stdout).unwrap();
    assert_eq!(digest(&told), digest(&again));
}

/// The session keeps refusals for the page: neither the events of the run nor the reasons of launches
/// may show that. (Some policies explain launches only if refusals are recorded.)
#[test]
fn a_session_in_which_nothing_is_done_has_the_bytes_of_a_run() {
    for policy in mumakil::registry().names().filter(|name| *name != "external") {
        let room = Room::new();
        let set = format!("scheduler={policy}");
        let more = ["--set", &set, "--set", "record.events=true"];
        let live = Live::new(&room, &[&["--out", "session"], &more[..]].concat());
        live.stands();
        for to in ["heartbeat", "decision", "job", "heartbeat"] {
            assert_eq!(live.command(&json!({"do": "step", "to": to})), 200);
            live.stands();
        }
        assert_eq!(live.command(&json!({"do": "finish"})), 200);
        let (_, told) = live.end();
        let run = room.mumakil("run small.yaml --out run").args(more).output().unwrap();
        assert_eq!(digest(&told), digest(&String::from_utf8(run.stdout).unwrap()), "{policy}");
    }
}

/// Pool `a` may have one map slot: its second job is refused slots although some are free.
#[test]
fn a_job_that_waits_tells_the_last_refusal_and_who_holds_the_slots() {
    let room = Room::new();
    let jobs = "workload.jobs=[{name: first, maps: 9, map_time: 60s, pool: a}, \
                {name: second, maps: 2, map_time: 20s, pool: a, submit: 5s}]";
    let policy = "scheduler={fair: {allocations: {pools: {a: {max_maps: 1}}}}}";
    let live = Live::new(&room, &["--set", jobs, "--set", policy]);
    live.stands();
    assert_eq!(live.command(&json!({"do": "go", "at": "40s"})), 200);
    live.stands();
    let wait = |job: u32| live.json(&format!("/job?job={job}"))["waits"][0].clone();
    let first = wait(0);
    assert_eq!((&first["tasks"], &first["free"]), (&json!(8), &json!([7, 8])));
    assert_eq!(first["holders"], json!([["first", 1]]));
    assert_eq!(first["launched"]["whom"], "first map 0");
    let refused: Vec<Value> = [0, 1].map(|job| wait(job)["refused"].clone()).into();
    let refused = refused.iter().find(|refused| !refused.is_null()).expect("a refusal is kept");
    assert_eq!(refused["reason"], "at its maximum (1 of 1)");
    let [from, last] = ["from_us", "last_us"].map(|key| refused[key].as_u64().unwrap());
    assert!(from < last && last <= 40_000_000 && refused["times"].as_u64() > Some(1), "{refused}");
    assert_eq!(live.command(&json!({"do": "go", "at": "4s"})), 200);
    live.stands();
    assert!(wait(0)["held_back"].is_string(), "its setup task runs");
}

/// The history is that of the instant shown, however the session came there.
#[test]
fn the_history_is_the_same_after_jumps_forth_and_back() {
    let room = Room::new();
    let live = Live::new(&room, &[]);
    live.stands();
    let history = |at: &str| {
        assert_eq!(live.command(&json!({"do": "go", "at": at})), 200);
        live.stands();
        live.json("/history?by=pool")
    };
    let early = history("20s");
    let late = history("40s");
    assert_eq!((&early["until_us"], &late["until_us"]), (&json!(20_000_000), &json!(40_000_000)));
    assert_eq!(history("20s"), early);
    assert_eq!(history("40s"), late);
    // At the end of the past, the last point has the slots of the picture.
    let picture = live.stands();
    let held = picture["slots"].as_array().unwrap().iter().filter(|job| 0 <= job.as_i64().unwrap());
    let sum = |key: &str| -> f64 {
        let points = late[key].as_array().unwrap();
        points.last().unwrap().as_array().unwrap().iter().map(|held| held.as_f64().unwrap()).sum()
    };
    assert_eq!(sum("maps") + sum("reduces"), held.count() as f64);
    let waits = |kind: &str| picture["pools"][0][kind][1].as_f64().unwrap();
    assert_eq!(sum("waiting"), waits("maps") + waits("reduces"));
    assert_eq!(live.get("/history?by=rack").0, 400);
}

#[test]
fn one_of_several_jobs_of_a_name_is_killed_by_its_own() {
    let room = Room::new();
    let live =
        Live::new(&room, &["--set", "workload.jobs=[{name: a, count: 2, maps: 9, map_time: 20s}]"]);
    live.stands();
    assert_eq!(live.command(&json!({"do": "go", "at": "10s"})), 200);
    let name = live.stands()["jobs"][1]["name"].clone();
    assert_eq!(name, "a-2");
    assert_eq!(live.command(&json!({"do": "kill", "job": name})), 200);
    live.stands();
    assert_eq!(live.command(&json!({"do": "step", "to": "job"})), 200);
    let jobs = live.stands()["jobs"].clone();
    let ended = jobs.as_array().unwrap().iter().find(|job| job["ended"] == "killed");
    assert_eq!(ended.expect("it is killed")["name"], "a-2", "{jobs}");
}

/// The server closes the connection of a browser that reads nothing, so that other browsers can
/// connect.
#[test]
fn a_request_turned_away_keeps_no_connection() {
    let room = Room::new();
    let live = Live::new(&room, &[]);
    let target = format!("GET /picture HTTP/1.1\r\nHost: {}\r\n\r\n", live.host);
    let strangers: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stranger = TcpStream::connect(&live.host).unwrap();
            stranger.write_all(target.as_bytes()).unwrap();
            stranger
        })
        .collect();
    assert_eq!(live.stands()["now_us"], 0);
    drop(strangers);
}

#[test]
fn requests_without_the_token_or_from_elsewhere_are_turned_away() {
    let room = Room::new();
    let live = Live::new(&room, &[]);
    let Live { host, token, .. } = &live;
    let page = format!("/?token={token}");
    let (status, answer) = live.ask("GET", &page, "", "");
    assert_eq!(status, 200);
    let head = answer.split_once("\r\n\r\n").unwrap().0.to_lowercase();
    for line in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
        "referrer-policy: no-referrer",
    ] {
        assert!(head.contains(line), "{head}");
    }
    for (target, headers) in [
        ("/", ""),
        ("/?token=", ""),
        ("/?token=00000000000000000000000000000000", ""),
        ("/picture", ""),
        ("/pictures", ""),
        ("/scenario", ""),
        (&page, "Host: evil.example\r\n"),
        (&page, "Host: \r\n"),
        (&page, "Origin: http://evil.example\r\n"),
        (&page, "Origin: null\r\n"),
    ] {
        let (status, answer) = live.ask("GET", target, headers, "");
        assert!([403, 400].contains(&status), "{target} {headers}: {answer}");
        assert!(!answer.contains("slots"), "{answer}");
    }
    let two = format!(
        "GET {page} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(live.send(&two).0, 403);
    assert_eq!(live.ask("GET", &page, &format!("Origin: http://{host}\r\n"), "").0, 200);
}

/// Requests of strangers that are never whole, and streams of pictures that nobody reads, do not
/// keep a browser out.
#[test]
#[expect(clippy::disallowed_methods, reason = "time-outs of the server are in real time")]
fn half_a_request_and_a_reader_of_nothing_keep_nobody_out() {
    let room = Room::new();
    let live = Live::new(&room, &[]);
    let open = |request: &str| -> Vec<TcpStream> {
        let one = |_| {
            let mut stream = TcpStream::connect(&live.host).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        };
        (0..150).map(one).collect()
    };
    let began = Instant::now();
    let half = open(&format!("GET /picture HTTP/1.1\r\nHost: {}\r\n", live.host));
    assert_eq!(live.stands()["now_us"], 0);
    let Live { host, token, .. } = &live;
    let unread = open(&format!("GET /pictures?token={token} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    assert_eq!(live.stands()["now_us"], 0);
    // The server waits ten seconds for a request, and as long for a reader.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    drop((half, unread));
}

/// The token lets a browser act on the run, not on the machine.
#[test]
fn the_page_starts_no_program_and_reads_no_file() {
    let room = Room::new();
    let live = Live::new(&room, &[]);
    live.stands();
    let starter = json!({"external": {"command": ["touch", "PWNED"]}});
    for (scheduler, words) in [
        (starter.clone(), "the page starts only programs that the scenario names"),
        (
            json!("{external: {command: [touch, PWNED]}}"),
            "the page starts only programs that the scenario names",
        ),
        (json!({"fair": {"allocations": "/etc/passwd"}}), "no file may be read here"),
        (json!({"fair": {"allocations": "/no/such/file"}}), "no file may be read here"),
    ] {
        let deed = json!({"do": "scheduler", "scheduler": scheduler});
        let (status, answer) = live.post(&deed.to_string());
        assert_eq!(status, 400, "{deed}: {answer}");
        assert!(answer.contains(words), "{deed}: {answer}");
    }
    live.stands();
    assert!(!room.path("PWNED").exists());
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let room = Room::new();
    let live = Live::new(&room, &[]);
    live.stands();
    let target = format!("/command?token={}", live.token);
    let text = "Content-Type: text/plain\r\n";
    assert_eq!(live.ask("POST", &target, text, "{\"do\":\"run\"}").0, 415);
    assert_eq!(live.ask("GET", &target, "", "").0, 405);
    assert_eq!(live.ask("DELETE", &format!("/?token={}", live.token), "", "").0, 405);
    assert_eq!(live.get("/nothing").0, 404);
    assert_eq!(live.get("/why?node=0&slot=0").0, 404, "nobody holds it");
    for path in ["/why", "/why?node=x&slot=0", "/why?node=-1&slot=0", "/job?job=99999999999"] {
        assert_eq!(live.get(path).0, 400, "{path}");
    }
    for body in [
        "",
        "{",
        "[]",
        "{\"do\":\"explode\"}",
        "{\"do\":\"undo\"}",
        "{\"do\":\"run\",\"more\":1}",
        "{\"do\":\"step\",\"to\":\"x\"}",
        "{\"do\":\"go\",\"at\":\"soon\"}",
        "{\"do\":\"speed\",\"speed\":\"0\"}",
        "{\"do\":\"stop\",\"node\":4}",
        "{\"do\":\"stop\",\"node\":4294967295}",
        "{\"do\":\"kill\",\"job\":\"c\"}",
        "{\"do\":\"submit\",\"job\":7}",
        "{\"do\":\"submit\",\"job\":\"{\"}",
        "{\"do\":\"submit\",\"job\":{\"name\":\"x\"}}",
        "{\"do\":\"scheduler\",\"scheduler\":\"lottery\"}",
        "{\"do\":\"scheduler\",\"scheduler\":[[[1]]]}",
    ] {
        let (status, answer) = live.post(body);
        assert_eq!(status, 400, "{body}: {answer}");
    }
    assert_eq!(live.post(&" ".repeat(100_000)).0, 413);
    assert_eq!(live.send("nonsense\r\n\r\n").0, 400);
    let picture = live.stands();
    assert_eq!((&picture["now_us"], &picture["scene"]), (&json!(0), &json!(1)));
    assert_eq!(live.command(&json!({"do": "finish"})), 200);
    assert_eq!(live.end().0, Some(0));
}

#[test]
fn pictures_come_as_events_and_a_browser_that_takes_none_holds_nobody_up() {
    let room = Room::new();
    let live = Live::new(&room, &["--speed", "max", "--out", "session"]);
    live.stands();
    let idle = TcpStream::connect(&live.host).unwrap();
    let target =
        format!("GET /pictures?token={} HTTP/1.1\r\nHost: {}\r\n\r\n", live.token, live.host);
    (&idle).write_all(target.as_bytes()).unwrap();
    let mut other = BufReader::new(TcpStream::connect(&live.host).unwrap());
    other.get_mut().write_all(target.as_bytes()).unwrap();
    let mut seen = String::new();
    while !seen.starts_with("data: {") {
        seen.clear();
        assert!(0 < other.read_line(&mut seen).unwrap());
    }
    assert!(seen.contains("\"phase\":\"paused\""), "{seen}");
    assert_eq!(live.command(&json!({"do": "run"})), 200);
    for _ in 0..20_000 {
        if live.stands()["phase"] == "ended" {
            break;
        }
    }
    assert_eq!(live.command(&json!({"do": "finish"})), 200);
    let mut reports = (0..20_000).map(|_| live.get("/report"));
    let (_, report) =
        reports.find(|(status, _)| *status == 200).expect("the server has the report");
    assert!(report.contains("sandbox allow-scripts") && report.contains("<svg"), "{report}");
    // The process stays for browsers that listen.
    drop((idle, other));
    assert_eq!(live.end().0, Some(0));
}

#[test]
fn a_port_that_is_taken_and_a_clock_of_its_own_are_said() {
    let room = Room::new();
    room.write("small.yaml", SCENARIO);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = room.mumakil(&format!("live small.yaml --port {port}")).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains(&format!("cannot listen at 127.0.0.1:{port}")), "{told}");
    let output = room.mumakil("live small.yaml --set clock=60x").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("clock=virtual"), "{told}");
    let output = room.mumakil("live small.yaml --speed fast").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn the_seeds_of_the_fuzzer_leave_the_server_alive() {
    seeds("session").iter().for_each(|seed| session::session(seed));
}

proptest! {
    #[test]
    fn any_request_leaves_the_server_alive(
        seed in prop::sample::select(seeds("session")),
        mutations in prop::collection::vec(mutation(), 0..6),
    ) {
        session::session(&mutated(seed, mutations));
    }
}
