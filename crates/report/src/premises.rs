// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Premises as text, and the head of a verdict that rests on them.

use tidegate_model::{Grade, Premises, Weight};

use crate::page::Page;
use crate::paragraph::Fact;

/// Returns each premise with the label of its weight.
pub(crate) fn facts(premises: &Premises) -> impl Iterator<Item = Fact> {
    premises.iter().map(|premise| {
        let label = match premise.weight() {
            Weight::Note => "Note",
            Weight::Weak => "Doubt",
            Weight::Void => "Void",
        };
        (label, premise.text.clone())
    })
}

/// Writes each premise on a line with the label of its weight.
pub(crate) fn write(premises: &Premises, page: &mut Page) {
    facts(premises).for_each(|(label, text)| page.labelled(label, text));
}

/// Writes a proven verdict: `PROVEN: statement.`, or with doubts its grade first.
pub(crate) fn write_proven(
    label: &str,
    grade: Option<Grade>,
    premises: &Premises,
    statement: &str,
    page: &mut Page,
) {
    match grade {
        Some(Grade::Weak) => {
            page.labelled(label, format!("PROVEN, weak: {}", premises.doubts()));
            page.labelled("", capitalised(statement));
        }
        Some(Grade::Strong) | None => page.labelled(label, format!("PROVEN: {statement}")),
    }
}

fn capitalised(sentence: &str) -> String {
    let mut characters = sentence.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
