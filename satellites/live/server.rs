//! The HTTP server for the page of a session, for browsers on the same machine.
//!
//! Anyone with the token may watch and act on the run, but starts no program that the scenario does
//! not name; the console shows the token in the page's address. Each request passes three checks:
//! ```text
//! GET /picture?token=5f3a…          wrong token                  -> 403
//! Host: 127.0.0.1:4040              a name but `localhost`       -> 403 (DNS may point any name here)
//! Origin: http://127.0.0.1:4040     another site's page asks     -> 403
//! ```
//! Headers keep browsers from reading an answer as another type of content, and keep the page from
//! loading other resources.
//!
//! Pictures are server-sent events. Only the newest is sent: a slow browser misses some, and the
//! run never waits for a browser.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use serde_yaml::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::connections::{ImpatientStream, ListedConnection, OpenConnections};
use super::gate::{LiveStep, Speed};
use super::session::{Session, SessionRefusal};
use crate::user_action::UserAction;
use mumakil_base::units::{SimSpan, SimTime};

/// The largest body of a command, in bytes.
// Chosen: the largest command is a job or a policy with its options, some hundred bytes.
const LARGEST: usize = 64 << 10;
/// The time within which a request must arrive, and a browser must take some of an answer.
// Chosen: without a limit, a connection that sends or takes nothing would keep its place for ever.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time without a picture after which a browser gets a comment. Sending the comment fails if
/// the browser has closed.
// The standard of server-sent events suggests a comment every 15 seconds, because of proxies that
// time out.
const SIGN_OF_LIFE: Duration = Duration::from_secs(15);

/// The content security policy of the report.
// `sandbox` without `allow-same-origin`: the page's scripts run, but cannot call this server's
// commands.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
                           img-src data:; sandbox allow-scripts allow-downloads; base-uri 'none'; \
                           form-action 'none'; frame-ancestors 'none'";

const HTML: &str = include_str!("page.html");
const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// A server that listens but does not yet serve.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    token: String,
}

/// A reason why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address is taken, or does not belong to this machine.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address at which the server was to listen.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The system gives no random bits for the token.
    #[error("the system gives no random token")]
    Token(#[source] getrandom::Error),
    /// The system cannot start a thread.
    #[error("cannot start the server")]
    Start(#[source] io::Error),
}

/// The subcommand that has opened the session.
pub trait Host: Send + Sync + 'static {
    /// Called when the user ends the session in the browser.
    fn finish(&self, session: &Session);
}

/// The state shared by all requests.
struct RequestContext {
    session: Arc<Session>,
    host: Arc<dyn Host>,
    address: SocketAddr,
    token: String,
    page: Bytes,
    policy: HeaderValue,
}

impl Server {
    /// Listens at an address; port 0 means any free port.
    ///
    /// # Errors
    /// If the address cannot be used, or the system gives no token.
    pub fn listen(host: IpAddr, port: u16) -> Result<Self, ServerError> {
        let address = SocketAddr::new(host, port);
        let listen = |source| ServerError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(listen)?;
        // Tokio takes over only a listener that does not block.
        listener.set_nonblocking(true).map_err(listen)?;
        // The system has replaced port 0 by a free port.
        let address = listener.local_addr().map_err(listen)?;
        Ok(Self { listener, address, token: token().map_err(ServerError::Token)? })
    }

    /// Returns the address of the page.
    pub fn url(&self) -> String {
        let mut address = self.address;
        // `0.0.0.0` is an address to listen at, not to open in a browser: show the loopback
        // address.
        match address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip([127, 0, 0, 1].into()),
            IpAddr::V6(ip) if ip.is_unspecified() => {
                address.set_ip(std::net::Ipv6Addr::LOCALHOST.into());
            }
            _ => {}
        }
        format!("http://{address}/?token={}", self.token)
    }

    /// Serves a session on a thread of its own, until the process ends.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn serve(self, session: Arc<Session>, host: impl Host) -> Result<(), ServerError> {
        let Self { listener, address, token } = self;
        let (page, policy) = page();
        let host = Arc::new(host);
        let site = Arc::new(RequestContext { session, host, address, token, page, policy });
        // One thread is enough for a few browsers; the run has the other processor cores.
        let built = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = built.map_err(ServerError::Start)?;
        let thread = thread::Builder::new().name("live".to_owned()).spawn(move || {
            runtime.block_on(async {
                // If this fails, the page does not open, which the user sees at once.
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    accept(listener, site).await;
                }
            });
        });
        thread.map(drop).map_err(ServerError::Start)
    }
}

