// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The plugin for nbdkit: connects nbdkit's callbacks to a service of the engine.
//!
//! ```text
//!   nbdkit tidegate config=serve.toml [force=1] [margin=10%] [threads=64] [connections=32]
//!   config ........ the serve file's name
//!   after_fork .... Prepared::open starts the service's thread; control socket, metrics
//!   open .......... finds the export that the client names, takes a connection slot
//!   pread, pwrite, flush, zero ... block nbdkit's thread until the service replies
//!   cleanup ....... the service completes all requests, then ends
//! ```
//! Exports can be admitted and removed through the control socket; connections to a removed export
//! get `ESHUTDOWN`.
//!
//! TRIM is offered while no export has a contract, because no measurement says what a trim costs
//! the other exports. If an export with a contract is admitted later, a trim succeeds without
//! effect. WRITE ZEROES is a write of zeroes and is charged as one.

mod ending;
mod extended;
mod state;

use std::sync::Arc;

use mimalloc::MiMalloc;
use nbdkit::{Error, Flags, FuaFlags, Result, Server};
use tidegate_engine::serve::{PlaceTaken, Places, Prepared, read_margin};
use tidegate_engine::service::{CallError, Export};

use self::state::{service, with_state};

/// An allocator without a lock between threads: the service's thread must not wait for a client's
/// thread that was preempted in the middle of an allocation.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// A connection to one export.
struct Connection {
    export: Export,
    /// Keeps the connection's slot; dropping it frees the slot.
    _place: Option<PlaceTaken>,
}

fn fault(text: impl std::fmt::Display) -> Error {
    Error::new(INVALID, text.to_string())
}

/// `EINVAL` on Linux.
const INVALID: i32 = 22;

/// Returns the error number that the client gets. The protocol knows few error numbers and maps all
/// others to `EINVAL`, which blames the client. An unknown error of the store is therefore reported
/// as `EIO`.
fn errno(error: CallError) -> i32 {
    let (io, no_memory, no_space, read_only, disk_quota) = (5, 12, 28, 30, 122);
    match (error, error.raw_os_error()) {
        (CallError::Store(_), known)
            if ![no_memory, no_space, read_only, disk_quota].contains(&known) =>
        {
            io
        }
        (_, known) => known,
    }
}

impl Connection {
    /// Makes the error of a failed call: text for the log, and a number for the client.
    fn failed(&self, what: &str, offset: u64, length: usize, error: CallError) -> Error {
        let name = &self.export.spec().name;
        let text = format!("export `{name}`: {what} of {length} bytes at {offset}: {error}");
        Error::new(errno(error), text)
    }
}

