// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads one export as written and checks that its keys agree.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use super::raw::{RawBeyond, RawContract, RawExport};
use super::wanted::Wanted;
use super::written::Written;
use crate::entry::positive;
use crate::export::{BestEffortShare, Beyond, ExportContract, ExportPlace, ExportSpec, NewExport};
use crate::file_error::FileError;
use crate::measurement;
use crate::task::Op;
use crate::units::Bytes;
use crate::workload_file::check_size;

/// The longest name that the NBD protocol carries.
const NAME_BYTES_MAX: usize = 4096;

/// The maximum number of requests in one period; no store serves more.
const REQUESTS_MAX: u32 = 1 << 16;

/// Reads an export, except for its place in the store.
pub(super) fn read(
    raw: &RawExport,
    is_store_read_only: bool,
) -> Result<(ExportSpec, Wanted), FileError> {
    let wanted = Wanted::of(raw)?;
    let is_read_only = raw.read_only || is_store_read_only;
    check_whole(wanted.is_whole(), is_read_only, raw.name.span())?;
    let is_set = |key: &Option<Spanned<bool>>| key.as_ref().is_some_and(|said| *said.get_ref());
    let (is_best_effort, is_soft) = (is_set(&raw.best_effort), is_set(&raw.soft));
    if is_best_effort && is_soft {
        return Err(FileError::new(
            raw.soft.as_ref().map_or(0..0, Spanned::span),
            "the export is both soft real time and best effort",
            "delete one of the two",
        ));
    }
    let contract = match (&raw.contract, is_best_effort) {
        (Some(contract), false) => Some(read_contract(contract, raw.beyond.as_ref())?),
        (None, true) => None,
        (None, false) if is_soft => None,
        (Some(_), true) => {
            return Err(FileError::new(
                raw.name.span(),
                "the export has both a contract and best_effort",
                "delete one of the two; beyond = \"best-effort\" serves what exceeds a contract",
            ));
        }
        (None, false) => {
            return Err(FileError::new(
                raw.name.span(),
                "the export has neither a contract nor best_effort",
                "add contract = { period = \"300ms\", size_max = \"128KiB\" }, or best_effort = true, or \
                 soft = true for a stream without figures",
            ));
        }
    };
    check_share(raw, contract.as_ref(), is_best_effort)?;
    let op_span = contract_that_writes(raw).unwrap_or(0..0);
    check_op(contract.as_ref(), is_read_only, op_span)?;
    let weight = raw.weight.as_ref().map_or(1, |weight| *weight.get_ref());
    let limit = raw.limit.as_ref().map(|limit| *limit.get_ref());
    let name = raw.name.get_ref().clone();
    let share = BestEffortShare { weight, limit };
    let (offset, size) = (Bytes::new(0), Bytes::new(0));
    Ok((ExportSpec { name, offset, size, contract, is_soft, share, is_read_only }, wanted))
}

fn contract_that_writes(raw: &RawExport) -> Option<Range<usize>> {
    let op = raw.contract.as_ref()?.get_ref().op.as_ref()?;
    (*op.get_ref() == Op::Write).then(|| op.span())
}

/// Checks the keys that apply only to best effort.
fn check_share(
    raw: &RawExport,
    contract: Option<&ExportContract>,
    is_best_effort: bool,
) -> Result<(), FileError> {
    let has_best_effort =
        is_best_effort || contract.is_some_and(|terms| terms.beyond == Beyond::BestEffort);
    let written = raw.weight.as_ref().map(Spanned::span).or(raw.limit.as_ref().map(Spanned::span));
    if let Some(span) = written.filter(|_| !has_best_effort) {
        return Err(FileError::new(
            span,
            "weight and limit apply to best effort, but this export has none",
            "delete it, or give the export a contract and beyond = \"best-effort\"",
        ));
    }
    if let Some(weight) = &raw.weight {
        check_weight(*weight.get_ref(), weight.span())?;
    }
    match &raw.beyond {
        Some(beyond) if contract.is_none() => Err(FileError::new(
            beyond.span(),
            "beyond needs a contract, but this export has none",
            "delete the line",
        )),
        _ => Ok(()),
    }
}

fn read_contract(
    contract: &Spanned<RawContract>,
    beyond: Option<&Spanned<RawBeyond>>,
) -> Result<ExportContract, FileError> {
    let raw = contract.get_ref();
    let period = positive(&raw.period, "period")?;
    let deadline = match &raw.deadline {
        Some(deadline) => positive(deadline, "deadline")?,
        None => period,
    };
    let requests = *raw.requests.get_ref();
    check_requests(requests, raw.requests.span())?;
    let beyond = match beyond.map(|beyond| *beyond.get_ref()) {
        Some(RawBeyond::BestEffort) => Beyond::BestEffort,
        Some(RawBeyond::Wait) | None => Beyond::Wait,
    };
    let op = raw.op.as_ref().map(|op| *op.get_ref());
    Ok(ExportContract { requests, period, deadline, size_max: sized(&raw.size_max)?, op, beyond })
}

