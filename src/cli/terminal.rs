//! Printing: results to stdout, talk to stderr, bold and colour only for people.
//!
//! `anstream` knows whether somebody sees colours (a terminal, `NO_COLOR`, `CLICOLOR`) and takes
//! them out where nobody does.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

/// The style of the one thing in a block that the eye should find first.
pub(super) const BOLD: Style = Style::new().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints a result. Whoever closes the pipe has seen enough: that is no error.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Returns the line that says where results are, and with which of their files to start.
pub(super) fn wrote(folder: &Path, start: &str) -> String {
    format!("wrote {} (start with {start})\n", folder.display())
}

/// Returns how many columns the terminal has that results are printed to, if it is one.
pub(super) fn width() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0)
}

/// Returns how many lines the terminal has that results are printed to, if it is one.
pub(super) fn height() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| height.0)
}

/// Prints an error.
pub(super) fn error(message: &str) {
    say(ERROR, "error", message);
}

/// Prints a warning.
pub(super) fn warn(message: &dyn Display) {
    say(WARNING, "warning", message);
}

fn say(style: Style, word: &str, message: impl Display) {
    // Without stderr there is nobody left to tell.
    let _ = writeln!(anstream::stderr(), "{style}{word}{style:#}: {message}");
}
