//! The programs that policies start, and the right to start them.
//!
//! A scenario may come from another person and name any program. So a program starts only if two
//! things are true: the scenario's check has declared it ([`PolicyProgram`]), and the command line has
//! issued a right ([`ProgramPermit`]). Both are asked in one place, where the process starts.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A program that a policy's options name. The check of these options declares it, by
/// [`Complaint::program`](super::Complaint::program).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PolicyProgram {
    /// The program and its arguments, as they are written.
    pub command: Vec<String>,
    /// The same, with absolute paths for files.
    pub located: Vec<String>,
    /// The names of further environment variables that the program gets.
    pub environment: Vec<String>,
    /// The SHA-256 of each file of the command.
    pub files: BTreeMap<String, String>,
    /// Whether it starts in a sandbox.
    pub is_boxed: bool,
    /// Whether the user has named it on the command line, and so needs no warning.
    pub is_argument: bool,
}

impl PolicyProgram {
    /// Returns whether two programs are the same and may do the same.
    pub fn equals(&self, other: &Self) -> bool {
        self.located == other.located
            && self.environment == other.environment
            && self.files == other.files
            && self.is_boxed == other.is_boxed
    }

    /// Returns the name of a program in reports: its own name, or the first argument that looks like
    /// a script, or the command. `None` if there is no command.
    pub fn title<'w>(
        name: Option<&str>,
        command: impl Iterator<Item = &'w str> + Clone,
    ) -> Option<String> {
        if let Some(name) = name {
            return Some(name.to_owned());
        }
        let script = command.clone().find(|word| {
            let extension = Path::new(word).extension().and_then(OsStr::to_str);
            // `python3.11` is not a script: its extension is a number.
            !word.starts_with('-')
                && extension.is_some_and(|text| text.starts_with(|c: char| c.is_ascii_alphabetic()))
        });
        let file = script.or(command.clone().next())?;
        Some(Path::new(file).file_name()?.to_string_lossy().into_owned())
    }
}

impl fmt::Display for PolicyProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.command.join(" "))
    }
}

/// Warns the user of a program.
pub type ProgramWarning = Arc<dyn Fn(&PolicyProgram) + Send + Sync>;

/// The right to start programs. Only a command line issues more than the default.
#[derive(Clone)]
pub enum ProgramPermit {
    /// No program starts, for this reason.
    Refused(&'static str),
    /// Any program starts, after a warning.
    Warned(ProgramWarning),
    /// Any program starts.
    Trusted,
    /// Any program starts, if it does so in a sandbox.
    Boxed,
    /// Only these programs start.
    Only(Arc<[PolicyProgram]>),
}

impl Default for ProgramPermit {
    fn default() -> Self {
        Self::Refused("nobody has permitted to start programs")
    }
}

impl ProgramPermit {
    /// Returns the reason why no program starts; `None` if some may.
    pub fn refusal(&self) -> Option<&'static str> {
        if let Self::Refused(reason) = self { Some(*reason) } else { None }
    }

    /// Returns whether the user needs no warning about programs.
    pub fn is_trusting(&self) -> bool {
        matches!(self, Self::Trusted | Self::Boxed)
    }
}

/// The right to start programs in one run: the command line's, for the programs of the scenario.
#[derive(Clone, Copy)]
pub struct RunPermit<'s> {
    /// The right that the command line has issued.
    pub issued: &'s ProgramPermit,
    /// The programs that the check of the scenario has declared.
    pub declared: &'s [PolicyProgram],
}

impl RunPermit<'_> {
    /// Asks for the start of a program.
    ///
    /// # Errors
    /// With the reason, if it may not start.
    pub fn ask(&self, program: &PolicyProgram) -> Result<(), String> {
        if let Some(reason) = self.issued.refusal() {
            return Err(reason.to_owned());
        }
        let declared = self.declared.iter().find(|declared| declared.equals(program));
        let Some(declared) = declared else {
            return Err(format!("the check of the scenario has not found the program `{program}`"));
        };
        match self.issued {
            ProgramPermit::Warned(warn) if !declared.is_argument => warn(declared),
            ProgramPermit::Boxed if !program.is_boxed => {
                return Err("it may start in a sandbox alone".to_owned());
            }
            ProgramPermit::Only(those) if !those.iter().any(|one| one.equals(program)) => {
                return Err("it is none of the programs that may start".to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::slice;
    use std::sync::Mutex;

    use super::*;

    fn program(name: &str) -> PolicyProgram {
        PolicyProgram {
            command: vec![name.to_owned()],
            located: vec![format!("/bin/{name}")],
            environment: Vec::new(),
            files: BTreeMap::new(),
            is_boxed: false,
            is_argument: false,
        }
    }

    #[test]
    fn a_program_starts_by_declaration_and_by_right() {
        let (mine, boxed) = (program("mine"), PolicyProgram { is_boxed: true, ..program("mine") });
        let warned = Arc::new(Mutex::new(Vec::new()));
        let notes = warned.clone();
        let warn: ProgramWarning =
            Arc::new(move |program| notes.lock().unwrap().push(program.to_string()));
        let may = |issued: ProgramPermit, declared: &PolicyProgram, program: &PolicyProgram| {
            RunPermit { issued: &issued, declared: slice::from_ref(declared) }.ask(program).is_ok()
        };
        assert!(!may(ProgramPermit::default(), &mine, &mine));
        assert!(!may(ProgramPermit::Trusted, &program("other"), &mine));
        assert!(may(ProgramPermit::Trusted, &mine, &mine));
        assert!(!may(ProgramPermit::Boxed, &mine, &mine));
        assert!(!may(ProgramPermit::Boxed, &mine, &boxed), "declared without its box");
        assert!(may(ProgramPermit::Boxed, &boxed, &boxed));
        assert!(!may(ProgramPermit::Only([program("other")].into()), &mine, &mine));
        assert!(may(ProgramPermit::Only([mine.clone()].into()), &mine, &mine));
        assert_eq!(*warned.lock().unwrap(), [""; 0]);
        assert!(may(ProgramPermit::Warned(warn.clone()), &mine, &mine));
        let named = PolicyProgram { is_argument: true, ..mine.clone() };
        assert!(may(ProgramPermit::Warned(warn), &named, &mine));
        assert_eq!(*warned.lock().unwrap(), ["mine"], "the user has named the second");
    }
}
