// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the documentation's commands do what their pages promise. Method: each command that needs
//! neither root nor a device is run, and its exit code is compared with the one on its page. A
//! screen on a page must equal the output of the command before it; `INSTA_UPDATE=always` accepts a
//! changed one.

mod pages;

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

use pages::{DocumentedCommand, Item, Page};

/// The smallest expected number of commands; with fewer, the pages were not found or their blocks
/// are marked wrongly.
const COMMANDS_MIN: usize = 40;

/// The path that replaces the commands' folder in screens.
const HOME: &str = "/home/you";

/// Runs a page's commands in order. Returns the faults, and the number of commands that ran.
fn run(page: &Page) -> (String, usize) {
    // The folder's path always has the same length, because screens are wrapped before they are
    // compared.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let folder = folder.path();
    symlink(pages::repository().join("workloads"), folder.join("workloads")).unwrap();
    let (mut faults, mut count) = (String::new(), 0);
    let mut last: Option<&DocumentedCommand> = None;
    for item in &page.items {
        match item {
            Item::File { name, text } => std::fs::write(folder.join(name), text).unwrap(),
            Item::Command(command) if command.can_run => {
                count += 1;
                last = Some(command);
                if let Some(fault) = fault(folder, command) {
                    let _ = writeln!(faults, "{}: {fault}", page.path.display());
                }
            }
            Item::Text(line) if page.path.starts_with("docs/guide") => {
                let page = page.path.display();
                let _ = writeln!(faults, "{page}: `{line}` is not compared with what is printed");
            }
            Item::Command(_) | Item::Text(_) => {}
            Item::Screen { columns, text } => {
                let command = last.expect("a screen follows its command");
                let shown = output(folder, command, columns).stdout;
                let shown =
                    String::from_utf8_lossy(&shown).replace(&*folder.to_string_lossy(), HOME);
                if shown != *text && is_accepted() {
                    let path = pages::repository().join(&page.path);
                    let now = std::fs::read_to_string(&path).unwrap().replacen(text, &shown, 1);
                    std::fs::write(path, now).unwrap();
                } else if shown != *text {
                    let (page, command) = (page.path.display(), command.words.join(" "));
                    let _ =
                        writeln!(faults, "{page}: `{command}` shows\n{shown}instead of\n{text}");
                }
            }
        }
    }
    (faults, count)
}

/// Returns the command's output if its exit code differs from the one on its page.
fn fault(folder: &Path, command: &DocumentedCommand) -> Option<String> {
    let output = output(folder, command, "80");
    let code = output.status.code();
    (code != Some(command.exit)).then(|| {
        let text = [output.stdout, output.stderr].concat();
        format!("`{}`: {code:?}\n{}", command.words.join(" "), String::from_utf8_lossy(&text))
    })
}

/// Returns whether changed screens are written into their pages.
fn is_accepted() -> bool {
    std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always")
}

fn output(folder: &Path, command: &DocumentedCommand, columns: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tidegate"));
    program.current_dir(folder).args(command.words.iter().skip(1)).env("COLUMNS", columns);
    program.output().unwrap()
}

#[test]
fn documented_commands_do_what_their_pages_say() {
    let pages = pages::pages();
    let ran: Vec<(String, usize)> = std::thread::scope(|scope| {
        let running: Vec<_> = pages.iter().map(|page| scope.spawn(|| run(page))).collect();
        running.into_iter().map(|page| page.join().unwrap()).collect()
    });
    let faults: String = ran.iter().map(|(faults, _)| faults.as_str()).collect();
    assert!(faults.is_empty(), "{faults}");
    assert!(ran.iter().map(|(_, count)| count).sum::<usize>() >= COMMANDS_MIN);
}

#[test]
fn text_of_the_guide_that_nothing_compares_is_found() {
    let page = |path: &str| Page { path: path.into(), items: vec![Item::Text("KEPT".to_owned())] };
    assert!(run(&page("docs/guide/ssd.md")).0.contains("`KEPT` is not compared"));
    assert_eq!(run(&page("docs/reference/json.md")).0, "");
}

#[test]
fn a_command_that_does_something_else_is_found() {
    let words = ["tidegate", "check", "missing.workload.toml"].map(str::to_owned).to_vec();
    let command = DocumentedCommand { words, exit: 0, can_run: true };
    let page = Page { path: "page.md".into(), items: vec![Item::Command(command)] };
    let (faults, count) = run(&page);
    assert!(faults.contains("missing.workload.toml"), "{faults}");
    assert_eq!(count, 1);
}