impl Server for Connection {
    fn name() -> &'static str {
        "tidegate"
    }

    fn longname() -> Option<&'static str> {
        Some("Tidegate: block exports with response-time contracts")
    }

    fn version() -> Option<&'static str> {
        Some(env!("CARGO_PKG_VERSION"))
    }

    fn config_help() -> Option<&'static str> {
        Some(
            "config=FILE   (required) The serve file.\n\
             force=1       Serve exports whose contract is not proved, as best effort.\n\
             margin=10%    Plan for a drive that exceeds its tables by this share.\n\
             threads=N     The server's --threads; contracts that need more are refused.\n\
             connections=N Limit on connections: 4 reserved per export, the rest shared.",
        )
    }

    fn magic_config_key() -> Option<&'static str> {
        Some("config")
    }

    fn config(key: &str, value: &str) -> Result<()> {
        match key {
            "config" => {
                let path = std::path::absolute(value)?;
                with_state(|state| state.config = Some(path));
            }
            "force" => with_state(|state| state.is_forced = value == "1"),
            "margin" => {
                let margin = read_margin(value).map_err(fault)?;
                with_state(|state| state.margin = Some(margin));
            }
            "threads" => {
                let threads = value.parse().map_err(|_| fault("threads=N: N must be a number"))?;
                with_state(|state| state.threads = Some(threads));
            }
            "connections" => {
                let total =
                    value.parse().map_err(|_| fault("connections=N: N must be a number"))?;
                with_state(|state| state.places = Some(Places::new(total)));
            }
            _ => {
                let known = "use config, force, margin, threads or connections";
                return Err(fault(format!("unknown parameter `{key}`: {known}")));
            }
        }
        Ok(())
    }

    fn config_complete() -> Result<()> {
        let is_named = with_state(|state| state.config.is_some());
        if is_named { Ok(()) } else { Err(fault("config=FILE is missing: name a serve file")) }
    }

    fn after_fork() -> Result<()> {
        let (config, margin) =
            with_state(|state| (state.config.clone().unwrap_or_default(), state.margin));
        let (is_forced, threads) = with_state(|state| (state.is_forced, state.threads));
        let mut prepared = Prepared::read_with(&config, margin).map_err(fault)?;
        if let Some(threads) = threads {
            prepared = prepared.with_callers_max(threads);
        }
        let service = prepared.open(is_forced).map_err(fault)?;
        let say = Arc::new(|line: &str| tidegate_engine::log::say(line));
        let stop = ending::watch().map_err(fault)?;
        let control_plane = prepared.stand_by(&service, stop, say).map_err(fault)?;
        with_state(|state| {
            state.is_begun = true;
            state.service = Some(Arc::new(service));
            state.control_plane = Some(control_plane);
        });
        Ok(())
    }

    fn open(_readonly: bool) -> Result<Box<dyn Server>> {
        let name = nbdkit::export_name().map_err(fault)?;
        let service = service().ok_or_else(|| fault("the service ended"))?;
        let (not_found, busy) = (2, 16);
        let Some(export) = service.export(&name) else {
            return Err(Error::new(not_found, format!("there is no export `{name}`")));
        };
        let count = service.exports().len();
        let place = with_state(|state| state.places.clone()).map(|it| it.take(&name, count));
        // The server logs the error.
        let place = place.transpose().map_err(|error| Error::new(busy, error.to_string()))?;
        Ok(Box::new(Self { export, _place: place }))
    }

    fn get_size(&self) -> Result<i64> {
        i64::try_from(self.export.spec().size.get()).map_err(fault)
    }

    fn can_write(&self) -> Result<bool> {
        Ok(!self.export.spec().is_read_only)
    }

    fn can_flush(&self) -> Result<bool> {
        Ok(!self.export.spec().is_read_only)
    }

    fn can_fua(&self) -> Result<FuaFlags> {
        Ok(FuaFlags::Native)
    }

    /// Nothing is cached here, and a flush on one connection covers the writes of all connections.
    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_trim(&self) -> Result<bool> {
        Ok(self.export.can_trim())
    }

    fn trim(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        let result = self.export.trim(offset, u64::from(count));
        result.map_err(|error| self.failed("a trim", offset, count as usize, error))?;
        if flags.contains(Flags::FUA) { self.flush() } else { Ok(()) }
    }

    fn can_zero(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fast_zero(&self) -> Result<bool> {
        Ok(false)
    }

    fn is_rotational(&self) -> Result<bool> {
        Ok(self.export.is_rotational())
    }

    fn read_at(&self, data: &mut [u8], offset: u64) -> Result<()> {
        let length = data.len();
        let result = self.export.read(offset, data).map(drop);
        result.map_err(|error| self.failed("a read", offset, length, error))
    }

    fn write_at(&self, data: &[u8], offset: u64, flags: Flags) -> Result<()> {
        let is_durable = flags.contains(Flags::FUA);
        let result = self.export.write(offset, data, is_durable).map(drop);
        result.map_err(|error| self.failed("a write", offset, data.len(), error))
    }

    fn zero(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        let is_durable = flags.contains(Flags::FUA);
        let result = self.export.zero(offset, count as usize, is_durable);
        result.map_err(|error| self.failed("a write of zeroes", offset, count as usize, error))
    }

    fn flush(&self) -> Result<()> {
        self.export.flush().map(drop).map_err(|error| {
            let text = format!("export `{}`: a flush: {error}", self.export.spec().name);
            Error::new(errno(error), text)
        })
    }
}
