//! `mumakil live`: a run that users watch in a browser, pause and change.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::gate::Speed;
use crate::server::{Host, Server};
use crate::session::{LiveScene, Session};
use crate::user_action::restricted;
use mumakil_base::units::tell::span;
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::progress::RunBar;
use mumakil_cli::source::{self, Overrides};
use mumakil_cli::{Program, interrupt, run, terminal, verdicts};
use mumakil_run::emulation::{Emulated, EmulationError, KeptRun, Options, Prepared};
use mumakil_run::output::RunFolder;
use mumakil_runtime::Transport;
use mumakil_scenario::{ClockSpec, LoadedScenario, Registry};

/// The time for which the process stays after the session, so that browsers get the last picture.
// Chosen: long enough for several pictures, too short to notice.
const FAREWELL: Duration = Duration::from_millis(300);
/// The longest time for which the process stays so that pages can open the report.
// Chosen: long enough to look at the page's end and to click; a session that nobody looks at ends.
const OFFER: Duration = Duration::from_secs(60);
/// The time for which the process stays when no page listens any more. A page stops listening when
/// the report opens in front of it.
// Chosen: long enough to load the report over a slow connection.
const LOADING: Duration = Duration::from_secs(2);

/// Watch a run in a browser, pause it and change it
///
/// The first line is the address of a page, for a browser on this machine. The run waits there at
/// its beginning. It can be run at any speed, paused, stepped and moved to any instant. While it is
/// paused, jobs can be submitted and killed, nodes stopped and started, and the policy changed.
/// Each of these actions is written into a scenario that repeats the session with the same bytes;
/// the page offers it. Ctrl-C ends the session; with --out, finishing the session in the page
/// writes results.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil live quickstart
  mumakil live mine.yaml --speed 10x --port 8080
  mumakil live mine.yaml --out results/session --set cluster.nodes=50

Exit codes:
  0  the session was finished from its page
  1  the run failed: the policy panicked, no job could continue
  2  the scenario or the command line is wrong
  3  the environment is at fault, such as a port that is taken, or Mumakil itself
  130  Ctrl-C")]
pub(super) struct LiveArguments {
    /// A file, or the name of a scenario that Mumakil brings (see `mumakil list scenarios`)
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The seconds of the run that pass in a real second, such as 60x or 0.1x; `max` for no limit
    #[arg(long, value_name = "FACTOR", default_value = "60x")]
    speed: Speed,
    /// The port of the page; 0 takes a free one
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    port: u16,
    /// The address to listen at. With any other than the default, everybody who can reach it and
    /// has seen the token can watch and act; the token travels unencrypted. It starts no program
    /// that the scenario does not name
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    host: IpAddr,
    /// Write the results of the finished session into a folder, as `mumakil run` does
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// Replace the results of an earlier run; never anything else
    #[arg(long)]
    force: bool,
}

/// A run that has ended.
struct LiveResult {
    prepared: Arc<Prepared>,
    ran: LiveOutput,
}

enum LiveOutput {
    /// The run writes no files.
    Bare(Box<Emulated>),
    /// The run has a folder, which is still hidden.
    Kept(RunFolder, Box<KeptRun>),
}

impl LiveResult {
    fn emulated(&self) -> &Emulated {
        match &self.ran {
            LiveOutput::Bare(emulated) => emulated,
            LiveOutput::Kept(_, kept) => &kept.emulated,
        }
    }

    /// Gives the run's folder, if it has one, its final name, and prints the same lines as `mumakil
    /// run`.
    fn close(self) -> Result<(), Failure> {
        let Self { prepared, ran } = self;
        let LiveOutput::Kept(folder, kept) = ran else { return Ok(()) };
        let target = folder.commit()?;
        run::tell(&prepared, &kept, &target, TerminalLines::default())?;
        run::verdict_of_kept(&prepared, &kept)?;
        verdicts::judge(&kept.verdicts)
    }
}

/// The host of a session, which ends it.
struct Owner {
    /// Whether the session writes results.
    writes: bool,
}

impl Host for Owner {
    fn finish(&self, session: &Session) {
        if self.writes { session.close() } else { session.leave() }
    }
}

/// Waits until browsers have the last picture.
#[expect(clippy::disallowed_methods, reason = "browsers live by the wall clock")]
fn farewell() {
    thread::sleep(FAREWELL);
}

/// Waits while pages offer the report.
#[expect(clippy::disallowed_methods, reason = "browsers live by the wall clock")]
fn offer_report(session: &Session) {
    if session.watchers() == 0 {
        return;
    }
    terminal::pass_on(
        "the page has a link to the report for a minute, or until you leave the page; Ctrl-C ends \
         this at once",
    );
    let since = Instant::now();
    while 0 < session.watchers() && since.elapsed() < OFFER {
        thread::sleep(FAREWELL);
    }
    thread::sleep(LOADING);
}

