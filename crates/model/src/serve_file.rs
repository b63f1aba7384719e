// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The serve file (`serve.toml`): a store, its drive, and the exports that share it.
//!
//! The contracts in it form an ordinary workload. [`ServeFile::bind`] returns the workload that is
//! proved, with every export's requests as a server receives them, one by one. A writable export
//! may flush. So if any export is writable and any contract is a promise, every batch is charged a
//! flush; all flushes of one batch share one flush after it.

mod exports;
mod layout;
mod limits;
mod listen;
mod raw;
mod wanted;
mod workload;
mod written;

use std::net::SocketAddr;

use toml::Spanned;

use crate::batch_table::BatchTable;
use crate::drive_file::{DriveFile, PlaceFamily};
use crate::export::{ExportContract, ExportSpec, NewExport};
use crate::file_error::FileError;
use crate::host_section::{HostSection, RawHost};
use crate::names::PolicyName;
use crate::premise::{Premise, PremiseCode};
use crate::quantity::Share;
use crate::task::Op;
use crate::units::{Bytes, Duration};
use crate::workload::Workload;
use crate::workload_file::{OF_EXPORTS, Policy, check_exports};

use exports::sized;
use raw::{RawExport, RawServe, RawSnippet};
use workload::PHANTOM;
use written::Written;

pub use layout::Layout;
pub use limits::{Placement, ServerLimits};
pub use listen::{BackingReference, Listen, Named, Tls};

/// The largest best-effort request by default.
const SIZE_MAX_DEFAULT: Bytes = Bytes::from_kib(1024);

/// A serve file that is valid in itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ServeFile {
    /// The location of the data.
    pub backing: BackingReference,
    /// The measured drive of the store, if the file names it; a simulated store needs no other
    /// drive.
    pub drive: Option<Named>,
    /// The address at which clients connect.
    pub listen: Listen,
    /// The control socket; without it the service has no control interface.
    pub control: Option<Named>,
    /// The address of the metrics, on this machine; `None` disables them.
    pub metrics: Option<SocketAddr>,
    /// Whether the whole store refuses writes.
    pub is_read_only: bool,
    /// The time for which the service polls before it blocks; zero means not at all.
    pub busy_poll: Duration,
    /// The limits on clients.
    pub limits: ServerLimits,
    /// The placement of the thread that serves requests.
    pub placement: Placement,
    /// The largest best-effort request: the stated size, else the size of the largest contract.
    size_max: Option<Spanned<Bytes>>,
    exports: Vec<Written>,
    /// Families of places that no request of any client uses.
    absent_places: Vec<PlaceFamily>,
    /// The policy that the file states, or the default for contracts.
    policy: Policy,
    /// Whether the file states a policy.
    has_policy: bool,
    /// The host's time, if the file states it.
    pub host: Option<HostSection>,
}

/// A workload to prove, with the time of a flush.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The workload; its tasks are the exports with a contract, in order.
    pub workload: Workload,
    /// The longest flush, charged to every batch; `None` if no export is writable or no contract
    /// is a promise.
    pub flush_max: Option<Duration>,
}

impl ServeFile {
    /// Returns the path of the store that a faulty file names, if it can be read.
    pub fn backing_of(text: &str) -> Option<String> {
        let table: toml::Table = toml::from_str(text).ok()?;
        Some(table.get("backing")?.as_str()?.to_owned())
    }