/// Returns 128 random bits from the system, as hexadecimal digits.
fn token() -> Result<String, getrandom::Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)?;
    Ok(bits.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Returns the page, and the content security policy that allows only the page's own script.
fn page() -> (Bytes, HeaderValue) {
    // Browsers hash the text between the tags, so the page must contain it byte for byte.
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; \
         img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(JS),
        hash(CSS)
    );
    let page = HTML.replace("{{css}}", CSS).replace("{{js}}", JS);
    (page.into(), HeaderValue::try_from(policy).expect("hashes are ASCII"))
}

async fn accept(listener: tokio::net::TcpListener, site: Arc<RequestContext>) {
    let open = Arc::new(OpenConnections::default());
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // There may be too many open files: wait until other connections end, rather than spin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let site = site.clone();
        let connection = Arc::new(open.next());
        let number = connection.number;
        let task = tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let (site, connection) = (site.clone(), connection.clone());
                async move { Ok::<_, Infallible>(site.answer(request, &connection).await) }
            });
            // An error here is a broken connection, such as a closed browser, and does no harm.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .serve_connection(TokioIo::new(ImpatientStream::new(stream, PATIENCE)), answer)
                .await;
        });
        // The task begins at the next `await`, so it is in the list before it can leave it.
        open.add(number, task.abort_handle());
    }
}

/// A command of the user, as a browser sends it.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum PageCommand {
    Pause {},
    Run {},
    Speed { speed: String },
    Step { to: NextStep },
    Go { at: String },
    Stop { node: u32 },
    Start { node: u32 },
    Kill { job: String },
    Change { change: serde_json::Value },
    Submit { job: serde_json::Value },
    Scheduler { scheduler: serde_json::Value },
    Finish {},
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NextStep {
    Heartbeat,
    Decision,
    Job,
}

impl PageCommand {
    /// Executes the command, which may take long.
    fn act(self, session: &Arc<Session>, host: &Arc<dyn Host>) -> Result<(), SessionRefusal> {
        match self {
            Self::Pause {} => session.pause(),
            Self::Run {} => session.run(),
            Self::Speed { speed } => {
                session.set_speed(speed.parse::<Speed>().map_err(SessionRefusal::Wrong)?);
                Ok(())
            }
            Self::Step { to } => session.step(match to {
                NextStep::Heartbeat => LiveStep::Heartbeat,
                NextStep::Decision => LiveStep::Decision,
                NextStep::Job => LiveStep::JobEnd,
            }),
            Self::Go { at } => {
                let at = at.parse::<SimSpan>();
                session
                    .go(SimTime::ZERO
                        + at.map_err(|error| SessionRefusal::Wrong(error.to_string()))?)
            }
            Self::Finish {} => {
                host.finish(session);
                Ok(())
            }
            // The arms above handle all other commands, so `action` refuses nothing here.
            deed => session.act(deed.action()?),
        }
    }

    /// Returns the action on the cluster; an error if the command is of another kind.
    fn action(self) -> Result<UserAction, SessionRefusal> {
        Ok(match self {
            Self::Stop { node } => UserAction::Stop(node),
            Self::Start { node } => UserAction::Start(node),
            Self::Kill { job } => UserAction::Kill(job),
            Self::Change { change } => UserAction::Change(tree(change)?),
            Self::Submit { job } => UserAction::Submit(tree(job)?),
            Self::Scheduler { scheduler } => UserAction::Scheduler(tree(scheduler)?),
            Self::Pause {}
            | Self::Run {}
            | Self::Speed { .. }
            | Self::Step { .. }
            | Self::Go { .. }
            | Self::Finish {} => {
                return Err(SessionRefusal::Untimely("this command does nothing to the cluster"));
            }
        })
    }
}

