// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the kernel finds the task of a bio by the rule that `attach` states. Method: random signs
//! and bios, few enough that signs often clash; and wrong signs one at a time.

use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_kernel::faults::{self, Fault};
use tidegate_kernel::library::{Library, Objects};
use tidegate_kernel::signs::{CSign, owner};
use tidegate_mapping::{BioMarks, Sign};

const SKIPPED: &str = "skipped: cc is not installed";
const STREAMS: u64 = 100_000;
const NO_LEVEL: u32 = 8;

/// Names of cgroups, some of which are prefixes of others.
const NAMES: [&str; 4] = ["a", "ab", "b", "a.service"];

fn path(random: &mut Pcg64Mcg) -> String {
    let depth = random.random_range(1..=3);
    let names: Vec<_> = (0..depth).map(|_| NAMES[random.random_range(0..NAMES.len())]).collect();
    format!("/{}", names.join("/"))
}

fn sector(random: &mut Pcg64Mcg) -> u64 {
    let near = random.random_range(0..24);
    if random.random_bool(0.1) { u64::MAX - near } else { near }
}

fn sign(random: &mut Pcg64Mcg) -> CSign {
    match random.random_range(0..3) {
        0 => CSign::Level(random.random_range(0..8)),
        1 => CSign::Group(path(random)),
        _ => CSign::Place(sector(random), random.random_range(0..6)),
    }
}

/// Converts a sign to its Rust form; also returns its level.
fn in_rust(sign: &CSign) -> (Sign, Option<u32>) {
    match sign {
        CSign::Level(level) => (Sign::Level, Some(*level)),
        CSign::Group(path) => (Sign::Cgroup(path.clone()), None),
        CSign::Place(first, count) => (Sign::Place { first: *first, count: *count }, None),
    }
}

fn is_refused(signs: &[(Sign, Option<u32>)]) -> bool {
    signs.iter().enumerate().any(|(index, (sign, level))| {
        let is_empty = match sign {
            Sign::Place { first, count } => *count == 0 || first.checked_add(*count).is_none(),
            Sign::Level | Sign::Cgroup(_) => false,
        };
        let clashes = |(other, of_other): &(Sign, Option<u32>)| {
            sign.clashes_with(other) || (level.is_some() && level == of_other)
        };
        is_empty || signs[..index].iter().any(clashes)
    })
}

/// Returns whether the kernel and the Rust rule agree on the signs for this seed and on a bio.
fn agree(library: Library, seed: u64) -> Result<(), String> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let count = random.random_range(0..6);
    let signs: Vec<_> = (0..count).map(|task| (task, sign(&mut random))).collect();
    let (path, sector) = (path(&mut random), sector(&mut random));
    let level = random.random_range(0..=NO_LEVEL);
    let in_c = owner(library, &signs, &path, sector, level);
    let contracts: Vec<_> = signs.iter().map(|(_, sign)| in_rust(sign)).collect();
    let bio = BioMarks { cgroup: &path, sector, level: (level < NO_LEVEL).then_some(level) };
    let expected = if is_refused(&contracts) {
        Err(())
    } else {
        Ok(tidegate_mapping::owner(&contracts, bio).map(|index| u32::try_from(index).unwrap()))
    };
    if in_c.clone().map_err(|_| ()) == expected {
        return Ok(());
    }
    Err(format!("seed {seed}: {signs:?}, {bio:?}: {in_c:?}, expected {expected:?}"))
}

#[test]
fn kernel_tells_requests_apart_as_attach_says() {
    let Some(objects) = Objects::compile() else { return println!("{SKIPPED}") };
    let library = objects.load();
    let found = (0..STREAMS).find_map(|seed| agree(library, seed).err());
    assert_eq!(found, None);
}

#[test]
fn every_planted_fault_of_signs_is_found() {
    let Some(objects) = Objects::compile() else { return println!("{SKIPPED}") };
    let is_missed = |&(number, ref fault): &(usize, Fault)| {
        let library = objects.load_faulty(number, fault);
        (0..STREAMS).all(|seed| agree(library, seed).is_ok())
    };
    let missed: Vec<_> = faults::of_signs().enumerate().filter(is_missed).collect();
    let names: Vec<String> = missed.iter().map(|(_, fault)| fault.to_string()).collect();
    assert!(names.is_empty(), "not found:\n  {}", names.join("\n  "));
}

#[test]
fn wrong_signs_are_refused_with_a_reason() {
    let Some(objects) = Objects::compile() else { return println!("{SKIPPED}") };
    let library = objects.load();
    let long = format!("/{}", "x".repeat(223));
    let paths = ["", "/", "a", "/a/", "//a", "/a//b", "/a b", &long];
    for path in paths {
        let reason = owner(library, &[(0, CSign::Group(path.to_owned()))], "/a", 0, NO_LEVEL);
        assert!(reason.is_err_and(|it| it.starts_with("a cgroup has a path")), "{path}");
    }
    let longest = format!("/{}", "x".repeat(222));
    let group = [(0, CSign::Group(longest.clone()))];
    assert_eq!(owner(library, &group, &longest, 0, NO_LEVEL), Ok(Some(0)));
    let many = |sign: fn(u32) -> CSign, count| (0..count).map(|n| (n, sign(n))).collect::<Vec<_>>();
    let groups = |count| many(|n| CSign::Group(format!("/{n}")), count);
    let places = |count| many(|n| CSign::Place(u64::from(n) * 2, 2), count);
    assert_eq!(owner(library, &groups(64), "/63", 0, NO_LEVEL), Ok(Some(63)));
    assert_eq!(owner(library, &places(64), "/", 127, NO_LEVEL), Ok(Some(63)));
    assert_eq!(owner(library, &places(64), "/", 128, NO_LEVEL), Ok(None));
    owner(library, &groups(65), "/", 0, NO_LEVEL).expect_err("too many");
    owner(library, &places(65), "/", 0, NO_LEVEL).expect_err("too many");
    owner(library, &[(0, CSign::Level(8))], "/", 0, NO_LEVEL).expect_err("no level");
}
