// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The disks of Reuther and Pohlack, "Using SATF Scheduling in Real-Time Systems", figure 1:
//! random requests of 64 KiB, throughput against the number of requests from which the scheduler
//! can choose. Only the text describes the figure; the ranges of the rates follow from seek, turn
//! and transfer of such disks.

use tidegate_model::mechanics::Scheduler;
use tidegate_model::{Bytes, DriveFile};

use super::common::{load, mechanics_mut, random};

const SIZE: Bytes = Bytes::from_kib(64);
const COUNT: usize = 10_000;

/// Returns the rates of reads for each queue depth.
fn rates(file: &DriveFile, depths: &[u32]) -> Vec<u64> {
    depths.iter().map(|&depth| random(file, SIZE, depth, COUNT).kb()).collect()
}

fn with(name: &str, scheduler: Scheduler) -> DriveFile {
    let mut file = load(name);
    mechanics_mut(&mut file).queue.scheduler = scheduler;
    file
}

/// Asserts that the rates rise, within 1 %: the noise of 10,000 random reads.
fn assert_rises(rates: &[u64]) {
    assert!(rates.is_sorted_by(|less, more| more * 100 >= less * 99), "{rates:?}");
}

/// 15,000 rpm: alone 4.2 + 2 + 1.4 ms and the command, 8 to 9.5 MB/s; at 32 the positioning time
/// of 6.2 ms falls to a third, so the rate is 1.6 to 2.2 times as high.
#[test]
fn ultrastar_is_the_faster_the_more_it_holds() {
    let rates = rates(&load("ibm-36z15"), &[1, 2, 4, 8, 16, 32, 64]);
    assert_rises(&rates);
    let [alone, .., at_32, at_64] = rates[..] else { panic!("seven rates") };
    assert!((8_000..9_500).contains(&alone), "{alone}");
    assert!((16..22).contains(&(at_32 * 10 / alone)), "{rates:?}");
    assert!(at_64 > at_32, "{rates:?}");
}

/// 7,200 rpm: alone 8.5 + 4.2 + 1.7 ms and the command, 4 to 5 MB/s; ordering by seek distance
/// alone does not reduce the rotational delay, so the rate at 32 is only 1.5 to 2 times as high.
#[test]
fn barracuda_is_the_faster_the_more_it_holds() {
    let rates = rates(&load("seagate-36es2"), &[1, 2, 4, 8, 16, 32]);
    assert_rises(&rates);
    let [alone, .., at_32] = rates[..] else { panic!("six rates") };
    assert!((4_000..5_000).contains(&alone), "{alone}");
    assert!((15..=20).contains(&(at_32 * 10 / alone)), "{rates:?}");
}

/// Section 2: for the slower disk SATF outperforms the internal scheduler entirely. Checked from
/// four requests on: of two, one is being served, so there is no choice.
#[test]
fn satf_beats_the_barracudas_own_order_at_every_depth() {
    let depths = [4, 8, 16, 32];
    let own = rates(&load("seagate-36es2"), &depths);
    let satf = rates(&with("seagate-36es2", Scheduler::Satf), &depths);
    assert!(own.iter().zip(&satf).all(|(own, satf)| satf * 100 > own * 105), "{own:?} {satf:?}");
}

/// Section 2: the Ultrastar's own order is better: with the disk's largest queue, SSTF, which
/// ignores the rotation, is 10 % slower.
#[test]
fn ultrastars_own_order_beats_one_that_does_not_know_the_platter() {
    let own = random(&load("ibm-36z15"), SIZE, 64, COUNT).kb();
    let sstf = random(&with("ibm-36z15", Scheduler::Sstf), SIZE, 64, COUNT).kb();
    assert!(own * 10 > sstf * 11, "{own} {sstf}");
}

/// Section 2: with more requests to choose from than the disk can queue, SATF gains further. A
/// bound on starvation belongs to the disk, not to the driver.
#[test]
fn satf_gains_further_beyond_the_depth_of_the_disks() {
    for name in ["ibm-36z15", "seagate-36es2"] {
        let mut file = with(name, Scheduler::Satf);
        mechanics_mut(&mut file).queue.starvation_ns = None;
        let rates = rates(&file, &[64, 128, 256]);
        assert!(rates.is_sorted_by(|less, more| more * 100 > less * 103), "{name}: {rates:?}");
    }
}
