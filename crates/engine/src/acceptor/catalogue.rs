// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The service's exports as clients see them.

use tidegate_model::{ExportContract, ExportSpec, Op};
use tidegate_nbd::{BlockSizes, Catalogue, ExportInfo, Listed, Unavailable, wire};

use super::places::{PlaceTaken, Places};
use crate::service::{Export, View};

/// The exports of a service as one client sees them, and the connection slot that the client takes.
pub(super) struct Exports<'a> {
    pub(super) view: &'a View,
    pub(super) places: &'a Places,
    /// Set when the client enters an export.
    pub(super) entered: Option<(Export, PlaceTaken)>,
    /// The last refusal, for the log.
    pub(super) refused: Option<String>,
}

impl Exports<'_> {
    fn export(&self, name: &str) -> Option<Export> {
        let offer = self.view.offer();
        // A client that names no export gets the only one, if there is exactly one.
        match (name, offer.exports()) {
            ("", [only]) => self.view.export(&only.name),
            _ => self.view.export(name),
        }
    }
}

impl Catalogue for Exports<'_> {
    fn list(&self) -> Vec<Listed> {
        let listed =
            |spec: &ExportSpec| Listed { name: spec.name.clone(), description: description(spec) };
        self.view.offer().exports().iter().map(listed).collect()
    }

    fn find(&self, name: &str) -> Result<ExportInfo, Unavailable> {
        self.export(name).map(|export| info(&export)).ok_or(Unavailable::Unknown)
    }

    fn enter(&mut self, name: &str) -> Result<ExportInfo, Unavailable> {
        let Some(export) = self.export(name) else {
            self.refused = Some(format!("there is no export {}", super::notices::quoted(name)));
            return Err(Unavailable::Unknown);
        };
        let count = self.view.offer().exports().len();
        let found = info(&export);
        match self.places.take(&export.spec().name, count) {
            Ok(place) => {
                self.entered = Some((export, place));
                Ok(found)
            }
            Err(crowded) => {
                let name = &export.spec().name;
                self.refused =
                    Some(format!("export `{name}` has {} connections already", crowded.count));
                Err(Unavailable::Crowded)
            }
        }
    }
}

/// Returns an export as clients see it.
fn info(export: &Export) -> ExportInfo {
    let spec = export.spec();
    let bytes = |size: u64| u32::try_from(size).unwrap_or(wire::REQUEST_BYTES_MAX);
    let minimum = bytes(export.alignment().get());
    let largest = bytes(export.size_max().get()).min(wire::REQUEST_BYTES_MAX);
    // The protocol requires a power of two, at least 512.
    let preferred = (1 << largest.max(4096).ilog2()).max(minimum);
    let block = BlockSizes { minimum, preferred, maximum: wire::REQUEST_BYTES_MAX };
    ExportInfo {
        name: spec.name.clone(),
        description: description(spec),
        size: spec.size.get(),
        block,
        is_read_only: spec.is_read_only,
        can_trim: export.can_trim(),
        is_rotational: export.is_rotational(),
    }
}

/// Describes the export's guarantee, in one line.
fn description(export: &ExportSpec) -> String {
    let access = if export.is_read_only { "read-only, " } else { "" };
    let soft = if export.is_soft { "soft, " } else { "" };
    match &export.contract {
        None if export.is_soft => format!("{access}soft, without a limit"),
        None => format!("{access}best effort"),
        Some(ExportContract { requests, period, deadline, size_max, op, .. }) => {
            let plural = if *requests == 1 { "" } else { "s" };
            let op = op.or(export.is_read_only.then_some(Op::Read));
            let what = op.map_or(format!("read{plural} or write"), |op| op.name().to_owned());
            format!(
                "{access}{soft}{requests} {what}{plural} of {size_max} every {period}, within {deadline}"
            )
        }
    }
}
