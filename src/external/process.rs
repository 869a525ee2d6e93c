//! A process that answers one line at a time and is not trusted.
//!
//! The process gets pipes, few environment variables and a process group of its own. Its answers
//! are limited in time and in length. When [`Process`] is dropped, the whole group is killed.

use std::collections::VecDeque;
use std::env;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::groups;
use super::load::GroupTimes;
use mumakil_core::mapred::{ExternalWork, PolicyFailed, PolicyWords};

/// The largest length of an answer, in bytes. One read may exceed it.
const LONGEST: usize = 16 << 20;
/// How many past exchanges an error shows.
const RECENT: usize = 3;
// How many characters of each line an error shows. Chosen: the mistake is visible and fits a
// terminal.
const SHOWN: usize = 300;
/// How many lines of standard error are shown.
const LINES: usize = 1_000;
// How many bytes of each line of standard error are shown. Chosen: a policy that logs every offer
// cannot flood a terminal.
const LINE: u64 = 4 << 10;
/// The initial size of the buffer for answers, in bytes.
// A pipe of Linux holds as much.
const CHUNK: usize = 64 << 10;
/// How soon a process whose answer is late is looked at; later looks are rarer.
const LOOK: Duration = Duration::from_millis(100);
const BUSY: &str = PolicyFailed::BUSY;
const REAL_TIME: &str = PolicyFailed::REAL_TIME;
const PROCESSOR_TIME: &str = PolicyFailed::PROCESSOR_TIME;
/// How long to wait for the rest of standard error after the end of the process.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// The environment variables through which the system finds programs, and programs find their own
/// files.
const ENVIRONMENT: [&str; 16] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "PYTHONHOME",
    "JULIA_DEPOT_PATH",
    "JULIA_PROJECT",
    "RUST_BACKTRACE",
    "CONDA_PREFIX",
];

/// How many processes were started in a sandbox.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// How long a process may take for an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnswerLimits {
    /// In real time.
    pub(super) real: Duration,
    /// In processor time, on a system that tells it; `None` if it is not limited.
    pub(super) processor: Option<Duration>,
}

/// A running process that answers questions.
pub(super) struct Process {
    child: Child,
    /// The pipe to the process; `None` once the process has been asked to end.
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// Bytes that the process has written. The bytes up to `taken` belong to past answers; the
    /// bytes from there up to `filled` were read after these answers.
    buffer: Vec<u8>,
    filled: usize,
    taken: usize,
    limits: AnswerLimits,
    /// How many questions of the run the process has answered, and how long this took.
    pub(super) done: ExternalWork,
    /// The beginnings of the last questions and of their answers.
    recent: VecDeque<(Vec<u8>, Vec<u8>)>,
    /// Receives a message when standard error is closed.
    silent: Receiver<()>,
}

