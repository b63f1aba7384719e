// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a service from a serve file: reads the file, proves the contracts and opens the store.
//!
//! ```text
//!   Prepared::read   the file, its drive, the proof     nothing is opened yet
//!   Prepared::open   the store, the exports in it       the service runs
//!   Prepared::stand_by   control socket, metrics, warnings   it can be monitored and controlled
//! ```
//! [`Prepared::serve`] opens the service and its control plane, and accepts clients over NBD.

mod control_plane;
mod error;
mod fit;
#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod host;
mod incident_log;
mod prover;
mod reload;
mod server;
mod simulated;
mod store_lock;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tidegate_analysis::{Answer, Assessment, assess};
use tidegate_device::{Access, DeviceFacts, Target, memory_file};
use tidegate_drive::NamedError;
use tidegate_model::drive_file::Parts;
use tidegate_model::quantity::{Quantity as _, QuantityError, Share};
use tidegate_model::serve_file::{BackingReference, Bound, Layout, Named};
use tidegate_model::{Bytes, DriveFile, DriveKind, ExportSpec, FileError, ServeFile, Workload};

use prover::FileProver;

use crate::known_device;
use crate::service::{Arrangement, DeviceStore, RequestSink, Service, ServiceParams};

pub use crate::service::outstanding_max;
#[cfg(any(test, feature = "harness"))]
pub(crate) use prover::arrangement;
pub use tidegate_model::quantity::Share as Margin;

pub use crate::acceptor::{Footprint, ListenError, Listener};
pub use control_plane::ControlPlane;
pub use error::ServeError;
pub use reload::Reloaded;
pub use server::{Server, ServerEvent};
pub use simulated::SimulatedStore;

const _: () = assert!(Layout::REQUEST_MAX.get() <= tidegate_device::ring::SIZE_MAX.get());

/// The block size of a simulated drive's store.
const SIMULATED_ALIGNMENT: Bytes = Bytes::new(512);

/// A serve file with its drive and its proof.
#[derive(Debug, Clone)]
pub struct Prepared {
    path: PathBuf,
    /// The margin that replaces the file's; `None` keeps the file's.
    margin: Option<Share>,
    text: String,
    file: ServeFile,
    drive: Option<DriveFile>,
    bound: Option<(Bound, Assessment)>,
    /// Receives each request that has ended at a server of this file.
    requests_to: Option<RequestSink>,
}

impl Prepared {
    /// Reads the serve file at `path` and the drive file that it names, and tries to prove the
    /// contracts.
    ///
    /// # Errors
    /// [`ServeError`] for a file that cannot be read or is faulty, not for a failed proof.
    pub fn read(path: &Path) -> Result<Self, ServeError> {
        Self::read_with(path, None)
    }

