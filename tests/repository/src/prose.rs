// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of `docs/reference/prose.md` that a machine can check. They find certain mistakes and
//! leave all others to readers.

use crate::files::SourceFile;
use crate::markdown::{without_fences, without_spans};
use crate::rust_text::{self, Passage};

/// Words that can only begin questions.
const NO_SUBJECTS: &[&str] = &["Who", "Whoever", "Whatever", "Whose", "Nobody", "What"];

/// Verbs after which `What ..` is a sentence; without a verb it is a title, as in `What it costs.`
const VERBS: &[&str] = &["is", "are", "was", "were", "has", "have", "must", "can", "may", "does"];

/// Forbidden phrases, each with its replacement.
const PHRASES: &[(&str, &str)] = &[
    ("shall", "`must` for a requirement, the present tense for a fact"),
    ("is to be", "`must be`, or the present tense"),
    ("are to be", "`must be`, or the present tense"),
    (", of that", "the noun itself"),
    ("manieth", "`sequence number`"),
    ("dearer", "`more expensive`"),
    ("asked for apart", "`computed separately`"),
    ("come along", "`are included`"),
    ("comes along", "`is included`"),
    ("for whatever it", "`for any`"),
    ("quits at once", "`quits immediately`"),
];

/// Names that are pictures or jokes, each with a term that replaces it.
const NAMES: &[(&str, &str)] = &[
    ("BELL", "wake"),
    ("BREATH", "RETRY_DELAY"),
    ("Desk", "ControlProtocol"),
    ("Door", "Listener"),
    ("Pile", "MpscStack"),
    ("Roster", "ExportTable"),
    ("Say", "LogSink"),
    ("Sending", "DispatchMode"),
    ("Sidelines", "ControlPlane"),
    ("Standing", "the state that it holds"),
    ("Thief", "StolenTime"),
];

/// Keywords that precede the name of an item.
const ITEMS: &[&str] = &["struct", "enum", "trait", "type", "const", "static", "union"];

/// Returns the faults in a file's sentences and names, one line each.
pub fn faults(file: &SourceFile) -> Vec<String> {
    let is_code = file.has_extension(&["rs"]);
    let passages =
        if is_code { rust_text::passages(&file.text) } else { markdown_passages(&file.text) };
    let of_passage = |passage: &Passage| {
        let at = format!("{}:{}", file.path, passage.line);
        passage_faults(&passage.text).into_iter().map(move |fault| format!("{at}: {fault}"))
    };
    let mut faults: Vec<String> = passages.iter().flat_map(of_passage).collect();
    if is_code {
        faults.extend(name_faults(file));
    }
    faults
}

/// Returns paragraphs, list items and table cells, without code.
fn markdown_passages(text: &str) -> Vec<Passage> {
    let text = without_spans(&without_fences(text), 'x');
    let mut found: Vec<Passage> = Vec::new();
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        let (trimmed, line) = (line.trim(), index + 1);
        let begins = trimmed.starts_with(['-', '*', '#', '|']);
        match found.last_mut() {
            Some(last) if is_open && !begins && !trimmed.is_empty() => {
                last.text.push(' ');
                last.text.push_str(trimmed);
            }
            _ => found.extend(trimmed.split('|').map(|cell| {
                let cell = cell.trim();
                let text = cell.strip_prefix(['-', '*']).filter(|_| !cell.starts_with("**"));
                Passage { line, text: text.unwrap_or(cell).trim().to_owned() }
            })),
        }
        is_open = !trimmed.is_empty() && !trimmed.starts_with(['#', '|']);
    }
    found
}

/// Returns the faults of one passage.
fn passage_faults(text: &str) -> Vec<String> {
    let text = without_quotes(&without_spans(without_lead(text), 'x'));
    let mut faults = Vec::new();
    for sentence in sentences(&text) {
        if let Some(first) = free_relative(sentence) {
            faults.push(format!("a sentence begins with `{first}`: name the actor: {sentence}"));
        }
        for (phrase, instead) in PHRASES {
            if has_words(sentence, phrase) {
                faults.push(format!("`{phrase}`: write {instead}: {sentence}"));
            }
        }
    }
    faults
}

/// Returns the text after a lead in bold type.
fn without_lead(text: &str) -> &str {
    let lead = text.strip_prefix("**").and_then(|bold| bold.split_once("**"));
    lead.map_or(text, |(_, rest)| rest.trim_start())
}

/// Returns the first word of a statement if it is a free relative, which must not be the subject.
fn free_relative(sentence: &str) -> Option<&str> {
    let mut words = sentence.split([' ', '\'']);
    let first = words.next().filter(|word| NO_SUBJECTS.contains(word))?;
    let has_verb = words.skip(1).any(|word| VERBS.contains(&word));
    let is_statement = sentence.ends_with(['.', ';', '!', ':']) && sentence.contains(' ');
    (is_statement && (has_verb || first != "What")).then_some(first)
}

/// Returns the text without its double-quoted parts, which are quotations.
fn without_quotes(text: &str) -> String {
    text.split('"').step_by(2).collect::<Vec<_>>().join("..")
}

/// Splits a text into sentences, each with its final punctuation.
fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    for (at, mark) in text.match_indices(['.', '?', '!']) {
        let end = at + mark.len();
        let is_end = text[end..].is_empty() || text[end..].starts_with(' ');
        if is_end && !text[..at].ends_with('.') {
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|sentence| !sentence.is_empty());
    found
}

/// Returns whether a text contains these words consecutively, as whole words.
fn has_words(text: &str, words: &str) -> bool {
    let is_word = |each: char| each.is_alphanumeric() || each == '_' || each == '-';
    text.match_indices(words).any(|(at, found)| {
        let is_mark = found.starts_with(',');
        (is_mark || !text[..at].ends_with(is_word))
            && !text[at + found.len()..].starts_with(is_word)
    })
}

/// Returns the faults of items with forbidden names.
fn name_faults(file: &SourceFile) -> Vec<String> {
    let mut faults = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let mut words = line.split(|each: char| !each.is_alphanumeric() && each != '_');
        let code = line.trim_start();
        if code.starts_with("//") || !words.any(|word| ITEMS.contains(&word)) {
            continue;
        }
        let name = words.find(|word| !word.is_empty()).unwrap_or_default();
        if let Some((_, instead)) = NAMES.iter().find(|(avoided, _)| *avoided == name) {
            let at = format!("{}:{}", file.path, index + 1);
            faults.push(format!("{at}: `{name}` is no term of the field: write `{instead}`"));
        }
    }
    faults
}
