// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The serve file (`serve.toml`): a store, its drive, and the exports that share it.
//!
//! What stands in it about contracts is a workload like any other: [`ServeFile::bind`] gives the
//! one that is proved, with every export's requests as a server sees them, one by one. A batch
//! is charged a flush on top wherever somebody may write, since anybody who may write may flush,
//! and all that asks for durability in one batch shares one flush behind it.

mod exports;
mod layout;
mod listen;
mod raw;
mod workload;
mod written;

use std::net::SocketAddr;

use toml::Spanned;

use crate::batch_table::BatchTable;
use crate::drive_file::DriveFile;
use crate::export::{ExportContract, ExportSpec, NewExport};
use crate::file_error::FileError;
use crate::names::PolicyName;
use crate::task::Op;
use crate::units::{Bytes, Duration};
use crate::workload::Workload;
use crate::workload_file::{Policy, check_size};

use raw::{RawExport, RawServe, RawSnippet};
use workload::PHANTOM;
use written::Written;

pub use layout::Layout;

/// The largest request of best effort where nothing says otherwise.
const SIZE_MAX_DEFAULT: Bytes = Bytes::from_kib(1024);

/// A text with its place in the file.
pub type Named = Spanned<String>;

/// Where the data are.
#[derive(Debug, Clone, PartialEq)]
pub enum BackingReference {
    /// A block device or file.
    Path(Named),
    /// A simulated drive in real time; its data in memory, or in the file `store`.
    Simulated {
        /// Which one.
        drive: Named,
        /// None: memory.
        store: Option<Named>,
    },
}

/// Where clients come in.
#[derive(Debug, Clone, PartialEq)]
pub enum Listen {
    /// A socket in the file system; none: beside the serve file.
    Unix(Option<Named>),
    /// Address and port.
    Tcp {
        /// As written.
        address: Named,
        /// How clients prove who they are.
        tls: Option<Tls>,
    },
}

/// Encryption of connections; a client without a key or certificate is not let in.
#[derive(Debug, Clone, PartialEq)]
pub enum Tls {
    /// A file of names and keys.
    Psk(Named),
    /// A folder with the server's certificate, and that of the authority which signed its clients'.
    Certificates(Named),
}

/// A serve file that is sound in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeFile {
    /// Where the data are.
    pub backing: BackingReference,
    /// What the store was measured to do; a simulated drive brings its own.
    pub drive: Option<Named>,
    /// Where clients come in.
    pub listen: Listen,
    /// The socket at which the service is asked and told; none: it is not.
    pub control: Option<Named>,
    /// Where its metrics are read, on this machine; none: nowhere.
    pub metrics: Option<SocketAddr>,
    /// Nothing is ever written to the store.
    pub is_read_only: bool,
    /// How long the service looks for something to do before it blocks; zero: it does not.
    pub busy_poll: Duration,
    /// The largest request of best effort, if the file says it.
    size_max: Option<Spanned<Bytes>>,
    exports: Vec<Written>,
    /// As it is with contracts.
    policy: Policy,
    /// Whether the file says it.
    has_policy: bool,
}

/// What is to be proved, and the policy's side of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Tasks are the exports with a contract, in order.
    pub workload: Workload,
    /// What a flush costs at most, charged to every batch; none where nobody may write.
    pub flush_max: Option<Duration>,
}

