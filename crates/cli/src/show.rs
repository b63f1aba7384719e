// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints to standard output.

use std::io::{IsTerminal, Write as _};
use std::os::fd::AsFd;

use tidegate_report::{Look, Page, Report, printable};

/// Writes to standard output. If the reader has closed it, the process ends silently with the exit
/// code of a program that SIGPIPE ends. Any other error ends the process with a message: results
/// that cannot be written must not look like success.
pub(crate) fn write_out(text: std::fmt::Arguments<'_>) {
    let Err(error) = std::io::stdout().lock().write_fmt(text) else { return };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(141);
    }
    eprintln!("tidegate: cannot write to standard output: {error}");
    std::process::exit(3);
}

/// Works like `print!`, but prints through [`write_out`].
macro_rules! out {
    ($($text:tt)*) => { $crate::show::write_out(format_args!($($text)*)) };
}

/// Works like `println!`, but prints through [`write_out`].
macro_rules! outln {
    () => { $crate::show::write_out(format_args!("\n")) };
    ($($text:tt)*) => {{
        $crate::show::write_out(format_args!($($text)*));
        $crate::show::write_out(format_args!("\n"));
    }};
}

pub(crate) use {out, outln};

/// The amount and the form of a report's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether to print one JSON object.
    pub(crate) is_json: bool,
    /// Whether to print only the first line of the text.
    pub(crate) is_quiet: bool,
}

/// Prints a report in this form.
pub(crate) fn report_in(report: &impl Report, form: impl Into<Form>) {
    let form = form.into();
    if form.is_json {
        outln!("{}", report.to_json());
    } else if let Some(answer) = report.answer().filter(|_| form.is_quiet) {
        outln!("{}", printable(answer.text()));
    } else {
        out!("{}", report.to_text(look()));
    }
}

/// The width of output to a file or another program, in columns.
const COLUMNS_DEFAULT: usize = 80;

/// The width of messages in a log, in columns: each message stays on one line, so that a search
/// finds it.
const COLUMNS_OF_LOG: usize = 10_000;

/// Returns the width of standard output, and whether it shows colours.
pub(crate) fn look() -> Look {
    look_of(&std::io::stdout(), COLUMNS_DEFAULT)
}

/// Returns the width of standard error, and whether it shows colours.
pub(crate) fn look_of_messages() -> Look {
    look_of(&std::io::stderr(), COLUMNS_OF_LOG)
}

/// Returns the width of a stream (`columns_else` if it is not a terminal), and whether it shows
/// colours. `COLUMNS` and `NO_COLOR` are respected.
fn look_of(stream: &(impl IsTerminal + AsFd), columns_else: usize) -> Look {
    let is_terminal = stream.is_terminal();
    let stated = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let of_terminal = || rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col.into());
    let columns = stated.or_else(|| of_terminal().filter(|&columns| is_terminal && columns > 0));
    let is_coloured = is_terminal
        && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty())
        && std::env::var_os("TERM").is_none_or(|it| it != "dumb");
    Look { columns: columns.unwrap_or(columns_else), is_coloured }
}

/// Prints the text that `write` adds to a page.
pub(crate) fn page(write: impl FnOnce(&mut Page)) {
    let mut page = Page::new(look());
    write(&mut page);
    out!("{}", page.into_text());
}

/// Prints the first line that `write` adds to a page, unwrapped.
pub(crate) fn first_line(write: impl FnOnce(&mut Page)) {
    let mut page = Page::new(Look { columns: usize::MAX, is_coloured: false });
    write(&mut page);
    outln!("{}", page.into_text().lines().next().unwrap_or_default());
}

/// Prints a paragraph with its label in a separate column.
pub(crate) fn labelled(label: &str, text: &str) {
    page(|page| page.labelled(label, text));
}

/// Prints to standard error the text that `write` adds to a page.
fn say_page(write: impl FnOnce(&mut Page)) {
    let mut page = Page::new(look_of_messages());
    write(&mut page);
    eprint!("{}", page.into_text());
}

/// Prints a paragraph with its label to standard error.
pub(crate) fn say(label: &str, text: impl std::fmt::Display) {
    say_page(|page| page.labelled(label, text));
}

/// Prints a command that can be pasted to standard error.
pub(crate) fn say_command(label: &str, command: &str) {
    say_page(|page| page.command(label, command));
}

/// Prints lines to standard error, each wrapped with its own indentation.
pub(crate) fn say_lines(text: &str) {
    say_page(|page| page.lines(text));
}

/// Prints a sentence about the command itself to standard error.
pub(crate) fn complain(text: impl std::fmt::Display) {
    say_lines(&format!("tidegate: {text}"));
}
