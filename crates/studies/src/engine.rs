// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computes the points of studies on all processors, and judges the facts.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::axes::{self, Axis, Point};
use crate::expectation::ExpectationResult;
use crate::expression::{Results, over};
use crate::fact::FactResult;
use crate::file::GridFile;
use crate::row::Row;
use crate::search::search;
use crate::source::{self, Failed, Surroundings};
use crate::study::Study;
use crate::table::TableResult;
use crate::verdict::Verdict;

/// The progress of a run of studies.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The number of points that are done.
    pub done: usize,
    /// The number of all points.
    pub total: usize,
    /// The study of the point that was just completed.
    pub study: &'a str,
}

/// The results of one study.
#[derive(Debug)]
pub struct StudyResult<'a> {
    /// The study that was run.
    pub study: &'a Study,
    /// The verdicts on the published facts, in the file's order.
    pub facts: Vec<FactResult>,
    /// The verdicts on our own claims, in the file's order.
    pub expectations: Vec<ExpectationResult>,
    /// The first fault of each grid.
    pub faults: Vec<String>,
    /// The number of points that an interruption left out.
    pub left_out: usize,
    /// The results of each grid.
    pub(crate) results: Results,
    /// The grids that lack a point; facts that use them get no verdict.
    incomplete: BTreeSet<String>,
}

impl StudyResult<'_> {
    /// Returns the tables for which points were computed.
    ///
    /// # Panics
    /// Never: the check of the study excludes faulty tables.
    pub(crate) fn tables(&self) -> Vec<TableResult> {
        let tables = self.study.file.table.iter();
        let tables = tables.filter(|it| !self.results[&it.grid].is_empty());
        tables.map(|it| TableResult::of(it, &self.results).expect("a checked table")).collect()
    }

    /// Returns whether every fact has the verdict that the study states, and every point has a
    /// value.
    pub fn is_as_stated(&self) -> bool {
        let facts = self.facts.iter().map(|fact| fact.verdict);
        let claims = self.expectations.iter().map(|claim| claim.verdict);
        self.faults.is_empty() && !facts.chain(claims).any(Verdict::is_open)
    }
}

/// One point of one grid.
struct Job<'a> {
    study: usize,
    grid: &'a str,
    file: &'a GridFile,
    point: Point,
}

/// Computes every point of these studies, on all processors at the same time, and judges their
/// facts. Once `cancelled` is set, running simulations end, and only facts whose grids lack no
/// point are judged.
///
/// # Panics
/// If a thread panics.
pub fn reproduce<'a>(
    studies: &'a [Study],
    is_quick: bool,
    progress: &(impl Fn(Progress<'_>) + Sync),
    cancelled: &AtomicBool,
) -> Vec<StudyResult<'a>> {
    let jobs: Vec<Job<'_>> =
        (0..).zip(studies).flat_map(|(index, it)| jobs(index, it, is_quick)).collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let computed: Vec<Mutex<Option<Result<Row, Failed>>>> =
        jobs.iter().map(|_| Mutex::default()).collect();
    let work = || {
        while let Some((index, job)) =
            next_of(&next, &jobs).filter(|_| !cancelled.load(Ordering::Relaxed))
        {
            let study = &studies[job.study];
            let row = compute(study, job, is_quick, cancelled);
            *computed[index].lock().expect("no thread panicked") = Some(row);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress(Progress { done, total: jobs.len(), study: &study.name });
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
    let mut results: Vec<StudyResult<'_>> = studies.iter().map(StudyResult::empty).collect();
    for (job, row) in jobs.iter().zip(computed) {
        results[job.study].add(job, row.into_inner().expect("no thread panicked"));
    }
    for result in &mut results {
        result.judge(is_quick);
    }
    results
}

fn next_of<'a, T>(next: &AtomicUsize, jobs: &'a [T]) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(index).map(|job| (index, job))
}

fn jobs(index: usize, study: &Study, is_quick: bool) -> Vec<Job<'_>> {
    let of_grid = |(name, file): (&'_ String, &'_ GridFile)| {
        let mut axes: BTreeMap<String, Axis> = file.axes.clone();
        if is_quick {
            axes.extend(file.quick.axes.clone());
        }
        axes::points(&axes).into_iter().map(|point| (name.clone(), point)).collect::<Vec<_>>()
    };
    let points: Vec<(String, Point)> = study.file.grid.iter().flat_map(of_grid).collect();
    let job = |(name, point): (String, Point)| {
        let (grid, file) = study.file.grid.get_key_value(&name).expect("a grid of the study");
        Job { study: index, grid, file, point }
    };
    points.into_iter().map(job).collect()
}

/// Computes a point, or runs the search that starts from it.
fn compute(
    study: &Study,
    job: &Job<'_>,
    is_quick: bool,
    cancelled: &AtomicBool,
) -> Result<Row, Failed> {
    let surroundings = Surroundings { study, cancelled };
    let mut source = job.file.source.clone();
    if is_quick {
        source.extend(job.file.quick.source.clone());
    }
    let at = |point: &Point| source::measure(&source, &job.file.measures, point, &surroundings);
    let Some(file) = &job.file.search else { return at(&job.point) };
    let mut is_cancelled = false;
    let row = search(file, &job.point, |point| {
        at(point).map_err(|failed| match failed {
            Failed::Cancelled => {
                is_cancelled = true;
                String::new()
            }
            Failed::Fault(fault) => fault,
        })
    });
    row.map_err(|fault| if is_cancelled { Failed::Cancelled } else { Failed::Fault(fault) })
}

impl<'a> StudyResult<'a> {
    fn empty(study: &'a Study) -> Self {
        let results = study.file.grid.keys().map(|name| (name.clone(), Vec::new())).collect();
        Self {
            study,
            facts: Vec::new(),
            expectations: Vec::new(),
            faults: Vec::new(),
            left_out: 0,
            results,
            incomplete: BTreeSet::new(),
        }
    }

    fn add(&mut self, job: &Job<'_>, row: Option<Result<Row, Failed>>) {
        if !matches!(row, Some(Ok(_))) {
            self.incomplete.insert(job.grid.to_owned());
        }
        match row {
            Some(Ok(row)) => self.results.get_mut(job.grid).expect("a grid").push(row),
            Some(Err(Failed::Fault(fault))) => {
                // Only a grid's first fault is kept, because its other points mostly fail for the
                // same reason.
                let grid = format!("grid `{}`", job.grid);
                if !self.faults.iter().any(|other| other.starts_with(&grid)) {
                    self.faults.push(format!("{grid}, {fault}"));
                }
            }
            Some(Err(Failed::Cancelled)) | None => self.left_out += 1,
        }
    }

    fn judge(&mut self, is_quick: bool) {
        let environment = over(&self.results, &self.incomplete);
        let file = &self.study.file;
        self.facts = file.fact.iter().map(|it| it.judge(&environment, is_quick)).collect();
        self.expectations = file.expect.iter().map(|it| it.judge(&environment, is_quick)).collect();
    }
}
