// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a running server's file again, and changes its exports to match the file.
//!
//! Each export changes as a whole or not at all. A key that a running service cannot change is
//! refused with the reason. Exports that were admitted through the control socket and that the file
//! does not name remain.
//!
//! After a restart, an export's data must be where the file places the export. A reload therefore
//! gives an admitted export the place that a restart would give it, and reports an export that a
//! restart would move.

use std::thread::sleep;
use std::time::{Duration, Instant};

use tidegate_model::serve_file::Layout;
use tidegate_model::{Bytes, ExportPlace, ExportSpec, NewExport};

use super::{Prepared, ServeError, Server};
use crate::service::{CHANGE_MAX, ChangeError, View};

/// The interval at which a reload checks whether the previous change is complete.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

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

/// A change that the file requires.
enum Wanted {
    Remove,
    Admit(NewExport),
    Replace(NewExport),
}

impl Wanted {
    fn make(&self, view: &View, name: &str) -> Result<(), ChangeError> {
        match self {
            Self::Remove => view.remove(name).map(drop),
            Self::Admit(new) => view.admit(new).map(drop),
            Self::Replace(new) => view.replace(new).map(drop),
        }
    }
}

impl Server {
    /// Reads the serve file again, and admits, changes and removes exports accordingly. Each change
    /// waits up to some seconds for an instant without outstanding requests, and for a change in
    /// progress; `alive` is called meanwhile. While a change waits, clients of exports without a
    /// contract can be delayed too.
    ///
    /// A change that is refused is tried again after the other changes, which may have made room
    /// for it. If everything in the file can be served together, the order of its exports does not
    /// matter.
    ///
    /// # Errors
    /// [`ServeError`] for a file that cannot be read or is faulty; then nothing has changed.
    pub fn reload(&mut self, mut alive: impl FnMut()) -> Result<Reloaded, ServeError> {
        let started = &self.prepared;
        let next = Prepared::read_with(&started.path, started.margin)?;
        let view = self.view();
        let mut reloaded = Reloaded::default();
        for key in next.file.fixed_changes(&started.file) {
            let why = format!("`{key}` cannot change while the service runs: restart it");
            reloaded.refused.push(why);
        }
        // Faults are found before `names` changes, so a faulty file changes nothing.
        let changes = reloaded.changes(&next, &view)?;
        let names: Vec<String> = next.file.export_names().map(str::to_owned).collect();
        let old = std::mem::replace(&mut self.names, names);
        let gone = old.into_iter().filter(|it| !self.names.contains(it));
        let gone = gone.filter(|name| view.export(name).is_some());
        let mut wanted: Vec<_> = gone.map(|name| (name, Wanted::Remove)).collect();
        wanted.extend(changes);
        for (name, change, error) in make_all(wanted, |name, change| {
            in_turn(&mut alive, || change.make(&view, name))?;
            reloaded.list(change).push(name.to_owned());
            Ok(())
        }) {
            let effect = match change {
                Wanted::Admit(_) => "is not admitted",
                Wanted::Remove | Wanted::Replace(_) => "stays as it was",
            };
            reloaded.refused.push(format!("`{name}` {effect}: {error}"));
            if let (Wanted::Remove, true) = (change, view.export(&name).is_some()) {
                // The export still belongs to the file, so the next reload tries again to remove
                // it.
                self.names.push(name);
            }
        }
        Ok(reloaded)
    }
}

/// A change that was refused, with the name of its export.
type RefusedChange = (String, Wanted, ChangeError);

/// Makes all changes, in rounds, until none of the remaining changes can be made.
fn make_all(
    mut wanted: Vec<(String, Wanted)>,
    mut make: impl FnMut(&str, &Wanted) -> Result<(), ChangeError>,
) -> Vec<RefusedChange> {
    let mut failed = Vec::new();
    loop {
        let count = wanted.len();
        let mut refused = Vec::new();
        for (name, change) in wanted {
            match make(&name, &change) {
                Ok(()) => {}
                Err(error @ ChangeError::Refused(_)) => refused.push((name, change, error)),
                Err(error) => failed.push((name, change, error)),
            }
        }
        if refused.is_empty() || refused.len() == count {
            failed.extend(refused);
            return failed;
        }
        wanted = refused.into_iter().map(|(name, change, _)| (name, change)).collect();
    }
}

