// SPDX-License-Identifier: Apache-2.0 OR MIT
//! References to pages of the docs in comments, scripts and other texts, for example
//! `docs/theory/model.md section 14`, `sections 15 to 18 of docs/..`, `docs/.. equation (3.1)`.

use crate::files::line_at;

/// A reference to a page of the docs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The line of the reference, counted from 1.
    pub line: usize,
    /// The page's path from `docs/` on, or only its name if the reference has no folder.
    pub page: String,
    /// The sections that the reference names.
    pub sections: Vec<u32>,
    /// The equations that the reference names.
    pub equations: Vec<String>,
}

/// The largest distance, in bytes, between a page's name and the sections that belong to it.
const NEARBY: usize = 120;

/// Returns the references in a text. A name without `docs/` counts if sections are named near it.
/// Link targets do not count, because links are checked separately.
pub fn find(text: &str) -> Vec<Reference> {
    let ends = text.match_indices(".md").map(|(at, found)| at + found.len());
    let is_end = |end: &usize| !text[*end..].starts_with(|next: char| next.is_alphanumeric());
    ends.filter(is_end).filter_map(|end| reference(text, end)).collect()
}

fn reference(text: &str, end: usize) -> Option<Reference> {
    let is_part = |each: char| each.is_ascii_alphanumeric() || "_-./".contains(each);
    let start = text[..end].trim_end_matches(is_part).len();
    if text[..start].ends_with("](") {
        return None;
    }
    let name = &text[start..end];
    let page = name.find("docs/").map_or(name, |at| &name[at..]).to_owned();
    let after = plain(&text[end..floor(text, end + NEARBY)]);
    let before = plain(&text[floor(text, start.saturating_sub(NEARBY))..start]);
    let (mut sections, equations) = (sections_after(&after), equations_after(&after));
    sections.extend(sections_before(&before));
    let is_cited = !sections.is_empty() || !equations.is_empty();
    let is_ours = page.starts_with("docs/") || (is_cited && !page.contains('/'));
    is_ours.then(|| Reference { line: line_at(text, start), page, sections, equations })
}

/// Returns the nearest character boundary at or before an offset.
fn floor(text: &str, offset: usize) -> usize {
    let offset = offset.min(text.len());
    (0..=offset).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Joins comments into one line, without their markers, code marks and line breaks.
fn plain(text: &str) -> String {
    let marks = |line: &str| line.trim().trim_start_matches(['/', '!', '#', '*']).trim().to_owned();
    let lines: Vec<String> = text.replace('`', "").lines().map(marks).collect();
    lines.join(" ").trim().to_owned()
}

/// Parses `section 3`, `sections 4 (Theorem 2) and 5`, `sections 15 to 18`, or a bare number.
fn sections_after(text: &str) -> Vec<u32> {
    let mut words = text.split_whitespace().peekable();
    if words.peek().is_some_and(|word| word.starts_with("section")) {
        words.next();
    }
    let mut found: Vec<u32> = Vec::new();
    let (mut is_range, mut is_aside) = (false, false);
    for word in words {
        if is_aside || word.starts_with('(') {
            is_aside = !word.contains(')');
        } else {
            let bare = word.trim_end_matches([',', '.', ';', ':', ')']);
            match bare.parse() {
                Ok(last) if is_range => found.extend(found.last().copied().unwrap_or(last)..=last),
                Ok(number) => found.push(number),
                Err(_) if ["to", "and", "or"].contains(&bare) => {}
                Err(_) => break,
            }
            is_range = bare == "to";
        }
        if word.ends_with(['.', ';', ':'])
            || (!is_aside && word.ends_with(')') && !word.contains('('))
        {
            break;
        }
    }
    found
}

/// Parses `.. sections 15 to 18 of `.
fn sections_before(text: &str) -> Vec<u32> {
    let Some(text) = text.strip_suffix(" of") else { return Vec::new() };
    text.rfind("section").map_or_else(Vec::new, |at| sections_after(&text[at..]))
}

/// Parses `equation (3.1)` or `equations (3.1) and (3.2)`.
fn equations_after(text: &str) -> Vec<String> {
    let Some(text) = text.strip_prefix("equation") else { return Vec::new() };
    let words = text.split_whitespace().skip_while(|word| *word == "s");
    let tag = |word: &str| word.trim_matches(|each: char| "(),.;:".contains(each)).to_owned();
    let is_tag =
        |tag: &String| tag == "and" || tag.split('.').all(|part| part.parse::<u32>().is_ok());
    words.map(tag).take_while(is_tag).filter(|tag| tag != "and").collect()
}
