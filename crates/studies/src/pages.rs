// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The documentation's page of sources: each section, theorem, figure and table of the literature
//! with its state. The page is generated from the studies and from `studies/sources.toml`, and a
//! test compares the committed page with the result.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::file::{Basis, FactFile, Kind};
use crate::study::Study;

/// The longest line of the documentation, in columns.
const COLUMNS: usize = 118;

/// The number of the studies' facts for each verdict, and the number of the project's own claims.
/// The study files state the verdicts; `tidegate reproduce` checks them against the runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of facts with a number or a ranking with which our results agree.
    pub agree: usize,
    /// The number of these facts to which a model was fitted.
    pub fitted: usize,
    /// The number of published facts from which our results differ for a stated reason.
    pub differ: usize,
    /// The number of published facts from which our results differ without a known reason.
    pub unexplained: usize,
    /// The number of facts that the source prints wrong.
    pub wrong: usize,
    /// The number of facts that cannot be compared.
    pub not_comparable: usize,
    /// The number of pictures without a number.
    pub pictures: usize,
    /// The number of the project's own claims, which are not published facts.
    pub claims: usize,
}

impl Counts {
    /// Counts the facts of all studies.
    pub fn of(studies: &[Study]) -> Self {
        let counts = Self::of_facts(studies.iter().flat_map(|study| &study.file.fact));
        let claims = studies.iter().map(|study| study.file.expect.len()).sum();
        Self { claims, ..counts }
    }

