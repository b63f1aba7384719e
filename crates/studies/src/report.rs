// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The output of `tidegate reproduce`: verdicts, and the list of studies.

mod list;

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_report::{Answer, Page, Report, Table, Tone};

use crate::engine::StudyResult;
use crate::expectation::ExpectationResult;
use crate::fact::FactResult;
use crate::table::TableResult;
use crate::verdict::Verdict;

pub use list::StudyList;

/// The verdicts on the facts of all studies that ran.
#[derive(Debug, Serialize)]
pub struct VerdictReport {
    is_quick: bool,
    counts: BTreeMap<&'static str, usize>,
    studies: Vec<StudyVerdicts>,
    #[serde(skip)]
    is_overview: bool,
}

#[derive(Debug, Serialize)]
struct StudyVerdicts {
    study: String,
    title: String,
    note: Option<String>,
    facts: Vec<FactResult>,
    expectations: Vec<ExpectationResult>,
    tables: Vec<TableResult>,
    faults: Vec<String>,
    points_left_out: usize,
    is_as_stated: bool,
}

impl VerdictReport {
    /// Reports results. An overview has one line for each study; otherwise, each fact has one.
    pub fn of(results: &[StudyResult<'_>], is_quick: bool, is_overview: bool) -> Self {
        let mut counts = BTreeMap::new();
        for fact in results.iter().flat_map(|it| &it.facts) {
            *counts.entry(fact.verdict.words()).or_insert(0) += 1;
        }
        Self {
            is_quick,
            counts,
            studies: results.iter().map(StudyVerdicts::of).collect(),
            is_overview,
        }
    }

    /// Returns whether every fact has the verdict that its study states.
    pub fn is_as_stated(&self) -> bool {
        self.studies.iter().all(|it| it.is_as_stated)
    }

    /// Returns whether an interruption left points out.
    pub fn is_interrupted(&self) -> bool {
        self.studies.iter().any(|it| it.points_left_out > 0)
    }

    fn facts(&self) -> impl Iterator<Item = (&StudyVerdicts, &FactResult)> {
        self.studies.iter().flat_map(|study| study.facts.iter().map(move |fact| (study, fact)))
    }

    fn count(&self, verdicts: &[Verdict]) -> usize {
        self.facts().filter(|(_, fact)| verdicts.contains(&fact.verdict)).count()
    }

    /// Returns the number of our claims that have one of these verdicts.
    fn claims(&self, verdicts: &[Verdict]) -> usize {
        let all = self.studies.iter().flat_map(|study| &study.expectations);
        all.filter(|claim| verdicts.contains(&claim.verdict)).count()
    }

    /// States how many facts agree; `None` if a study has claims and no fact.
    fn facts_in_words(&self) -> Option<String> {
        let agree = self.count(&[Verdict::Reproduced, Verdict::WithinTolerance]);
        let explained = self.count(&[Verdict::Differs, Verdict::PrintIsWrong]);
        let unexplained = self.count(&[Verdict::Unexplained]);
        let all = self.facts().count() - self.count(&[Verdict::PictureOnly]);
        let (agrees, differs) =
            (one_or(agree, "agrees", "agree"), one_or(explained, "differs", "differ"));
        let is_told = all > 0 || self.claims_in_words().is_none();
        is_told.then(|| {
            format!(
                "{agree} of {all} published facts {agrees}, {explained} {differs} for stated reasons, \
                 {unexplained} unexplained"
            )
        })
    }

    /// States how many of our claims hold; `None` if there are none.
    fn claims_in_words(&self) -> Option<String> {
        let all: usize = self.studies.iter().map(|study| study.expectations.len()).sum();
        let hold = self.claims(&[Verdict::Holds]);
        let holds = one_or(hold, "holds", "hold");
        (all > 0).then(|| format!("{hold} of {all} claims of Tidegate {holds}"))
    }
}

impl StudyVerdicts {
    fn of(result: &StudyResult<'_>) -> Self {
        Self {
            study: result.study.name.clone(),
            title: result.study.title().to_owned(),
            note: result.study.file.note.clone(),
            facts: result.facts.clone(),
            expectations: result.expectations.clone(),
            tables: result.tables(),
            faults: result.faults.clone(),
            points_left_out: result.left_out,
            is_as_stated: result.is_as_stated(),
        }
    }