impl Process {
    /// Starts a process in a folder. `tell` gets each line of its standard error. A process that is
    /// not trusted gets an environment that is never the same.
    pub(super) fn start(
        command: &[String],
        folder: &Path,
        environment: &[String],
        limits: AnswerLimits,
        tell: PolicyWords,
        is_boxed: bool,
    ) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("there is no command")?;
        let mut start = Command::new(program);
        // Start with an empty environment, so that a run does not depend on the user's shell.
        start.args(arguments).env_clear();
        if !folder.as_os_str().is_empty() {
            start.current_dir(folder);
        }
        for name in ENVIRONMENT.into_iter().chain(environment.iter().map(String::as_str)) {
            if let Some(value) = env::var_os(name) {
                start.env(name, value);
            }
        }
        // Without this variable, Python orders its sets differently in each process.
        start.env("PYTHONHASHSEED", "0");
        if is_boxed {
            // A policy that heeds such a variable answers otherwise when it is asked again: noticed.
            let number = STARTED.fetch_add(1, Ordering::Relaxed);
            let never_the_same = format!("policy-{}-{number}", std::process::id());
            start.env("USER", &never_the_same).env("LANG", never_the_same).env_remove("TMPDIR");
            start.env("TZ", ["UTC", "UTC-7"][number % 2]).env_remove("LC_ALL");
            // Python would write what it has compiled beside its modules.
            start.env("PYTHONDONTWRITEBYTECODE", "1");
        }
        start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The process gets a group of its own, so that Mumakil can kill all its children, and Ctrl-C
        // reaches only Mumakil.
        let mut child = groups::start(&mut start)
            .map_err(|error| format!("`{program}` cannot be started: {}", plain(&error)))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err("the system gives no pipes".to_owned());
        };
        // Make the pipe non-blocking, since a process that does not read could otherwise hold us
        // beyond the time-out.
        rustix::io::ioctl_fionbio(&stdin, true)
            .map_err(|error| format!("its pipe cannot be set up: {error}"))?;
        let (done, silent) = channel();
        let listen = move || {
            listen(stderr, &tell);
            // Ignore an error: the receiver may be dropped already.
            let _ = done.send(());
        };
        // A thread reads standard error; otherwise a policy that writes much there would stop at a
        // full pipe.
        let thread = thread::Builder::new().name("policy".to_owned()).spawn(listen);
        // Make this before an error of `spawn` is returned, so that dropping the `Process` ends the
        // child.
        let process = Self {
            child,
            stdin: Some(stdin),
            stdout,
            buffer: vec![0; CHUNK],
            filled: 0,
            taken: 0,
            limits,
            done: ExternalWork::default(),
            recent: VecDeque::with_capacity(RECENT),
            silent,
        };
        thread.map_err(|error| format!("the system gives no thread: {error}"))?;
        Ok(process)
    }

    /// Limits the processor time of each answer from now on.
    pub(super) fn limit(&mut self, processor: Option<Duration>) {
        self.limits.processor = processor;
    }

    /// Sends a line, which ends with a newline. Returns the answer without its newline, and how
    /// long it took.
    pub(super) fn ask(&mut self, line: &[u8]) -> Result<(&[u8], Duration), String> {
        let asked = now();
        let deadline = asked + self.limits.real;
        let mut before = None;
        self.say(line, deadline)?;
        // Bytes behind the last answer are the beginning of this one.
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.filled, self.taken) = (self.filled - self.taken, 0);
        // Each byte is searched only once, even if a long line takes many reads.
        let mut searched = 0;
        loop {
            let new = &self.buffer[searched..self.filled];
            if let Some(end) = new.iter().position(|byte| *byte == b'\n') {
                let end = searched + end;
                self.taken = end + 1;
                let waited = asked.elapsed();
                if self.recent.len() == RECENT {
                    self.recent.pop_front();
                }
                self.recent.push_back((beginning(line), beginning(&self.buffer[..end])));
                return Ok((&self.buffer[..end], waited));
            }
            searched = self.filled;
            if LONGEST < searched {
                let words = format!("it answered with more than {} MiB", LONGEST >> 20);
                return Err(self.tell(words, line));
            }
            self.wait(deadline, &mut before, line)?;
            // Double the size, so that a long line is copied only a few times.
            if self.filled == self.buffer.len() {
                self.buffer.resize(2 * self.filled, 0);
            }
            match self.stdout.read(&mut self.buffer[self.filled..]) {
                Ok(0) => return Err(self.exit_reason(line)),
                Ok(got) => self.filled += got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.tell(format!("it cannot be heard: {error}"), line)),
            }
        }
    }

    /// Waits until the process has written something or closed its output. `before` are its times
    /// when its answer became late; `None` until then.
    fn wait(
        &mut self,
        deadline: Instant,
        before: &mut Option<GroupTimes>,
        line: &[u8],
    ) -> Result<(), String> {
        let mut look = LOOK;
        loop {
            let next = deadline.min(now() + look);
            // A look goes through all processes of the system.
            look = (2 * look).min(10 * LOOK);
            match ready(PollFd::new(&self.stdout, PollFlags::IN), next) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(error) => return Err(self.tell(format!("it cannot be heard: {error}"), line)),
            }
            let times = GroupTimes::of(self.child.id());
            let spent = times.since(*before.get_or_insert(times));
            if let Some(most) = self.limits.processor.filter(|most| *most < spent.computed) {
                let words =
                    format!("it did not answer within {} of {PROCESSOR_TIME}", seconds(most));
                return Err(self.tell(words, line));
            }
            if deadline <= now() {
                return Err(self.tell(self.late("did not answer", spent), line));
            }
        }
    }

    /// Returns the words about a process that did not do something in time.
    fn late(&self, what: &str, spent: GroupTimes) -> String {
        let real = self.limits.real;
        let words = format!("it {what} within {} {REAL_TIME}", seconds(real));
        match real / 2 < spent.waited {
            true => format!("{words}, and had no processor for most of it: {BUSY}"),
            false => words,
        }
    }

    fn say(&mut self, line: &[u8], deadline: Instant) -> Result<(), String> {
        let mut left = line;
        while !left.is_empty() {
            let Some(stdin) = &mut self.stdin else { return Err("it was told to end".to_owned()) };
            match stdin.write(left) {
                Ok(0) => return Err(self.exit_reason(line)),
                Ok(count) => left = &left[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The pipe is full: wait until the policy reads, but at most until the deadline.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let waited = ready(PollFd::new(stdin, PollFlags::OUT), deadline);
                    if !waited.unwrap_or(false) {
                        let words = self.late("did not listen", GroupTimes::default());
                        return Err(self.tell(words, line));
                    }
                }
                Err(_) => return Err(self.exit_reason(line)),
            }
        }
        Ok(())
    }

    /// Sends the last line, and waits for the process to end.
    pub(super) fn end(&mut self, line: &[u8]) -> Result<(), String> {
        let deadline = now() + self.limits.real;
        self.say(line, deadline)?;
        // A policy that does not know the message `end` sees that its input is closed.
        self.stdin = None;
        // Discard what the process still writes, so that it does not block at a full pipe.
        let mut scrap = [0; 4096];
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => {
                    self.last_words();
                    return Ok(());
                }
                Ok(Some(status)) => {
                    self.last_words();
                    return Err(format!("it ended with {} when the run was over", told(status)));
                }
                Ok(None) => {}
                Err(error) => return Err(format!("what became of it is not known: {error}")),
            }
            // `poll` does not notice the end of a process, so check every 5 ms.
            let soon = deadline.min(now() + Duration::from_millis(5));
            let says = ready(PollFd::new(&self.stdout, PollFlags::IN), soon).unwrap_or(false);
            // A closed output is always ready, so without a pause this loop would spin until the
            // process ends.
            if says && self.stdout.read(&mut scrap).unwrap_or(0) == 0 {
                pause(Duration::from_millis(1));
            }
            if deadline <= now() {
                let words = self.late("did not end", GroupTimes::default());
                return Err(words + " when the run was over");
            }
        }
    }

    /// Returns an error message that says why the process writes nothing more.
    fn exit_reason(&mut self, line: &[u8]) -> String {
        // A process that ends closes its output just before its status is available, so wait a
        // moment. But a process may also close its output and go on running.
        pause(Duration::from_millis(20));
        let words = match self.child.try_wait() {
            Ok(Some(status)) => format!("it ended with {}", told(status)),
            Ok(None) => "it has closed its input or output".to_owned(),
            Err(error) => format!("what became of it is not known: {error}"),
        };
        self.last_words();
        self.tell(words, line)
    }

    /// Waits for the rest of standard error, at most [`LAST_WORDS`].
    fn last_words(&self) {
        let _ = self.silent.recv_timeout(LAST_WORDS);
    }

    /// Returns an error message with the last exchanges; `line` is the unanswered question.
    fn tell(&self, words: String, line: &[u8]) -> String {
        let asked = format!("\n  asked    {}", shown(line));
        let heard = &self.buffer[..self.filled];
        let heard = match heard.is_empty() {
            true => String::new(),
            false => format!("\n  heard    {}", shown(heard)),
        };
        words + &self.told() + &asked + &heard
    }

    /// Returns the last exchanges as text: one line for each question and one for each answer.
    pub(super) fn told(&self) -> String {
        let told = |(asked, heard): &(Vec<u8>, Vec<u8>)| {
            format!("\n  asked    {}\n  answered {}", shown(asked), shown(heard))
        };
        self.recent.iter().map(told).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        groups::end(&mut self.child);
    }
}

