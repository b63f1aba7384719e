// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks that this program accepts every command in the documentation. `tests/documented_commands`
//! runs the commands that need neither root nor a device.

use clap::Parser as _;

use crate::arguments::Arguments;

#[path = "../tests/documented_commands/pages.rs"]
mod pages;

use pages::{Item, Page};

/// Returns the faults that clap finds in a page's commands.
fn faults(page: &Page) -> Vec<String> {
    let commands = page.items.iter().filter_map(|item| match item {
        Item::Command(command) => Some(command),
        Item::File { .. } | Item::Screen { .. } | Item::Text(_) => None,
    });
    let refused = commands.filter_map(|command| {
        let error = Arguments::try_parse_from(&command.words).err()?;
        // Output for `--help` and `--version` is not a fault.
        error.use_stderr().then(|| format!("{}: {error}", page.path.display()))
    });
    refused.collect()
}

#[test]
fn documented_commands_parse() {
    let faults: Vec<String> = pages::pages().iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_command_that_does_not_parse_is_found() {
    let words = ["tidegate", "chekc", "a.workload.toml"].map(str::to_owned).to_vec();
    let command = pages::DocumentedCommand { words, exit: 0, can_run: true };
    let page = Page { path: "page.md".into(), items: vec![Item::Command(command)] };
    assert_eq!(faults(&page).len(), 1);
}