    fn overview(&self) -> Vec<String> {
        let count = |verdicts: &[Verdict]| {
            let count = self.facts.iter().filter(|fact| verdicts.contains(&fact.verdict)).count();
            if count == 0 { String::new() } else { count.to_string() }
        };
        let numbers = [
            vec![Verdict::Reproduced, Verdict::WithinTolerance],
            vec![Verdict::Differs],
            vec![Verdict::PrintIsWrong],
            vec![Verdict::NotComparable, Verdict::PictureOnly],
            vec![Verdict::Unexplained],
            vec![Verdict::NotAsStated, Verdict::Stale, Verdict::Faulty],
            vec![Verdict::NotRun],
        ];
        let hold = self.expectations.iter().filter(|it| it.verdict == Verdict::Holds).count();
        let hold = if hold == 0 { String::new() } else { hold.to_string() };
        let mut row = vec![self.study.clone()];
        row.extend(numbers.iter().map(|it| count(it)).chain([hold]));
        row
    }
}

impl Report for VerdictReport {
    fn answer(&self) -> Option<Answer> {
        let open = self.count(&[Verdict::NotAsStated, Verdict::Stale]);
        let refuted = self.claims(&[Verdict::Refuted]);
        let faults: usize = self.studies.iter().map(|it| it.faults.len()).sum();
        let faults = faults + self.count(&[Verdict::Faulty]) + self.claims(&[Verdict::Faulty]);
        let form = if self.is_quick { " (quick form)" } else { "" };
        let parts = [self.facts_in_words(), self.claims_in_words()];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let text = format!("{}{form}", parts.join("; "));
        Some(match (open + refuted, faults) {
            (0, 0) if self.is_interrupted() => Answer::doubtful(format!("Interrupted: {text}")),
            (0, 0) => Answer::good(text),
            _ if refuted > 0 => {
                let what =
                    format!("{open} not as stated, {refuted} claims refuted, {faults} faults");
                Answer::bad(format!("{what}: {text}"))
            }
            _ => Answer::bad(format!("{open} not as stated, {faults} faults: {text}")),
        })
    }

    fn write(&self, page: &mut Page) {
        if self.is_overview {
            writeln!(page);
            let header = [
                "study",
                "agree",
                "differ",
                "print wrong",
                "not compared",
                "unexplained",
                "open",
                "not run",
                "claims",
            ];
            let rows = self.studies.iter().map(StudyVerdicts::overview).collect();
            let table = Table::new(&header, rows, 1);
            page.put(table.optional(&[
                "not run",
                "print wrong",
                "not compared",
                "claims",
                "unexplained",
            ]));
        }
        for study in &self.studies {
            study.write(page, self.is_overview);
        }
    }
}

impl StudyVerdicts {
    /// Writes the facts; an overview shows only facts with an open verdict.
    fn write(&self, page: &mut Page, is_overview: bool) {
        let is_shown = |verdict: Verdict| !is_overview || verdict.is_open();
        let facts: Vec<&FactResult> = self.facts.iter().filter(|it| is_shown(it.verdict)).collect();
        let claims: Vec<&ExpectationResult> =
            self.expectations.iter().filter(|it| is_shown(it.verdict)).collect();
        if is_overview && facts.is_empty() && claims.is_empty() && self.faults.is_empty() {
            return;
        }
        writeln!(page);
        page.paragraph(format_args!("{}: {}", self.study, self.title));
        for fact in facts {
            page.labelled_as(fact.verdict.label(), sentence(fact), tone(fact.verdict));
        }
        for claim in claims {
            let reason = claim.reason.as_ref().map(|it| format!(" Reason: {it}."));
            let text = format!("{}{}", claim.says, reason.unwrap_or_default());
            page.labelled_as(claim.verdict.label(), text, tone(claim.verdict));
        }
        for fault in &self.faults {
            page.labelled_as("fault", fault, Some(Tone::Bad));
        }
        if let Some(note) = self.note.as_ref().filter(|_| !is_overview) {
            page.labelled("note", note);
        }
        for table in self.tables.iter().filter(|_| !is_overview) {
            writeln!(page);
            page.paragraph(&table.title);
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            page.put(Table::new(&header, table.rows.clone(), table.axes));
        }
    }
}

const fn one_or(count: usize, one: &'static str, other: &'static str) -> &'static str {
    if count == 1 { one } else { other }
}

fn sentence(fact: &FactResult) -> String {
    let numbers = match (&fact.published, &fact.ours) {
        (Some(published), Some(ours)) => format!(" Published {published}, ours {ours}."),
        (Some(published), None) => format!(" Published {published}."),
        (None, _) => String::new(),
    };
    let fitted = if fact.is_fitted { " Fitted." } else { "" };
    let reason = match (&fact.reason, fact.verdict) {
        (Some(reason), Verdict::Unexplained) => format!(" Unexplained: {reason}."),
        (Some(reason), _) => format!(" Reason: {reason}."),
        (None, Verdict::NotAsStated) => " Reason: not found yet.".to_owned(),
        (None, _) => String::new(),
    };
    format!("{}: {}{numbers}{fitted}{reason}", fact.at, fact.says)
}

const fn tone(verdict: Verdict) -> Option<Tone> {
    match verdict {
        Verdict::Reproduced | Verdict::WithinTolerance | Verdict::Holds => Some(Tone::Good),
        Verdict::Differs | Verdict::Unexplained => Some(Tone::Doubtful),
        Verdict::NotAsStated | Verdict::Stale | Verdict::Refuted | Verdict::Faulty => {
            Some(Tone::Bad)
        }
        Verdict::PrintIsWrong | Verdict::NotComparable | Verdict::PictureOnly | Verdict::NotRun => {
            None
        }
    }
}
