// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures response times and throughput of an export.

use tidegate_model::{Duration, Op};
use tidegate_nbd::client::Load;
use tidegate_report::nbd::{LoadReport, Place};
use tidegate_stats::{Distribution, Memory};

use super::arguments::{MeasureArguments, PlaceArgument};
use super::{data, leave};
use crate::answer::Answer;
use crate::failure::Failure;
use crate::show;

/// Runs `tidegate nbd measure`.
pub(super) fn measure(arguments: &MeasureArguments) -> Result<Answer, Failure> {
    let address = &arguments.address;
    let op = Op::from(arguments.op);
    let is_write = op == Op::Write;
    if is_write {
        data::must_allow(arguments.allow_writes)?;
    }
    let mut client = address.connect()?;
    let size = data::check_size(&client, arguments.size)?;
    let (place, is_sequential) = match arguments.place {
        PlaceArgument::Random => (Place::Random, false),
        PlaceArgument::Sequential => (Place::Sequential, true),
    };
    let time = std::time::Duration::from_nanos(arguments.duration.ns());
    let &MeasureArguments { depth, seed, .. } = arguments;
    let load = Load { is_write, is_sequential, size, depth, time, seed };
    let mut responses = Distribution::new(Memory::Beforehand);
    let record = |time: std::time::Duration| {
        responses.record(Duration::from_ns(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
    };
    let loaded = client.load(&load, record).map_err(|error| address.failure(error))?;
    let report = LoadReport::of(client.name(), op, place, &load, &loaded, &responses);
    show::report_in(&report, address.form);
    leave(&mut client);
    Ok(Answer::of(loaded.failed == 0 && responses.count() > 0))
}
