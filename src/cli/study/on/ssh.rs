//! `--on ssh:HOST,HOST`: the tasks of a study on machines that `ssh` reaches.
//!
//! A host gets a copy of what tasks need of the study's folder, once. Then it takes a task from the list,
//! does it, and its runs are brought back; who is quick takes more of them. A host that does not answer
//! any more gives its task back. There are more tasks than hosts, so little is lost with it.
//!
//! The system's `ssh` and `tar` do the work, so hosts and keys are those of the user's own configuration.
//! A task lives as long as its connection: the far end of our pipe is read there, and its end is the
//! task's end. So nothing works on for nobody.

use std::collections::VecDeque;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use parking_lot::{Condvar, Mutex};
use sha2::{Digest, Sha256};

use super::folder::quoted;
use super::{Errand, On, Pace, task_words};
use crate::cli::failure::Failure;
use crate::cli::lines::Lines;
use crate::cli::progress::StudyBar;
use crate::cli::study::AtWork;
use crate::cli::study::merge;
use crate::cli::terminal;
use crate::files::{STUDY, STUDY_RESOLVED};
use crate::output::{OutputError, machine};
use crate::study::{Claim, End, Form, Shard, Share, Store, failed};
use crate::trace::hex;
use crate::units::tell::counted;

/// So many tasks there are for each host unless somebody says.
pub(super) const TASKS_A_HOST: usize = 8;
/// So often a task is begun that something kills, and so often a host is reached again.
const TRIES: usize = 3;
/// So much of what a host says last is shown.
const LAST_WORDS: usize = 2_000;
/// What `ssh` ends with if the connection does not work.
const UNREACHED: i32 = 255;

/// The program in the study's folder.
const PROGRAM: &str = "bin/mumakil";

/// What is sent to a host, if it is there.
const LUGGAGE: [&str; 5] = [PROGRAM, STUDY_RESOLVED, STUDY, "files", "costs.json"];

/// Where to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Host {
    /// As `ssh` has it: `host` or `user@host`.
    name: String,
    port: Option<u16>,
}

impl Host {
    /// Reads `host`, `user@host` or `host:port`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no host; write HOST, USER@HOST or HOST:PORT");
        let (name, port) = match text.rsplit_once(':') {
            None => (text, None),
            Some((name, port)) => (name, Some(port.parse().map_err(|_| wrong())?)),
        };
        // What begins with a dash would be an option.
        let is_name = |c: char| c.is_alphanumeric() || "-_.@%".contains(c);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_name) {
            return Err(wrong());
        }
        Ok(Self { name: name.to_owned(), port })
    }

    fn shown(&self) -> String {
        self.port.map_or_else(|| self.name.clone(), |port| format!("{}:{port}", self.name))
    }

    /// Returns the arguments of `ssh` that let a shell there obey a script. Of an option that is given
    /// twice the first counts, so the user's stand before ours.
    fn arguments(&self, further: &[String], script: &str) -> Vec<String> {
        let mut words = further.to_vec();
        for option in [
            "BatchMode=yes",
            "ConnectTimeout=20",
            "ServerAliveInterval=15",
            "ServerAliveCountMax=4",
        ] {
            words.extend(["-o".to_owned(), option.to_owned()]);
        }
        words.extend(self.port.iter().flat_map(|port| ["-p".to_owned(), port.to_string()]));
        words.extend(["--".to_owned(), self.name.clone(), format!("sh -c {}", quoted(script))]);
        words
    }
}

/// Returns the line that goes to the folder on a host; `nest` is its name there.
fn enter(nest: &str) -> String {
    format!("cd \"${{XDG_CACHE_HOME:-$HOME/.cache}}/mumakil/\"{}", quoted(nest))
}

/// Returns the script that takes the luggage and says whether the program runs there.
fn unpack(nest: &str) -> String {
    let place = format!("\"${{XDG_CACHE_HOME:-$HOME/.cache}}/mumakil/\"{}", quoted(nest));
    let enter = enter(nest);
    format!("mkdir -p {place} && {enter} && tar -xf - && {PROGRAM} --version")
}