impl RequestContext {
    async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &ListedConnection,
    ) -> Response<HttpAnswer> {
        // The report has scripts of its own. The browser gives it a separate origin: its scripts can
        // read the token in the address, but can send nothing to this server.
        let policy = match request.uri().path() {
            "/report" => HeaderValue::from_static(PAGE_POLICY),
            _ => self.policy.clone(),
        };
        let mut response = match self.reply(request, connection).await {
            Ok(response) => response,
            Err((status, words)) => {
                let words = serde_json::json!({ "error": words });
                let mut response = whole("application/json", words.to_string());
                *response.status_mut() = status;
                // Close the connection: it is of no use to a stranger.
                if status == StatusCode::FORBIDDEN {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                }
                response
            }
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        for (name, value) in [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::CACHE_CONTROL, "no-store"),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }

    async fn reply(
        &self,
        request: Request<Incoming>,
        connection: &ListedConnection,
    ) -> Result<Response<HttpAnswer>, (StatusCode, String)> {
        let no = |status: StatusCode, words: &str| Err((status, words.to_owned()));
        let query = Query(request.uri().query().unwrap_or_default().to_owned());
        // Check this before the token: a foreign page must not learn whether a guessed token is
        // right.
        if !self.is_meant(request.headers()) {
            return no(
                StatusCode::FORBIDDEN,
                "this server has another address: open the one that Mumakil has printed",
            );
        }
        let given = query.get("token").unwrap_or_default();
        if !is_same(given.as_bytes(), self.token.as_bytes()) {
            let words = "the token is missing or wrong: open the address that Mumakil has printed";
            return no(StatusCode::FORBIDDEN, words);
        }
        connection.admit();
        let path = request.uri().path().to_owned();
        // Only `/command` changes the session. A `GET` must change nothing, since any page or image
        // can cause a `GET`.
        let is_post = path == "/command";
        if *request.method() != if is_post { Method::POST } else { Method::GET } {
            return no(StatusCode::METHOD_NOT_ALLOWED, "use POST for /command, GET for all else");
        }
        let session = &self.session;
        let json = |text| Ok(whole("application/json", text));
        let nothing = || (StatusCode::NOT_FOUND, "not found".to_owned());
        let number = |name: &str| {
            let number = query.get(name).and_then(|text| text.parse::<u32>().ok());
            let words = || (StatusCode::BAD_REQUEST, format!("`{name}` must be a number"));
            number.ok_or_else(words)
        };
        let told = |text: Result<String, serde_json::Error>| {
            text.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        };
        match path.as_str() {
            "/" => Ok(whole("text/html; charset=utf-8", self.page.clone())),
            "/layout" => json(session.layout()),
            "/picture" => {
                let newest = session.pictures().borrow().clone();
                json(newest)
            }
            "/pictures" => Ok(pictures(session)),
            "/why" => {
                let why = session.why(number("node")?, number("slot")?).ok_or_else(nothing)?;
                json(told(serde_json::to_string(&why))?.into())
            }
            "/job" => {
                let job = session.job(number("job")?).ok_or_else(nothing)?;
                json(told(serde_json::to_string(&job))?.into())
            }
            "/history" => {
                let text = query.get("by").unwrap_or_default();
                let by = serde_json::from_value(text.into()).map_err(|_| {
                    let words = "`by` must be `job`, `pool` or `user`".to_owned();
                    (StatusCode::BAD_REQUEST, words)
                })?;
                json(told(serde_json::to_string(&session.history(by)))?.into())
            }
            "/scenario" => {
                let (name, yaml) = session.scenario();
                let mut response = whole("text/yaml; charset=utf-8", yaml);
                // The name of a scenario needs no quoting in a header. If it does, send no name:
                // the browser then chooses one.
                let named = format!("attachment; filename=\"{name}-live.yaml\"");
                if let Ok(named) = HeaderValue::try_from(named) {
                    response.headers_mut().insert(header::CONTENT_DISPOSITION, named);
                }
                Ok(response)
            }
            "/report" => {
                let page = session.report().ok_or_else(nothing)?;
                Ok(whole("text/html; charset=utf-8", page))
            }
            "/command" => self.command(request).await,
            _ => Err(nothing()),
        }
    }

    async fn command(
        &self,
        request: Request<Incoming>,
    ) -> Result<Response<HttpAnswer>, (StatusCode, String)> {
        let value = request.headers().get(header::CONTENT_TYPE);
        let kind = value.and_then(|value| value.to_str().ok()).unwrap_or_default();
        // A form on another site cannot send this content type. A script there must first ask this
        // server, which refuses.
        if kind.split(';').next().unwrap_or_default().trim() != "application/json" {
            let words = "a command is `application/json`".to_owned();
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, words));
        }
        let read = Limited::new(request.into_body(), LARGEST).collect();
        let body = match timeout(PATIENCE, read).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                let words = format!("a command has {LARGEST} bytes at most");
                return Err((StatusCode::PAYLOAD_TOO_LARGE, words));
            }
            Ok(Err(error)) => return Err((StatusCode::BAD_REQUEST, error.to_string())),
            Err(_) => return Err((StatusCode::REQUEST_TIMEOUT, "too slow".to_owned())),
        };
        let command: PageCommand = serde_json::from_slice(&body)
            .map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        // An action on a large workload takes seconds: on this thread it would delay all pictures.
        let (session, host) = (self.session.clone(), self.host.clone());
        let task = tokio::task::spawn_blocking(move || command.act(&session, &host)).await;
        let done = task.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
        done.map_err(|refusal| match refusal {
            SessionRefusal::Untimely(_) => (StatusCode::CONFLICT, refusal.to_string()),
            SessionRefusal::Wrong(_) => (StatusCode::BAD_REQUEST, refusal.to_string()),
        })?;
        Ok(whole("application/json", "{\"done\":true}"))
    }

    /// Returns whether a request is meant for this server, and does not come from another site's
    /// page.
    fn is_meant(&self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        // With two `Host` headers, a proxy might check one and this server the other.
        if headers.get_all(header::HOST).iter().count() != 1 {
            return false;
        }
        let Some(host) = text(header::HOST) else { return false };
        let from = text(header::ORIGIN);
        is_ours(host, self.address) && from.is_none_or(|from| from == format!("http://{host}"))
    }
}

