// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A scenario for a service, decoded from arbitrary bytes; every byte sequence is valid.
//!
//! ```text
//!   policy, seed, then for each step:   action | export << 4 | together << 6
//!     read, write, durable write, zero:  block, shape        flush: no further byte
//!     pause: ms      fault: kind, amount      forget: index of the call
//! ```

use tidegate_model::{Duration, PolicyName};

/// The largest number of steps in a scenario.
const STEPS_MAX: usize = 300;

/// The number of blocks that requests use: a small number, so that requests overlap.
pub(in crate::service) const BLOCKS: u64 = 24;

/// A call's range in blocks; with `is_odd`, its size is not a whole number of blocks.
#[derive(Debug, Clone, Copy)]
pub(in crate::service) struct BlockRange {
    pub(in crate::service) block: u64,
    pub(in crate::service) count: u64,
    pub(in crate::service) is_odd: bool,
    pub(in crate::service) is_beyond: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    Read(BlockRange),
    Write {
        range: BlockRange,
        is_durable: bool,
    },
    Zero {
        range: BlockRange,
        is_durable: bool,
    },
    Flush,
    Pause(Duration),
    /// Waits until all calls have a reply.
    Settle,
    FailTransfers(u32),
    FailFlush,
    /// The store's first faulty block; `None` ends the fault.
    FailRegion(Option<u64>),
    Stall(Duration),
    /// A client disconnects without reading the reply; the number is the index of its call among
    /// those awaited.
    Forget(usize),
    Notice {
        is_end: bool,
    },
}

/// A service's policy and seed, and the steps to execute.
pub(super) struct Scenario {
    pub(super) policy: PolicyName,
    pub(super) has_contracts: bool,
    pub(super) seed: u64,
    /// Each step, with its export's index and whether the next step is at the same instant.
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
        0..=2 => Step::Read(range(&mut next)),
        3..=5 => Step::Write { range: range(&mut next), is_durable: false },
        6 => Step::Write { range: range(&mut next), is_durable: true },
        7 => Step::Zero { range: range(&mut next), is_durable: next() & 1 == 0 },
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

fn range(next: &mut impl FnMut() -> u8) -> BlockRange {
    let (block, shape) = (u64::from(next()) % BLOCKS, next());
    // Invalid sizes and ranges are rare, because most calls must be valid.
    let is_odd = shape & 0xe0 == 0xe0;
    let is_beyond = shape & 0xe0 == 0xc0;
    BlockRange { block, count: u64::from(shape & 7), is_odd, is_beyond }
}
