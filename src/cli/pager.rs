//! Shows long texts page by page, if the terminal has a pager.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::interrupt;
use super::lines::TerminalLines;
use super::terminal;

/// The pager if `$PAGER` names none; `-R` keeps colours. If `less` is missing, the text is printed
/// directly.
const DEFAULT: &str = "command -v less > /dev/null || exit 127; exec less -R";
/// The exit codes of a shell that cannot run a program, or cannot find it.
const NO_PROGRAM: [i32; 2] = [126, 127];

/// Prints a text: through a pager if it is longer than the terminal, or directly if it is short or
/// goes to a file.
pub(super) fn print(lines: &TerminalLines) -> io::Result<()> {
    let height = terminal::height().map_or(usize::MAX, usize::from);
    if !io::stdout().is_terminal() || lines.as_str().lines().count() < height {
        return terminal::print(lines);
    }
    let pager = std::env::var_os("PAGER");
    let pager = pager.filter(|pager| !pager.to_string_lossy().trim().is_empty());
    let paged = if terminal::has_colours() { lines.as_str().to_owned() } else { lines.bare() };
    if page(&pager.unwrap_or_else(|| DEFAULT.into()), &paged) {
        Ok(())
    } else {
        terminal::print(lines)
    }
}

/// Shows a text with a pager; returns whether that worked. A shell runs the pager, as POSIX
/// requires: `$PAGER` may have quotes, variables and pipes.
fn page(pager: &OsStr, text: &str) -> bool {
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // `less` without `-R` would show colour codes as letters. Keep LESS if the user has set it.
        command.env("LESS", "R");
    }
    // Leave Ctrl-C to the pager: if this process ended first, the shell and the pager would both
    // read the keys.
    interrupt::ignore_ctrl_c();
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A user who closes the pager early has read enough, so ignore the error.
        let _ = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait();
    ended.is_ok_and(|status| !status.code().is_some_and(|code| NO_PROGRAM.contains(&code)))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pager_that_is_missing_shows_nothing() {
        assert!(!page(OsStr::new("no-such-pager -R 2> /dev/null"), "text"));
        assert!(!page(OsStr::new("/ 2> /dev/null"), "text"));
    }

    #[test]
    fn a_pager_that_ends_early_is_no_error() {
        let text = "more than a pipe holds\n".repeat(100_000);
        assert!(page(OsStr::new("true"), &text));
    }

    #[test]
    fn a_pager_gets_its_options_and_the_whole_text() {
        let room = tempfile::TempDir::new().unwrap();
        let file = room.path().join("paged");
        assert!(page(OsStr::new(&format!("tee {}", file.display())), "one line\n"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "one line\n");
    }

    #[test]
    fn a_pager_is_what_a_shell_takes() {
        let room = tempfile::TempDir::new().unwrap();
        let file = room.path().join("paged in");
        let pager = format!("TIMES=2 sh -c 'head -n $TIMES' | cat > '{}'", file.display());
        assert!(page(OsStr::new(&pager), "one\ntwo\nthree\n"));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "one\ntwo\n");
    }
}
