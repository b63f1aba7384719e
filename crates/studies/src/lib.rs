// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reproduces the figures and tables of the literature. A study is data: workloads, the axes over
//! which they vary, the measures at each point, and the published facts with which these measures
//! are compared. One engine runs all studies.
//!
//! ```text
//!   study.toml --axes--> points --template--> source --> measures, one row per point
//!                                                            |
//!                    published facts  ------ expressions -----+--> verdicts, tables, figures
//! ```
//! `docs/reference/studies.md` describes the study file, and `docs/decisions/0044-studies.md`
//! explains the design.

mod axes;
mod cell;
mod check;
mod comparison;
mod engine;
mod expectation;
mod expression;
mod fact;
mod figure;
mod file;
mod output;
mod pages;
mod published;
mod report;
mod row;
mod search;
mod source;
mod study;
mod table;
mod template;
mod verdict;

pub use engine::{Progress, StudyResult, reproduce};
pub use expectation::ExpectationResult;
pub use fact::FactResult;
pub use output::{OutputFault, Outputs};
pub use pages::{Counts, sources_page};
pub use report::{StudyList, VerdictReport};
pub use study::{Study, StudyFault, all};
pub use verdict::Verdict;
