// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Results as text for people and JSON for programs, both made from the same value.
//!
//! The crate has one type for each command that has a result; [`Report`] gives its two forms. The
//! crate does not measure, prove, read files or print: the caller provides the result and decides
//! where the report goes. Field names are the keys of the JSON output, on which scripts rely.

mod arrivals;
pub mod attach;
mod certificate;
pub mod check;
pub mod cpu;
pub mod drive;
mod drive_record;
pub mod figures;
pub mod handout;
mod host;
pub mod machine;
pub mod nbd;
mod ns;
pub mod origin;
mod overruns;
mod page;
mod paragraph;
pub mod plan;
pub mod plot;
mod premises;
pub mod profile;
pub mod result;
pub mod run;
pub mod runs;
pub mod sim;
mod soft;
mod structure;
mod tolerance;
pub mod tune;
pub mod watch;
mod xml;

pub use arrivals::arrivals;
pub use certificate::{Certificate, NoCertificate, WorkloadCosts, drain_ns_max};
pub use check::CheckReport;
pub use machine::MachineReport;
pub use ns::Ns;
pub use origin::{FileOrigin, Origin};
pub use page::{Answer, Look, Note, Page, Report, Table, Tone, printable, wrapped};
pub use plan::PlanReport;
pub use profile::ProfileReport;
pub use result::{
    CurvesRecord, DrawnRecord, ResultCommand, ResultFile, RunRecord, SourceRecord, Span,
    UnreadableResult,
};
pub use run::RunReport;
pub use runs::{NotApplicable, PolicyReport};
pub use sim::SimReport;