    /// Reads the text of a serve file.
    ///
    /// # Errors
    /// The first fault, with its position and what to write instead.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let raw: RawServe = toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        if raw.export.is_empty() {
            return Err(FileError::new(
                0..0,
                "the file has no export",
                "add an [[export]] with a name, a size, and a contract or best_effort = true",
            ));
        }
        let backing = listen::read_backing(raw.backing, raw.simulate, raw.store)?;
        listen::check_drive(&backing, raw.drive.as_ref())?;
        let busy_poll = listen::read_busy_poll(&backing, raw.busy_poll)?;
        let listen = listen::read_listen(raw.socket, raw.listen, raw.tls)?;
        let control = listen::read_control(raw.control, &listen)?;
        let metrics = listen::read_metrics(raw.metrics)?;
        let limits = limits::read_limits(raw.limits)?;
        let placement = limits::read_placement(raw.thread)?;
        let host = raw.host.map(RawHost::read).transpose()?;
        raw.size_max.as_ref().map(sized).transpose()?;
        let size_max = raw.size_max.or(largest_contract(&raw.export));
        let exports = raw.export.len();
        let absent_places = raw.absent_places.map(|it| check_exports(it, exports)).transpose()?;
        let absent_places = absent_places.unwrap_or_default();
        let has_policy = raw.policy.is_some();
        let policy = Policy::read(raw.policy)?;
        let exports = raw.export.iter().map(|export| Written::read(export, raw.read_only));
        let exports = exports.collect::<Result<Vec<_>, _>>()?;
        exports::check_names(&raw.export)?;
        exports::check_streams(&exports)?;
        if raw.drive.is_none() && matches!(backing, BackingReference::Path(_)) {
            let is_written = !raw.read_only && raw.export.iter().any(|export| !export.read_only);
            exports::check_needs_no_drive(&raw.export, is_written)?;
        }
        Ok(Self {
            backing,
            drive: raw.drive,
            listen,
            control,
            metrics,
            is_read_only: raw.read_only,
            busy_poll,
            limits,
            placement,
            size_max,
            exports,
            absent_places,
            policy,
            has_policy,
            host,
        })
    }

    /// Reads one export as it would be in a serve file: its keys alone, or under `[[export]]`.
    /// `read_only` of the whole store is outside this text and does not count.
    ///
    /// # Errors
    /// The first fault, with its position and what to write instead.
    pub fn parse_export(text: &str) -> Result<NewExport, FileError> {
        let table: toml::Table =
            toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        let raw: RawExport = if table.contains_key("export") {
            let raw: RawSnippet =
                toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
            let [raw] = <[RawExport; 1]>::try_from(raw.export).map_err(|all| {
                let second = all.get(1).map_or(0..0, |export| export.name.span());
                FileError::new(
                    second,
                    "the text has no export, or more than one",
                    "write one [[export]]",
                )
            })?;
            raw
        } else {
            toml::from_str(text).map_err(|error| FileError::from_toml(&error))?
        };
        let Written { spec, wanted, .. } = Written::read(&raw, false)?;
        exports::check_names(std::slice::from_ref(&raw))?;
        Ok(NewExport::of(spec, wanted.to_place()))
    }

    /// Returns the same file with these exports instead of its own, each at its present place. The
    /// largest best-effort request stays unchanged.
    #[must_use]
    pub fn with_exports(&self, exports: &[ExportSpec]) -> Self {
        Self { exports: exports.iter().map(Written::of).collect(), ..self.clone() }
    }

    /// Returns the drive of the proofs: the named drive, or the simulated drive.
    pub fn drive_reference(&self) -> Option<&Named> {
        self.drive.as_ref().or(match &self.backing {
            BackingReference::Simulated { drive, .. } => Some(drive),
            BackingReference::Path(_) => None,
        })
    }

    /// Returns the exports, each with its place in a store of this size and alignment.
    ///
    /// # Errors
    /// If exports overlap or do not fit, or their requests are impossible for this store; with the
    /// position in the file.
    pub fn exports(&self, layout: Layout) -> Result<Vec<ExportSpec>, FileError> {
        layout.place(&self.exports)
    }

    /// Returns the size of the largest best-effort request; larger calls are cut. By default it is
    /// the size of the largest contract. Without contracts it is the largest measured size up to
    /// 1 MiB, of reads or of writes, whichever is smaller.
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

    /// Returns [`Self::size_max`] in a store of this layout.
    ///
    /// # Errors
    /// If the store cannot carry out such requests; with the position in the file.
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

    /// Returns the number of exports.
    pub fn export_count(&self) -> usize {
        self.exports.len()
    }

    /// Returns the names of the exports, in the order of the file.
    pub fn export_names(&self) -> impl Iterator<Item = &str> {
        self.exports.iter().map(|export| &*export.spec.name)
    }

    /// Returns the names of the soft exports, in the order of the file.
    pub fn soft_exports(&self) -> impl Iterator<Item = &str> {
        let soft = self.exports.iter().filter(|export| export.spec.is_soft);
        soft.map(|export| &*export.spec.name)
    }

    /// Returns the exports as they would be admitted to a running service, in the order of the
    /// file.
    pub fn new_exports(&self) -> impl Iterator<Item = NewExport> {
        self.exports.iter().map(|it| NewExport::of(it.spec.clone(), it.wanted.to_place()))
    }

    /// Returns the keys that a running service cannot change and in which this file differs from
    /// the one that the service was started from.
    pub fn fixed_changes(&self, before: &Self) -> Vec<&'static str> {
        // A size that equals the largest contract's counts as not stated: it is the default.
        let largest = |file: &Self| file.contracts().map(|contract| contract.size_max).max();
        let stated = |file: &Self| {
            let size = file.size_max.as_ref().map(|size| *size.get_ref());
            size.filter(|&size| Some(size) != largest(file))
        };
        let changes = [
            ("backing", self.backing != before.backing),
            ("drive", self.drive != before.drive),
            ("socket or listen", self.listen != before.listen),
            ("control", self.control != before.control),
            ("metrics", self.metrics != before.metrics),
            ("read_only", self.is_read_only != before.is_read_only),
            ("busy_poll", self.busy_poll != before.busy_poll),
            ("limits", self.limits != before.limits),
            ("thread", self.placement != before.placement),
            ("size_max", stated(self) != stated(before)),
            ("absent_places", self.absent_places != before.absent_places),
            ("policy", (&self.policy, self.has_policy) != (&before.policy, before.has_policy)),
        ];
        changes.into_iter().filter_map(|(key, is_changed)| is_changed.then_some(key)).collect()
    }

    /// Returns the contracts, in the order of their exports.
    pub fn contracts(&self) -> impl Iterator<Item = &ExportContract> {
        self.exports.iter().filter_map(|export| export.spec.contract.as_ref())
    }

    /// Returns a fault at the name of the first export whose contract satisfies `is_so`.
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

    /// Replaces the file's margin, for example by a command-line option.
    pub fn set_margin(&mut self, margin: Share) {
        self.policy.margin_ppm = margin.ppm;
    }

    /// Returns whether any export has a contract.
    pub fn has_contracts(&self) -> bool {
        self.contracts().next().is_some()
    }

    /// Refuses a file with both a promised contract and a stream without figures: beside such a
    /// stream nothing can be proved.
    ///
    /// # Errors
    /// The fault, with the position of the stream in the file.
    pub fn check_streams(&self) -> Result<(), FileError> {
        exports::check_streams(&self.exports)
    }

    /// Returns whether any contract is a promise: the service then needs a proof.
    pub fn has_promises(&self) -> bool {
        self.exports.iter().any(|export| export.spec.is_promised())
    }

    /// Returns whether any export is writable.
    pub fn is_written(&self) -> bool {
        self.exports.iter().any(|export| !export.spec.is_read_only)
    }

    /// Returns the workload to prove on this drive.
    ///
    /// # Errors
    /// If the drive was not measured for the exports' requests; with the position in the file.
    pub fn bind(&self, drive: &DriveFile) -> Result<Bound, FileError> {
        let reference = workload::drive_of(self.drive.as_ref(), &self.backing);
        let size_max = self.size_max(Some(drive));
        let mut file = workload::of_exports(
            &self.exports,
            size_max,
            self.absent_families(),
            self.policy(),
            reference,
        );
        file.host.clone_from(&self.host);
        let mut workload = file.bind(drive)?;
        workload.tasks.retain(|task| task.entry != PHANTOM);
        if self.contracts().any(|contract| contract.op.is_none()) {
            // The costs cannot charge a request that may be a read or a write. The table can: it
            // covers both operations.
            workload.contracts.costs = None;
        }
        let flush_max = match (self.is_written() && self.has_promises(), drive.flush_max) {
            (false, _) => None,
            (true, Some(flush_max)) => Some(flush_max),
            (true, None) => return Err(self.flush_unknown(drive)),
        };
        if let Some(flush_max) = flush_max {
            charge_flushes(&mut workload, flush_max);
        }
        Ok(Bound { workload, flush_max })
    }

    /// Returns the families of places that do not occur. A file may state them for a single export,
    /// and other exports may have joined since.
    fn absent_families(&self) -> Vec<PlaceFamily> {
        let may_occur =
            |family: &PlaceFamily| self.exports.len() > 1 && OF_EXPORTS.contains(family);
        self.absent_places.iter().copied().filter(|family| !may_occur(family)).collect()
    }

    /// Returns the policy of the file. If the file states none, the policy is `dqf` if any contract
    /// is a promise; otherwise `mdn` if there are soft exports, because it reacts to their notices
    /// of missed deadlines; otherwise `noop`, which leaves the order to the drive.
    fn policy(&self) -> Policy {
        let mut policy = if self.has_policy || self.has_promises() {
            self.policy.clone()
        } else if self.soft_exports().next().is_some() {
            Policy::of(PolicyName::Mdn)
        } else {
            Policy::of(PolicyName::Noop)
        };
        policy.regulate_tasks();
        policy
    }

    fn flush_unknown(&self, drive: &DriveFile) -> FileError {
        let writable = self.exports.iter().find(|export| !export.spec.is_read_only);
        let span = writable.map_or(0..0, |export| export.wanted.name_span());
        FileError::new(
            span,
            format!(
                "a writable export may flush, but drive `{}` does not say how long a flush takes",
                drive.name
            ),
            "measure it with `tidegate profile TARGET --only flush --allow-writes --add -o FILE`, \
             which destroys the data there, or write read_only = true",
        )
    }
}