/// Refuses a stream without figures beside a promised contract: it may send any number of requests,
/// all served before best effort, so nothing beside it can be proved.
pub(super) fn check_streams(exports: &[Written]) -> Result<(), FileError> {
    let promised = exports.iter().find(|export| export.spec.is_promised());
    let stream = exports.iter().find(|export| export.spec.is_undeclared_stream());
    let (Some(promised), Some(stream)) = (promised, stream) else { return Ok(()) };
    let (name, other) = (&stream.spec.name, &promised.spec.name);
    Err(FileError::new(
        stream.wanted.name_span(),
        format!(
            "`{name}` is soft without a contract, so its load is unknown and the contract of `{other}` \
             cannot be proved"
        ),
        format!("add a contract to `{name}`, or soft = true to every export with a contract"),
    ))
}

/// Refuses exports that need the measurements of a drive that the file does not name.
pub(super) fn check_needs_no_drive(
    exports: &[RawExport],
    is_written: bool,
) -> Result<(), FileError> {
    if let Some(contract) = exports.iter().find_map(|export| export.contract.as_ref()) {
        return Err(FileError::new(
            contract.span(),
            "a contract needs the measurements of its drive, but the file names no drive",
            measurement::of_store(*contract.get_ref().size_max.get_ref(), is_written),
        ));
    }
    let soft = exports.iter().find_map(|it| it.soft.as_ref().filter(|soft| *soft.get_ref()));
    soft.map_or(Ok(()), |soft| {
        Err(FileError::new(
            soft.span(),
            "the policy of a soft export needs the measurements of its drive, but the file names no \
             drive",
            measurement::of_store(Bytes::from_kib(128), is_written),
        ))
    })
}

impl NewExport {
    /// Checks an export that was not read from a file, by the same rules as the exports of a file.
    ///
    /// # Errors
    /// The first fault, without a position.
    pub fn check(&self) -> Result<(), FileError> {
        if !is_name(&self.name) {
            return Err(FileError::new(0..0, NAME_FAULT, NAME_HELP));
        }
        check_whole(self.place == ExportPlace::Whole, self.is_read_only, 0..0)?;
        check_weight(self.share.weight, 0..0)?;
        let Some(terms) = &self.contract else { return Ok(()) };
        positive(&Spanned::new(0..0, terms.period), "period")?;
        positive(&Spanned::new(0..0, terms.deadline), "deadline")?;
        check_requests(terms.requests, 0..0)?;
        sized(&Spanned::new(0..0, terms.size_max))?;
        check_op(self.contract.as_ref(), self.is_read_only, 0..0)
    }
}

fn check_whole(is_whole: bool, is_read_only: bool, span: Range<usize>) -> Result<(), FileError> {
    if is_whole && !is_read_only {
        return Err(FileError::new(
            span,
            "a writable export of the whole store overwrites all other exports",
            "add read_only = true",
        ));
    }
    Ok(())
}

fn check_op(
    contract: Option<&ExportContract>,
    is_read_only: bool,
    span: Range<usize>,
) -> Result<(), FileError> {
    if is_read_only && contract.is_some_and(|terms| terms.op == Some(Op::Write)) {
        return Err(FileError::new(
            span,
            "the contract is for writes, but the export is read-only",
            "write op = \"read\", or delete read_only",
        ));
    }
    Ok(())
}

fn check_weight(weight: u32, span: Range<usize>) -> Result<(), FileError> {
    if weight == 0 {
        return Err(FileError::new(
            span,
            "an export of weight 0 would never be served",
            "write a weight from 1 on",
        ));
    }
    Ok(())
}

fn check_requests(requests: u32, span: Range<usize>) -> Result<(), FileError> {
    if requests == 0 || requests > REQUESTS_MAX {
        return Err(FileError::new(
            span,
            format!("a contract cannot have {requests} requests"),
            format!("write the number of requests within one period, from 1 to {REQUESTS_MAX}"),
        ));
    }
    Ok(())
}

const NAME_FAULT: &str = "the name is empty, too long, or contains control characters";
const NAME_HELP: &str = "write a name of printable characters";

/// Returns whether a name can be sent in the protocol.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.chars().any(char::is_control)
}

/// Checks that names are unique and can be sent in the protocol.
pub(super) fn check_names(exports: &[RawExport]) -> Result<(), FileError> {
    let mut names = BTreeSet::new();
    for export in exports {
        let name = export.name.get_ref();
        let fault =
            |message: String, help: &str| Err(FileError::new(export.name.span(), message, help));
        if !is_name(name) {
            return fault(NAME_FAULT.to_owned(), NAME_HELP);
        }
        if !names.insert(name) {
            return fault(
                format!("this is a second export named `{name}`"),
                "give every export a different name",
            );
        }
    }
    Ok(())
}

/// Checks that a size is a whole number of sectors.
pub(super) fn sized(size: &Spanned<Bytes>) -> Result<Bytes, FileError> {
    check_size(size)?;
    Ok(*size.get_ref())
}
