//! Long texts on a terminal: page by page, if there is a program for that.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};

use super::terminal;

/// What shows pages unless `$PAGER` says; it passes colours on.
const DEFAULT: &str = "less -R";

/// Prints a text: through a pager if it is longer than the terminal that it goes to, and as it is
/// elsewhere.
pub(super) fn print(text: &str) -> io::Result<()> {
    let height = terminal::height().map_or(usize::MAX, usize::from);
    if !io::stdout().is_terminal() || text.lines().count() < height {
        return terminal::print(text);
    }
    let pager = std::env::var_os("PAGER").filter(|pager| !pager.is_empty());
    let coloured = anstream::stdout().current_choice() != anstream::ColorChoice::Never;
    let bare = anstream::adapter::strip_str(text).to_string();
    let paged = if coloured { text } else { &bare };
    if page(&pager.unwrap_or_else(|| DEFAULT.into()), paged) {
        Ok(())
    } else {
        terminal::print(text)
    }
}

/// Shows a text with a program; returns whether there was such a program.
fn page(pager: &OsStr, text: &str) -> bool {
    let pager = pager.to_string_lossy();
    let mut words = pager.split_whitespace().map(OsString::from);
    let Some(program) = words.next() else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // `PAGER=less` alone would show colours as letters.
        command.env("LESS", "R");
    }
    // Ctrl-C in a pager is for the pager; if we ended first, it would go on behind the shell.
    let _ = ctrlc::set_handler(|| {});
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // Whoever closes the pager has read enough.
        let _ = stdin.write_all(text.as_bytes());
    }
    let _ = child.wait();
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pager_that_is_missing_shows_nothing() {
        assert!(!page(OsStr::new("no-such-pager -R"), "text"));
        assert!(!page(OsStr::new(" "), "text"));
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
}