/// A drive that completes a flush within this time had nothing to write.
const FLUSH_OF_NOTHING: Duration = Duration::from_us(1);

/// Adds a flush to the time of every batch.
///
/// The contracts for requests that join others on the drive (drain times, starvation, the drive's
/// priority) were measured without flushes, so none of them holds if a flush takes time. If a flush
/// is immediate, they are kept, and each request is charged one.
fn charge_flushes(workload: &mut Workload, flush_max: Duration) {
    let batch_time_max = workload.table.time_max(workload.table.batch_max());
    workload.table = with_flushes(&workload.table, |_| flush_max);
    let contracts = &mut workload.contracts;
    contracts.flush_max = Some(flush_max);
    if flush_max > FLUSH_OF_NOTHING {
        (contracts.drain, contracts.starvation_max, contracts.priority) = (None, None, None);
        workload.premises.push(Premise::new(
            PremiseCode::FlushExcluded,
            "no bound on a busy drive",
            "policies that send requests to a busy drive have no bound here: the drain times, \
             starvation and priority of this drive were not measured with flushes among the requests",
        ));
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
    // Neither the quantiles nor the samples of the table contain flushes.
    (workload.contracts.soft, workload.contracts.sampling) = (Vec::new(), Vec::new());
    let mut text = format!("every batch is charged {flush_max} for the flush that may follow it");
    if flush_max > batch_time_max {
        text += ", which is longer than any batch: switch the drive's volatile write cache off \
                 (hdparm -W 0 DEVICE), so that a flush has nothing to write, and measure writes \
                 and flushes again";
    }
    workload.premises.push(Premise::new(PremiseCode::FlushCharged, "charged flushes", text));
}

/// Returns a table with flushes: the time of n requests is longer by `flushes(n)`.
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
