// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[host]` table of workload files and serve files: the host's time, or the execution times
//! that a measured interference lengthens.
//!
//! This crate does not read the processor profile: the caller that reads the workload file does, as
//! it reads the drive file.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use crate::entry::{named, within_time_max};
use crate::file_error::FileError;
use crate::host_time::{Host, HostTime};
use crate::premise::Premises;
use crate::units::Duration;

names! {
    /// The bound of a processor profile to use.
    pub enum InterferenceBound {
        /// The line above the measured demand (dissertation 5.4, fit 1).
        Demand => "demand",
        /// The hyperbola above the measured load (dissertation 5.4, fit 2).
        Load => "load",
        /// The measured demand itself, as a staircase.
        Points => "points",
    }
}

/// The measured interference of the host's threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostInterference {
    /// The path of the `*.cpu.toml`, relative to the file.
    pub file: String,
    /// The position of that path in the file.
    pub span: Range<usize>,
    /// The lowest SCHED_FIFO priority of a thread on the way between clients and drive.
    pub priority: u32,
    /// The position of that priority in the file.
    pub priority_span: Range<usize>,
    /// The bound of the profile to use.
    pub bound: InterferenceBound,
    /// The margin added to the bound in every window.
    pub margin: Duration,
}

/// The `[host]` table as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostSection {
    /// The host's times; if there is interference, execution times alone.
    pub times: HostTime,
    /// The interference that lengthens the times; `None` once it has been added to them.
    pub interference: Option<HostInterference>,
    /// The premises of the times.
    pub premises: Premises,
}

impl HostSection {
    /// Returns the host's times; without a section they are unstated.
    ///
    /// # Errors
    /// If the section states interference that was not added to the times because its profile was
    /// not read.
    pub(crate) fn of(section: Option<&Self>) -> Result<Host, FileError> {
        let Some(section) = section else { return Ok(Host::Unstated) };
        match &section.interference {
            None => Ok(Host::Stated(section.times)),
            Some(unread) => Err(FileError::new(
                unread.span.clone(),
                format!("the processor profile {} was not read", unread.file),
                "read it before the drive, or write the times without [host.interference]",
            )),
        }
    }
}

/// `[host]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawHost {
    release: Spanned<Duration>,
    submit: Spanned<Duration>,
    complete: Spanned<Duration>,
    reply: Spanned<Duration>,
    interference: Option<RawHostInterference>,
}

/// `[host.interference]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHostInterference {
    file: Spanned<String>,
    priority: Spanned<u32>,
    bound: Option<Spanned<String>>,
    margin: Option<Spanned<Duration>>,
}

impl RawHost {
    /// Checks the values and returns the section.
    pub(crate) fn read(self) -> Result<HostSection, FileError> {
        let time = |written: &Spanned<Duration>, what: &str| {
            within_time_max(*written.get_ref(), written.span(), &format!("host's `{what}`"))
        };
        let times = HostTime {
            release: time(&self.release, "release")?,
            submit: time(&self.submit, "submit")?,
            complete: time(&self.complete, "complete")?,
            reply: time(&self.reply, "reply")?,
        };
        let interference = self.interference.map(RawHostInterference::read).transpose()?;
        Ok(HostSection { times, interference, premises: Premises::default() })
    }
}

impl RawHostInterference {
    fn read(self) -> Result<HostInterference, FileError> {
        if !(1..=99).contains(self.priority.get_ref()) {
            return Err(FileError::new(
                self.priority.span(),
                "there is no such real-time priority",
                "write the lowest SCHED_FIFO priority of a thread on the way, 1 to 99",
            ));
        }
        let all = &InterferenceBound::ALL;
        let of_name = InterferenceBound::from_name;
        let bound = named(self.bound.as_ref(), "bound of interference", of_name, all)?;
        let margin =
            self.margin.map(|margin| within_time_max(*margin.get_ref(), margin.span(), "margin"));
        Ok(HostInterference {
            span: self.file.span(),
            file: self.file.into_inner(),
            priority: *self.priority.get_ref(),
            priority_span: self.priority.span(),
            bound: bound.unwrap_or(InterferenceBound::Demand),
            margin: margin.transpose()?.unwrap_or_default(),
        })
    }
}
