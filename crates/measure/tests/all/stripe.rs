// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the results of `stripe` on solid-state drives with the planted parameters.
//!
//! The profiler uses each drive like a real one: it sends reads of 4 KiB and a flow of writes,
//! nothing else. The test computes the expected figures from the parameters alone, by the rule that
//! distributes data over the dies of a drive that was filled once. The canary exchanges planted
//! figures between drives. The drives differ in every figure, so a comparison that accepts an
//! exchange detects nothing.

use std::sync::atomic::AtomicBool;

use serde::Deserialize as _;
use tidegate_device::DeviceFacts;
use tidegate_measure::{Experiment, Kind, ProfileParams, Stripe, profile_drive};
use tidegate_model::ssd::{PrefillOrder, Ssd};
use tidegate_model::{Bytes, DriveFile, DriveKind, Op};

const READ: u64 = 4096;

/// The parameters that differ between the variants.
struct Variant {
    channels: u32,
    dies_per_channel: u32,
    planes: u32,
    page_kib: u32,
    stripe_dies: u32,
    read_us: &'static [u64],
    program_us: u64,
    suspend_us: Option<u64>,
    order: PrefillOrder,
}

/// The variants differ in channels and dies, page sizes, the number of dies over which data are
/// distributed, and the cost of a write.
const VARIANTS: [Variant; 6] = {
    use PrefillOrder::{Random, Sequential};
    [
        // The first list holds channels, dies per channel, planes, KiB per page and dies per
        // stripe. Then come, in microseconds, the times of reads, of a program, and until a program
        // is suspended for a read.
        variant([4, 2, 1, 16, 4], &[55, 65, 80], 700, None, Sequential),
        variant([8, 4, 2, 16, 8], &[60, 75], 2_000, None, Sequential),
        variant([2, 2, 2, 4, 2], &[45, 50, 55], 1_000, Some(60), Sequential),
        variant([6, 2, 3, 16, 4], &[70, 80, 95], 1_400, None, Sequential),
        variant([2, 1, 4, 16, 2], &[30], 300, None, Sequential),
        variant([8, 2, 2, 16, 4], &[85, 90, 95], 3_000, None, Random),
    ]
};

const fn variant(
    [channels, dies_per_channel, planes, page_kib, stripe_dies]: [u32; 5],
    read_us: &'static [u64],
    program_us: u64,
    suspend_us: Option<u64>,
    order: PrefillOrder,
) -> Variant {
    Variant {
        channels,
        dies_per_channel,
        planes,
        page_kib,
        stripe_dies,
        read_us,
        program_us,
        suspend_us,
        order,
    }
}

/// Returns the built-in drive with other chips. A drive that was filled in sequence has enough
/// spare flash that no garbage collection takes place. On a drive that was filled in random order,
/// collection begins with the first writes.
fn drive_file(variant: &Variant) -> DriveFile {
    let mut file = tidegate_drive::builtin::load("sata-ssd").expect("it is built in");
    let ssd = file.ssd.as_mut().expect("it is made of chips");
    ssd.channels = variant.channels;
    ssd.dies_per_channel = variant.dies_per_channel;
    ssd.planes_per_die = variant.planes;
    ssd.page_bytes = variant.page_kib * 1024;
    ssd.pages_per_block = 24;
    ssd.over_provisioning_percent = 100;
    ssd.read_ns = variant.read_us.iter().map(|us| us * 1000).collect();
    ssd.program_ns = variant.program_us * 1000;
    ssd.suspend_ns = variant.suspend_us.map(|us| us * 1000);
    ssd.cache.stripe_dies = variant.stripe_dies;
    ssd.prefill.order = variant.order;
    let block = ssd.dies() * ssd.planes_per_die * ssd.pages_per_block * variant.page_kib;
    ssd.blocks_per_plane = (512 << 10) / block + 8;
    ssd.check().expect("a drive that makes sense");
    file
}

/// Returns the results of `stripe` with this number of samples and at most 8 requests at the same
/// time.
fn found(file: &DriveFile, samples: u32) -> Stripe {
    let kind = |op| Kind { op, size: Bytes::new(READ) };
    let params = ProfileParams {
        depth: DEPTH,
        samples,
        experiments: vec![Experiment::STRIPE],
        kinds: vec![kind(Op::Read), kind(Op::Write)],
        ..ProfileParams::new(file.name.as_str(), &DeviceFacts::default())
    };
    let mut disk =
        tidegate_drive::from_parts(DriveKind::Ssd, file, 1).expect("it is made of chips");
    let (never, capacity) = (AtomicBool::new(false), file.capacity().expect("chips have one"));
    let profile =
        profile_drive(&mut disk, &file.name, capacity, &params, |_| (), &never, None).unwrap();
    let fit = profile.file.fit.expect("something was found");
    Stripe::deserialize(fit["stripe"].clone()).expect("what was written can be read")
}

