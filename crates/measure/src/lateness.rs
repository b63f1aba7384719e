// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures how late the host wakes up, without using the device.
//!
//! Every batch ends with a wake-up, so this lateness is part of every time. It is recorded together
//! with the table and not subtracted, because the host that enforces bounds is late as well.

use tidegate_device::{Ring, RingError};
use tidegate_model::Duration;
use tidegate_platform::Clock;

/// The number of wake-ups that are measured.
pub(crate) const WAITS: u32 = 100;

/// The intended duration of each wait.
const WAIT: Duration = Duration::from_ms(1);

/// Returns the greatest lateness of [`WAITS`] wake-ups, on a ring without requests.
pub(crate) fn highest(ring: &mut Ring, clock: Clock) -> Result<Duration, RingError> {
    let mut highest = Duration::ZERO;
    for _ in 0..WAITS {
        let due = clock.now() + WAIT;
        ring.wait(Some(WAIT))?;
        highest = highest.max(clock.now().since(due));
    }
    Ok(highest)
}