    fn of_facts<'a>(facts: impl Iterator<Item = &'a FactFile>) -> Self {
        let mut counts = Self::default();
        for fact in facts {
            counts.add(fact);
        }
        counts
    }

    fn add(&mut self, fact: &FactFile) {
        let count = match (fact.kind, &fact.differs, &fact.print_is_wrong, &fact.not_comparable) {
            (Kind::Picture, ..) => &mut self.pictures,
            (_, Some(_), ..) => &mut self.differ,
            _ if fact.unexplained.is_some() => &mut self.unexplained,
            (_, _, Some(_), _) => &mut self.wrong,
            (.., Some(_)) => &mut self.not_comparable,
            _ => {
                self.fitted += usize::from(fact.basis == Basis::Fitted);
                &mut self.agree
            }
        };
        *count += 1;
    }

    /// Returns the number of all facts, without pictures, which state no number.
    pub const fn all(&self) -> usize {
        self.agree + self.differ + self.unexplained + self.wrong + self.not_comparable
    }

    /// Returns the counts in words, including the number of fitted facts among those that agree.
    fn words(&self) -> String {
        let parts = [
            (self.agree, "agree"),
            (self.differ, "differ"),
            (self.unexplained, "unexplained"),
            (self.wrong, "printed wrong"),
            (self.not_comparable, "not comparable"),
            (self.pictures, "picture only"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        if self.fitted > 0 {
            words[0] = format!("{} agree ({} fitted)", self.agree, self.fitted);
        }
        words.join(", ")
    }
}

/// The content of `studies/sources.toml`: the documents with all their items.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    document: Vec<Document>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// The document's short name, with which the names of its items begin.
    name: String,
    /// The document's authors, title and venue.
    title: String,
    item: Vec<Item>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Item {
    /// The item's name, such as `figure 3`.
    #[serde(rename = "item")]
    name: String,
    /// The item's subject.
    about: String,
    /// The item's state, if no study reproduces it.
    #[serde(default)]
    state: Option<String>,
    /// Further reading: text with links.
    #[serde(default)]
    see: Option<String>,
}

/// Returns the generated part of the page; `sources` is the text of `studies/sources.toml`.
///
/// # Errors
/// A fault in `sources`; an item without a state and without a study, or with both; or a study's
/// item that no document contains.
pub fn sources_page(studies: &[Study], sources: &str) -> Result<String, String> {
    let sources: Sources = toml::from_str(sources).map_err(|error| error.to_string())?;
    let mut of_items: BTreeMap<&str, &Study> = BTreeMap::new();
    for study in studies {
        for item in study.items() {
            if let Some(other) = of_items.insert(item, study) {
                return Err(format!("`{item}` has two studies: {} and {}", other.name, study.name));
            }
        }
    }
    let mut page = String::new();
    for document in &sources.document {
        let _ = write!(page, "\n## {}\n\n", document.name);
        page.push_str(&wrapped(&document.title, "", ""));
        page.push_str("\n| item | about | state | more |\n|---|---|---|---|\n");
        for item in &document.item {
            let full = format!("{}, {}", document.name, item.name);
            let study = of_items.remove(full.as_str());
            page.push_str(&row(&full, item, study)?);
        }
    }
    if let Some((item, study)) = of_items.first_key_value() {
        return Err(format!("{}: no document has the item `{item}`", study.name));
    }
    page.push_str(&claims(studies));
    page.push_str(&differences(studies));
    Ok(page)
}

fn row(full: &str, item: &Item, study: Option<&Study>) -> Result<String, String> {
    let see = item.see.clone().unwrap_or_default();
    let (state, more) = match (study, &item.state) {
        (None, Some(state)) => (state.clone(), see),
        (Some(study), None) => {
            let facts = study.file.fact.iter().filter(|fact| fact.at == full);
            let words = Counts::of_facts(facts).words();
            let words = if words.is_empty() { without_facts(study) } else { words };
            let command = format!("`{}`", study.name);
            (words, if see.is_empty() { command } else { format!("{command}; {see}") })
        }
        (None, None) => return Err(format!("`{full}` has neither a study nor a state")),
        (Some(study), Some(_)) => {
            return Err(format!("`{full}` has a state and the study {}", study.name));
        }
    };
    Ok(format!("| {} | {} | {state} | {more} |\n", item.name, item.about))
}

/// Returns the state of an item for which its study states no fact.
fn without_facts(study: &Study) -> String {
    let done = if study.file.figure.is_empty() { "computed" } else { "drawn" };
    match study.file.expect.len() {
        0 => done.to_owned(),
        1 => format!("{done}, 1 claim"),
        claims => format!("{done}, {claims} claims"),
    }
}

/// Returns the page's section of our own claims.
fn claims(studies: &[Study]) -> String {
    let mut page = String::from("\n## What Tidegate claims\n\n");
    for study in studies {
        for claim in &study.file.expect {
            page.push_str(&wrapped(&format!("**{}.** {}", study.name, claim.says), "- ", "  "));
        }
    }
    page
}

/// Returns the page's section of facts that do not agree, with the studies' reasons.
fn differences(studies: &[Study]) -> String {
    let mut page = String::new();
    let titles = [
        ("What differs, and why", "Reason"),
        ("What differs without a known reason", "Ours"),
        ("What is printed wrong", "Reason"),
        ("What cannot be compared", "Reason"),
    ];
    for ((title, label), section) in titles.iter().zip(0..) {
        let _ = write!(page, "\n## {title}\n\n");
        for fact in studies.iter().flat_map(|study| &study.file.fact) {
            let texts =
                [&fact.differs, &fact.unexplained, &fact.print_is_wrong, &fact.not_comparable];
            let reason: &Option<String> = texts[section];
            if let Some(reason) = reason {
                let published = fact.published.as_ref();
                let published = published.map(|it| format!(" Published {}.", it.text));
                let published = published.unwrap_or_default();
                let reason = sentence(reason);
                let shown =
                    if fact.shown.is_some() { " Runs of the study check this." } else { "" };
                page.push_str(&wrapped(
                    &format!("**{}.** {}{published} {label}: {reason}{shown}", fact.at, fact.says),
                    "- ",
                    "  ",
                ));
            }
        }
    }
    page
}

/// Turns a reason into a sentence.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let first: String = letters.next().map(|it| it.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// Wraps a paragraph between words.
fn wrapped(text: &str, first: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    for word in text.split_whitespace() {
        let is_begun = line.len() > first.len().max(indent.len());
        if is_begun && line.chars().count() + 1 + word.chars().count() > COLUMNS {
            let _ = writeln!(lines, "{line}");
            indent.clone_into(&mut line);
        } else if is_begun {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(lines, "{line}");
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_has_either_a_study_or_a_state() {
        let item = |rest: &str| {
            format!(
                "[[document]]\nname = \"D\"\ntitle = \"t\"\n[[document.item]]\nitem = \"figure 1\"\nabout = \"a\"\n{rest}"
            )
        };
        let page = sources_page(&[], &item("state = \"concept\"")).unwrap();
        assert!(page.contains("| figure 1 | a | concept |  |"), "{page}");
        assert!(sources_page(&[], &item("")).unwrap_err().contains("neither"));
    }

    #[test]
    fn a_reason_is_a_sentence() {
        assert_eq!(sentence("it is late"), "It is late.");
    }

    #[test]
    fn paragraphs_are_wrapped() {
        let text = wrapped(&"word ".repeat(40), "- ", "  ");
        assert!(text.lines().all(|line| line.len() <= COLUMNS) && text.lines().count() == 2);
        assert!(text.starts_with("- word") && text.lines().nth(1).unwrap().starts_with("  word"));
    }
}
