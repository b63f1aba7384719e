// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The list of studies.

use serde::Serialize;
use tidegate_report::{Answer, Page, Report, Table};

use crate::file::Kind;
use crate::study::Study;

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
    /// Makes a list of these studies.
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
