// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What happens to a service, read from any bytes: none are wrong, and few say much.
//!
//! ```text
//!   policy, seed, then for each step:   action | export << 4 | together << 6
//!     read, write, durable write, zero:  block, shape        flush: nothing more
//!     pause: ms      fault: which, how much      forget: whose answer
//! ```

use tidegate_model::{Duration, PolicyName};

/// Steps of one scenario, at most.
const STEPS_MAX: usize = 300;

/// Blocks among which requests go: few, so that they overlap.
pub(super) const BLOCKS: u64 = 24;

/// What a client asks for, in blocks; `is_odd`: not a multiple of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) block: u64,
    pub(super) count: u64,
    pub(super) is_odd: bool,
    pub(super) is_beyond: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Read(Place),
    Write {
        place: Place,
        is_durable: bool,
    },
    Zero {
        place: Place,
        is_durable: bool,
    },
    Flush,
    Pause(Duration),
    /// Until everything is answered.
    Settle,
    FailTransfers(u32),
    FailFlush,
    /// Blocks of the store, or none any more.
    FailRegion(Option<u64>),
    Stall(Duration),
    /// A client leaves: the answer of that number, of those that are awaited, is heard by nobody.
    Forget(usize),
    Notice {
        is_end: bool,
    },
}

/// See the module's text.
pub(super) struct Scenario {
    pub(super) policy: PolicyName,
    pub(super) has_contracts: bool,
    pub(super) seed: u64,
    /// With the export, and whether the next comes at the same instant.
    pub(super) steps: Vec<(Step, usize, bool)>,
}

impl Scenario {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut bytes = bytes.iter().copied();
        let mut next = || bytes.next();
        let first = next().unwrap_or(0);
        let policy = [PolicyName::Dqf, PolicyName::Noop, PolicyName::Fifo, PolicyName::Rtio];
        let policy = policy[usize::from(first & 3)];
        let has_contracts = policy == PolicyName::Dqf && first & 4 != 0;
        let seed = u64::from(next().unwrap_or(0));
        let mut steps = Vec::new();
        while steps.len() < STEPS_MAX
            && let Some(head) = next()
        {
            let export = usize::from(head >> 4 & 3) % 3;
            steps.push((step(head & 15, &mut next), export, head & 64 != 0));
        }
        Self { policy, has_contracts, seed, steps }
    }
}

fn step(action: u8, next: &mut impl FnMut() -> Option<u8>) -> Step {
    let mut next = || next().unwrap_or(0);
    match action {
        0..=2 => Step::Read(place(&mut next)),
        3..=5 => Step::Write { place: place(&mut next), is_durable: false },
        6 => Step::Write { place: place(&mut next), is_durable: true },
        7 => Step::Zero { place: place(&mut next), is_durable: next() & 1 == 0 },
        8 | 9 => Step::Flush,
        10 => Step::Pause(Duration::from_us(500 * u64::from(next()))),
        11 => Step::Settle,
        12 => match (next() & 3, next()) {
            (0, many) => Step::FailTransfers(u32::from(many & 3)),
            (1, _) => Step::FailFlush,
            (2, block) => Step::FailRegion((block & 128 == 0).then_some(u64::from(block & 63))),
            (_, tenths) => Step::Stall(Duration::from_ms(100 * u64::from(tenths))),
        },
        13 => Step::Forget(usize::from(next())),
        _ => Step::Notice { is_end: action == 15 },
    }
}

fn place(next: &mut impl FnMut() -> u8) -> Place {
    let (block, shape) = (u64::from(next()) % BLOCKS, next());
    // Seldom: most of what is asked is to be carried out.
    let is_odd = shape & 0xe0 == 0xe0;
    let is_beyond = shape & 0xe0 == 0xc0;
    Place { block, count: u64::from(shape & 7), is_odd, is_beyond }
}