/// Makes a change once no other change is in progress.
fn in_turn(
    alive: &mut impl FnMut(),
    make: impl Fn() -> Result<(), ChangeError>,
) -> Result<(), ChangeError> {
    let until = Instant::now() + CHANGE_MAX;
    loop {
        alive();
        match make() {
            Err(ChangeError::InProgress) if Instant::now() < until => sleep(POLL_INTERVAL),
            done => return done,
        }
    }
}

impl Reloaded {
    /// Returns the exports that are new in the file or have other terms there; exports that a
    /// restart would place elsewhere are refused.
    fn changes(
        &mut self,
        next: &Prepared,
        view: &View,
    ) -> Result<Vec<(String, Wanted)>, ServeError> {
        // Only exports that cover the whole store depend on its size.
        let layout = Layout { size: Bytes::new(u64::MAX), alignment: view.alignment() };
        let placed = next.file.exports(layout).map_err(|error| next.faulty(error))?;
        let offer = view.offer();
        let mut wanted = Vec::new();
        for (new, spec) in next.file.new_exports().zip(placed) {
            let name = new.name.clone();
            let Some(live) = offer.exports().iter().find(|live| live.name == name) else {
                wanted.push((name, Wanted::Admit(at_its_place(new, &spec))));
                continue;
            };
            if !is_at_its_place(&new, &spec, live) {
                self.refused.push(moved(&spec, live));
            } else if terms(&spec) != terms(live) {
                let place = ExportPlace::At { offset: live.offset, size: live.size };
                let place = if new.place == ExportPlace::Whole { new.place } else { place };
                wanted.push((name, Wanted::Replace(NewExport { place, ..new })));
            }
        }
        Ok(wanted)
    }

    fn list(&mut self, change: &Wanted) -> &mut Vec<String> {
        match change {
            Wanted::Remove => &mut self.removed,
            Wanted::Admit(_) => &mut self.admitted,
            Wanted::Replace(_) => &mut self.changed,
        }
    }
}

/// Returns the export without its place.
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
/// has no size of its own, so only its offset is compared.
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

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::service::Refusal;

    fn refusal() -> ChangeError {
        Refusal::new("no room".to_owned(), "make room").into()
    }

    /// Goal: a change that needs room which another change frees is made, in any order, and a
    /// change that never fits is refused. Method: changes that fit only after others were made.
    #[test]
    fn a_change_that_is_refused_at_first_is_made_after_those_that_make_room() {
        let wanted = ["third", "never", "second", "first", "late"];
        let wanted = wanted.map(|name| (name.to_owned(), Wanted::Remove)).into();
        let mut made = Vec::new();
        let mut never_quiet = 0;
        let refused = make_all(wanted, |name, _| {
            let waits_for = match name {
                "third" => Some("second"),
                "second" => Some("first"),
                "never" => Some("itself"),
                "late" => {
                    never_quiet += 1;
                    return Err(ChangeError::NeverQuiet { waited: tidegate_model::Duration::ZERO });
                }
                _ => None,
            };
            if waits_for.is_some_and(|other| !made.contains(&other.to_owned())) {
                return Err(refusal());
            }
            made.push(name.to_owned());
            Ok(())
        });
        assert_eq!(made, ["first", "second", "third"]);
        let refused: Vec<_> = refused.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!((refused, never_quiet), (vec!["late", "never"], 1));
    }

    #[test]
    fn a_change_waits_for_one_in_progress_and_says_that_the_service_is_alive() {
        let (tried, mut alive) = (Cell::new(0), 0);
        let made = in_turn(&mut || alive += 1, || {
            tried.set(tried.get() + 1);
            if tried.get() < 4 { Err(ChangeError::InProgress) } else { Ok(()) }
        });
        assert!(made.is_ok());
        assert_eq!((tried.get(), alive), (4, 4));
        assert!(matches!(in_turn(&mut || (), || Err(refusal())), Err(ChangeError::Refused(_))));
    }
}
