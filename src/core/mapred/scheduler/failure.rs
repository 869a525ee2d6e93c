//! The failure of a policy that runs as another program, in words.

/// The payload of the panic of a policy that cannot go on; the text says why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFailed(pub String);

/// Results keep the words of a failure. From these words readers learn whether the machine was to
/// blame.
impl PolicyFailed {
    /// The end of the first line if the machine is to blame: the process hardly got a processor.
    pub const BUSY: &str = "the machine was busy";
    /// The words about a limit of real time.
    pub const REAL_TIME: &str = "of real time";
    /// The words about a limit of processor time.
    pub const PROCESSOR_TIME: &str = "processor time";
    /// The beginnings of the lines that show what was exchanged.
    const DIALOGUE: [&str; 4] = ["  asked    ", "  answered ", "  and then ", "  heard    "];

    /// Returns whether the words may be about a limit of time, which a busy machine may be to blame
    /// for.
    pub fn is_limit(words: &str) -> bool {
        [Self::REAL_TIME, Self::PROCESSOR_TIME].iter().any(|limit| words.contains(limit))
    }

    /// Returns whether the machine is to blame. Only the end of the first line says so: what a policy
    /// has written itself stands elsewhere.
    pub fn is_busy(words: &str) -> bool {
        words.lines().next().is_some_and(|line| line.ends_with(Self::BUSY))
    }

    /// Returns the words without what was exchanged.
    pub fn without_dialogue(words: &str) -> String {
        let others =
            words.lines().filter(|line| !Self::DIALOGUE.iter().any(|it| line.starts_with(it)));
        others.collect::<Vec<_>>().join("\n")
    }
}
