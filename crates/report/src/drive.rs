// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate drive`.

mod attached;
pub(crate) mod chart;
mod compare;
mod facts;
mod import;
mod list;
mod make;
mod replay;
mod sections;
mod seek_facts;
mod show;

pub(crate) use chart::{requests, seek_chart, seek_points, times};

pub use attached::{
    AttachReport, AttachedDrive, AttachedReport, AttachmentStatistics, DetachReport, DetachedDrive,
};
pub use compare::CompareReport;
pub use import::ImportReport;
pub use list::ListReport;
pub use make::MakeReport;
pub use replay::{AnyReplayReport, KindResidual, OpenReplayReport, ReplayReport};
pub use show::ShowReport;
