// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Moves data between an export and a file.

use std::fs::File;
use std::io::{self, IsTerminal as _, Read, Write};
use std::path::Path;

use tidegate_model::Bytes;
use tidegate_nbd::wire;
use tidegate_report::nbd::MovedReport;

use super::arguments::{ReadArguments, WriteArguments};
use super::{Client, leave};
use crate::failure::Failure;
use crate::show;

/// The number of bytes per request.
const PIECE_BYTES: u64 = 1 << 20;

/// Runs `tidegate nbd read`.
pub(super) fn read(arguments: &ReadArguments) -> Result<(), Failure> {
    let address = &arguments.address;
    let mut out: Box<dyn Write> = match &arguments.output {
        Some(path) => Box::new(File::create(path).map_err(|error| of_file(path, &error))?),
        None if !address.form.is_full() => {
            let help = "add --output FILE: standard output is the data's otherwise";
            return Err(Failure::input("the data and the report need different places", help));
        }
        None if io::stdout().is_terminal() => {
            let help = "add --output FILE, or send standard output to a file or a program";
            return Err(Failure::input("the data would go to the terminal", help));
        }
        None => Box::new(io::stdout()),
    };
    let mut client = address.connect()?;
    let begin = arguments.offset.get();
    let size = arguments.size.map_or(client.size().saturating_sub(begin), Bytes::get);
    check(&client, begin, size)?;
    let end = begin + size;
    for offset in (begin..end).step_by(usize::try_from(PIECE_BYTES).expect("it is small")) {
        let length = usize::try_from(PIECE_BYTES.min(end - offset)).expect("at most a piece");
        let read = client.read(offset, length).map_err(|error| address.failure(error))?;
        let data = read.map_err(|failure| refused(offset, failure))?;
        out.write_all(&data).map_err(|error| Failure::environment(&error))?;
    }
    out.flush().map_err(|error| Failure::environment(&error))?;
    if let Some(path) = &arguments.output {
        let to = path.display().to_string();
        show::report_in(&MovedReport::read(client.name(), begin, size, &to), address.form);
    }
    leave(&mut client);
    Ok(())
}

/// Runs `tidegate nbd write`.
pub(super) fn write(arguments: &WriteArguments) -> Result<(), Failure> {
    let address = &arguments.address;
    must_allow(arguments.allow_writes)?;
    let mut data: Box<dyn Read> = match &arguments.input {
        Some(path) => Box::new(File::open(path).map_err(|error| of_file(path, &error))?),
        None => Box::new(io::stdin()),
    };
    let mut client = address.connect()?;
    let begin = arguments.offset.get();
    let mut offset = begin;
    loop {
        let mut piece = Vec::new();
        let read = data.by_ref().take(PIECE_BYTES).read_to_end(&mut piece);
        read.map_err(|error| Failure::environment(&error))?;
        if piece.is_empty() {
            break;
        }
        check(&client, offset, piece.len() as u64)?;
        let wrote = client.write(offset, &piece, false).map_err(|error| address.failure(error))?;
        wrote.map_err(|failure| refused(offset, failure))?;
        offset += piece.len() as u64;
    }
    let can_flush = client.flags() & wire::FLAG_SEND_FLUSH != 0;
    if can_flush {
        let flushed = client.flush().map_err(|error| address.failure(error))?;
        flushed.map_err(|failure| refused(begin, failure))?;
    }
    let report = MovedReport::written(client.name(), begin, offset - begin, can_flush);
    show::report_in(&report, address.form);
    leave(&mut client);
    Ok(())
}

/// Refuses to write unless the command line permits it.
pub(super) fn must_allow(is_allowed: bool) -> Result<(), Failure> {
    if is_allowed {
        return Ok(());
    }
    let help = "add --allow-writes if the data there may be lost";
    Err(Failure::input("writing overwrites data of the export", help))
}

/// Refuses a range that the export does not have or cannot serve in whole blocks.
fn check(client: &Client, offset: u64, size: u64) -> Result<(), Failure> {
    let block = client.block().map_or(1, |block| u64::from(block.minimum.max(1)));
    let bytes = Bytes::new;
    if !offset.is_multiple_of(block) || !size.is_multiple_of(block) {
        return Err(Failure::input(
            format!("{} at {} are not whole blocks", bytes(size), bytes(offset)),
            format!("write multiples of {}, the export's smallest block", bytes(block)),
        ));
    }
    if offset.checked_add(size).is_none_or(|end| end > client.size()) {
        return Err(Failure::input(
            format!("{} at {} reach beyond the end", bytes(size), bytes(offset)),
            format!("the export has {}", bytes(client.size())),
        ));
    }
    Ok(())
}

fn refused(offset: u64, failure: tidegate_nbd::Failure) -> Failure {
    let advice = "the server's log says more";
    Failure::input(format!("the request at {} failed: {failure}", Bytes::new(offset)), advice)
}

fn of_file(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("cannot open {}: {error}", path.display()), "name another file")
}

/// Refuses a request size that the export cannot serve.
pub(super) fn check_size(client: &Client, size: Bytes) -> Result<u32, Failure> {
    check(client, 0, size.get())?;
    let largest = client.block().map_or(wire::REQUEST_BYTES_MAX, |block| block.maximum);
    match u32::try_from(size.get()) {
        Ok(size) if (1..=largest).contains(&size) => Ok(size),
        _ => Err(Failure::input(
            format!("a request cannot have {size}"),
            format!("the largest has {}", Bytes::new(largest.into())),
        )),
    }
}
