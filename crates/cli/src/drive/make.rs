// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive make`: makes a drive file from the figures of a data sheet.

use std::path::Path;

use tidegate_drive::data_sheet::{BatchOrder, DataSheet, SeekFigures};
use tidegate_measure::{Expected, OutputFile};
use tidegate_report::drive::MakeReport;

use super::arguments::{MakeArguments, OrderArgument};
use crate::failure::Failure;
use crate::show;

/// Runs the command.
pub(crate) fn make(arguments: &MakeArguments) -> Result<(), Failure> {
    let output = OutputFile::prepare(&arguments.output, Expected::Nothing, Path::new(""))
        .map_err(Failure::of_output)?;
    let sheet = data_sheet(arguments);
    let drive = sheet
        .drive_file()
        .map_err(|error| Failure::input(error.to_string(), error.help().to_owned()))?;
    output.publish(&drive, &[]).map_err(Failure::of_output)?;
    show::report_in(&MakeReport::of(&sheet, &drive, &output.name()), arguments.form);
    Ok(())
}

fn data_sheet(arguments: &MakeArguments) -> DataSheet {
    let order = match arguments.order {
        OrderArgument::TwoSweeps => BatchOrder::TwoSweeps,
        OrderArgument::OneSweep => BatchOrder::OneSweep,
        OrderArgument::Any => BatchOrder::Any,
    };
    let seek = SeekFigures {
        track: arguments.seek_track,
        average: arguments.seek_average,
        full: arguments.seek_full,
    };
    DataSheet {
        name: arguments.name.clone(),
        seek,
        write_seek_extra: arguments.write_seek_extra,
        rpm: arguments.rpm,
        rate_min: arguments.rate,
        overhead: arguments.overhead,
        depth: arguments.depth,
        order,
        sizes: arguments.size.clone(),
    }
}
