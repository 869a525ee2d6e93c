//! Printing: results to stdout, messages to stderr; bold text and colours only on a terminal.
//!
//! Only this file writes to stdout and stderr. It prints [`TerminalLines`], in which no name can
//! control the terminal, and files: unchanged, except that control characters are escaped on a
//! terminal. `anstream` removes colours where they cannot be seen (no terminal, `NO_COLOR`,
//! `CLICOLOR`).

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use clap::error::ErrorKind;

use super::known_programs;
use super::lines::{TerminalLines, plain, plain_file, shortened};
use mumakil_core::mapred::PolicyProgram;
use mumakil_scenario::Warning;

/// How many characters of a line of a message are shown.
// Chosen: a value that somebody typed is seen whole, and a few such lines fit a terminal.
const LONGEST: usize = 1_000;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Prints a result. A closed pipe is no error: its reader has seen enough.
pub fn print(lines: &TerminalLines) -> io::Result<()> {
    write(lines.as_str())
}

/// Prints help that clap has formatted from our own texts.
pub fn print_help(help: &clap::builder::StyledStr) -> io::Result<()> {
    write(&format!("{}\n", help.ansi()))
}

/// Prints a file, such as a trace or a table for other programs. Prints it exactly, except on a
/// terminal, where control characters are escaped.
pub fn print_file(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let shown = if stdout.is_terminal() { plain_file(text) } else { text.into() };
    seen_enough(stdout.write_all(shown.as_bytes()).and_then(|()| stdout.flush()))
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = anstream::stdout().lock();
    seen_enough(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// Prints a file as [`print_file`] does, while `write` writes it: off a terminal, no part of it need be
/// in memory.
pub fn print_written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let stdout = io::stdout();
    if stdout.is_terminal() {
        let mut text = Vec::new();
        write(&mut text)?;
        return print_file(&String::from_utf8_lossy(&text));
    }
    let mut to = io::BufWriter::new(stdout.lock());
    seen_enough(write(&mut to).and_then(|()| to.flush()))
}

fn seen_enough(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Returns the line that names the folder of results, and the file to start with.
pub fn results_line(folder: &Path, start: &str) -> TerminalLines {
    TerminalLines::of(format!("wrote {} (start with {start})", folder.display()))
}

/// Returns the width of the terminal behind stdout, in columns; `None` if it is no terminal.
pub fn width() -> Option<u16> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0)
}

/// Prints an error message; its further lines are indented.
pub fn error(message: &str) {
    let mut lines = TerminalLines::default();
    lines.message(message);
    error_of(lines);
}

/// Prints an error message that has its own lines and colours.
pub fn error_of(lines: TerminalLines) {
    say(ERROR, "error", lines);
}

/// Prints a warning.
pub fn warn(message: &dyn Display) {
    let mut lines = TerminalLines::default();
    lines.message(&message.to_string());
    say(WARNING, "warning", lines);
}

/// Prints the warnings about a scenario; with `quiet` only those that a user must not miss. Of a
/// program it warns once.
pub fn warn_all(warnings: &[Warning], quiet: bool) {
    let shown = warnings.iter().filter(|warning| match warning {
        Warning::Program(program) => !known_programs::remember(&program.located),
        _ => !quiet,
    });
    shown.for_each(|warning| warn(warning));
}

/// Warns of a program that is about to start, if the user was not warned of it.
pub fn warn_of(program: &PolicyProgram) {
    warn_all(&[Warning::Program(program.clone())], true);
}

/// Prints a line to stderr: from an external policy, or about the progress.
pub fn pass_on(line: &str) {
    // If stderr is closed, the error cannot be reported anywhere.
    let _ = anstream::stderr().write_all(TerminalLines::of(line).as_str().as_bytes());
}

/// Returns whether stderr is a terminal, on which a user may watch the command.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Prints an error about the command line, or the help that it asks for. clap quotes arguments
/// unchanged; if they are long or have control characters, `of` makes the error again, from arguments
/// that are shortened and escaped.
pub fn print_usage(
    error: clap::Error,
    arguments: Vec<OsString>,
    of: impl FnOnce(Vec<OsString>) -> Option<clap::Error>,
) {
    // clap repeats wrong arguments in its message, so they need escapes like names.
    let safe =
        |argument: &OsString| shortened(&plain(&argument.to_string_lossy()), LONGEST).into_owned();
    let error = if arguments.iter().all(|it| safe(it) == *it.to_string_lossy()) {
        error
    } else {
        match of(arguments.iter().map(|argument| safe(argument).into()).collect()) {
            Some(error) => error,
            // The escaped arguments give no error, so print only the kind of the first error.
            None => return self::error(&error.kind().to_string()),
        }
    };
    // Help goes to stdout. A closed pipe is no error, so ignore it.
    if error.kind() != ErrorKind::ValueValidation {
        let _ = error.print();
        return;
    }
    // Messages of the standard library about wrong numbers use words of Rust: replace them.
    let mut said = error.render().ansi().to_string();
    for (word, better) in NUMBERS {
        said = said.replace(word, better);
    }
    let _ = anstream::stderr().write_all(said.as_bytes());
}

const NUMBERS: [(&str, &str); 4] = [
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("number would be zero for non-zero type", "expected a number above 0"),
    ("number too large to fit in target type", "this number is too large"),
];

fn say(style: Style, word: &str, message: TerminalLines) {
    let mut lines = TerminalLines::default();
    lines.part(style, word);
    lines.part(Style::new(), ": ");
    lines += message.shortened(LONGEST);
    // If stderr is closed, the error cannot be reported anywhere.
    let _ = anstream::stderr().write_all(lines.as_str().as_bytes());
}
