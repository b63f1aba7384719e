// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the `[ssd]` section: values read, values written back, and refused values with their
//! place.

use crate::common::Fault;
use tidegate_model::ssd::{PrefillOrder, Ssd};
use tidegate_model::{Bytes, DriveFile, DriveKind};

const FILE: &str = r#"
name = "drive"
kind = "ssd"
depth = 32

[ssd]
chosen = ["all of it"]
channels = 2
dies_per_channel = 4
planes_per_die = 2
blocks_per_plane = 100
pages_per_block = 48
page_bytes = 16_384
unit_bytes = 4_096
over_provisioning_percent = 25
read_ns = [50_000, 60_000, 80_000]
program_ns = 2_000_000
erase_ns = 5_000_000
suspend_ns = 30_000
reads_first_max = 8
channel_bytes_per_s = 800_000_000
overhead_ns = 15_000

[ssd.link]
bytes_per_s = 560_000_000
command_ns = 3_000
full_duplex = false

[ssd.cache]
bytes = 1_048_576
write_back = true
power_loss_protection = false
stripe_dies = 4

[ssd.collection]
background_blocks = 3
foreground_blocks = 2

[ssd.prefill]
percent = 100
order = "random"
"#;

fn ssd() -> Ssd {
    *DriveFile::parse(FILE).unwrap().ssd.unwrap()
}

fn refused(text: &str) -> Fault {
    Fault::of(text, DriveFile::parse)
}

#[test]
fn drive_without_tables_needs_no_more_than_its_section() {
    let file = DriveFile::parse(FILE).unwrap();
    assert_eq!((file.kind, file.batch.len()), (DriveKind::Ssd, 0));
    assert_eq!(DriveFile::parse(&file.to_toml()).unwrap(), file);
}

/// Goal: sizes follow from the parts. Method: two planes of four units a page, three pages a row,
/// 48 pages a block, 100 blocks a die, eight dies; hosts can address 100 parts in 125.
#[test]
fn sizes_follow_from_the_parts() {
    let ssd = ssd();
    assert_eq!(ssd.dies(), 8);
    assert_eq!((ssd.units_per_stripe(), ssd.units_per_row(), ssd.units_per_block()), (8, 24, 384));
    assert_eq!((ssd.units_of_flash(), ssd.units()), (307_200, 245_760));
    assert_eq!(ssd.capacity(), Bytes::from_kib(960 * 1024));
}

#[test]
fn what_is_left_out_is_none_or_nothing() {
    let text = FILE.replace("suspend_ns = 30_000\n", "");
    let end = text.find("[ssd.prefill]").unwrap();
    let ssd = DriveFile::parse(&text[..end]).unwrap().ssd.unwrap();
    assert_eq!(ssd.suspend_ns, None);
    assert_eq!((ssd.prefill.percent, ssd.prefill.order), (0, PrefillOrder::Sequential));
}

#[test]
fn words_and_units_are_refused_with_their_place() {
    for (from, to, message, place) in [
        ("channels = 2", "channels = 2\nlanes = 4", "unknown field `lanes`", "lanes"),
        ("\"random\"", "\"shuffled\"", "unknown variant `shuffled`", "\"shuffled\""),
        ("erase_ns = 5_000_000", "erase_ns = \"5ms\"", "invalid type", "\"5ms\""),
        ("channels = 2", "channels = -2", "invalid value", "-2"),
    ] {
        refused(&FILE.replacen(from, to, 1)).says(message, place, "");
    }
}

#[test]
fn sections_that_make_no_drive_are_refused() {
    for (from, to, message) in [
        ("channels = 2", "channels = 0", "channels: 0 is not between 1 and 65536"),
        ("read_ns = [50_000, 60_000, 80_000]", "read_ns = []", "read_ns: the list has 0 entries"),
        ("80_000]", "0]", "read_ns: 0 is not between"),
        ("program_ns = 2_000_000", "program_ns = 0", "program_ns: 0 is not between"),
        ("overhead_ns = 15_000", "overhead_ns = 0", "overhead_ns: 0 is not between"),
        ("suspend_ns = 30_000", "suspend_ns = 0", "suspend_ns: 0 is not between"),
        (
            "pages_per_block = 48",
            "pages_per_block = 50",
            "50 is not a multiple of 3, the pages a row",
        ),
        ("page_bytes = 16_384", "page_bytes = 10_000", "10000 is not a multiple of 4096"),
        ("unit_bytes = 4_096", "unit_bytes = 1_000", "1000 is not a multiple of 512"),
        ("blocks_per_plane = 100", "blocks_per_plane = 9_999", "the flash has 30716928 units"),
        ("bytes = 1_048_576", "bytes = 300_000", "cache: bytes: 300000 is not between 393216"),
        ("stripe_dies = 4", "stripe_dies = 9", "cache: stripe_dies: 9 is not between 1 and 8"),
        ("background_blocks = 3", "background_blocks = 1", "less than foreground_blocks"),
        ("background_blocks = 3", "background_blocks = 30", "over_provisioning_percent: it leaves"),
        ("percent = 25", "percent = 9", "over_provisioning_percent: it leaves"),
        ("percent = 100", "percent = 101", "prefill: percent: 101 is not between 0 and 100"),
    ] {
        let Fault { message: said, .. } = refused(&FILE.replacen(from, to, 1));
        assert!(said.starts_with("[ssd] ") && said.contains(message), "{to}: {said}");
    }
}

#[test]
fn largest_counts_are_refused_without_overflow() {
    let most = 1 << 16;
    let mut ssd = Ssd { channels: most, dies_per_channel: most, ..ssd() };
    assert_eq!(ssd.check().unwrap_err().place, "blocks_per_plane");
    ssd.blocks_per_plane = most;
    ssd.planes_per_die = most;
    ssd.pages_per_block = most - 1;
    ssd.page_bytes = 1 << 20;
    ssd.unit_bytes = 512;
    assert_eq!(ssd.check().unwrap_err().place, "blocks_per_plane");
}