impl ServeFile {
    /// Reads the text of a serve file.
    ///
    /// # Errors
    /// The first fault, with its place and what to write instead.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let raw: RawServe = toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        if raw.export.is_empty() {
            return Err(FileError::new(
                0..0,
                "nothing is exported",
                "add an [[export]] with a name, a size, and a contract or best_effort = true",
            ));
        }
        let backing = listen::read_backing(raw.backing, raw.simulate, raw.store)?;
        listen::check_drive(&backing, raw.drive.as_ref())?;
        let busy_poll = listen::read_busy_poll(&backing, raw.busy_poll)?;
        let listen = listen::read_listen(raw.socket, raw.listen, raw.tls)?;
        let control = listen::read_control(raw.control, &listen)?;
        let metrics = listen::read_metrics(raw.metrics)?;
        raw.size_max.as_ref().map(sized).transpose()?;
        let size_max = raw.size_max.or(largest_contract(&raw.export));
        let has_policy = raw.policy.is_some();
        let mut policy = Policy::read(raw.policy)?;
        policy.regulate_tasks();
        let exports = raw.export.iter().map(|export| Written::read(export, raw.read_only));
        let exports = exports.collect::<Result<Vec<_>, _>>()?;
        layout::check_names(&raw.export)?;
        let with_contract = raw.export.iter().find_map(|export| export.contract.as_ref());
        if let Some(contract) = with_contract.filter(|_| raw.drive.is_none())
            && matches!(backing, BackingReference::Path(_))
        {
            return Err(FileError::new(
                contract.span(),
                "contracts are proved by what the drive was measured to do, and no drive is named",
                "measure it with `tidegate profile`, and add drive = \"FILE.drive.toml\"",
            ));
        }
        Ok(Self {
            backing,
            drive: raw.drive,
            listen,
            control,
            metrics,
            is_read_only: raw.read_only,
            busy_poll,
            size_max,
            exports,
            policy,
            has_policy,
        })
    }

    /// Reads one export as it would stand in a serve file: its keys alone, or under `[[export]]`.
    /// Where the whole store is `read_only` stands elsewhere, so it is not considered here.
    ///
    /// # Errors
    /// The first fault, with its place and what to write instead.
    pub fn parse_export(text: &str) -> Result<NewExport, FileError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        let raw: RawExport = if table.contains_key("export") {
            let raw: RawSnippet =
                toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
            let [raw] = <[RawExport; 1]>::try_from(raw.export).map_err(|all| {
                let second = all.get(1).map_or(0..0, |export| export.name.span());
                FileError::new(second, "more than one export, or none", "write one [[export]]")
            })?;
            raw
        } else {
            toml::from_str(text).map_err(|error| FileError::from_toml(&error))?
        };
        let Written { spec, wanted, .. } = Written::read(&raw, false)?;
        layout::check_names(std::slice::from_ref(&raw))?;
        Ok(NewExport::of(spec, wanted.to_place()))
    }

    /// The same file with these exports in place of its own, each where it is; the largest
    /// request of best effort stays what it was.
    #[must_use]
    pub fn with_exports(&self, exports: &[ExportSpec]) -> Self {
        Self { exports: exports.iter().map(Written::of).collect(), ..self.clone() }
    }

    /// The drive that proofs rest on: that which is named, or the simulated one.
    pub fn drive_reference(&self) -> Option<&Named> {
        self.drive.as_ref().or(match &self.backing {
            BackingReference::Simulated { drive, .. } => Some(drive),
            BackingReference::Path(_) => None,
        })
    }

    /// The exports, each with its place in a store of this size and alignment.
    ///
    /// # Errors
    /// Where they overlap or do not fit, or their requests are none for this store; with the place
    /// in the file.
    pub fn exports(&self, layout: Layout) -> Result<Vec<ExportSpec>, FileError> {
        layout.place(&self.exports)
    }

    /// The largest request of best effort; larger calls are cut. Where the file does not say it,
    /// that of the largest contract; without any, the largest that the drive was measured with.
    pub fn size_max(&self, drive: Option<&DriveFile>) -> Bytes {
        let measured = |op: Op| {
            let tables = drive.into_iter().flat_map(|drive| &drive.batch);
            let of_op = tables.filter(move |table| table.op.is_none_or(|of| of == op));
            of_op.filter_map(|table| table.size).filter(|&size| size <= SIZE_MAX_DEFAULT).max()
        };
        let both = [measured(Op::Read), measured(Op::Write)];
        let known = both.into_iter().flatten().min();
        let written = self.size_max.as_ref().map(|size| *size.get_ref());
        written.or(known).unwrap_or(SIZE_MAX_DEFAULT)
    }

    /// [`Self::size_max`], in a store of this layout.
    ///
    /// # Errors
    /// Where the store cannot carry out such requests; with the place in the file.
    pub fn size_max_in(
        &self,
        layout: Layout,
        drive: Option<&DriveFile>,
    ) -> Result<Bytes, FileError> {
        let size_max = self.size_max(drive);
        let written = self.size_max.as_ref().map(Spanned::span);
        let span = written.or_else(|| self.drive_reference().map(Spanned::span)).unwrap_or(0..0);
        layout.check_request(size_max, span)?;
        Ok(size_max)
    }

    /// How many exports there are.
    pub fn export_count(&self) -> usize {
        self.exports.len()
    }

    /// The contracts, in the order of their exports.
    pub fn contracts(&self) -> impl Iterator<Item = &ExportContract> {
        self.exports.iter().filter_map(|export| export.spec.contract.as_ref())
    }

    /// The first contract for which `is_so`, as a fault of the file at that export's name.
    pub fn fault_of_contract(
        &self,
        is_so: impl Fn(&ExportContract) -> bool,
        message: impl FnOnce(&str, &ExportContract) -> String,
        help: &str,
    ) -> Option<FileError> {
        let found = self.exports.iter().find_map(|export| {
            let contract = export.spec.contract.as_ref().filter(|contract| is_so(contract))?;
            Some((export, contract))
        });
        found.map(|(export, contract)| {
            let message = message(&export.spec.name, contract);
            FileError::new(export.wanted.name_span(), message, help)
        })
    }

    /// Whether any export has a contract.
    pub fn has_contracts(&self) -> bool {
        self.contracts().next().is_some()
    }

    /// Whether anybody may write.
    pub fn is_written(&self) -> bool {
        self.exports.iter().any(|export| !export.spec.is_read_only)
    }

    /// What is to be proved on this drive.
    ///
    /// # Errors
    /// Where the drive was not measured for what the exports may ask; with the place in the file.
    pub fn bind(&self, drive: &DriveFile) -> Result<Bound, FileError> {
        let reference = workload::drive_of(self.drive.as_ref(), &self.backing);
        let size_max = self.size_max(Some(drive));
        let file = workload::of_exports(&self.exports, size_max, self.policy(), reference);
        let mut workload = file.bind(drive)?;
        workload.tasks.retain(|task| task.entry != PHANTOM);
        if self.contracts().any(|contract| contract.op.is_none()) {
            // A request that may be either is charged by the table, which covers both.
            workload.contracts.costs = None;
        }
        let flush_max = match (self.is_written() && self.has_contracts(), drive.flush_max) {
            (false, _) => None,
            (true, Some(flush_max)) => Some(flush_max),
            (true, None) => return Err(self.flush_unknown(drive)),
        };
        if let Some(flush_max) = flush_max {
            charge_flushes(&mut workload, flush_max);
        }
        Ok(Bound { workload, flush_max })
    }

    /// Who decides: without contracts, and where the file does not say it, the drive itself.
    fn policy(&self) -> Policy {
        if self.has_contracts() || self.has_policy {
            return self.policy.clone();
        }
        let mut policy = Policy::of(PolicyName::Noop);
        policy.regulate_tasks();
        policy
    }

    fn flush_unknown(&self, drive: &DriveFile) -> FileError {
        let writable = self.exports.iter().find(|export| !export.spec.is_read_only);
        let span = writable.map_or(0..0, |export| export.wanted.name_span());
        FileError::new(
            span,
            format!(
                "who may write may flush, and drive `{}` does not say how long a flush takes",
                drive.name
            ),
            "measure it with `tidegate profile DEVICE --only flush --allow-writes --add -o FILE`, \
             where FILE is that drive's file and what is on DEVICE is lost; or write \
             read_only = true",
        )
    }
}

