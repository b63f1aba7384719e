// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Looks for a workload that misses a deadline although its proof has no doubt: random tasks on a
//! built-in drive, with the shortest deadline that a policy proves, at random places, at both ends,
//! and at the places that an adversary found. The shortest deadline of a proof with doubts shows
//! how much the doubts matter.

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_analysis::assess;
use tidegate_drive::builtin;
use tidegate_model::drive_file::{MeasuredTable, Parts};
use tidegate_model::{
    BestEffort, DriveFile, Duration, Grade, Intensity, Op, Place, PolicyName, Task, Workload,
    WorkloadFile,
};

use crate::disk::{Disk, Outcome};
use crate::places::Batches;

/// The largest number of tasks of a workload.
const TASKS_MAX: u32 = 4;

/// The number of times that the range of possible deadlines is halved.
const HALVINGS: u32 = 12;

/// The number of steps of the adversary for one choice of places, and the number of choices.
const CLIMB: (u32, u64) = (300, 8);

/// The width of an end of a drive, in parts per million of the drive.
const END_PPM: u32 = 5_000;
/// The width of the whole drive, in parts per million.
const ALL_PPM: u32 = 1_000_000;

/// Where the tasks of a workload read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// The tasks read anywhere.
    Random,
    /// The tasks read at the two ends alternately.
    BothEnds,
    /// The tasks read where the adversary found the longest batch.
    Climbed,
}

impl Placement {
    /// All placements.
    pub const ALL: [Self; 3] = [Self::Random, Self::BothEnds, Self::Climbed];

    /// Returns the name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::BothEnds => "both ends",
            Self::Climbed => "climbed",
        }
    }
}

/// A drive under attack, with the places that the adversary found on it.
#[derive(Debug)]
pub struct Attacked {
    file: DriveFile,
    /// One workload for each table: the table's requests, with service times predicted from the
    /// drive's parts.
    bound: Vec<Workload>,
    /// For each table, number of tasks and search seed: the starting position and the places that
    /// the search found, in parts per million.
    climbed: Vec<Vec<Vec<Vec<u32>>>>,
}

impl Attacked {
    /// Returns a built-in drive, and lets the adversary search on it.
    ///
    /// # Panics
    /// If there is no such drive.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut file = builtin::load(name).expect("Tidegate includes it");
        // The proof is about the drive that runs, which is simulated from its parts.
        file.kind = file.parts().map_or(file.kind, Parts::kind);
        let has_heads = file.mechanics.is_some();
        let of_count = |table: &MeasuredTable, count: u32| {
            let choices = if has_heads { CLIMB.1 } else { 0 };
            (0..choices).map(|seed| climbed(&file, table, count, seed)).collect()
        };
        let of_table =
            |table: &MeasuredTable| (1..=TASKS_MAX).map(|count| of_count(table, count)).collect();
        let climbed = reads(&file).map(of_table).collect();
        let bound = reads(&file).map(|table| bound(&file, table, 1, Duration::from_ms(1)));
        // Without predictions `das` has no proof, and the sweep would not attack it.
        let bound = bound.map(|bound| tidegate_drive::with_prediction(bound, &file)).collect();
        Self { file, bound, climbed }
    }

    /// Runs the random workload of this seed with the shortest deadline that the policy proves with
    /// this grade or a better one; `None` if it proves none, or the drive has no such places.
    ///
    /// # Panics
    /// If the policy breaks its own rule.
    #[must_use]
    pub fn attack(
        &self,
        policy: PolicyName,
        grade: Grade,
        placement: Placement,
        (seed, jobs): (u64, u64),
    ) -> Option<Outcome> {
        let mut workload = self.workload(placement, seed)?;
        shorten(&mut workload, policy, grade)?;
        let disk = Disk { file: self.file.clone(), workload, drive_seed: seed, seed };
        Some(disk.outcome(policy, jobs))
    }

    fn workload(&self, placement: Placement, seed: u64) -> Option<Workload> {
        let random = &mut Pcg64::seed_from_u64(seed);
        let tables = reads(&self.file).count();
        let at = random.random_range(0..tables);
        let of_reads = reads(&self.file).nth(at).expect("one of them");
        let size = of_reads.size.expect("a measured table has a size");
        let count = random.random_range(1..=TASKS_MAX);
        // The period, in tenths of the time in which the drive serves one request of each task.
        let factor = random.random_range(12..=60);
        let alone = of_reads.table.time_max(1).ns();
        let period = Duration::from_ns(alone * u64::from(count) * factor / 10);
        let places = self.places(placement, at, count, random)?;
        let Workload { table, contracts, .. } = self.bound[at].clone();
        let bound = bound(&self.file, of_reads, count, period);
        let mut workload = Workload { table, contracts, ..bound };
        for (task, place) in workload.tasks.iter_mut().zip(&places[1..]) {
            task.place = *place;
            task.offset = Duration::from_ns(random.random_range(0..period.ns()));
        }
        if random.random() {
            let outstanding = random.random_range(1..=32);
            let load = BestEffort::reads("load", Intensity::Outstanding(outstanding), size);
            workload.best_effort.push(BestEffort { place: places[0], ..load });
        }
        Some(workload)
    }

    /// Returns the place of best effort, and one of each task.
    fn places(
        &self,
        placement: Placement,
        table: usize,
        count: u32,
        random: &mut Pcg64,
    ) -> Option<Vec<Place>> {
        let ends = |index: u32| {
            let (low, high) = ((0, END_PPM), (ALL_PPM - END_PPM, ALL_PPM));
            let (from_ppm, to_ppm) = if index.is_multiple_of(2) { low } else { high };
            Place::Range { from_ppm, to_ppm }
        };
        match placement {
            Placement::Random => Some(vec![Place::Random; count as usize + 1]),
            Placement::BothEnds => Some((0..=count).map(ends).collect()),
            Placement::Climbed => {
                let choices = &self.climbed[table][count as usize - 1];
                let chosen = choices.get(random.random_range(0..choices.len().max(1)))?;
                let near = |&ppm: &u32| Place::Range { from_ppm: ppm, to_ppm: ppm + 2 };
                Some(chosen.iter().map(near).collect())
            }
        }
    }
}

