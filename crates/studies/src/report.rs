// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The screens of `tidegate reproduce`: verdicts, and the list of studies.

use std::collections::BTreeMap;

use serde::Serialize;
use tidegate_report::{Answer, Page, Report, Table, Tone};

use crate::engine::StudyResult;
use crate::fact::FactResult;
use crate::file::Kind;
use crate::study::Study;
use crate::verdict::Verdict;

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
    faults: Vec<String>,
    points_left_out: usize,
    is_explained: bool,
}

impl VerdictReport {
    /// Reports results; an overview has a line for each study, and otherwise each fact has one.
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

    /// Returns whether every fact agrees or is explained.
    pub fn is_explained(&self) -> bool {
        self.studies.iter().all(|it| it.is_explained)
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
}

impl StudyVerdicts {
    fn of(result: &StudyResult<'_>) -> Self {
        Self {
            study: result.study.name.clone(),
            title: result.study.title().to_owned(),
            note: result.study.file.note.clone(),
            facts: result.facts.clone(),
            faults: result.faults.clone(),
            points_left_out: result.left_out,
            is_explained: result.is_explained(),
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
            vec![Verdict::Unexplained, Verdict::Stale, Verdict::Faulty],
            vec![Verdict::NotRun],
        ];
        let mut row = vec![self.study.clone()];
        row.extend(numbers.iter().map(|it| count(it)));
        row
    }
}

impl Report for VerdictReport {
    fn answer(&self) -> Option<Answer> {
        let agree = self.count(&[Verdict::Reproduced, Verdict::WithinTolerance]);
        let open = self.count(&[Verdict::Unexplained, Verdict::Stale]);
        let faults: usize = self.studies.iter().map(|it| it.faults.len()).sum();
        let faults = faults + self.count(&[Verdict::Faulty]);
        let explained = self.count(&[Verdict::Differs, Verdict::PrintIsWrong]);
        let all = self.facts().count() - self.count(&[Verdict::PictureOnly]);
        let form = if self.is_quick { " (quick form)" } else { "" };
        let (agrees, differs) =
            (one_or(agree, "agrees", "agree"), one_or(explained, "differs", "differ"));
        let text = format!(
            "{agree} of {all} published facts {agrees}, {explained} {differs} for stated reasons{form}"
        );
        Some(match (open, faults) {
            (0, 0) if self.is_interrupted() => Answer::doubtful(format!("Interrupted: {text}")),
            (0, 0) => Answer::good(text),
            _ => Answer::bad(format!("{open} unexplained, {faults} faults: {text}")),
        })
    }

    fn write(&self, page: &mut Page) {
        if self.is_overview {
            writeln!(page);
            let header =
                ["study", "agree", "differ", "print wrong", "not compared", "open", "not run"];
            let rows = self.studies.iter().map(StudyVerdicts::overview).collect();
            let table = Table::new(&header, rows, 1);
            page.put(table.optional(&["not run", "print wrong", "not compared"]));
        }
        for study in &self.studies {
            study.write(page, self.is_overview);
        }
    }
}

impl StudyVerdicts {
    /// Writes the facts; in an overview only those that are open.
    fn write(&self, page: &mut Page, is_overview: bool) {
        let facts: Vec<&FactResult> =
            self.facts.iter().filter(|it| !is_overview || it.verdict.is_open()).collect();
        if is_overview && facts.is_empty() && self.faults.is_empty() {
            return;
        }
        writeln!(page);
        page.paragraph(format_args!("{}: {}", self.study, self.title));
        for fact in facts {
            page.labelled_as(fact.verdict.label(), sentence(fact), tone(fact.verdict));
        }
        for fault in &self.faults {
            page.labelled_as("fault", fault, Some(Tone::Bad));
        }
        if let Some(note) = self.note.as_ref().filter(|_| !is_overview) {
            page.labelled("note", note);
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
        (Some(reason), _) => format!(" Reason: {reason}."),
        (None, Verdict::Unexplained) => " Reason: not found yet.".to_owned(),
        (None, _) => String::new(),
    };
    format!("{}: {}{numbers}{fitted}{reason}", fact.at, fact.says)
}

const fn tone(verdict: Verdict) -> Option<Tone> {
    match verdict {
        Verdict::Reproduced | Verdict::WithinTolerance => Some(Tone::Good),
        Verdict::Differs => Some(Tone::Doubtful),
        Verdict::Unexplained | Verdict::Stale | Verdict::Faulty => Some(Tone::Bad),
        Verdict::PrintIsWrong | Verdict::NotComparable | Verdict::PictureOnly | Verdict::NotRun => {
            None
        }
    }
}

/// The studies that the program contains.
#[derive(Debug, Serialize)]
pub struct StudyList {
    studies: Vec<Listed>,
}

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    title: String,
    items: Vec<String>,
    facts: usize,
}

impl StudyList {
    /// Lists them.
    pub fn of(studies: &[Study]) -> Self {
        let listed = |study: &Study| Listed {
            name: study.name.clone(),
            title: study.title().to_owned(),
            items: study.items().to_vec(),
            facts: study.file.fact.iter().filter(|it| it.kind != Kind::Picture).count(),
        };
        Self { studies: studies.iter().map(listed).collect() }
    }
}

impl Report for StudyList {
    fn answer(&self) -> Option<Answer> {
        let facts: usize = self.studies.iter().map(|it| it.facts).sum();
        Some(Answer::good(format!("{} studies of {facts} published facts", self.studies.len())))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        let row = |it: &Listed| vec![it.name.clone(), it.title.clone(), it.items.join("; ")];
        let rows = self.studies.iter().map(row).collect();
        page.put(
            Table::new(&["study", "shows", "reproduces"], rows, 3)
                .named(1)
                .optional(&["reproduces"]),
        );
    }
}
