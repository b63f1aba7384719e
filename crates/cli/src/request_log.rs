// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file with a row for each request, which `sim`, `run` and `watch` write with `--log`.

use tidegate_commands::{LeftOut, RequestLogFile, WhenFull};
use tidegate_host::Observer;
use tidegate_model::{PolicyName, Workload, count};
use tidegate_platform::NewFile;

use crate::arguments::LogArguments;
use crate::failure::Failure;
use crate::show;

/// The log of a command; no file if the user requested none.
#[derive(Debug)]
pub(crate) struct Log(Option<RequestLogFile>);

impl Log {
    /// Refuses impossible destinations before anything runs, and starts the file.
    pub(crate) fn begin(arguments: &LogArguments, workload: &Workload) -> Result<Self, Failure> {
        let Some(file) = prepare(arguments)? else { return Ok(Self(None)) };
        let log = RequestLogFile::begin(file, workload, arguments.log_rows);
        Ok(Self(Some(log.map_err(|fault| Failure::of_file(&fault))?)))
    }

    /// Returns the observer of a run.
    pub(crate) fn of_run(
        &self,
        policy: PolicyName,
        in_flight_max: u32,
        when_full: WhenFull,
    ) -> impl Observer {
        self.0.as_ref().map(|log| log.of_run(policy, in_flight_max, when_full))
    }

    /// Finishes the file, and reports how many rows are missing.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Some(log) = self.0 else { return Ok(()) };
        complain_of(log.finish().map_err(|fault| Failure::of_file(&fault))?);
        Ok(())
    }
}

/// Refuses an impossible destination; `None` if the user requested no log.
pub(crate) fn prepare(arguments: &LogArguments) -> Result<Option<NewFile>, Failure> {
    let file = arguments.log.as_deref().map(NewFile::prepare).transpose();
    file.map_err(|fault| Failure::of_file(&fault))
}

/// Reports how many requests have no row.
pub(crate) fn complain_of(left_out: LeftOut) {
    let LeftOut { beyond_limit, in_haste } = left_out;
    if beyond_limit > 0 {
        show::complain(format!(
            "no row for {}: see --log-rows",
            count(beyond_limit, "more request")
        ));
    }
    if in_haste > 0 {
        show::complain(format!(
            "no row for {}, which ended too fast to log",
            count(in_haste, "request")
        ));
    }
}
