// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A conformance suite for sporadic servers, which tests whether an implementation executes at most
//! as much as a periodic task with its budget and period.
//!
//! An implementation is any [`tidegate_cpu_servers::Server`]; [`external`] makes one from a program
//! in any language that reads and writes lines. The suite runs it on a simulated processor, with
//! streams that each expose one defect and with random cases, and checks the invariants I1 to I6 in
//! every run. docs/reference/conformance.md is the manual.

mod case;
mod check;
mod diagram;
pub mod external;
mod invariants;
mod liveness;
mod program;
mod random;
mod report;
mod response;
mod stream;
mod supports;
mod trace;
mod watch;

pub use case::{Case, Outcome};
pub use check::check;
pub use diagram::diagram;
pub use invariants::{Invariant, Violation};
pub use program::Program;
pub use random::random_case;
pub use report::{
    Failure, FamilyReport, Implementation, RandomFailure, RandomReport, Report, StreamResult,
    Verdict, test,
};
pub use response::response_max;
pub use stream::{DefectKind, Stream, StreamError, streams};
pub use supports::{Supports, SupportsError};
pub use trace::{EventName, TraceLine};