    /// Reads the serve file at `path` as [`Self::read`] does, but with `margin` instead of the
    /// file's margin, if it is given.
    ///
    /// # Errors
    /// The same as [`Self::read`].
    pub fn read_with(path: &Path, margin: Option<Share>) -> Result<Self, ServeError> {
        let text = read_text(path)?;
        let faulty =
            |error| ServeError::Faulty { path: path.to_owned(), text: text.clone(), error };
        let mut file = ServeFile::parse(&text).map_err(faulty)?;
        if let Some(margin) = margin {
            file.set_margin(margin);
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(host) = &mut file.host {
            host::add_interference(host, folder, faulty)?;
        }
        let drive = match file.drive_reference() {
            Some(named) => Some(read_drive(named, folder, faulty)?),
            None => None,
        };
        let bound = match &drive {
            Some(drive) => {
                let bound = prover::bind(&file, drive).map_err(faulty)?;
                let assessment = assess(&bound.workload, bound.workload.policy);
                Some((bound, assessment))
            }
            None => None,
        };
        let path = path.to_owned();
        Ok(Self { path, margin, text, file, drive, bound, requests_to: None })
    }

    /// Makes servers of the file report each request that has ended to `sink`.
    #[must_use]
    pub fn reporting(self, sink: RequestSink) -> Self {
        Self { requests_to: Some(sink), ..self }
    }

    /// Returns the parsed file.
    pub fn file(&self) -> &ServeFile {
        &self.file
    }

    /// Returns the file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the workload to prove and its assessment; `None` if the drive is unknown.
    pub fn proof(&self) -> Option<(&Workload, &Assessment)> {
        self.bound.as_ref().map(|(bound, assessment)| (&bound.workload, assessment))
    }

    /// Returns whether every contract is proved, or no contract needs a proof because all are soft.
    pub fn is_proven(&self) -> bool {
        let is_proven = |(_, assessment): &(Bound, Assessment)| assessment.answer == Answer::Proven;
        !self.file.has_promises() || self.bound.as_ref().is_some_and(is_proven)
    }

    /// Returns changes with which the contracts would be proved, one per entry.
    ///
    /// # Complexity
    /// The search takes some seconds at most.
    pub fn what_would_fit(&self) -> Vec<String> {
        // The store may not be open yet. The exports' positions do not affect the proof.
        let layout = Layout { size: Bytes::new(u64::MAX), alignment: SIMULATED_ALIGNMENT };
        let Ok(exports) = self.file.exports(layout) else { return Vec::new() };
        self.prover(layout).search().of_set(&exports)
    }

    /// Resolves a path that the file names, relative to the file.
    pub fn resolve(&self, name: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(name)
    }

    /// Checks that the exports fit into the store and their requests are aligned, as far as the
    /// store's size is known without opening it: a simulated drive's or a file's. Also refuses a
    /// backing that does not exist.
    ///
    /// # Errors
    /// [`ServeError::Faulty`] with the position in the file.
    pub fn check_layout(&self) -> Result<(), ServeError> {
        match &self.file.backing {
            BackingReference::Simulated { .. } => self.check_exports(),
            BackingReference::Path(named) => self.check_within(self.backing_size(named)?),
        }
    }

    /// Checks the exports as [`Self::check_layout`] does, but without looking for a backing, so it
    /// does not check that a backing is large enough.
    ///
    /// # Errors
    /// [`ServeError::Faulty`] with the position in the file.
    pub fn check_exports(&self) -> Result<(), ServeError> {
        self.check_within(match &self.file.backing {
            BackingReference::Simulated { .. } => {
                Some(self.drive.as_ref().and_then(DriveFile::capacity).unwrap_or(SIZE_DEFAULT))
            }
            BackingReference::Path(_) => None,
        })
    }

    /// Checks the exports against a store of this size. A device's size is known only once it is
    /// open.
    fn check_within(&self, size: Option<Bytes>) -> Result<(), ServeError> {
        let size = size.unwrap_or(Bytes::new(u64::MAX));
        let layout = Layout { size, alignment: SIMULATED_ALIGNMENT };
        self.size_max(layout)?;
        self.file.exports(layout).map(drop).map_err(|error| self.faulty(error))
    }

    /// Returns the size of the largest best-effort request.
    fn size_max(&self, layout: Layout) -> Result<Bytes, ServeError> {
        let size_max = self.file.size_max_in(layout, self.drive.as_ref());
        size_max.map_err(|error| self.faulty(error))
    }

    /// Returns a file's size; `None` for a device, which would have to be opened.
    fn backing_size(&self, named: &Named) -> Result<Option<Bytes>, ServeError> {
        let path = self.resolve(named.get_ref());
        match std::fs::metadata(&path) {
            Ok(metadata) => Ok(metadata.is_file().then(|| Bytes::new(metadata.len()))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(self.faulty(FileError::new(
                    named.span(),
                    format!("the backing {} does not exist", path.display()),
                    format!(
                        "name a block device or a file; `tidegate profile {} --create 1GiB --only \
                         batch -o NEW.drive.toml` makes and measures one",
                        path.display()
                    ),
                )))
            }
            // The file cannot be examined, but the server may have permissions that the caller
            // lacks.
            Err(_) => Ok(None),
        }
    }

    fn faulty(&self, error: FileError) -> ServeError {
        ServeError::Faulty { path: self.path.clone(), text: self.text.clone(), error }
    }

    /// Opens the store and starts to serve.
    ///
    /// With `is_forced`, contracts that are not proved are served as best effort.
    ///
    /// # Errors
    /// [`ServeError`], before anything is served.
    pub fn open(&self, is_forced: bool) -> Result<Service, ServeError> {
        self.open_with(is_forced, 0, None)
    }

    /// Opens the store and starts to serve, with room for `sockets` connections, and with at most
    /// `requests_max` bytes of memory for requests.
    fn open_with(
        &self,
        is_forced: bool,
        sockets: u32,
        requests_max: Option<Bytes>,
    ) -> Result<Service, ServeError> {
        if !self.is_proven() && !is_forced {
            return Err(ServeError::NotProven {
                reason: "not every contract can be kept; `tidegate serve` lists those that \
                         cannot, and what would fit"
                    .to_owned(),
            });
        }
        match &self.file.backing {
            BackingReference::Path(path) => {
                let path = self.resolve(path.get_ref());
                self.open_target(&path, sockets, requests_max)
            }
            BackingReference::Simulated { store, .. } => {
                let store = store.as_ref().map(|store| self.resolve(store.get_ref()));
                self.open_simulated(store, sockets, requests_max)
            }
        }
    }

    /// Opens the store and closes it again. A store that the server would create is not created.
    fn check_store(&self) -> Result<(), ServeError> {
        match &self.file.backing {
            BackingReference::Path(path) => {
                self.open_backing(&self.resolve(path.get_ref())).map(drop)
            }
            BackingReference::Simulated { store, .. } => match store {
                Some(store) => store_lock::check_store(&self.resolve(store.get_ref())),
                None => Ok(()),
            },
        }
    }

    fn open_backing(&self, path: &Path) -> Result<Target, ServeError> {
        let is_written = self.file.is_written();
        let access = if is_written { Access::ReadWrite } else { Access::ReadOnly };
        let target = store_lock::open_backing(path, access, self.file.has_contracts())?;
        self.check_device(target.facts())?;
        Ok(target)
    }

    fn open_target(
        &self,
        path: &Path,
        sockets: u32,
        requests_max: Option<Bytes>,
    ) -> Result<Service, ServeError> {
        let target = self.open_backing(path)?;
        let layout = Layout { size: target.size(), alignment: target.alignment() };
        let mut params = self.params(layout, requests_max)?;
        params.can_trim = self.file.is_written() && target.can_deallocate();
        let depth = params.arrangement.plan.depth;
        let busy_poll = self.file.busy_poll;
        let make =
            move |clock, waker| DeviceStore::new(target, depth, sockets, busy_poll, clock, waker);
        Ok(Service::start(params, make)?)
    }

    /// Refuses contracts whose proof predicts service times, unless the drive file was measured on
    /// this device. A simulated drive needs no check: its drive file defines the device.
    fn check_device(&self, facts: &DeviceFacts) -> Result<(), ServeError> {
        let is_promised = self.file.has_promises() && self.is_proven();
        if let (true, Some(drive), Some((bound, _))) = (is_promised, &self.drive, &self.bound) {
            let workload = &bound.workload;
            known_device::check(workload.policy, workload, drive, facts)?;
        }
        Ok(())
    }

    fn open_simulated(
        &self,
        store: Option<PathBuf>,
        sockets: u32,
        requests_max: Option<Bytes>,
    ) -> Result<Service, ServeError> {
        let file = self.drive.as_ref().expect("a simulated backing names its drive");
        let size = file.capacity().unwrap_or(SIZE_DEFAULT);
        let layout = Layout { size, alignment: SIMULATED_ALIGNMENT };
        let params = self.params(layout, requests_max)?;
        let drive = self.simulated_drive(file)?;
        let store = match store {
            None => memory_file(size).map_err(|source| ServeError::Memory { source })?,
            Some(path) => store_lock::open_store(&path)?,
        };
        let make = move |clock, waker| {
            SimulatedStore::new(drive, store, clock, waker).with_sockets(sockets)
        };
        Ok(Service::start(params, make)?)
    }

    /// Makes a drive from the mechanics in its drive file, or else a pseudo-disk that always takes
    /// the longest times in its table.
    fn simulated_drive(
        &self,
        file: &DriveFile,
    ) -> Result<Box<dyn tidegate_drive::Drive + Send>, ServeError> {
        let (bound, _) = self.bound.as_ref().expect("a drive is known");
        let kind = file.parts().map_or(DriveKind::Pseudo, Parts::kind);
        Ok(tidegate_drive::build(kind, &bound.workload, Some(file), SEED)?)
    }

    fn params(
        &self,
        layout: Layout,
        requests_max: Option<Bytes>,
    ) -> Result<ServiceParams, ServeError> {
        let mut exports = self.file.exports(layout).map_err(|error| self.faulty(error))?;
        let arrangement = match &self.bound {
            Some((bound, assessment)) if self.is_proven() => {
                prover::arrangement(&bound.workload, assessment, &exports)
            }
            Some((bound, _)) => without_contracts(&bound.workload, &mut exports),
            None => prover::unknown_store(),
        };
        Ok(ServiceParams {
            exports,
            arrangement,
            is_measured: self.drive.is_some(),
            // A simulated drive's store is a file, which can be trimmed. For other backings,
            // `open_target` sets this.
            can_trim: matches!(self.file.backing, BackingReference::Simulated { .. }),
            alignment: layout.alignment,
            size_max: self.size_max(layout)?,
            host: self.file.host.as_ref().map(|section| section.times),
            requests_max,
            drive: self.drive.clone(),
            placement: self.file.placement.clone(),
            prover: Some(Arc::new(self.prover(layout))),
            requests_to: self.requests_to.clone(),
        })
    }

    fn prover(&self, layout: Layout) -> FileProver {
        FileProver {
            file: self.file.clone(),
            drive: self.drive.clone(),
            layout,
            is_written: self.file.is_written(),
        }
    }
}

/// The size of a simulated drive whose file does not state it.
const SIZE_DEFAULT: Bytes = Bytes::from_kib(64 << 20);

/// The seed of a simulated drive: two services with the same file behave identically.
const SEED: u64 = 1;

/// Makes the arrangement that serves every export as best effort, under the same policy.
fn without_contracts(workload: &Workload, exports: &mut [ExportSpec]) -> Arrangement {
    for export in &mut *exports {
        (export.contract, export.is_soft) = (None, false);
    }
    let workload = Workload { tasks: Vec::new(), entries: Vec::new(), ..workload.clone() };
    let assessment = assess(&workload, workload.policy);
    prover::arrangement(&workload, &assessment, exports)
}

/// Reads a margin as people write it: `10%`.
///
/// # Errors
/// The fault, with advice.
pub fn read_margin(text: &str) -> Result<Share, QuantityError> {
    Share::parse(text)
}

fn read_text(path: &Path) -> Result<String, ServeError> {
    std::fs::read_to_string(path)
        .map_err(|source| ServeError::Unreadable { path: path.to_owned(), source })
}

/// Returns the drive called `named`: a built-in drive, or a drive file beside the serve file.
fn read_drive(
    named: &Named,
    folder: &Path,
    faulty: impl Fn(FileError) -> ServeError,
) -> Result<DriveFile, ServeError> {
    let name = named.get_ref();
    tidegate_drive::named(name, folder, |path| std::fs::read_to_string(path)).map_err(|error| {
        match error {
            NamedError::Unreadable { path, source } => {
                let (message, help) = tidegate_drive::unreadable(name, &path, &source);
                faulty(FileError::new(named.span(), message, help))
            }
            NamedError::Faulty { path, text, error } => ServeError::Faulty { path, text, error },
        }
    })
}