/// Returns a workload of tasks that read with the request size of the table.
fn bound(file: &DriveFile, table: &MeasuredTable, count: u32, period: Duration) -> Workload {
    let size = table.size.expect("a measured table has a size");
    let text = format!(
        "drive = \"{}\"\n[[task]]\nname = \"t\"\ncount = {count}\nperiod = \"{}ns\"\nsize = \"{}B\"\n",
        file.name,
        period.ns(),
        size.get()
    );
    let parsed = WorkloadFile::parse(&text).expect("well formed");
    parsed.bind(file).expect("measured for these requests")
}

fn reads(file: &DriveFile) -> impl Iterator<Item = &MeasuredTable> {
    file.batch.iter().filter(|table| table.op == Some(Op::Read))
}

/// Returns the starting position and the places of the longest batch, in parts per million. If the
/// drive accepts fewer requests than there are tasks, tasks share places.
fn climbed(file: &DriveFile, table: &MeasuredTable, count: u32, seed: u64) -> Vec<u32> {
    let size = table.size.expect("a measured table has a size");
    let at_once = count.min(file.depth).min(table.table.batch_max());
    let batches = Batches { file, op: Op::Read, size, count: at_once as usize };
    let (_, choice) = batches.climb(CLIMB.0, CLIMB.0, seed);
    let capacity = file.capacity().expect("the mechanics give it").get();
    let ppm = |place: &u64| {
        let ppm = u128::from(place * size.get()) * u128::from(ALL_PPM) / u128::from(capacity);
        u32::try_from(ppm).expect("below a million").min(ALL_PPM - 2)
    };
    let shared = choice.places.iter().cycle().take(count as usize);
    std::iter::once(&choice.start).chain(shared).map(ppm).collect()
}

/// Gives all tasks the shortest deadline that the policy proves with this grade or a better one;
/// `None` if it proves none.
fn shorten(workload: &mut Workload, policy: PolicyName, worst: Grade) -> Option<()> {
    let set = |workload: &mut Workload, deadline: Duration| {
        let give = |task: &mut Task| task.deadline = deadline;
        workload.tasks.iter_mut().for_each(give);
        assess(workload, policy).grade().is_some_and(|grade| grade <= worst)
    };
    let period = workload.tasks[0].period;
    let (mut short, mut long) = (0, period.ns() * 8);
    if !set(workload, Duration::from_ns(long)) {
        long = period.ns();
        if !set(workload, period) {
            return None;
        }
    }
    for _ in 0..HALVINGS {
        let middle = u64::midpoint(short, long);
        if set(workload, Duration::from_ns(middle)) {
            long = middle;
        } else {
            short = middle;
        }
    }
    set(workload, Duration::from_ns(long)).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the sweep attacks disks that accept one request at a time, and `das`.
    #[test]
    fn the_sweep_reaches_a_disk_without_a_queue_and_das() {
        let attacked = Attacked::new("seagate-st340810a");
        let attack = |policy| {
            let of_seed =
                |seed| attacked.attack(policy, Grade::Strong, Placement::Climbed, (seed, 5));
            (0..20).find_map(of_seed)
        };
        for policy in [PolicyName::Dqf, PolicyName::Das] {
            let outcome = attack(policy).expect("some workload is proven");
            assert_eq!(outcome.misses, 0, "{policy}: {outcome}");
        }
    }
}
