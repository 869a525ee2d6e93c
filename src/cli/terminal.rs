//! Printing: results to stdout, talk to stderr, bold and colour only for people.
//!
//! Only this file writes to stdout and stderr: [`TerminalLines`], in which no name can steer a
//! terminal, and files, which are exact unless a terminal shows them. `anstream` removes colours
//! where they would not be seen (no terminal, `NO_COLOR`, `CLICOLOR`).

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};

use super::lines::{TerminalLines, plain, plain_file};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints a result. A reader who closes the pipe has seen enough: that is no error.
pub(super) fn print(lines: &TerminalLines) -> io::Result<()> {
    write(lines.as_str())
}

/// Prints the help that the parser of the command line has made of our own words.
pub(super) fn print_help(help: &clap::builder::StyledStr) -> io::Result<()> {
    write(&format!("{}\n", help.ansi()))
}

/// Prints a file, such as a trace or a table for other programs: exactly, but on a terminal what
/// would steer it is shown.
pub(super) fn print_file(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let shown = if stdout.is_terminal() { plain_file(text) } else { text.into() };
    seen_enough(stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush()))
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    seen_enough(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

fn seen_enough(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Returns the line that says where results are, and with which of their files to start.
pub(super) fn results_line(folder: &Path, start: &str) -> TerminalLines {
    TerminalLines::of(format!("wrote {} (start with {start})", folder.display()))
}

/// Returns how many columns the terminal has that results are printed to, if it is one.
pub(super) fn width() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0)
}

/// Returns how many lines the terminal has that results are printed to, if it is one.
pub(super) fn height() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| height.0)
}

/// Returns whether results are seen in colours.
pub(super) fn has_colours() -> bool {
    anstream::stdout().current_choice() != anstream::ColorChoice::Never
}

/// Prints an error; further lines of it are indented.
pub(super) fn error(message: &str) {
    let mut lines = TerminalLines::default();
    lines.message(message);
    error_of(lines);
}

/// Prints an error, which may have lines and colours of its own.
pub(super) fn error_of(lines: TerminalLines) {
    say(ERROR, "error", lines);
}

/// Prints a warning.
pub(super) fn warn(message: &dyn Display) {
    let mut lines = TerminalLines::default();
    lines.message(&message.to_string());
    say(WARNING, "warning", lines);
}

/// Prints a line to stderr: of a policy's program, or about the progress.
pub(super) fn pass_on(line: &str) {
    // If stderr is closed, there is no other place to report that.
    let _ = anstream::stderr().write_all(TerminalLines::of(line).as_str().as_bytes());
}

/// Returns whether a person sees stderr while the command runs.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Prints what is wrong with a command line, or the help that it asks for; `of` says of arguments
/// what is wrong with them. The parser quotes arguments as they are, so it is shown such as cannot
/// steer a terminal.
pub(super) fn print_usage(
    error: clap::Error,
    arguments: Vec<OsString>,
    of: impl FnOnce(Vec<OsString>) -> Option<clap::Error>,
) {
    // The parser repeats wrong arguments in its message, so they need the same care as names.
    let is_harmless =
        |argument: &OsString| plain(&argument.to_string_lossy()) == *argument.to_string_lossy();
    let error = if arguments.iter().all(is_harmless) {
        error
    } else {
        let shown = |argument: OsString| plain(&argument.to_string_lossy()).into_owned().into();
        match of(arguments.into_iter().map(shown).collect()) {
            Some(error) => error,
            // With escapes in place of the characters the arguments are right, so only the kind is
            // left.
            None => return self::error(&error.kind().to_string()),
        }
    };
    // Help goes to stdout and is no error; a reader who closes it has read enough.
    let _ = error.print();
}

fn say(style: Style, word: &str, message: TerminalLines) {
    let mut lines = TerminalLines::default();
    lines.part(style, word);
    lines.part(Style::new(), ": ");
    lines += message;
    // If stderr is closed, there is no other place to report that.
    let _ = anstream::stderr().write_all(lines.as_str().as_bytes());
}
