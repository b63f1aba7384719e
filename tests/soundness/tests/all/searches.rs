// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The searches for the true worst case agree with each other and with results by hand. Three
//! programs are compared: one enumerates every schedule, one visits every state, and one leaves out
//! dominated states and determines responses early. The results by hand include the counterexamples
//! to chapter 9 as printed.

use tidegate_soundness::adversary::{self, Extent};
use tidegate_soundness::attack::assert_agree;
use tidegate_soundness::generate::{self, Size};
use tidegate_soundness::small::Rules;
use tidegate_soundness::{SmallSystem, busy_interval, edf, schedules, small, tagged};

const SEED: u64 = 20_261_120;
const RULES: [Rules; 3] = [Rules::REAL, Rules::LIMIT, Rules::LIMIT_SMALLER_JOBS];

fn true_responses(system: &SmallSystem) -> Vec<u32> {
    let found = adversary::worst_case(system, Rules::REAL);
    assert_eq!(found.extent, Extent::Whole, "{system}");
    found.responses
}

/// Returns a system with no best effort, or with a fill of up to two requests.
fn filled_system(seed: u64, number: u64, size: Size) -> SmallSystem {
    let system = generate::system(&mut generate::generator(seed, number), size);
    let fill = u32::try_from(number % 3).expect("small").min(system.batch_max);
    system.with_best_effort_fill(fill)
}

/// The enumeration of schedules finds the same longest responses as the plain search of states if
/// the worst case can happen within the horizon, and never longer ones.
#[test]
fn every_schedule_finds_what_the_search_of_states_finds() {
    const HORIZON: u32 = 6;
    let mut compared = 0;
    for number in 0..60 {
        let system = filled_system(SEED, number, Size::SMALLEST);
        for rules in RULES {
            let Some(found) = tagged::worst_case(&system, rules) else { continue };
            let (seen, all) = schedules::longest_responses(&system, rules, HORIZON);
            for (task, &response) in seen.iter().enumerate() {
                let context =
                    format!("seed {SEED} number {number}, task {task}, {rules:?}, {system}");
                assert!(response <= found.responses[task], "{context}");
                if all && found.seen_by[task] <= HORIZON {
                    assert_eq!(response, found.responses[task], "{context}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} responses equal within {HORIZON} ticks");
    assert!(compared > 100, "only {compared} worst cases lie within the horizon");
}

/// The short cuts lose nothing: responses that are determined early, and dominated states that are
/// left out.
#[test]
fn short_cuts_lose_nothing() {
    let systems = (0..400).flat_map(|number| {
        let system = filled_system(SEED + 1, number, Size::SMALLER);
        RULES.map(|rules| (system.clone(), rules))
    });
    let short = |system: &SmallSystem, rules| adversary::worst_case(system, rules).if_whole();
    let plain = |system: &SmallSystem, rules| Some(tagged::worst_case(system, rules)?.responses);
    assert_agree(systems, short, plain, 601);
}

/// With one deadline for all tasks, EDF equals FIFO one at a time, and two searches that share no
/// code agree. Jobs of one instant tie in EDF as in FIFO, where the adversary orders them.
#[test]
fn edf_with_one_deadline_is_fifo() {
    let systems = (0..120).map(|number| {
        let random = &mut generate::generator(SEED + 2, number);
        let system = generate::system(random, Size::SMALLER).with_batch_max(1);
        let deadlines = vec![9; system.tasks.len()];
        (system.with_deadlines(&deadlines), Rules::REAL)
    });
    let by_deadline = |system: &SmallSystem, rules| edf::worst_case(system, rules).if_whole();
    let by_release = |system: &SmallSystem, rules| adversary::worst_case(system, rules).if_whole();
    assert_agree(systems, by_deadline, by_release, 51);
}

/// A closed window holds floor + 1 releases: Lemma 9.2.4 with ceil says L <= 1.
#[test]
fn a_busy_interval_of_three_batches_where_lemma_9_2_4_says_one() {
    let system = small(&[(1, 2), (1, 5)], &[5, 5, 5, 5], 4);
    assert_eq!(busy_interval::batches_max(&system), Some(3));
}

/// The shortest period is (floor(5 / 2) + 1) b(2) = 3. Lemma 9.2.5 with ">=" promises at most
/// three batches.
#[test]
fn a_busy_interval_of_five_batches_where_lemma_9_2_5_says_three() {
    let system = small(&[(1, 3), (3, 3), (1, 3)], &[1, 1], 2);
    assert_eq!(busy_interval::batches_max(&system), Some(5));
}

/// If all tasks release together after a batch in flight of any size, all complete within 8: b(0) +
/// b(3) + b(2), or b(1) + b(3) + b(1), or b(2) + b(3), or b(3) + b(2). Even with periods above 8
/// this is not the worst case if b is not affine.
#[test]
fn nine_ticks_where_releasing_all_together_takes_eight() {
    let system = small(&[(1, 9); 5], &[2, 4, 4], 3);
    assert_eq!(true_responses(&system), [9; 5]);
}

/// Theorem 2 (docs/theory/dual-queue-fifo.md section 4) says b(2) = 3. A server that gets the two
/// requests one by one may send the first alone: b(1) + b(1) = 4.
#[test]
fn a_split_job_takes_longer_than_theorem_2_says() {
    let system = small(&[(2, 9)], &[2, 3], 2);
    assert_eq!(true_responses(&system), [3]);
    assert_eq!(true_responses(&system.split()), [4, 4]);
}

/// Five tasks, z = E, b(n) = A + n B with A = 3, B = 1: some requests are in flight, and the others
/// follow in a second batch. The response time is 2 A + E B = 11.
#[test]
fn two_batches_are_the_worst_case_where_all_fit_into_one() {
    let system = small(&[(1, 15); 5], &[4, 5, 6, 7, 8], 5);
    assert_eq!(true_responses(&system), [11; 5]);
}

/// A batch of two best-effort requests is in flight, then all five jobs follow: b(2) + b(5).
#[test]
fn best_effort_alone_is_a_carry_in() {
    let system = small(&[(1, 15); 5], &[1, 4, 4, 4, 4], 5).with_best_effort_fill(2);
    assert_eq!(true_responses(&system), [8; 5]);
}

/// One request of the later deadline is in service, then the job of two requests follows: 3 b(1).
#[test]
fn edf_waits_for_one_request_of_a_later_deadline() {
    let system = small(&[(2, 12), (3, 15)], &[2], 1).with_deadlines(&[6, 15]);
    assert_eq!(edf::worst_case(&system, Rules::REAL).responses, [6, 10]);
}
