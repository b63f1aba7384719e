// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What can be measured, by name.

/// One experiment; each fills its own part of the drive file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Experiment {
    /// One request at a random place of an idle device.
    Single,
    /// b(i): i requests at random places, given at once to an idle device.
    Batch,
    /// Batches of different requests.
    Mixed,
    /// drain(q): until the device is empty, from the moment that nothing more is sent.
    Drain,
    /// The same with places that make drains long: raises the table where they are longer.
    DrainAdversary,
    /// priority(q): q requests of the drive's own priority, others keeping the device full.
    Priority,
    /// How long others can hold up one request.
    Starvation,
    /// What flows of requests move.
    Throughput,
    /// How long the medium takes to turn, if it does.
    Rotation,
    /// What a request costs where nothing moves.
    Overhead,
    /// Where tracks are denser.
    Zones,
    /// How long seeks take.
    SeekCurve,
    /// How data is spread over chips.
    Stripe,
    /// How long a flush takes when the device's cache is dirty.
    Flush,
}

impl Experiment {
    /// All, in the order in which they are made: what every guarantee needs comes first.
    pub const ALL: [Self; 14] = [
        Self::Batch,
        Self::Single,
        Self::Drain,
        Self::Throughput,
        Self::Rotation,
        Self::Overhead,
        Self::Zones,
        Self::SeekCurve,
        Self::Stripe,
        Self::Starvation,
        Self::Mixed,
        Self::Priority,
        Self::DrainAdversary,
        Self::Flush,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Batch => "batch",
            Self::Mixed => "mixed",
            Self::Drain => "drain",
            Self::DrainAdversary => "drain-adversary",
            Self::Priority => "priority",
            Self::Starvation => "starvation",
            Self::Throughput => "throughput",
            Self::Rotation => "rotation",
            Self::Overhead => "overhead",
            Self::Zones => "zones",
            Self::SeekCurve => "seek-curve",
            Self::Stripe => "stripe",
            Self::Flush => "flush",
        }
    }

    /// The experiment of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|experiment| experiment.name() == name)
    }

    /// Whether what it says about the longest time depends on the number of samples.
    pub(crate) const fn is_about_maxima(self) -> bool {
        !matches!(self, Self::Throughput | Self::Stripe | Self::DrainAdversary | Self::Flush)
    }

    /// Whether it is made once, and not with each kind of request.
    pub(crate) const fn is_of_several(self) -> bool {
        use Experiment::{Mixed, Overhead, Rotation, SeekCurve, Stripe, Zones};
        matches!(self, Mixed | Rotation | Overhead | Zones | SeekCurve | Stripe)
    }

    /// What an entry of its table is called: b(3), drain(3).
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Batch => "b",
            Self::Drain | Self::DrainAdversary => "drain",
            other => other.name(),
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
