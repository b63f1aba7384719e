// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of experiments and the facts that plans, warnings and reports need.
//!
//! This file does not describe any particular experiment. Each one states its facts in its own file
//! under `experiments/`; `experiments/mod.rs` lists them all.

use std::fmt;

/// An experiment. Each experiment fills its own part of the drive file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Experiment(&'static Facts);

/// The fixed facts about an experiment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The name on the command line, in drive files and in journals.
    pub(crate) name: &'static str,
    /// The kinds of requests with which it is run, and when.
    pub(crate) scope: Scope,
    /// The way in which reports name one of its cells.
    pub(crate) cell_name: CellName,
    /// The definition of one of its times, in the words of the drive file.
    pub(crate) time: &'static str,
    /// Whether the experiment's longest time matters. If so, the number of samples that the drive
    /// file states is at most this experiment's.
    pub(crate) is_about_maxima: bool,
    /// The name of its last cell, if the tail of that cell is estimated.
    pub(crate) tail: Option<&'static str>,
    /// Whether a first look (`--quick`) leaves it out.
    pub(crate) is_omitted_when_quick: bool,
    /// The experiment whose table it raises by measuring families of places; `None` if it raises
    /// none.
    pub(crate) places_of: Option<Experiment>,
    /// Whether the experiment's requests carry the drive's own priority.
    pub(crate) needs_priority: bool,
}

/// The kinds of requests with which an experiment is run, and when.
///
/// All experiments that only read come before the first write, because writes change a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// With each kind of request: with reads first, and with writes after all experiments that only
    /// read.
    EachKind,
    /// Once, with reads that the experiment defines itself.
    Device,
    /// With each kind of request, after all experiments that examine the geometry of a disk.
    EachKindOfDisk,
    /// Once, with all kinds together.
    AllKinds,
    /// At the end, with writes of each size.
    Writes,
}

impl Scope {
    /// Returns whether an experiment is run with each of the requested kinds.
    pub(crate) const fn is_by_kind(self) -> bool {
        match self {
            Self::EachKind | Self::EachKindOfDisk => true,
            Self::Device | Self::AllKinds | Self::Writes => false,
        }
    }
}

/// The way in which reports name a cell of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellName {
    /// There is one cell; it needs no name.
    One,
    /// The symbol of its table and the number of requests, `b(3)`; if there are several starts,
    /// also the start, `drain(5) (start: idle)`. Holds the symbol and the names of the starts.
    Count(&'static str, &'static [&'static str]),
    /// The number of the cell.
    Number,
}

impl Experiment {
    /// Returns the experiment with these facts.
    pub(crate) const fn of(facts: &'static Facts) -> Self {
        Self(facts)
    }

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns the symbol of the experiment's table, as in b(3) or drain(3).
    pub const fn symbol(self) -> &'static str {
        match self.0.cell_name {
            CellName::Count(symbol, _) => symbol,
            CellName::One | CellName::Number => self.0.name,
        }
    }

    /// Returns whether the experiment's own requests destroy the data on the target, even if only
    /// reads were requested.
    pub const fn destroys_data(self) -> bool {
        match self.0.scope {
            Scope::Writes => true,
            Scope::EachKind | Scope::Device | Scope::EachKindOfDisk | Scope::AllKinds => false,
        }
    }

    /// Returns the experiment's facts.
    pub(crate) const fn facts(self) -> &'static Facts {
        self.0
    }

    /// Returns the kinds of requests with which the experiment is run, and when it is run.
    pub(crate) const fn scope(self) -> Scope {
        self.0.scope
    }
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
