// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A flow of requests: each completed request is replaced, so that a constant number of requests
//! stays on the device.
//!
//! ```text
//!   outstanding  depth  ____________________
//!                      /     keep()         \  recede_to()
//!                     /                      \____ send() _
//!                    /                                     \  drain()
//!                   /                                       \
//! ```

use std::ops::Range;

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::{Duration, Lba, Tag, Time};

use crate::places::Places;
use crate::subject::{Probe, Subject, TrialResult};

/// The maximum length of a random flow, in multiples of its depth.
const LENGTH_MAX: u32 = 7;

/// Where the requests of a flow can lie, and how many can be outstanding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlowParams {
    /// Where requests can lie.
    pub(crate) places: Places,
    /// The greatest number of outstanding requests (K).
    pub(crate) depth: u32,
}

impl FlowParams {
    /// Returns the lowest and the highest 1/`part` of the target, each with room for `depth`
    /// requests.
    pub(crate) fn ends(&self, part: usize) -> [Range<usize>; 2] {
        let needed = self.depth as usize;
        [self.places.lowest(part, needed), self.places.highest(part, needed)]
    }

    /// Returns a source of places that alternates between the lowest and the highest 1/`part` of
    /// the target. The first place is in the highest part if `is_low`, otherwise in the lowest.
    pub(crate) fn by_turns(self, part: usize, mut is_low: bool) -> impl FnMut(&mut Pcg64) -> Probe {
        let [low, high] = self.ends(part);
        move |random| {
            is_low = !is_low;
            let end = if is_low { &low } else { &high };
            self.places.within(end.clone(), random)
        }
    }
}

/// The requests outstanding at a subject, and the random numbers for their places. The subject is
/// idle at first.
pub(crate) struct Flow<'a> {
    subject: &'a mut dyn Subject,
    pub(crate) random: &'a mut Pcg64,
    outstanding: Vec<Probe>,
    returned: Vec<Lba>,
    /// The instant at which the last batch was sent.
    sent_at: Time,
}

impl<'a> Flow<'a> {
    /// Returns a flow with nothing outstanding.
    pub(crate) fn on(subject: &'a mut dyn Subject, random: &'a mut Pcg64) -> Self {
        let sent_at = subject.now();
        Self { subject, random, outstanding: Vec::new(), returned: Vec::new(), sent_at }
    }

    /// Draws `count` requests at different places. `draw` must sooner or later return that many
    /// different places.
    pub(crate) fn different(
        &mut self,
        count: usize,
        draw: &mut dyn FnMut(&mut Pcg64) -> Probe,
    ) -> Vec<Probe> {
        let mut all: Vec<Probe> = Vec::with_capacity(count);
        while all.len() < count {
            let probe = draw(self.random);
            if all.iter().all(|known| known.start != probe.start) {
                all.push(probe);
            }
        }
        all
    }

    /// Sends a batch while nothing is outstanding, and returns the time until its last request
    /// completes.
    pub(crate) fn serve(&mut self, probes: &[Probe]) -> TrialResult<Duration> {
        self.subject.serve(probes)
    }

    /// Flushes while nothing is outstanding, and returns how long that took.
    pub(crate) fn flush(&mut self) -> TrialResult<Duration> {
        self.subject.flush()
    }

    /// Returns the number of outstanding requests.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.outstanding.len()).expect("a device holds few requests")
    }

    /// Returns the current time of the subject's clock.
    pub(crate) fn now(&self) -> Time {
        self.subject.now()
    }

    /// Sends `count` requests together and returns them. `draw` must sooner or later return a place
    /// where no request is outstanding.
    pub(crate) fn send(
        &mut self,
        count: u32,
        tag: Tag,
        mut draw: impl FnMut(&mut Pcg64) -> Probe,
    ) -> TrialResult<&[Probe]> {
        let first = self.outstanding.len();
        for _ in 0..count {
            let probe = loop {
                let probe = draw(self.random);
                if !self.outstanding.iter().any(|other| other.start == probe.start) {
                    break probe;
                }
            };
            self.outstanding.push(probe);
        }
        self.sent_at = self.subject.send(&self.outstanding[first..], tag)?;
        Ok(&self.outstanding[first..])
    }

    /// Sends requests until `depth` of them are outstanding.
    pub(crate) fn fill(
        &mut self,
        depth: u32,
        draw: impl FnMut(&mut Pcg64) -> Probe,
    ) -> TrialResult {
        let missing = depth.saturating_sub(self.count());
        if missing > 0 {
            self.send(missing, Tag::Simple, draw)?;
        }
        Ok(())
    }

    /// Waits for at least one completion and returns the places of all completed requests.
    pub(crate) fn wait(&mut self) -> TrialResult<&[Lba]> {
        self.returned.clear();
        self.subject.wait(&mut self.returned)?;
        for place in &self.returned {
            let index = self.outstanding.iter().position(|other| other.start == *place);
            self.outstanding.swap_remove(index.expect("it was sent"));
        }
        Ok(&self.returned)
    }

    /// Keeps `depth` requests outstanding until `count` of them have completed; at the end, `depth`
    /// are outstanding.
    pub(crate) fn keep(
        &mut self,
        depth: u32,
        completions: u32,
        mut draw: impl FnMut(&mut Pcg64) -> Probe,
    ) -> TrialResult {
        self.fill(depth, &mut draw)?;
        let mut done = 0;
        while done < completions {
            done += u32::try_from(self.wait()?.len()).expect("a device holds few requests");
            self.fill(depth, &mut draw)?;
        }
        Ok(())
    }

    /// Keeps `depth` requests outstanding for a random number of completions, so that requests of
    /// any age wait in the device.
    pub(crate) fn keep_a_while(
        &mut self,
        depth: u32,
        draw: impl FnMut(&mut Pcg64) -> Probe,
    ) -> TrialResult {
        let completions = self.random.random_range(1..=depth * LENGTH_MAX);
        self.keep(depth, completions, draw)
    }

    /// Sends nothing until at most `count` requests are outstanding.
    pub(crate) fn recede_to(&mut self, count: u32) -> TrialResult {
        while self.count() > count {
            self.wait()?;
        }
        Ok(())
    }

    /// Waits until the device is empty, and returns the time since the last dispatch.
    pub(crate) fn drain(&mut self) -> TrialResult<Duration> {
        self.outstanding.clear();
        Ok(self.subject.drain()?.since(self.sent_at))
    }
}
