// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a running server's file again, and makes its exports those of the file.
//!
//! Each export changes as a whole or stays as it is. A key that a running service cannot change is
//! refused with the reason. Exports that were admitted through the control socket and that the file
//! does not name stay.
//!
//! The data must be where a restart would look for them, so an export that is admitted gets the place
//! that a restart would give it, and an export that a restart would place elsewhere is reported.

use tidegate_model::serve_file::Layout;
use tidegate_model::{Bytes, ExportPlace, ExportSpec, NewExport};

use super::{Prepared, ServeError, Server};
use crate::service::ChangeError;

/// The effect of a reload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// The names of exports that are new.
    pub admitted: Vec<String>,
    /// The names of exports with other terms; their clients must connect again.
    pub changed: Vec<String>,
    /// The names of exports that are gone.
    pub removed: Vec<String>,
    /// Changes of the file that have no effect, each with the reason.
    pub refused: Vec<String>,
}

impl std::fmt::Display for Reloaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lists =
            [("admitted", &self.admitted), ("changed", &self.changed), ("removed", &self.removed)];
        let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
        let said = lists.map(|(what, names)| format!("{what} `{}`", names.join("`, `")));
        let said = said.collect::<Vec<_>>().join("; ");
        f.write_str(if said.is_empty() { "no export has changed" } else { &said })
    }
}

impl Server {
    /// Reads the serve file again, and admits, changes and removes the exports that it says. Each
    /// change waits up to some seconds for a quiet instant; `alive` is called between them.
    ///
    /// # Errors
    /// [`ServeError`] for a file that cannot be read or is faulty; then nothing has changed.
    pub fn reload(&mut self, mut alive: impl FnMut()) -> Result<Reloaded, ServeError> {
        let started = &self.prepared;
        let next = Prepared::read_with(&started.path, started.margin)?;
        let view = self.view();
        // The store's size only matters for exports of all of it.
        let layout = Layout { size: Bytes::new(u64::MAX), alignment: view.alignment() };
        let placed = next.file.exports(layout).map_err(|error| next.faulty(error))?;
        let mut reloaded = Reloaded::default();
        for key in next.file.fixed_changes(&started.file) {
            let why = format!("`{key}` cannot change while the service runs: restart it");
            reloaded.refused.push(why);
        }
        let names: Vec<String> = next.file.export_names().map(str::to_owned).collect();
        for name in std::mem::replace(&mut self.names, names) {
            if self.names.contains(&name) || view.export(&name).is_none() {
                continue;
            }
            alive();
            let removed = view.remove(&name).map(drop);
            if removed.is_err() {
                // It is still the file's, so the next reload removes it.
                self.names.push(name.clone());
            }
            reloaded.put(name, removed, |it| &mut it.removed);
        }
        for (new, spec) in next.file.new_exports().zip(placed) {
            alive();
            let name = new.name.clone();
            let offer = view.offer();
            let Some(live) = offer.exports().iter().find(|live| live.name == name) else {
                let admitted = view.admit(&at_its_place(new, &spec)).map(drop);
                match admitted {
                    Ok(()) => reloaded.admitted.push(name),
                    Err(error) => {
                        reloaded.refused.push(format!("`{name}` is not admitted: {error}"));
                    }
                }
                continue;
            };
            let (terms, of_live) = (terms(&spec), terms(live));
            if !is_at_its_place(&new, &spec, live) {
                reloaded.refused.push(moved(&spec, live));
            } else if terms != of_live {
                let place = ExportPlace::At { offset: live.offset, size: live.size };
                let place = if new.place == ExportPlace::Whole { new.place } else { place };
                let changed = view.replace(&NewExport { place, ..new }).map(drop);
                reloaded.put(name, changed, |it| &mut it.changed);
            }
        }
        Ok(reloaded)
    }
}

impl Reloaded {
    fn put(
        &mut self,
        name: String,
        result: Result<(), ChangeError>,
        list: impl FnOnce(&mut Self) -> &mut Vec<String>,
    ) {
        match result {
            Ok(()) => list(self).push(name),
            Err(error) => self.refused.push(format!("`{name}` stays as it was: {error}")),
        }
    }
}

/// Returns everything of an export but its place.
fn terms(spec: &ExportSpec) -> ExportSpec {
    ExportSpec { offset: Bytes::new(0), size: Bytes::new(0), ..spec.clone() }
}

/// Returns the new export at the place that a restart would give it.
fn at_its_place(new: NewExport, spec: &ExportSpec) -> NewExport {
    let place = match new.place {
        ExportPlace::Whole => ExportPlace::Whole,
        ExportPlace::Free { .. } | ExportPlace::At { .. } => {
            ExportPlace::At { offset: spec.offset, size: spec.size }
        }
    };
    NewExport { place, ..new }
}

/// Returns whether a restart would leave a running export where it is. An export of the whole store
/// begins at 0 and ends nowhere else.
fn is_at_its_place(new: &NewExport, spec: &ExportSpec, live: &ExportSpec) -> bool {
    spec.offset == live.offset && (new.place == ExportPlace::Whole || spec.size == live.size)
}

fn moved(spec: &ExportSpec, live: &ExportSpec) -> String {
    format!(
        "`{}` stays at offset {} with {}, and a restart would place it at {} with {}: write offset = \
         \"{}\" and size = \"{}\", or restart the service",
        live.name, live.offset, live.size, spec.offset, spec.size, live.offset, live.size
    )
}
