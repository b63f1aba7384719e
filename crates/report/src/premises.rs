// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Premises as text, with the commands that remove doubts.

use tidegate_model::{Premise, Premises, Weight};

use crate::page::Page;
use crate::paragraph::Fact;

/// Returns each premise with the label of its weight.
pub(crate) fn facts(premises: &Premises) -> impl Iterator<Item = Fact> {
    premises.iter().map(fact)
}

fn fact(premise: &Premise) -> Fact {
    (label(premise), premise.text.clone())
}

fn label(premise: &Premise) -> &'static str {
    match premise.weight() {
        Weight::Note => "Note",
        Weight::Weak => "Doubt",
        Weight::Void => "Void",
    }
}

/// Writes each premise on a line with the label of its weight.
pub(crate) fn write(premises: &Premises, page: &mut Page) {
    facts(premises).for_each(|(label, text)| page.labelled(label, text));
    write_to_do(premises, page);
}

/// The shortest clause, in characters, that can represent its sentence.
const CLAUSE_MIN: usize = 25;

/// Returns the first clause of a sentence: the observation without its consequences.
fn first_clause(text: &str) -> &str {
    let ends = [": ", "; "].into_iter().filter_map(|end| text.find(end));
    ends.min().filter(|&end| end >= CLAUSE_MIN).map_or(text, |end| &text[..end])
}

/// Writes the first clause of each doubt with its remedy, and only the subject of each note. `more`
/// is the command that prints both in full.
pub(crate) fn write_short(premises: &Premises, more: &str, page: &mut Page) {
    let (notes, others): (Vec<_>, Vec<_>) =
        premises.iter().partition(|premise| premise.weight() == Weight::Note);
    let mut clauses: Vec<(&str, &str)> = Vec::new();
    for premise in &others {
        let clause = (label(premise), first_clause(&premise.text));
        // Two doubts can share their first clause, because later clauses can differ between
        // policies.
        if !clauses.contains(&clause) {
            page.labelled(clause.0, clause.1);
            clauses.push(clause);
        }
    }
    write_to_do(premises, page);
    let mut subjects: Vec<&str> = notes.iter().map(|it| &*it.subject).collect();
    subjects.dedup();
    if !subjects.is_empty() {
        page.labelled("Notes", subjects.join("; "));
    }
    if !premises.is_empty() && !more.is_empty() {
        page.command("More", more);
    }
}

/// Writes each command that removes a doubt once.
fn write_to_do(premises: &Premises, page: &mut Page) {
    let mut commands: Vec<&str> = Vec::new();
    for command in premises.iter().filter_map(|premise| premise.to_do.as_deref()) {
        if !commands.contains(&command) {
            commands.push(command);
        }
    }
    for command in commands {
        page.command("To do", command);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_shortened_to_a_clause_that_says_something() {
        let short = [
            "100 samples of each batch: 72704 are needed",
            "a hypervisor provides vda: no table measured here bounds what it does",
            "the requests differ: the bound charges 3ms",
        ]
        .map(first_clause);
        let expected = [
            "100 samples of each batch",
            "a hypervisor provides vda",
            "the requests differ: the bound charges 3ms",
        ];
        assert_eq!(short, expected);
    }
}
