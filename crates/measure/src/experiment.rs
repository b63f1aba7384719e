// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What can be measured, by name.

/// One experiment; each fills its own part of the drive file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Experiment {
    /// b(i): i requests at random places, given at once to an idle device.
    Batch,
    /// drain(q): until the device is empty, from the moment that nothing more is sent.
    Drain,
    /// The same with places that make drains long: shown, not written into the table.
    DrainAdversary,
    /// priority(q): q requests of the drive's own priority, others keeping the device full.
    Priority,
    /// How long others can hold up one request.
    Starvation,
}

impl Experiment {
    /// All, in the order in which they are made.
    pub const ALL: [Self; 5] =
        [Self::Batch, Self::Drain, Self::DrainAdversary, Self::Priority, Self::Starvation];

    /// What is measured unless told otherwise: what every guarantee needs.
    pub const USUAL: [Self; 1] = [Self::Batch];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Drain => "drain",
            Self::DrainAdversary => "drain-adversary",
            Self::Priority => "priority",
            Self::Starvation => "starvation",
        }
    }

    /// The experiment of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|experiment| experiment.name() == name)
    }

    /// What an entry of its table is called: b(3), drain(3).
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Batch => "b",
            Self::Drain | Self::DrainAdversary => "drain",
            Self::Priority => "priority",
            Self::Starvation => "starvation",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for experiment in Experiment::ALL {
            assert_eq!(Experiment::from_name(experiment.name()), Some(experiment));
        }
        assert_eq!(Experiment::from_name("b"), None);
    }
}