impl LiveArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        let (draft, loaded) = source::load(&self.scenario, self.overrides.clone(), registry)?;
        let LoadedScenario { scenario, warnings, .. } = loaded;
        if scenario.clock != ClockSpec::Virtual {
            return Err(Failure::input(
                "`live` needs the virtual clock, which can be held up: set `clock=virtual`; --speed \
                 sets the pace",
            ));
        }
        let prepared = source::prepare(&draft, scenario, registry)?;
        terminal::warn_all(&warnings, false);
        let server = Server::listen(self.host, self.port)
            .map_err(|error| Failure::Environment(error.into()))?;
        if !self.host.is_loopback() {
            terminal::warn(&format!(
                "nothing is encrypted: everybody who reads the traffic to {} sees the token, and can watch \
                 and act on the run with it, but starts no program that the scenario does not name; \
                 to keep it secret, leave --host out and reach the port through `ssh -L`",
                self.host
            ));
        }
        // Check now whether the folder can be written, before the user spends an hour on a session.
        drop(self.folder()?);
        terminal::print(&TerminalLines::of(server.url()))?;
        terminal::pass_on("open this address in a browser; Ctrl-C ends the session");
        // From here on, Ctrl-C removes the hidden folder of the run in progress.
        interrupt::guard_results(&RunBar::default());
        let registry = &restricted(registry, &prepared.scenario);
        let session = Session::new(prepared, warnings, registry.clone(), self.speed);
        let host = Owner { writes: self.out.is_some() };
        server.serve(session.clone(), host).map_err(|error| Failure::Environment(error.into()))?;
        let told = self.play(&session, registry);
        // Finish after an error, too: the page has to show that the session is over.
        let failure = told.as_ref().err();
        let report = self.report().filter(|_| failure.is_none());
        let page = report.as_ref().and_then(|report| fs::read_to_string(report).ok());
        let has_page = page.is_some();
        session.finish(self.farewell(failure, report.as_deref()), page);
        farewell();
        if has_page {
            offer_report(&session);
        }
        told
    }

    /// Says to the browsers what is left of the session.
    fn farewell(&self, failure: Option<&Failure>, report: Option<&Path>) -> String {
        match (&self.out, failure, report) {
            (_, Some(failure), _) => failure.words(),
            (None, None, _) => {
                "Nothing was kept: `mumakil live` writes results only with --out.".to_owned()
            }
            // A browser follows no link from this page to a file, so name the file in full: it is
            // there when the server is gone.
            (Some(_), None, Some(report)) => format!("The report: {}", report.display()),
            (Some(out), None, None) => format!("The results: {}", out.display()),
        }
    }

    /// Returns the path of the report; `None` if the session has written none.
    fn report(&self) -> Option<PathBuf> {
        let out = self.out.as_ref()?;
        let folder = std::path::absolute(out).unwrap_or_else(|_| out.clone());
        Some(folder.join("report.html")).filter(|report| report.exists())
    }

    fn folder(&self) -> Result<Option<RunFolder>, Failure> {
        let create = |target| RunFolder::create(target, self.force);
        Ok(self.out.as_deref().map(create).transpose()?)
    }

    /// Runs scene after scene until the session ends; then prints the results of the last scene, if
    /// its run has ended. A scene is one run from its beginning; each action, and each way back in
    /// time, begins a new scene.
    fn play(&self, session: &Arc<Session>, registry: &Registry) -> Result<(), Failure> {
        let mut scene = session.scene();
        loop {
            let played = self.scene(session, registry, &scene);
            let words = match &played {
                // The user has acted or gone back in time, which starts another scene, or has left.
                Ok(None) => match session.given_up() {
                    Some(next) => {
                        scene = next;
                        continue;
                    }
                    None => return Ok(()),
                },
                Ok(Some(whole)) => match run::verdict(&whole.prepared, whole.emulated()) {
                    Ok(()) => {
                        let after = span(whole.emulated().summary.virtual_s);
                        format!("the run is over after {after}")
                    }
                    Err(failure) => failure.words(),
                },
                Err(failure) => failure.words(),
            };
            match session.end(&words) {
                Some(next) => scene = next,
                None => return played.and_then(|whole| whole.map_or(Ok(()), LiveResult::close)),
            }
        }
    }

    /// Runs a scene; returns its run, or `None` if the user gave the scene up.
    fn scene(
        &self,
        session: &Arc<Session>,
        registry: &Registry,
        scene: &LiveScene,
    ) -> Result<Option<LiveResult>, Failure> {
        let pace = Some(session.begin(scene));
        let options = Options { pace, transport: Transport::Actors, ..Options::default() };
        let prepared = scene.prepared.clone();
        // Use a new hidden folder for each scene: dropping it removes the files of a scene that was
        // given up.
        let ran = match self.folder()? {
            Some(folder) => {
                let kept = prepared.fill(&folder, registry, options);
                kept.map(|kept| LiveOutput::Kept(folder, Box::new(kept)))
            }
            None => prepared.emulate(registry, options).map(|ran| LiveOutput::Bare(Box::new(ran))),
        };
        match ran {
            Ok(ran) => Ok(Some(LiveResult { prepared, ran })),
            Err(EmulationError::GivenUp) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}
