// SPDX-License-Identifier: Apache-2.0 OR MIT
//! drain(q): the longest time to empty the device when q requests are outstanding just after
//! a dispatch and nothing more is sent.
//!
//! What was sent before matters: a drive that serves what is near leaves behind what is far
//! away, so the q requests of a flow lie worse than q random ones. Hence several starts.
//!
//! Source: RTAS'08, section 3.2 (q at once: figure 8); the other starts are our own.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::{Duration, Tag};

use crate::flow::{self, Flow};
use crate::places::Places;
use crate::subject::{Subject, SubjectError};

/// What comes before a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Start {
    /// The idle device is given q requests at once: b(q).
    Idle,
    /// A flow that keeps q outstanding ends.
    Steady,
    /// A flow that keeps K outstanding ends; when fewer than q are left, it is brought back
    /// to q and ends for good. What was left is what the drive liked least.
    Receded,
    /// A steady flow within the lowest fifth, and one request that waits in the highest.
    Stranded,
    /// A steady flow whose places are by turns at one end of the target and at the other.
    Ends,
}

impl Start {
    /// Those of random places, which make the table.
    pub const RANDOM: [Self; 3] = [Self::Idle, Self::Steady, Self::Receded];

    /// Those of places that make drains long.
    pub const ADVERSARIES: [Self; 2] = [Self::Stranded, Self::Ends];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Steady => "steady",
            Self::Receded => "receded",
            Self::Stranded => "stranded",
            Self::Ends => "ends",
        }
    }
}

/// Flows against the drive are long: a part of the samples of other experiments.
pub(crate) fn samples_of_adversaries(samples: u32) -> u32 {
    samples.div_ceil(ADVERSARY_PART)
}

/// See [`samples_of_adversaries`].
const ADVERSARY_PART: u32 = 4;

/// The part of the target that the flow leaves alone but for one request, and the part it is
/// confined to: a fifth, as in RTAS'08, section 3.1.
pub(crate) const FIFTH: usize = 5;

/// The ends of the target between which requests go to and fro: a twentieth.
pub(crate) const TWENTIETH: usize = 20;

/// The longest flow beside a stranded request: long enough that it is as old as a drive lets
/// any request become, some seconds of a hard disk.
const STRANDED_LENGTH_MAX: u32 = 512;

/// Their mean.
pub(crate) const STRANDED_LENGTH: u64 = 256;

/// What is drained.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drain {
    /// Where requests may lie.
    pub(crate) places: Places,
    /// K.
    pub(crate) depth: u32,
}

impl Drain {
    /// One drain of q requests, `1 <= q <= depth`.
    pub(crate) fn sample(
        &self,
        subject: &mut dyn Subject,
        start: Start,
        q: u32,
        random: &mut Pcg64,
    ) -> Result<Duration, SubjectError> {
        let mut flow = Flow::on(subject);
        match start {
            Start::Idle => flow.fill(q, || self.places.anywhere(random))?,
            Start::Steady => {
                flow.keep(q, flow::length(q, random), || self.places.anywhere(random))?;
            }
            Start::Receded => {
                let length = flow::length(self.depth, random);
                flow.keep(self.depth, length, || self.places.anywhere(random))?;
                flow.recede_to(q - 1)?;
                flow.fill(q, || self.places.anywhere(random))?;
            }
            Start::Stranded => self.strand(&mut flow, q, random)?,
            Start::Ends => self.keep_at_ends(&mut flow, q, random)?,
        }
        flow.drain()
    }

    /// A steady flow of `q - 1` in the lowest fifth beside one request in the highest.
    fn strand(&self, flow: &mut Flow, q: u32, random: &mut Pcg64) -> Result<(), SubjectError> {
        let needed = self.depth as usize;
        let near = self.places.lowest(FIFTH, needed);
        let far = self.places.highest(FIFTH, needed);
        flow.fill(q - 1, || self.places.within(near.clone(), random))?;
        let mut stranded =
            flow.send(1, Tag::Simple, || self.places.within(far.clone(), random))?[0];
        for _ in 0..random.random_range(0..STRANDED_LENGTH_MAX) {
            if flow.wait()?.contains(&stranded.start) {
                flow.fill(q - 1, || self.places.within(near.clone(), random))?;
                stranded =
                    flow.send(1, Tag::Simple, || self.places.within(far.clone(), random))?[0];
            } else {
                flow.fill(q, || self.places.within(near.clone(), random))?;
            }
        }
        Ok(())
    }

    fn keep_at_ends(
        &self,
        flow: &mut Flow,
        q: u32,
        random: &mut Pcg64,
    ) -> Result<(), SubjectError> {
        let needed = self.depth as usize;
        let (low, high) =
            (self.places.lowest(TWENTIETH, needed), self.places.highest(TWENTIETH, needed));
        let mut is_low: bool = random.random();
        flow.keep(q, flow::length(q, random), || {
            is_low = !is_low;
            let end = if is_low { &low } else { &high };
            self.places.within(end.clone(), random)
        })
    }
}