/// Returns whether a `Host` header names this server. Refuses domain names: their owners can make
/// them point to this address.
fn is_ours(host: &str, address: SocketAddr) -> bool {
    let own = address.ip();
    if host == format!("localhost:{}", address.port()) {
        return own.is_loopback() || own.is_unspecified();
    }
    // Browsers leave port 80 out of `Host`.
    let with_port = host.parse::<SocketAddr>().ok();
    let asked = with_port.or_else(|| {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        Some(SocketAddr::new(bare.parse().ok()?, 80))
    });
    asked.is_some_and(|asked| {
        let ip = asked.ip();
        asked.port() == address.port() && (ip == own || own.is_unspecified())
    })
}

/// Returns whether a given token is right. The time that this takes does not reveal where the
/// tokens differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let pairs = given.iter().zip(token);
    // Look at all bytes, even after a difference; `black_box` keeps the compiler from stopping
    // early.
    let differs = pairs.fold(0, |differs, (given, own)| differs | (given ^ own));
    given.len() == token.len() && std::hint::black_box(differs) == 0
}

/// Converts a JSON value from a browser into YAML; a text is parsed as YAML, as in a scenario.
fn tree(value: serde_json::Value) -> Result<Value, SessionRefusal> {
    let tree = match value {
        serde_json::Value::String(text) => serde_yaml::from_str(&text),
        value => serde_yaml::to_value(value),
    };
    tree.map_err(|error| SessionRefusal::Wrong(error.to_string()))
}