/// Returns the script that does a task, and ends it when its standard input ends.
fn work(nest: &str, part: &str, pace: Pace) -> String {
    let (enter, task) = (enter(nest), task_words(part, pace));
    // `cat` holds no output: the connection would wait for it.
    format!(
        "{enter} || exit 3
exec 3<&0
{task} --quiet </dev/null 3<&- &
work=$!
{{ cat <&3; kill \"$work\"; }} >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait \"$work\"
code=$?
kill \"$watch\" 2>/dev/null
exit \"$code\""
    )
}

/// Returns the script that gives the runs that are there.
fn hand_over(nest: &str) -> String {
    format!("{} && mkdir -p runs failed && tar -cf - runs failed", enter(nest))
}

/// Returns the script that forgets what has arrived.
fn forget(nest: &str) -> String {
    format!("{} && rm -rf runs failed at-work", enter(nest))
}

/// Returns the name of the study's folder on hosts: no two studies share one.
fn nest(study: &str, machine: &str, folder: &Path) -> String {
    let mut hash = Sha256::new();
    hash.update(machine);
    hash.update([0]);
    hash.update(folder.as_os_str().as_encoded_bytes());
    format!("{study}-{}", hex(&hash.finalize()[..4]))
}

/// Does what is missing of a study and concludes it.
pub(super) fn run(
    errand: &Errand,
    hosts: &[Host],
    options: &On,
    pace: Pace,
    quiet: bool,
) -> Result<(), Failure> {
    let machine = machine().unwrap_or_default();
    let nest = nest(&errand.sheet.study, &machine, &errand.folder);
    if options.dry_run {
        return print_plan(errand, hosts, options, pace, &nest);
    }
    let (bar, at_work) = (StudyBar::new("run", quiet), AtWork::default());
    at_work.guard(bar.bar());
    let store = Store::of(&errand.folder)?;
    let runs = errand.sheet.runs().count();
    let form = Form::usual(Share::Alone, runs);
    let claim = store.claim(&errand.sheet.study, Share::Alone, form)?;
    let _signs = at_work.begin(errand.folder.clone(), Shard::WHOLE)?;
    at_work.has(runs, runs - errand.missing)?;
    bar.more(errand.missing);
    let home =
        Home { errand, options, pace, nest: &nest, claim: &claim, bar: &bar, at_work: &at_work };
    let board = Board::new(&errand.left);
    std::thread::scope(|scope| {
        for (number, host) in hosts.iter().enumerate() {
            let (home, board) = (&home, &board);
            scope.spawn(move || home.employ(number, host, board));
        }
    });
    bar.clear();
    claim.close()?;
    store.refresh()?;
    let Desk { waiting, dropped, broken, .. } = board.desk.into_inner();
    if let Some(broken) = broken {
        return Err(broken);
    }
    let untouched = waiting.len() + dropped;
    if 0 < untouched {
        let left = counted(untouched as u64, "task");
        let why = "their hosts could not do them; start it again to go on";
        let _ = at_work.ends(End::Failed, Some(format!("{left} left")));
        return Err(Failure::Environment(anyhow::anyhow!(
            "{left} of {} left: {why}",
            errand.tasks
        )));
    }
    at_work.ends(End::Done, None)?;
    drop(claim);
    merge::conclude_all(&errand.folder, quiet)
}

/// Prints what would be done.
fn print_plan(
    errand: &Errand,
    hosts: &[Host],
    options: &On,
    pace: Pace,
    nest: &str,
) -> Result<(), Failure> {
    let mut lines = Lines::of(format!(
        "# {} of {} on {}",
        counted(errand.left.len() as u64, "task"),
        errand.tasks,
        counted(hosts.len() as u64, "host")
    ));
    let Some(first) = errand.left.first() else { return Ok(terminal::print(&lines)?) };
    let part = format!("{first}/{}", errand.tasks);
    for host in hosts {
        lines.line("");
        for script in [unpack(nest), work(nest, &part, pace), hand_over(nest), forget(nest)] {
            let words = host.arguments(&options.options, &script);
            let words = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
            words.split('\n').enumerate().for_each(|(number, line)| {
                lines.line(if number == 0 { format!("ssh {line}") } else { line.to_owned() });
            });
        }
    }
    Ok(terminal::print(&lines)?)
}

/// The tasks, and who is at work.
struct Board {
    desk: Mutex<Desk>,
    /// Says that a task came back, or that one has ended.
    changed: Condvar,
}

struct Desk {
    /// Tasks, and how often they were begun.
    waiting: VecDeque<(usize, usize)>,
    at_work: usize,
    /// How many tasks were begun too often.
    dropped: usize,
    /// Why nothing more can be kept.
    broken: Option<Failure>,
}

impl Board {
    fn new(tasks: &[usize]) -> Self {
        let waiting = tasks.iter().map(|task| (*task, 0)).collect();
        let desk = Desk { waiting, at_work: 0, dropped: 0, broken: None };
        Self { desk: Mutex::new(desk), changed: Condvar::new() }
    }

    /// Takes the next task; waits for what others may give back.
    fn take(&self) -> Option<(usize, usize)> {
        let mut desk = self.desk.lock();
        loop {
            if desk.broken.is_some() {
                return None;
            }
            if let Some(task) = desk.waiting.pop_front() {
                desk.at_work += 1;
                return Some(task);
            }
            if desk.at_work == 0 {
                return None;
            }
            self.changed.wait(&mut desk);
        }
    }

    /// Notes what became of a task.
    fn ended(&self, how: impl FnOnce(&mut Desk)) {
        let mut desk = self.desk.lock();
        desk.at_work -= 1;
        how(&mut desk);
        self.changed.notify_all();
    }
}

/// What a host may do wrong.
#[derive(Debug)]
enum Trouble {
    /// It cannot be reached, or not any more.
    Unreached(String),
    /// It cannot do this work.
    Unfit(String),
    /// Something there killed the task.
    Killed(String),
    /// What it did cannot be kept here.
    Broken(Failure),
}

/// This end of all connections.
struct Home<'h> {
    errand: &'h Errand,
    options: &'h On,
    pace: Pace,
    nest: &'h str,
    claim: &'h Claim,
    bar: &'h StudyBar,
    at_work: &'h AtWork,
}

impl Home<'_> {
    /// Lets a host do tasks until there is none, or it cannot.
    fn employ(&self, number: usize, host: &Host, board: &Board) {
        let shown = host.shown();
        let warn = |words: &str| self.bar.beside(|| terminal::warn(&format!("{shown}: {words}")));
        if let Err(trouble) = self.send(host) {
            return warn(&trouble.words());
        }
        let mut losses = 0;
        while let Some((task, begun)) = board.take() {
            self.bar.begin(number, format!("{shown}: task {task}"));
            let done = self.task(number, host, task);
            self.bar.rest(number);
            let Err(trouble) = done else {
                board.ended(|_| {});
                continue;
            };
            if let Trouble::Broken(failure) = trouble {
                return board.ended(|desk| desk.broken = Some(failure));
            }
            warn(&format!("{}; its task {task} is given back", trouble.words()));
            let is_killed = matches!(trouble, Trouble::Killed(_));
            board.ended(|desk| match is_killed && TRIES <= begun + 1 {
                true => desk.dropped += 1,
                false => desk.waiting.push_front((task, begun + usize::from(is_killed))),
            });
            match trouble {
                Trouble::Killed(_) => {}
                Trouble::Unreached(_) if losses + 1 < TRIES && self.send(host).is_ok() => {
                    losses += 1
                }
                _ => return warn("gets no more tasks"),
            }
        }
    }

    /// Sends a host what tasks need, and sees whether it can work with it.
    fn send(&self, host: &Host) -> Result<(), Trouble> {
        let there = LUGGAGE.into_iter().filter(|name| self.errand.folder.join(name).exists());
        let mut pack = Command::new("tar");
        // Links lead to files that the host does not have.
        pack.arg("-C").arg(&self.errand.folder).arg("-chf").arg("-").args(there);
        pack.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut pack = pack.spawn().map_err(|error| missing("tar", &error))?;
        let luggage = pack.stdout.take().expect("it was asked for");
        let sent = self.say(host, &unpack(self.nest), Stdio::from(luggage), Stdio::null());
        // Whoever does not listen lets it end.
        let _ = pack.wait();
        match sent? {
            (Some(0), _) => Ok(()),
            (_, words) => Err(Trouble::Unfit(format!(
                "it cannot take the study's folder and run {PROGRAM}; is it a machine like this one?{words}"
            ))),
        }
    }

    /// Lets a host do a task, and keeps its runs.
    fn task(&self, number: usize, host: &Host, task: usize) -> Result<(), Trouble> {
        let part = format!("{task}/{}", self.errand.tasks);
        let work = work(self.nest, &part, self.pace);
        match self.say(host, &work, Stdio::piped(), Stdio::null())? {
            // Runs that failed are told at the end, whatever host they were on.
            (Some(0 | 1), _) => {}
            (Some(code @ (2 | 3)), words) => {
                return Err(Trouble::Unfit(format!("the task ended with exit code {code}{words}")));
            }
            (Some(code), words) => {
                let words = format!("the task was killed (exit code {code}){words}");
                return Err(Trouble::Killed(words));
            }
            (None, words) => return Err(Trouble::Unreached(format!("ssh was killed{words}"))),
        }
        let place = self.errand.folder.join("ssh").join(format!("from-{}", number + 1));
        self.fetch(host, &place)?;
        self.keep(&place, task).map_err(Trouble::Broken)?;
        self.say(host, &forget(self.nest), Stdio::null(), Stdio::null())?;
        Ok(())
    }

    /// Brings what a host has done into a folder here.
    fn fetch(&self, host: &Host, place: &Path) -> Result<(), Trouble> {
        let unwritten =
            |source| Trouble::Broken(OutputError::Write { path: place.to_owned(), source }.into());
        // What was brought before and not kept comes again.
        let _ = fs::remove_dir_all(place);
        crate::disk::create_dir_all(place).map_err(unwritten)?;
        let mut unpack = Command::new("tar");
        unpack.arg("-C").arg(place).args(["-xf", "-"]);
        unpack.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut unpack = unpack.spawn().map_err(|error| missing("tar", &error))?;
        let runs = unpack.stdin.take().expect("it was asked for");
        let sent = self.say(host, &hand_over(self.nest), Stdio::null(), Stdio::from(runs));
        let unpacked = unpack.wait_with_output();
        match (sent?, unpacked) {
            ((Some(0), _), Ok(unpacked)) if unpacked.status.success() => Ok(()),
            ((Some(0), _), Ok(unpacked)) => {
                let words = last_words(&unpacked.stderr);
                Err(Trouble::Broken(Failure::Environment(anyhow::anyhow!(
                    "tar cannot unpack what came from {}{words}",
                    host.shown()
                ))))
            }
            ((_, words), _) => Err(Trouble::Unreached(format!("its runs did not arrive{words}"))),
        }
    }

    /// Takes over the runs that a folder has and the study has not, and what it says of failed ones.
    fn keep(&self, place: &Path, task: usize) -> Result<(), Failure> {
        let (from, to) = (Store::of(place)?, self.claim.store());
        let told = failed::read(&from)?;
        for id in self.errand.sheet.runs().filter(|id| !to.has(id)) {
            if let Some(run) = from.find(id) {
                self.at_work.begins(id, format!("task {task}"));
                self.claim.take(id, &run)?;
                failed::forget(to, id);
                self.at_work.has_done(id);
                self.bar.tick();
            } else if told.contains_key(id) {
                failed::copy(&from, to, id)?;
                self.at_work.has_failed(id);
                self.bar.tick();
            }
        }
        // So that what is kept is not taken twice.
        to.refresh()?;
        let _ = fs::remove_dir_all(place);
        let _ = fs::remove_dir(place.parent().unwrap_or(place));
        Ok(())
    }

    /// Lets a host obey a script; returns the exit code and the last words.
    fn say(
        &self,
        host: &Host,
        script: &str,
        input: Stdio,
        output: Stdio,
    ) -> Result<(Option<i32>, String), Trouble> {
        let mut ssh = Command::new("ssh");
        ssh.args(host.arguments(&self.options.options, script));
        ssh.stdin(input).stdout(output).stderr(Stdio::piped());
        #[cfg(unix)]
        {
            use std::os::unix::process::CommandExt as _;
            // Ctrl-C is ours; it ends when our pipe does.
            ssh.process_group(0);
        }
        let mut ssh = ssh.spawn().map_err(|error| missing("ssh", &error))?;
        // Not closed before the task has ended: that would end it.
        let held = ssh.stdin.take();
        let mut said = Vec::new();
        if let Some(mut stderr) = ssh.stderr.take() {
            let _ = stderr.read_to_end(&mut said);
        }
        let ended = ssh.wait();
        drop(held);
        let words = last_words(&said);
        match ended.map(|status| status.code()) {
            Ok(Some(UNREACHED)) => Err(Trouble::Unreached(format!("it cannot be reached{words}"))),
            Ok(code) => Ok((code, words)),
            Err(error) => Err(Trouble::Unreached(error.to_string())),
        }
    }
}

