// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Every command in the documentation that needs neither root nor a device does what its page says.
//!
//! Each page has a folder of its own with the files that it shows, beside the repository's
//! `workloads`. That the other commands parse is tested in `src/documented_commands.rs`.

#[path = "../common/mod.rs"]
mod common;
mod pages;

use std::fmt::Write as _;
use std::os::unix::fs::symlink;

use common::Folder;
use pages::{DocumentedCommand, Item, Page};

/// Fewer commands than this: the pages were not found, or are marked as something else.
const COMMANDS_MIN: usize = 40;

/// Runs what a page shows, in its order; what went wrong, and how many commands there were.
fn run(page: &Page) -> (String, usize) {
    let folder = Folder::new();
    symlink(pages::repository().join("workloads"), folder.path().join("workloads")).unwrap();
    let (mut faults, mut count) = (String::new(), 0);
    for item in &page.items {
        match item {
            Item::File { name, text } => {
                folder.file(name, text);
            }
            Item::Command(command) if command.can_run => {
                count += 1;
                if let Some(fault) = fault(&folder, command) {
                    let _ = writeln!(faults, "{}: {fault}", page.path.display());
                }
            }
            Item::Command(_) => {}
        }
    }
    (faults, count)
}

fn fault(folder: &Folder, command: &DocumentedCommand) -> Option<String> {
    let arguments: Vec<&str> = command.words.iter().skip(1).map(String::as_str).collect();
    let mut program = folder.command(&arguments);
    // `serve --print` names the plugin of nbdkit and does not load it.
    let output = program.env("TIDEGATE_PLUGIN", "plugin.so").output().unwrap();
    let code = output.status.code();
    (code != Some(command.exit)).then(|| {
        let text = [output.stdout, output.stderr].concat();
        format!("`{}`: {code:?}\n{}", command.words.join(" "), String::from_utf8_lossy(&text))
    })
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
