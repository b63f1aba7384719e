// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How long a drive can leave one request aside while it serves what suits it better.
//!
//! One request lies in the highest fifth of the target; `K - 1` others keep the drive busy in
//! the lowest. What is measured is how long the one takes.
//!
//! Source: RTAS'08, section 3.1 (random others). The sequential others are our own.

use rand_pcg::Pcg64;
use tidegate_model::{Duration, Tag};

use crate::drain::FIFTH;
use crate::flow::Flow;
use crate::places::Places;
use crate::subject::{Subject, SubjectError};

/// A request that has waited for so long is taken to be starved for ever: drives that bound
/// the wait do so at 1.5 to 4 s.
pub(crate) const ENDLESS: Duration = Duration::from_ms(20_000);

/// What keeps the drive from serving the one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// At random places.
    Random,
    /// One behind the other, so that the drive reads ahead.
    Sequential,
}

impl Others {
    /// All.
    pub(crate) const ALL: [Self; 2] = [Self::Random, Self::Sequential];
}

/// One time of a request beside `depth - 1` others, `depth >= 2`; [`ENDLESS`] or more if it
/// was not served.
pub(crate) fn sample(
    subject: &mut dyn Subject,
    places: Places,
    depth: u32,
    others: Others,
    random: &mut Pcg64,
) -> Result<Duration, SubjectError> {
    let needed = depth as usize;
    let (near, far) = (places.lowest(FIFTH, needed), places.highest(FIFTH, needed));
    let mut flow = Flow::on(subject);
    let mut next = near.start;
    let mut draw = |random: &mut Pcg64| match others {
        Others::Random => places.within(near.clone(), random),
        Others::Sequential => {
            next = if next + 1 < near.end { next + 1 } else { near.start };
            places.at(next)
        }
    };
    flow.keep(depth - 1, depth, || draw(random))?;
    let begun = flow.now();
    let starved = flow.send(1, Tag::Simple, || places.within(far.clone(), random))?[0];
    let took = loop {
        let is_served = flow.wait()?.contains(&starved.start);
        let took = flow.now().since(begun);
        if is_served || took >= ENDLESS {
            break took;
        }
        flow.fill(depth, || draw(random))?;
    };
    flow.drain()?;
    Ok(took)
}
