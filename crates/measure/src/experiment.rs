// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of experiments and the facts that plans, warnings and reports need.
//!
//! This file does not describe any particular experiment. Each one states its facts in its own file
//! under `experiments/`; `experiments/mod.rs` lists them all.

use std::fmt;

/// One experiment; each fills its own part of the drive file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Experiment(&'static Facts);

/// The fixed facts about an experiment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The name on the command line, in drive files and in journals.
    pub(crate) name: &'static str,
    /// The requests with which it is run, and when.
    pub(crate) scope: Scope,
    /// How reports name one of its cells.
    pub(crate) cell_name: CellName,
    /// The meaning of one of its times, as the drive file states it.
    pub(crate) time: &'static str,
    /// Whether its longest time matters; if so, the number of samples that the drive file states is
    /// at most this experiment's.
    pub(crate) is_about_maxima: bool,
    /// The name of its last cell, if the tail of that cell is estimated.
    pub(crate) tail: Option<&'static str>,
    /// Whether a first look (`--quick`) leaves it out.
    pub(crate) is_omitted_when_quick: bool,
    /// The experiment whose table it raises, by families of places; `None` for all others.
    pub(crate) places_of: Option<Experiment>,
    /// Whether its requests carry the drive's own priority.
    pub(crate) needs_priority: bool,
}

/// The requests with which an experiment is run, and when.
///
/// All experiments that only read come before the first write, because writes change a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// With each kind of request: reads first, writes after everything else that only reads.
    EachKind,
    /// Once, with reads of its own.
    Device,
    /// With each kind of request, after all experiments that examine the parts of a disk.
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

/// How reports name a cell of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellName {
    /// There is one cell; it needs no name.
    One,
    /// By the symbol of its table and the number of requests, `b(3)`, and by the start if there are
    /// several, `drain(5) (start: idle)`. Holds the symbol and the names of the starts.
    Count(&'static str, &'static [&'static str]),
    /// By its number.
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

    /// Returns the name of an entry of its table: b(3), drain(3).
    pub const fn symbol(self) -> &'static str {
        match self.0.cell_name {
            CellName::Count(symbol, _) => symbol,
            CellName::One | CellName::Number => self.0.name,
        }
    }

    /// Returns whether its own requests destroy the data on the target, whatever operations are
    /// measured.
    pub const fn destroys_data(self) -> bool {
        match self.0.scope {
            Scope::Writes => true,
            Scope::EachKind | Scope::Device | Scope::EachKindOfDisk | Scope::AllKinds => false,
        }
    }

    /// Returns its facts.
    pub(crate) const fn facts(self) -> &'static Facts {
        self.0
    }

    /// Returns the requests with which it is run, and when.
    pub(crate) const fn scope(self) -> Scope {
        self.0.scope
    }
}

impl fmt::Debug for Experiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