/// A drive that answers a flush within this has nothing to carry out for it.
const FLUSH_OF_NOTHING: Duration = Duration::from_us(1);

/// Every batch takes a flush longer.
///
/// What is sent beside requests on the drive (drain times, starvation, the drive's priority) was
/// measured without flushes among it. So nothing of that holds where a flush takes its time; where
/// it is over at once, each request may have one.
fn charge_flushes(workload: &mut Workload, flush_max: Duration) {
    let batch_time_max = workload.table.time_max(workload.table.batch_max());
    workload.table = with_flushes(&workload.table, |_| flush_max);
    let contracts = &mut workload.contracts;
    if flush_max > FLUSH_OF_NOTHING {
        (contracts.drain, contracts.starvation_max, contracts.priority) = (None, None, None);
        workload.notes.push(
            "policies that send beside requests on the drive promise nothing here: how long it \
             takes to empty it, or keeps a request, with flushes among them was not measured"
                .to_owned(),
        );
    } else {
        let each = |table: &BatchTable| with_flushes(table, |count| flush_max * u64::from(count));
        contracts.drain = contracts.drain.as_ref().map(each);
        contracts.priority = contracts.priority.as_ref().map(each);
        let all = flush_max * u64::from(workload.depth);
        contracts.starvation_max = contracts.starvation_max.map(|time| time + all);
    }
    if let Some(costs) = &mut workload.contracts.costs {
        costs.positioning_max += flush_max;
    }
    workload.contracts.soft = Vec::new();
    let mut note = format!("every batch is charged {flush_max} for the flush that may follow it");
    if flush_max > batch_time_max {
        note += ", and that is longer than any batch: switch the drive's volatile write cache off \
                 (hdparm -W 0 DEVICE), so that a flush has nothing to carry out, and measure writes \
                 and flushes again";
    }
    workload.notes.push(note);
}

/// A table with flushes: so much longer for so many requests.
fn with_flushes(table: &BatchTable, flushes: impl Fn(u32) -> Duration) -> BatchTable {
    let entries = 1..=table.batch_max();
    let times: Vec<Duration> =
        entries.map(|count| table.time_max(count) + flushes(count)).collect();
    BatchTable::new(&times).expect("as long as the table before")
}

fn largest_contract(exports: &[RawExport]) -> Option<Spanned<Bytes>> {
    let contracts = exports.iter().filter_map(|export| export.contract.as_ref());
    let sizes = contracts.map(|contract| &contract.get_ref().size_max);
    sizes.max_by_key(|size| *size.get_ref()).cloned()
}

/// A size of whole sectors.
fn sized(size: &Spanned<Bytes>) -> Result<Bytes, FileError> {
    check_size(size)?;
    Ok(*size.get_ref())
}
