//! A dialogue with a program: its start, one exchange after another, and its end.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::options::ExternalOptions;
use super::process::{AnswerLimits, Process};
use super::protocol::{Hello, VERSION, Want, WireFromPolicy, WireHello, WireToPolicy};
use mumakil_base::random::{Dice as _, Purpose, stream};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{ExternalWork, PolicyDialogue, PolicyFailed, RunEndHook, Setting};

/// A program that has begun to answer.
pub(super) struct Dialogue {
    /// The program's name in messages.
    name: String,
    /// The process, which the farewell of the run shares.
    process: Arc<Mutex<Process>>,
    line: Vec<u8>,
    /// Gets a copy of each line that is exchanged; `None` if there is no listener.
    overhear: Option<PolicyDialogue>,
}

impl Dialogue {
    /// Starts the program and greets it. Returns its wishes, and a function that ends it.
    pub(super) fn begin(
        options: &ExternalOptions,
        setting: &Setting<'_>,
    ) -> Result<(Self, WireHello, RunEndHook), String> {
        let name = options.called();
        let blame = |words: String| format!("`{name}`: {words}");
        // There may be several processes, so each line begins with the program's name.
        let tell = {
            let (name, tell) = (name.clone(), setting.tell.clone());
            Arc::new(move |line: &str| tell(&format!("{name}: {line}")))
        };
        let program = options.program(setting.folder);
        setting.programs.ask(&program).map_err(blame)?;
        let mut command = program.located;
        let sandbox = options.sandbox;
        if let Some(sandbox) = sandbox {
            let launcher = setting.launcher.ok_or_else(|| {
                blame("only Mumakil's own program can start it in a sandbox".to_owned())
            })?;
            command = sandbox.around(&command, launcher);
        }
        let real = |span: SimSpan| Duration::from_micros(span.as_micros());
        let limits = AnswerLimits { real: real(options.timeout), processor: None };
        let environment = &options.environment;
        let process =
            Process::start(&command, setting.folder, environment, limits, tell, sandbox.is_some())
                .map_err(blame)?;
        let topology = setting.topology;
        let hello = Hello {
            protocol: VERSION,
            mumakil: env!("CARGO_PKG_VERSION").to_owned(),
            // Only a hash: the seed itself would tell how long all tasks take. 53 bits are a number in
            // every language.
            seed: stream(setting.seed, Purpose::PolicySeed, 0).below(1 << 53) as u64,
            hadoop: setting.line.to_string(),
            trackers: topology
                .nodes()
                .map(|(id, node)| (topology.rack(id).0, node.slots.map, node.slots.reduce))
                .collect(),
            options: options.options.clone(),
        };
        let mut dialogue = Self {
            name: name.clone(),
            process: Arc::new(Mutex::new(process)),
            line: Vec::new(),
            overhear: setting.overhear.clone(),
        };
        let heard = dialogue.say(&WireToPolicy::Hello(hello)).map_err(blame)?;
        // The interpreter may start from a cold disk; from here on answers count.
        if let Some(sandbox) = sandbox {
            dialogue.process.lock().limit(sandbox.answer.map(real));
        }
        let WireFromPolicy::Hello(wishes) = heard else {
            let told = dialogue.process.lock().told();
            return Err(blame("it did not answer `hello` with `hello`".to_owned() + &told));
        };
        // In another version of the protocol, the same words might have another meaning.
        if wishes.protocol != VERSION {
            let theirs = wishes.protocol;
            return Err(blame(format!(
                "it speaks version {theirs} of the protocol, not {VERSION}"
            )));
        }
        if sandbox.is_some() && wishes.wants.contains(&Want::Truth) {
            let words =
                "it wants `truth`, how long each task takes: in a sandbox no policy is told";
            return Err(blame(words.to_owned()));
        }
        let process = dialogue.process.clone();
        let end: RunEndHook = Box::new(move || {
            let mut line = Vec::new();
            write(&mut line, &WireToPolicy::End {})?;
            let mut process = process.lock();
            process.end(&line).map_err(|words| format!("`{name}`: {words}"))?;
            Ok(process.done)
        });
        Ok((dialogue, wishes, end))
    }

    /// Sends a message, and returns its answer. If there is none, the run ends.
    pub(super) fn exchange(&mut self, now: Option<SimTime>, what: &WireToPolicy) -> WireFromPolicy {
        self.say(what).unwrap_or_else(|words| self.give_up(now, &words))
    }

    fn say(&mut self, what: &WireToPolicy) -> Result<WireFromPolicy, String> {
        write(&mut self.line, what)?;
        let mut process = self.process.lock();
        let (heard, waited) = process.ask(&self.line)?;
        if let Some(overhear) = &self.overhear {
            overhear(&self.line, heard);
        }
        let parsed: Result<WireFromPolicy, _> = serde_json::from_slice(heard);
        // Only answers to these messages count as questions of the run.
        if let WireToPolicy::Offer(_) | WireToPolicy::Tick(_) = what {
            process.done += ExternalWork { questions: 1, waited };
        }
        parsed.map_err(|error| format!("what it says is no answer: {error}{}", process.told()))
    }

    /// Ends the run because the program has broken the protocol.
    pub(super) fn fail(&self, now: Option<SimTime>, words: &str) -> ! {
        let told = self.process.lock().told();
        self.give_up(now, &format!("{words}{told}"))
    }

    /// Ends the run with an error.
    fn give_up(&self, now: Option<SimTime>, words: &str) -> ! {
        let name = &self.name;
        let at = now.map_or_else(String::new, |now| format!(" at {now} of the run"));
        // Do not use `panic!`, since its message and backtrace would blame Mumakil. The run's
        // driver catches this unwinding.
        resume_unwind(Box::new(PolicyFailed(format!("`{name}`{at}: {words}"))))
    }
}

fn write(line: &mut Vec<u8>, what: &WireToPolicy) -> Result<(), String> {
    line.clear();
    serde_json::to_writer(&mut *line, what).map_err(|error| error.to_string())?;
    // JSON text contains no line break, so this line break ends the message.
    line.push(b'\n');
    Ok(())
}
