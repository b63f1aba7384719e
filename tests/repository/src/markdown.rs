// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parts of a page that the checks of links and references need: its anchors, section numbers,
//! equation tags and links.

use std::collections::BTreeSet;

use crate::files::line_at;

/// The parts of a page that links and references concern.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Page {
    /// The anchors to which a link's `#` can lead.
    pub anchors: BTreeSet<String>,
    /// The numbers of the page's sections, in order: those of headings that begin like `3. `.
    pub sections: Vec<u32>,
    /// The tags of the page's equations, in order, each with its section.
    pub equations: Vec<(Option<u32>, String)>,
    /// The page's links, in order.
    pub links: Vec<Link>,
}

/// A link of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The line of the link's target, counted from 1.
    pub line: usize,
    /// The link's target as written.
    pub target: String,
}

impl Page {
    /// Parses a page.
    pub fn read(text: &str) -> Self {
        let mut page = Self { links: links(text), ..Self::default() };
        for line in without_fences(text).lines() {
            if let Some(heading) = heading(line) {
                page.add_heading(heading);
            }
            if let Some((_, rest)) = line.split_once("\\tag{") {
                let tag = rest.split('}').next().unwrap_or_default().to_owned();
                page.equations.push((page.sections.last().copied(), tag));
            }
        }
        page
    }

    fn add_heading(&mut self, heading: &str) {
        let anchor = anchor(heading);
        let repeated = (1..).map(|count| format!("{anchor}-{count}"));
        let mut names = std::iter::once(anchor.clone()).chain(repeated);
        let free = names.find(|name| !self.anchors.contains(name));
        self.anchors.extend(free);
        let number = heading.split_once(". ").and_then(|(number, _)| number.parse::<u32>().ok());
        self.sections.extend(number);
    }
}

/// Returns the text of a heading, if the line is one.
pub fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let is_heading = text.len() < line.len() && text.starts_with(' ');
    is_heading.then(|| text.trim())
}

/// Returns the anchor of a heading as mdBook and forges make it: lower case, with hyphens for
/// spaces and without punctuation.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter_map(|each| match each {
        ' ' => Some('-'),
        '-' | '_' => Some(each),
        _ if each.is_alphanumeric() => Some(each),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// Returns the text with the contents of fenced blocks replaced by blanks; line numbers do not
/// change.
pub fn without_fences(text: &str) -> String {
    let mut is_code = false;
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if !is_fence && !is_code {
            kept.push_str(line);
        }
        kept.push('\n');
        is_code ^= is_fence;
    }
    kept
}

/// Returns the text with the contents of code spans replaced by `with`; a span ends with its
/// paragraph.
pub fn without_spans(text: &str, with: char) -> String {
    let mut is_code = false;
    let mut last = ' ';
    let blank = |each: char| {
        is_code = (is_code ^ (each == '`')) && !(each == '\n' && last == '\n');
        last = each;
        if is_code && each != '\n' && each != '`' { with } else { each }
    };
    text.chars().map(blank).collect()
}

fn links(text: &str) -> Vec<Link> {
    let text = without_spans(&without_fences(text), ' ');
    let starts = text.match_indices("](").map(|(at, found)| at + found.len());
    let read = |start: usize| {
        let target = text[start..].split(')').next().unwrap_or_default().trim().to_owned();
        Link { line: line_at(&text, start), target }
    };
    starts.map(read).collect()
}
