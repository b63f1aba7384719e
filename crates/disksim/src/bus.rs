// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The time that a sector takes on the slowest part of the path between host and disk.
//!
//! Files that describe a whole system have a topology: nested components, each an instance of a
//! block. The disk's bus and the controller above it transfer at their own rates; the slowest of
//! these and the disk's own electronics counts.

use std::rc::Rc;

use super::content::FileKind;
use super::error::ImportError;
use super::library::{Document, Library};
use super::report::Report;
use super::section::{Known, Section, TIME_NS_MAX};
use super::tree::{Item, List, Value};

const BUS: &str = "disksim_bus";
const READ: &str = "Read block transfer time";
const WRITE: &str = "Write block transfer time";

const KNOWN: Known<'_> = Known {
    represented: &[READ, WRITE],
    neutral: &[
        ("type", "*"),
        ("Arbitration type", "*"),
        ("Arbitration time", "0"),
        ("Print stats", "*"),
    ],
};

/// The time that a sector takes on the bus, in ps, for reads and for writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SectorTimes {
    pub(crate) read_ps: u64,
    pub(crate) write_ps: u64,
}

/// Returns the bus times of the disk `disk`, from the system among the given files, or from a file
/// beside the disk's file that sources it; `None` if there is no such system.
pub(crate) fn of_disk(
    disk: &Section,
    library: &Library<'_>,
    report: &mut Report,
) -> Result<Option<SectorTimes>, ImportError> {
    let given = library.given().iter().filter(|document| is_system_of(document, disk));
    let mut systems: Vec<(Rc<Document>, Option<String>)> =
        given.map(|document| (Rc::clone(document), None)).collect();
    if systems.is_empty() {
        systems = systems_beside(disk, library);
    }
    let stem = |document: &Document| document.path.file_stem().map(ToOwned::to_owned);
    // If several systems use the disk, take the one with the disk's name.
    systems.sort_by_key(|(system, _)| stem(system) != stem(&disk.document));
    let mut found = Vec::new();
    for (system, how) in systems {
        if let Some(times) = times_in(&system, disk, report)? {
            found.push((system, how, times));
        }
    }
    let Some((system, how, times)) = found.first() else { return Ok(None) };
    if found.iter().any(|(_, _, other)| other != times) {
        report.note(format!(
            "{} systems contain this disk; {} is used",
            found.len(),
            system.name()
        ));
    }
    report.uses(system.path.clone(), FileKind::System, how.clone());
    Ok(Some(*times))
}

/// Returns whether a file contains a topology and the disk, either itself or through a file that it
/// sources.
fn is_system_of(document: &Document, disk: &Section) -> bool {
    let sources_it =
        |name: &str| std::path::Path::new(name).file_name() == disk.document.path.file_name();
    let mut sources = document.tree.sources();
    let has_it = document.path == disk.document.path
        || sources.any(|span| sources_it(span.of(&document.text)));
    has_it && document.tree.items.iter().any(|item| matches!(item, Item::Topology { .. }))
}

type Systems = Vec<(Rc<Document>, Option<String>)>;

fn systems_beside(disk: &Section, library: &Library<'_>) -> Systems {
    let mut systems = Vec::new();
    for path in library.siblings(&disk.document) {
        if path.extension().is_none_or(|extension| extension != "parv") {
            continue;
        }
        // A faulty system file beside it was not requested, so it is ignored.
        let Ok(document) = library.load(&path) else { continue };
        if is_system_of(&document, disk) {
            let how = format!("beside {}, and sources it", disk.document.name());
            systems.push((document, Some(how)));
        }
    }
    systems
}