const DEPTH: u32 = 8;
const SAMPLES: u32 = 2000;

/// The figures that the measurement must find.
#[derive(Debug, Clone)]
struct Planted {
    dies: u64,
    block: Option<u64>,
    again: Option<u64>,
    alone_ns: u64,
    /// The wait of a read that arrives just after its die began its longest operation: a program
    /// or, on a full drive, an erase. The wait ends earlier if the operation is suspended.
    wait_ns: u64,
    /// The additional time that the read can wait for the data of writes on the link, and for pages
    /// on a channel.
    traffic_ns: u64,
    /// The share of pairs at a given distance that are on one die.
    shares: fn(&Ssd, u64) -> f64,
    ssd: Ssd,
}

impl Planted {
    fn of(variant: &Variant, file: &DriveFile) -> Self {
        let ssd = *file.ssd.clone().expect("it is made of chips");
        let is_dealt = variant.order == PrefillOrder::Sequential;
        let block = u64::from(variant.planes * variant.page_kib) * 1024;
        let ns = |bytes: u64, rate: u64| (bytes * 1_000_000_000).div_ceil(rate);
        let link_ns = ns(READ, ssd.link.bytes_per_s) + ssd.link.command_ns;
        let channel_ns = |bytes| ns(bytes, ssd.channel_bytes_per_s);
        let median_ns = ssd.read_ns[(ssd.read_ns.len() - 1) / 2];
        let pages_ns = channel_ns(ssd.page_bytes.into()) * u64::from(ssd.dies_per_channel);
        Self {
            dies: ssd.dies().into(),
            block: is_dealt.then_some(block),
            again: is_dealt.then_some(block * u64::from(variant.stripe_dies)),
            alone_ns: ssd.overhead_ns + median_ns + channel_ns(READ) + link_ns,
            wait_ns: ssd.suspend_ns.unwrap_or(if is_dealt { ssd.program_ns } else { ssd.erase_ns }),
            traffic_ns: u64::from(DEPTH - 1) * link_ns + pages_ns,
            shares: if is_dealt { share_of_dealt } else { |ssd, _| 1.0 / f64::from(ssd.dies()) },
            ssd,
        }
    }
}

/// Returns the die of a unit. Units are distributed stripe by stripe over `stripe_dies` dies until
/// a row of each is full, then over the next dies.
fn die(ssd: &Ssd, unit: u32) -> u32 {
    let stripe = unit / ssd.units_per_stripe();
    let of_group = ssd.cache.stripe_dies * ssd.stripes_per_row();
    (stripe / of_group * ssd.cache.stripe_dies + stripe % ssd.cache.stripe_dies) % ssd.dies()
}

fn share_of_dealt(ssd: &Ssd, bytes: u64) -> f64 {
    let distance = u32::try_from(bytes / READ).expect("within the drive");
    let pairs = ssd.units() - distance;
    let shared = (0..pairs).filter(|&unit| die(ssd, unit) == die(ssd, unit + distance)).count();
    f64::from(u32::try_from(shared).expect("at most all")) / f64::from(pairs)
}

/// Checks that every measured figure equals the planted one; the error names a figure that does
/// not.
fn compare(planted: &Planted, found: &Stripe) -> Result<(), String> {
    let chips = found.chips.as_ref().ok_or("no chips")?;
    let (least, most) = (chips.count_min, chips.count_max.unwrap_or(u64::MAX));
    let [_, _, longest] = found.beside_writes_ns.ok_or("no read beside writes")?;
    let waited = longest.saturating_sub(found.alone_ns);
    let slowest = planted.ssd.read_ns.iter().max().unwrap() - planted.ssd.read_ns[0];
    let waits = planted.wait_ns * 85 / 100..=planted.wait_ns + planted.traffic_ns + slowest;
    for (figure, is_right) in [
        ("block", found.block_bytes == planted.block),
        ("again", found.again_bytes == planted.again),
        ("chips", (least..=most).contains(&planted.dies)),
        ("alone", found.alone_ns.abs_diff(planted.alone_ns) <= 1000),
        ("wait", waits.contains(&waited)),
    ] {
        if !is_right {
            return Err(format!("{figure}: {planted:?} and {found:?}"));
        }
    }
    found
        .conflicts_ppm
        .iter()
        .try_for_each(|&(bytes, ppm)| compare_share(planted, found, bytes, ppm))
}