impl Trouble {
    fn words(&self) -> String {
        match self {
            Self::Unreached(words) | Self::Unfit(words) | Self::Killed(words) => words.clone(),
            Self::Broken(failure) => failure.words(),
        }
    }
}

/// Returns what is wrong if a program of the system cannot be started.
fn missing(program: &str, error: &std::io::Error) -> Trouble {
    let words = format!("`{program}` cannot be started: {error}");
    Trouble::Broken(Failure::Environment(anyhow::Error::msg(words)))
}

/// Returns the end of what was said, as further lines of a message.
fn last_words(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(&said[said.len().saturating_sub(LAST_WORDS)..]);
    let lines = said.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| format!("\n  {line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::drive::Drive;

    #[test]
    fn a_host_has_a_name_and_maybe_a_user_and_a_port() {
        let host = |name: &str, port| Host { name: name.to_owned(), port };
        assert_eq!(Host::parse("alpha"), Ok(host("alpha", None)));
        assert_eq!(Host::parse("me@beta:2222"), Ok(host("me@beta", Some(2222))));
        for wrong in ["", "-oProxyCommand=sh", "a b", "a:", "a:x", "a:70000", ":22", "a;b", "$(x)"]
        {
            assert!(Host::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_users_options_stand_before_ours_and_the_host_is_no_option() {
        let further = ["-i".to_owned(), "key".to_owned()];
        let words = Host::parse("a:22").unwrap().arguments(&further, "true && it's");
        assert_eq!(&words[..4], ["-i", "key", "-o", "BatchMode=yes"]);
        assert_eq!(&words[words.len() - 5..], ["-p", "22", "--", "a", r"sh -c 'true && it'\''s'"]);
    }

    #[test]
    fn a_task_given_back_is_taken_by_another_and_nobody_waits_in_vain() {
        let board = Board::new(&[3, 5]);
        assert_eq!((board.take(), board.take()), (Some((3, 0)), Some((5, 0))));
        board.ended(|desk| desk.waiting.push_front((3, 1)));
        assert_eq!(board.take(), Some((3, 1)));
        board.ended(|_| {});
        board.ended(|_| {});
        assert_eq!(board.take(), None);
    }

    /// Runs the script of a task, of a program that says nothing and ends when it is told to.
    fn script_of(program: &str) -> (tempfile::TempDir, std::process::Child) {
        let room = tempfile::TempDir::new().unwrap();
        let bin = room.path().join("mumakil/nest it's/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("mumakil"), format!("#!/bin/sh\n{program}\n")).unwrap();
        Command::new("chmod").arg("+x").arg(bin.join("mumakil")).status().unwrap();
        let script = work(
            "nest it's",
            "1/2",
            Pace { jobs: None, time_limit: None, drive: Drive::default() },
        );
        let child = Command::new("sh")
            .args(["-c", &script])
            .env("XDG_CACHE_HOME", room.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        (room, child)
    }

    #[test]
    fn a_task_ends_with_its_own_exit_code_or_with_its_connection() {
        let (_room, mut child) = script_of("exit 7");
        let held = child.stdin.take();
        assert_eq!(child.wait().unwrap().code(), Some(7));
        drop(held);
        let (_room, mut child) = script_of("exec sleep 60");
        drop(child.stdin.take());
        assert_eq!(child.wait().unwrap().code(), Some(143));
    }

    #[test]
    fn studies_do_not_share_a_folder_on_a_host() {
        let of = |machine, folder: &str| nest("s", machine, Path::new(folder));
        assert_eq!(of("m", "/a"), of("m", "/a"));
        assert_ne!(of("m", "/a"), of("m", "/b"));
        assert_ne!(of("m", "/a"), of("n", "/a"));
    }
}