/// Returns the sector times of the path to the disk; `None` if the topology lacks the disk.
fn times_in(
    system: &Rc<Document>,
    disk: &Section,
    report: &mut Report,
) -> Result<Option<SectorTimes>, ImportError> {
    let Some(name) = disk.name() else { return Ok(None) };
    let instances = Instances { system };
    let topology = system.tree.items.iter().find_map(|item| match item {
        Item::Topology { below } => way_to(system, below, &|word| instances.is_of(word, name)),
        _ => None,
    });
    let Some(mut way) = topology else { return Ok(None) };
    // From the disk upwards: its bus, then the controller. Components above them run at their own
    // pace.
    way.reverse();
    let mut times = SectorTimes::default();
    for component in way.into_iter().take(2) {
        let Some(section) = instances.section(component) else { continue };
        let own = section_times(&section)?;
        if section.kind() == BUS {
            section.report_ignored(&KNOWN, report);
        }
        times.read_ps = times.read_ps.max(own.read_ps);
        times.write_ps = times.write_ps.max(own.write_ps);
    }
    Ok(Some(times))
}

fn section_times(section: &Section) -> Result<SectorTimes, ImportError> {
    let time = |name| {
        let Some(ps) = section.scaled(name, 9)? else { return Ok(0) };
        let ps = u64::try_from(ps).ok().filter(|_| ps <= 1_000 * TIME_NS_MAX);
        ps.ok_or_else(|| {
            let value = section.find(name).expect("it was read");
            section.refuse(value, name, "a time in milliseconds")
        })
    };
    if section.kind() == BUS {
        let read_ps = time(READ)?;
        return Ok(SectorTimes { read_ps, write_ps: time(WRITE)? });
    }
    let both_ps = time("Bulk sector transfer time")?;
    Ok(SectorTimes { read_ps: both_ps, write_ps: both_ps })
}

/// Returns the names of the components above the first one for which `is_it` is true, outermost
/// first.
fn way_to<'a>(
    document: &'a Document,
    list: &List,
    is_it: &dyn Fn(&str) -> bool,
) -> Option<Vec<&'a str>> {
    for triple in list.values.windows(3) {
        let [Value::Word(_), Value::Word(name), Value::List(below)] = triple else { continue };
        let name = name.of(&document.text);
        if is_it(name) {
            return Some(Vec::new());
        }
        if let Some(mut way) = way_to(document, below, is_it) {
            way.insert(0, name);
            return Some(way);
        }
    }
    None
}

/// Maps components to the blocks that they instantiate.
struct Instances<'a> {
    system: &'a Rc<Document>,
}

impl Instances<'_> {
    /// Returns whether `component` is an instance of the block `block`, or the block itself.
    fn is_of(&self, component: &str, block: &str) -> bool {
        self.block_of(component).unwrap_or(component) == block
    }

    /// Returns the section that a component instantiates.
    fn section(&self, component: &str) -> Option<Section> {
        let wanted = self.block_of(component).unwrap_or(component);
        let text = &self.system.text;
        let is_it = |name: super::words::Span| name.of(text) == wanted;
        let block = self.system.tree.blocks().find(|block| block.name.is_some_and(is_it))?;
        Some(Section { document: Rc::clone(self.system), block: Rc::clone(block) })
    }

    fn block_of(&self, component: &str) -> Option<&str> {
        let text = &self.system.text;
        self.system.tree.items.iter().find_map(|item| match item {
            Item::Instance { names, of } if has_name(text, names, component) => Some(of.of(text)),
            _ => None,
        })
    }
}

/// Returns whether a list of names contains `wanted`; `disk0 .. disk7` are eight names.
fn has_name(text: &str, names: &List, wanted: &str) -> bool {
    let words: Vec<&str> = names
        .values
        .iter()
        .filter_map(|value| match value {
            Value::Word(span) => Some(span.of(text)),
            _ => None,
        })
        .collect();
    let in_range = |range: &[&str]| range[1] == ".." && is_between(range[0], wanted, range[2]);
    words.contains(&wanted) || words.windows(3).any(in_range)
}

fn is_between(first: &str, wanted: &str, last: &str) -> bool {
    let [first, wanted, last] = [first, wanted, last].map(numbered);
    match (first, wanted, last) {
        (Some(first), Some(wanted), Some(last)) => {
            first.0 == wanted.0 && wanted.0 == last.0 && (first.1..=last.1).contains(&wanted.1)
        }
        _ => false,
    }
}

/// Splits `disk12` into `disk` and 12.
fn numbered(name: &str) -> Option<(&str, u64)> {
    let stem = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    Some((stem, name[stem.len()..].parse().ok()?))
}
