// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The commands and files that README, `docs/guide` and `docs/reference` show.
//!
//! A command is a line that begins with `tidegate`, possibly after `$` or `sudo`, in a block marked
//! `sh` or in an unmarked block. A comment before a block can add marks:
//!
//! ```text
//! <!-- file: cameras.workload.toml -->   the block is the contents of this file
//! <!-- needs: device -->                 its commands need something that tests do not have
//! <!-- exit: 1 -->                       its commands exit with this code, not with 0
//! <!-- screen: 80 -->                    the block is what the last command prints at this width
//! ```
//!
//! In the guide, each block marked `text` must be marked as a screen in this way.

use std::fs;
use std::path::{Path, PathBuf};

/// A page, with its commands and files in the order in which a reader meets them.
#[derive(Debug)]
pub(crate) struct Page {
    /// The page's path from the root of the repository.
    pub(crate) path: PathBuf,
    pub(crate) items: Vec<Item>,
}

/// Something on a page that a reader types or saves, or a screen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Item {
    File {
        name: String,
        text: String,
    },
    Command(DocumentedCommand),
    /// Text that the last command prints on a terminal of this width.
    Screen {
        columns: String,
        text: String,
    },
    /// Other text, which nothing compares; only its first line is kept.
    Text(String),
}

/// One command on a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DocumentedCommand {
    /// The command's words: `tidegate` and its arguments.
    pub(crate) words: Vec<String>,
    /// The exit code that the page promises.
    pub(crate) exit: i32,
    /// Whether a test can run it: it needs neither root nor anything else that the page names.
    pub(crate) can_run: bool,
}

/// Returns the root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns all pages that show commands.
pub(crate) fn pages() -> Vec<Page> {
    let mut paths = vec![PathBuf::from("README.md")];
    for folder in ["docs/guide", "docs/reference"] {
        let entries = fs::read_dir(repository().join(folder)).expect("the folder of pages");
        let names = entries.map(|entry| entry.expect("an entry of it").file_name());
        paths.extend(names.map(|name| Path::new(folder).join(name)));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    let page = |path: PathBuf| {
        let text = fs::read_to_string(repository().join(&path)).expect("a page is text");
        Page { items: items(&text), path }
    };
    paths.into_iter().map(page).collect()
}

/// The marks in the comments before a block.
#[derive(Default)]
struct Marks {
    file: Option<String>,
    screen: Option<String>,
    is_needy: bool,
    exit: i32,
}

impl Marks {
    fn read(&mut self, line: &str) {
        let comment = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
        match comment.and_then(|text| text.trim().split_once(": ")) {
            Some(("file", name)) => self.file = Some(name.to_owned()),
            Some(("screen", columns)) => self.screen = Some(columns.to_owned()),
            Some(("needs", _)) => self.is_needy = true,
            Some(("exit", code)) => self.exit = code.parse().expect("an exit code"),
            _ => {}
        }
    }
}

/// Returns the commands and files of a page's text.
fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut marks = Marks::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else {
            marks.read(line.trim());
            continue;
        };
        let block = lines.by_ref().take_while(|line| line.trim() != "```");
        let block: Vec<&str> = block.collect();
        let marks = std::mem::take(&mut marks);
        if let Some(name) = marks.file {
            items.push(Item::File { name, text: block.join("\n") + "\n" });
        } else if let Some(columns) = marks.screen {
            items.push(Item::Screen { columns, text: block.join("\n") + "\n" });
        } else if language == "text" {
            items.push(Item::Text(block.first().copied().unwrap_or_default().to_owned()));
        } else if ["", "sh"].contains(&language) {
            let joined = block.join("\n").replace("\\\n", " ");
            let commands =
                joined.lines().filter_map(|line| command(line, marks.is_needy, marks.exit));
            items.extend(commands.map(Item::Command));
        }
    }
    items
}

/// Returns the command on a line, if there is one.
fn command(line: &str, is_needy: bool, exit: i32) -> Option<DocumentedCommand> {
    let line = line.trim();
    let line = line.strip_prefix("$ ").unwrap_or(line);
    let (line, is_root) = line.strip_prefix("sudo ").map_or((line, false), |line| (line, true));
    let words = words(line);
    let can_run = !is_root && !is_needy;
    (words.first()? == "tidegate").then_some(DocumentedCommand { words, exit, can_run })
}

/// Splits a line into words as a shell does, up to a comment. Pages use no other shell syntax.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars().chain([' ']) {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            ('#', None) if word.is_empty() => break,
            (c, None) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            (c, _) => word.push(c),
        }
    }
    words
}

#[test]
fn pages_are_read_as_readers_read_them() {
    let text = "Text with `tidegate check a`.\n\n<!-- file: a.toml -->\n```toml\nx = 1\n```\n\
                <!-- exit: 1 -->\n```sh\n$ tidegate check a.toml   # says no\ncp a b\n\
                tidegate sim \\\n    'b c'\n```\n```\nsudo tidegate drive detach\n```\n\
                ```text\ntidegate is not run here\n```\n<!-- screen: 80 -->\n```text\nKEPT\n```\n<!-- needs: device -->\n```sh\n\
                tidegate profile /dev/sdb\n```\n";
    let command = |words: &[&str], exit, can_run| {
        let words = words.iter().map(|&word| word.to_owned()).collect();
        Item::Command(DocumentedCommand { words, exit, can_run })
    };
    let expected = [
        Item::File { name: "a.toml".to_owned(), text: "x = 1\n".to_owned() },
        command(&["tidegate", "check", "a.toml"], 1, true),
        command(&["tidegate", "sim", "b c"], 1, true),
        command(&["tidegate", "drive", "detach"], 0, false),
        Item::Text("tidegate is not run here".to_owned()),
        Item::Screen { columns: "80".to_owned(), text: "KEPT\n".to_owned() },
        command(&["tidegate", "profile", "/dev/sdb"], 0, false),
    ];
    assert_eq!(items(text), expected);
}