/// Checks that a share is within 4.5 standard deviations of a binomial distribution, plus one
/// sample.
fn compare_share(planted: &Planted, found: &Stripe, bytes: u64, ppm: u64) -> Result<(), String> {
    let number = |it: u64| f64::from(u32::try_from(it).expect("a small number"));
    let (share, samples) = ((planted.shares)(&planted.ssd, bytes), number(found.samples));
    let allowed = 4.5 * (share * (1.0 - share) / samples).sqrt() + 1.0 / samples;
    if (number(ppm) / 1e6 - share).abs() <= allowed {
        return Ok(());
    }
    Err(format!("share: {bytes} bytes apart {ppm} ppm meet, {share} are planted"))
}

/// Goal: the size of a block, the distance at which reads conflict again, the number of dies, the
/// time of a single read and the longest read during writes are those of the drive, for every
/// variant. The test prints them.
#[test]
fn what_is_planted_is_found() {
    println!("| channels x dies | block KiB | again KiB | dies | alone us | wait us |");
    for variant in &VARIANTS {
        let file = drive_file(variant);
        let (planted, found) = (Planted::of(variant, &file), found(&file, SAMPLES));
        print_row(variant, &planted, &found);
        compare(&planted, &found).unwrap();
    }
}

fn print_row(variant: &Variant, planted: &Planted, found: &Stripe) {
    let kib = |bytes: Option<u64>| bytes.map_or("none".to_owned(), |it| (it / 1024).to_string());
    let us = |ns: u64| format!("{}.{}", ns / 1000, ns % 1000 / 100);
    let chips = found.chips.as_ref().expect("pairs were tried");
    let most = chips.count_max.unwrap_or(u64::MAX);
    let [_, _, longest] = found.beside_writes_ns.expect("writes were allowed");
    println!(
        "| {} x {} | {} / {} | {} / {} | {} / {} ({} to {most}) | {} / {} | {} / {} |",
        variant.channels,
        variant.dies_per_channel,
        kib(planted.block),
        kib(found.block_bytes),
        kib(planted.again),
        kib(found.again_bytes),
        planted.dies,
        chips.count.unwrap_or(0),
        chips.count_min,
        us(planted.alone_ns),
        us(found.alone_ns),
        us(planted.wait_ns),
        us(longest - found.alone_ns),
    );
}

/// Replaces one planted figure of a drive by the figure of another drive.
type Swap = fn(&mut Planted, &Planted);

/// Canary. Goal: the comparison rejects any drive other than the measured one, and any single
/// figure of another drive. Method: compares each drive with the figures planted in every other
/// drive; then replaces one figure at a time by the next drive's figure.
#[test]
fn what_is_planted_elsewhere_is_not_found() {
    let files: Vec<_> = VARIANTS.iter().map(drive_file).collect();
    let planted: Vec<_> =
        VARIANTS.iter().zip(&files).map(|(it, file)| Planted::of(it, file)).collect();
    let found: Vec<_> = files.iter().map(|file| found(file, SAMPLES)).collect();
    let swaps: [(&str, Swap); 5] = [
        ("block", |own, other| own.block = other.block),
        ("again", |own, other| own.again = other.again),
        ("chips", |own, other| own.dies = other.dies),
        ("alone", |own, other| own.alone_ns = other.alone_ns),
        ("wait", |own, other| own.wait_ns = other.wait_ns),
    ];
    for (at, found) in found.iter().enumerate() {
        for (of, other) in planted.iter().enumerate() {
            assert_eq!(compare(other, found).is_ok(), of == at, "{of} passes for {at}");
        }
        let next = &planted[(at + 1) % planted.len()];
        for (figure, swap) in swaps {
            let mut swapped = planted[at].clone();
            swap(&mut swapped, next);
            let error = compare(&swapped, found).expect_err(figure);
            assert!(error.starts_with(figure), "{figure}: {error}");
        }
        let layout = Planted { shares: next.shares, ssd: next.ssd.clone(), ..planted[at].clone() };
        assert!(compare(&layout, found).is_err(), "the layout of the next passes for {at}");
    }
}
