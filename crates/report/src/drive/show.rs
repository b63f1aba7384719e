// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive show`: the facts of a drive, with plots.

use serde::Serialize;
use tidegate_model::drive_file::{
    Identity, MeasuredTable, PredictionErrors, SingleTimes, Throughput,
};
use tidegate_model::mechanics::MechanicsError;
use tidegate_model::{Bytes, DriveFile, Grade, Op, PremiseCode, Premises};

use super::list::{DriveReport, TableSize};
use super::{chart, facts, sections};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report};
use crate::paragraph::{self, Fact};
use crate::plot::{Chart, svg};
use crate::profile::usable_file;

/// The facts of a drive.
#[derive(Serialize)]
pub struct ShowReport<'a> {
    #[serde(flatten)]
    drive: DriveReport<'a, BatchTable<'a>>,
    usable: bool,
    usable_because: String,
    identity: &'a Identity,
    premises: &'a Premises,
    drain: Vec<Table<'a>>,
    priority: Vec<Table<'a>>,
    single: &'a [SingleTimes],
    throughput: &'a [Throughput],
    prediction: &'a [PredictionErrors],
    fit: &'a Option<toml::Table>,
    starvation_ns_max: Option<Ns>,
    flush_ns_max: Option<Ns>,
    #[serde(flatten)]
    sections: sections::ByName<'a>,
    #[serde(skip)]
    sentence: String,
    #[serde(skip)]
    facts: Vec<Fact>,
    #[serde(skip)]
    charts: Vec<Chart>,
}

/// A batch table.
#[derive(Serialize)]
struct BatchTable<'a> {
    #[serde(flatten)]
    size: TableSize,
    samples: Option<u64>,
    ns_max: &'a [u64],
}

/// A table other than a batch table.
#[derive(Serialize)]
struct Table<'a> {
    op: Option<&'static str>,
    size_bytes: Option<u64>,
    samples: Option<u64>,
    ns_max: &'a [u64],
}

impl<'a> ShowReport<'a> {
    /// Makes the report on a drive.
    ///
    /// # Errors
    /// If the file's mechanics contradict each other.
    pub fn of(file: &'a DriveFile) -> Result<Self, MechanicsError> {
        let (usable, usable_because) = usable_file(file);
        Ok(Self {
            drive: DriveReport::of(file, BatchTable::of),
            usable,
            usable_because,
            identity: &file.identity,
            premises: &file.premises,
            drain: file.drain.iter().map(Table::of).collect(),
            priority: file.priority.iter().map(Table::of).collect(),
            single: &file.single,
            throughput: &file.throughput,
            prediction: &file.prediction,
            fit: &file.fit,
            starvation_ns_max: Ns::of(file.starvation_max),
            flush_ns_max: Ns::of(file.flush_max),
            sections: sections::all(file)?,
            sentence: facts::sentence(file),
            facts: facts::all(file)?,
            charts: chart::of_drive(file)?,
        })
    }

    /// Draws the charts of the drive as an SVG picture; `None` if it has no charts.
    pub fn draw(&self) -> Option<String> {
        (!self.charts.is_empty()).then(|| svg::draw(self.drive.name, &self.charts))
    }
}

impl Report for ShowReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let Self { sentence, usable, usable_because: because, .. } = self;
        let is_simulated = self.premises.of_code(PremiseCode::Simulated).next().is_some();
        let is_strong = match self.premises.grade() {
            Grade::Strong => true,
            Grade::Weak => false,
        };
        Some(match (usable, is_simulated) {
            (false, _) => {
                Answer::bad(format!("{sentence}; no contract can rest on it: {because}."))
            }
            (true, true) => {
                Answer::doubtful(format!("{sentence}; simulated: it bounds no device."))
            }
            (true, false) if is_strong => {
                Answer::good(format!("{sentence}; contracts can rest on it: {because}."))
            }
            (true, false) => {
                Answer::doubtful(format!("{sentence}; contracts can rest on it: {because}."))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        paragraph::write(&self.facts, page);
        for chart in &self.charts {
            writeln!(page);
            page.chart(chart);
        }
    }
}

impl<'a> BatchTable<'a> {
    fn of(table: &'a MeasuredTable) -> Self {
        Self { size: TableSize::of(table), samples: table.samples, ns_max: &table.ns_max }
    }
}

impl<'a> Table<'a> {
    fn of(table: &'a MeasuredTable) -> Self {
        Self {
            op: table.op.map(Op::name),
            size_bytes: table.size.map(Bytes::get),
            samples: table.samples,
            ns_max: &table.ns_max,
        }
    }
}
