// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Prints to standard output.

use std::io::Write as _;

use tidegate_report::{Page, Report};

/// Writes to standard output. If the reader closed it, the process ends quietly with the exit code
/// of a program that SIGPIPE ends. Any other error ends the process with a message: results that
/// cannot be written must not look like success.
pub(crate) fn write_out(text: std::fmt::Arguments<'_>) {
    let Err(error) = std::io::stdout().lock().write_fmt(text) else { return };
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        std::process::exit(141);
    }
    eprintln!("tidegate: cannot write to standard output: {error}");
    std::process::exit(3);
}

/// `print!` through [`write_out`].
macro_rules! out {
    ($($text:tt)*) => { $crate::show::write_out(format_args!($($text)*)) };
}

/// `println!` through [`write_out`].
macro_rules! outln {
    () => { $crate::show::write_out(format_args!("\n")) };
    ($($text:tt)*) => {{
        $crate::show::write_out(format_args!($($text)*));
        $crate::show::write_out(format_args!("\n"));
    }};
}

pub(crate) use {out, outln};

/// Prints a report as text or as JSON.
pub(crate) fn report(report: &impl Report, is_json: bool) {
    if is_json {
        outln!("{}", report.to_json());
    } else {
        out!("{}", report.to_text());
    }
}

/// Prints the text that `write` puts on a page.
pub(crate) fn page(write: impl FnOnce(&mut Page)) {
    let mut page = Page::default();
    write(&mut page);
    out!("{}", page.into_text());
}

/// Prints a paragraph with its label in a column of its own.
pub(crate) fn labelled(label: &str, text: &str) {
    page(|page| page.labelled(label, text));
}
