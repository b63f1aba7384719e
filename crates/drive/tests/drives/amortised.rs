// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Equation 7.4.1.7 against figures of the dissertation, worked by hand.

use drive::amortised::{Amortised, transfer_time_scaled_ceil};
use model::{Bytes, Duration};

/// Table 7.2.
const MAXTOR_255_KIB: Amortised = Amortised {
    seek_max: Duration::from_us(8_440),
    seek_min: Duration::from_us(2_850),
    rotation_max: Duration::from_us(6_000),
    transfer_max: Duration::from_us(5_340),
};

/// 8.44 + 6.0 + 5.34 = 19.78 ms, section 7.4.2.
#[test]
fn one_request_takes_what_the_dissertation_says() {
    assert_eq!(MAXTOR_255_KIB.batch_time_max(1), Duration::from_us(19_780));
}

/// 2 * (8.44 - 2.85) + 3 * (6.0 + 5.34 + 2.85) = 11.18 + 42.57 ms.
#[test]
fn three_requests_share_two_sweeps() {
    assert_eq!(MAXTOR_255_KIB.seek_time_max(3), Duration::from_us(11_180 + 8_550));
    assert_eq!(MAXTOR_255_KIB.batch_time_max(3), Duration::from_us(53_750));
}

#[test]
fn no_request_takes_no_time() {
    assert_eq!(MAXTOR_255_KIB.batch_time_max(0), Duration::ZERO);
}

/// 5,340,000 * 128 / 255 = 2,680,470.6.
#[test]
fn transfer_of_a_smaller_request_is_rounded_up() {
    let measured = Duration::from_us(5_340);
    let scaled =
        |kib| transfer_time_scaled_ceil(measured, Bytes::from_kib(255), Bytes::from_kib(kib)).ns();
    assert_eq!(scaled(128), 2_680_471);
    assert_eq!(scaled(255), 5_340_000);
    assert_eq!(scaled(0), 0);
}