/// The query string of an address. Its keys and values need no escapes.
struct Query(String);

impl Query {
    fn get(&self, name: &str) -> Option<&str> {
        let mut pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(key, value)| (key == name).then_some(value))
    }
}

/// An answer of the server.
enum HttpAnswer {
    Whole(Option<Bytes>),
    /// Pictures as they come. The token says to the session that a browser listens.
    Pictures {
        pictures: mpsc::Receiver<Bytes>,
        _listens: Arc<()>,
    },
}

impl Body for HttpAnswer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Pictures { pictures, .. } => {
                pictures.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(None))
    }
}

fn whole(kind: &'static str, text: impl Into<Bytes>) -> Response<HttpAnswer> {
    let mut response = Response::new(HttpAnswer::Whole(Some(text.into())));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// Sends the newest picture whenever the browser has received the last one.
fn pictures(session: &Session) -> Response<HttpAnswer> {
    let mut newest = session.pictures();
    // A new browser gets the current picture at once, even if the run is paused.
    newest.mark_changed();
    let (to, pictures) = mpsc::channel(1);
    tokio::spawn(async move {
        loop {
            let is_new = match timeout(SIGN_OF_LIFE, newest.changed()).await {
                Ok(Ok(())) => true,
                // The session has been dropped: the process ends.
                Ok(Err(_)) => return,
                Err(_) => false,
            };
            // Wait until the browser has received the last picture; this fails if the browser has
            // closed. Take the newest picture only after that wait, or it would be old when it is
            // sent.
            let Ok(room) = to.reserve().await else { return };
            room.send(match is_new {
                true => {
                    let picture = newest.borrow_and_update().clone();
                    [&b"data: "[..], &picture, b"\n\n"].concat().into()
                }
                false => Bytes::from_static(b": still here\n\n"),
            });
        }
    });
    let mut response = Response::new(HttpAnswer::Pictures { pictures, _listens: session.watch() });
    let kind = HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_an_address_of_ours_and_no_name_but_localhost() {
        let local: SocketAddr = "127.0.0.1:8080".parse().unwrap();
        for host in ["127.0.0.1:8080", "localhost:8080"] {
            assert!(is_ours(host, local), "{host}");
        }
        for host in
            ["", "evil.example:8080", "127.0.0.1", "127.0.0.1:80", "10.0.0.1:8080", "[::1]:8080"]
        {
            assert!(!is_ours(host, local), "{host}");
        }
        let any: SocketAddr = "0.0.0.0:80".parse().unwrap();
        assert!(is_ours("10.0.0.1", any) && is_ours("10.0.0.1:80", any));
        assert!(!is_ours("evil.example", any) && !is_ours("10.0.0.1:8080", any));
    }

    #[test]
    fn a_token_is_the_whole_token() {
        let token = token().unwrap();
        assert_eq!(token.len(), 32);
        assert!(is_same(token.as_bytes(), token.as_bytes()));
        for other in ["", &token[1..], &format!("{token}0"), &"0".repeat(32)] {
            assert!(!is_same(other.as_bytes(), token.as_bytes()));
        }
        assert_ne!(token, super::token().unwrap());
    }

    #[test]
    fn the_page_is_whole_and_has_no_handlers_that_its_policy_forbids() {
        let (page, policy) = page();
        let page = std::str::from_utf8(&page).unwrap();
        assert!(!page.contains("{{") && policy.to_str().unwrap().contains("script-src 'sha256-"));
        for forbidden in
            [" onclick=", " style=", "innerHTML", "insertAdjacentHTML", "http://", "https://"]
        {
            assert!(!page.contains(forbidden), "{forbidden}");
        }
    }

    #[test]
    fn text_that_is_sent_is_yaml() {
        let text = |text: &str| tree(text.into()).unwrap();
        assert_eq!(text("hfsp"), Value::from("hfsp"));
        assert_eq!(text("{name: a, maps: 3}")["maps"], Value::from(3));
        assert!(tree("{".into()).is_err());
    }
}
