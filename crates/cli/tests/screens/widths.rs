// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: no screen is wider than its terminal. Method: every line of every snapshot is measured.

/// Tells whether a line of a command's output may be wider than its terminal.
type IsExcused = fn(&str, &str) -> bool;

/// Lines that may be wider than the terminal: the reason, and a function that identifies these
/// lines by command and text.
const EXCEPTIONS: [(&str, IsExcused); 6] = [
    ("another program wrote it", |command, _| !command.starts_with("tidegate ")),
    ("a program reads it", |command, _| command.contains(" --json") || command.contains(" | ")),
    ("one line for scripts", |command, _| command.contains(" --quiet") || command.contains(" -q")),
    ("a file on standard output", |command, line| {
        let is_drive_file = command.contains(" profile ") && !command.contains(" -o ");
        command.contains(" --unit") || is_drive_file && line.contains(" = ")
    }),
    ("a line of the reader's file", |_, line| {
        line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" | ")
    }),
    ("a word that no line holds", |_, line| line.split_whitespace().count() == 1),
];

/// Fails if a line of a command's output is wider than `columns` without a reason.
pub(crate) fn assert_fits(command: &str, screen: &str, columns: &str) {
    let width: usize = columns.parse().unwrap();
    let is_excused = |line: &&str| EXCEPTIONS.iter().any(|(_, holds)| holds(command, line));
    let wide = screen.lines().filter(|line| line.chars().count() > width);
    let wide: Vec<&str> = wide.filter(|line| !is_excused(line)).collect();
    assert!(wide.is_empty(), "{command}: wider than {columns}:\n{}", wide.join("\n"));
}
