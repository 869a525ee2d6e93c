//! Properties of the server of a live session: whatever a browser, or anybody else, sends to it.
//!
//! The bytes are those of one connection, in which `{T}` stands for the token and `{H}` for the
//! server's address. A line `{B}` ends a request whose body follows: its length is filled in.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::Duration;

use mumakil::emulation::{EmulationError, Options, Prepared};
use mumakil::scenario::{self, Registry};
use mumakil_live::gate::Speed;
use mumakil_live::server::{Host, Server};
use mumakil_live::session::Session;
use parking_lot::Mutex;

const SCENARIO: &str = "
name: small
cluster: {nodes: 2}
workload: {jobs: [{name: a, maps: 3, reduces: 1, map_time: 5s}, {name: b, maps: 2, submit: 3s}]}
";

/// The longest scenario of a session, in bytes: its own has a fifth of this.
const MOST: usize = 20_000;

/// A host whose sessions do not end.
struct PatientHost;

impl Host for PatientHost {
    fn finish(&self, _: &Session) {}
}

/// A server with its session.
struct ServedSession {
    session: Arc<Session>,
    host: String,
    token: String,
}

/// Sends the bytes of a connection to a session, and checks that the server still answers.
pub(crate) fn session(bytes: &[u8]) {
    static SERVED: LazyLock<Mutex<ServedSession>> =
        LazyLock::new(|| Mutex::new(ServedSession::new()));
    let mut served = SERVED.lock();
    served.hear(bytes);
    // Otherwise the session would get jobs and faults without end.
    if MOST < served.session.scenario().1.len() {
        served.session.leave();
        *served = ServedSession::new();
    }
}

impl ServedSession {
    fn new() -> Self {
        let registry = mumakil::registry();
        let loaded = scenario::parse("live.yaml", SCENARIO, &[], &registry).expect("a scenario");
        let prepared = Prepared::new(loaded.scenario, &registry).expect("a run");
        let server = Server::listen(Ipv4Addr::LOCALHOST.into(), 0).expect("a free port");
        let url = server.url();
        let (host, token) = url["http://".len()..].split_once("/?token=").expect("a token");
        let (host, token) = (host.to_owned(), token.to_owned());
        let speed: Speed = "max".parse().expect("a speed");
        let session = Session::new(prepared, Vec::new(), registry.clone(), speed);
        server.serve(session.clone(), PatientHost).expect("a thread");
        let of = session.clone();
        thread::spawn(move || play(&of, &registry));
        Self { session, host, token }
    }

    fn hear(&self, bytes: &[u8]) {
        let answer = self.send(&self.request(bytes));
        assert!(!answer.starts_with("HTTP/1.1 500"), "{answer}");
        let picture =
            format!("GET /picture?token={} HTTP/1.1\r\nHost: {}\r\n\r\n", self.token, self.host);
        let answer = self.send(picture.as_bytes());
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// Returns the bytes with token, address and lengths filled in.
    fn request(&self, bytes: &[u8]) -> Vec<u8> {
        let mut request = Vec::new();
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let (with, skipped) = match rest {
                [b'{', b'T', b'}', ..] => (self.token.clone(), 3),
                [b'{', b'H', b'}', ..] => (self.host.clone(), 3),
                [b'{', b'B', b'}', body @ ..] => {
                    (format!("Content-Length: {}\r\n\r\n", body.len()), 3)
                }
                _ => {
                    request.push(*byte);
                    rest = &rest[1..];
                    continue;
                }
            };
            request.extend(with.bytes());
            rest = &rest[skipped..];
        }
        request
    }

    /// Sends bytes and ends the connection; returns as much of the answer as arrives at once.
    fn send(&self, bytes: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.host).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        let mut answer = Vec::new();
        // The server may answer and close before it has read all.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Runs scene after scene, as `mumakil live` does.
fn play(session: &Arc<Session>, registry: &Registry) {
    let mut scene = session.scene();
    loop {
        let pace = Some(session.begin(&scene));
        let options = Options { pace, ..Options::default() };
        let next = match scene.prepared.emulate(registry, options) {
            Err(EmulationError::GivenUp) => session.given_up(),
            Ok(_) => session.end("the run is over"),
            Err(error) => panic!("{error}"),
        };
        match next {
            Some(next) => scene = next,
            None => return,
        }
    }
}