/// Passes on the standard error of a process, up to [`LINES`] lines.
fn listen(stderr: ChildStderr, tell: &PolicyWords) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    for number in 0.. {
        line.clear();
        // A line longer than this is cut; its rest counts as the next line.
        match (&mut stderr).take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if number < LINES => tell(String::from_utf8_lossy(&line).trim_end()),
            Ok(_) if number == LINES => tell("… and more, which is left out"),
            // Read on without showing it, since the policy would stop at a full pipe.
            Ok(_) => {}
        }
    }
}

/// Waits until a pipe is ready. Returns `false` if the deadline comes first.
fn ready(pipe: PollFd<'_>, deadline: Instant) -> io::Result<bool> {
    let mut pipes = [pipe];
    loop {
        let left = deadline.saturating_duration_since(now());
        let left = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut pipes, Some(&left)) {
            Ok(count) => return Ok(0 < count),
            // A signal has interrupted the call: wait for the rest of the time.
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns the beginning of a line: enough bytes for one character more than may be shown (a
/// character has at most four bytes), so that [`shown`] notices whether it must cut the line.
fn beginning(line: &[u8]) -> Vec<u8> {
    line[..line.len().min(4 * (SHOWN + 1))].to_vec()
}

/// Returns the beginning of a line as text, for messages.
fn shown(line: &[u8]) -> String {
    let line = beginning(line);
    let text = String::from_utf8_lossy(&line);
    let text = text.trim_end();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}

/// The signals that a sandbox sends, on Linux.
const SIGSYS: i32 = 31;
const SIGXCPU: i32 = 24;

fn told(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(SIGSYS)) => {
            "signal 31: it has tried what a sandbox forbids, such as to write a file or to start a \
             process"
                .to_owned()
        }
        (None, Some(SIGXCPU)) => format!("signal 24: it has used up its {PROCESSOR_TIME}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown end".to_owned(),
    }
}

/// Returns the system's error message, without its error number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn seconds(span: Duration) -> String {
    format!("{} s", span.as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "a process is waited for in real time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a process is waited for in real time")]
fn pause(span: Duration) {
    thread::sleep(span);
}
