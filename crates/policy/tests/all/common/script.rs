// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Scripts drive a policy by hand: a line has an instant in milliseconds and the steps at this
//! instant.
//!
//! ```text
//! 0: best-effort 101..=109, hard 1 2 within 80, sends 1 2 101    // a comment
//! 5: done 2 101, refuses hard 3, sends nothing, not-before 40
//! ```
//!
//! A step is one of
//! - a release of requests of one class, which the policy takes or `refuses`;
//! - requests that are `done` or that the host would `cancel`;
//! - the policy's decision: it `sends` these requests, one after the other, in one round, or
//!   `nothing`; it sends nothing `not-before` an instant; it `drops` a request; or it `awaits` an
//!   event.
//!
//! A released request starts at the sector with the number of its id. It can be `of` a task, `due`
//! at an instant or `within` a time from its release (now, or the instant at which it was
//! `released`), start at another sector (`from`), have a size in `kib`, be `optional`, and be a
//! write (`writes`).

use tidegate_model::{Bytes, Class, Duration, Lba, Op, Request, RequestId, TaskIndex, Time};
use tidegate_policy::{Decision, Event, Full, Policy};

use super::plain::{at, complete, request};

/// Plays a script, and checks that the policy behaves as the script says.
pub(crate) fn play(policy: &mut impl Policy, script: &str) {
    let lines = script.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    for line in lines.filter(|line| !line.is_empty()) {
        let (now, steps) = line.split_once(':').expect("an instant and what happens then");
        for step in steps.split(',') {
            let words: Vec<&str> = step.split_whitespace().collect();
            play_step(policy, at(number(now)), &words, line);
        }
    }
}

fn play_step(policy: &mut impl Policy, now: Time, words: &[&str], line: &str) {
    match words {
        ["sends", "nothing"] => assert_eq!(round(policy, now), [], "{line}"),
        ["sends", ids @ ..] => assert_eq!(round(policy, now), numbers(ids), "{line}"),
        ["drops", id] => {
            assert_eq!(policy.decide(now), Decision::Drop(RequestId(number(id))), "{line}");
        }
        ["awaits"] => assert_eq!(policy.decide(now), Decision::AwaitEvent, "{line}"),
        ["not-before", until] => {
            assert_eq!(policy.decide(now), Decision::NotBefore(at(number(until))), "{line}");
        }
        ["done", ids @ ..] => complete(policy, now, numbers(ids)),
        ["cancel", ids @ ..] => {
            for id in numbers(ids) {
                policy.observe(now, Event::Cancel(RequestId(id))).unwrap();
            }
        }
        ["refuses", released @ ..] => {
            for request in requests(now, released) {
                assert_eq!(policy.observe(now, Event::Release(request)), Err(Full), "{line}");
            }
        }
        released => {
            for request in requests(now, released) {
                assert_eq!(policy.observe(now, Event::Release(request)), Ok(()), "{line}");
            }
        }
    }
}

/// Returns all dispatches of one round of `decide`: one batch.
pub(crate) fn round(policy: &mut impl Policy, now: Time) -> Vec<u64> {
    let mut batch = Vec::new();
    while let Decision::Dispatch { id, .. } = policy.decide(now) {
        batch.push(id.0);
    }
    batch
}

/// Returns the requests that these words release: a class, ids, and their common properties.
pub(crate) fn requests(now: Time, words: &[&str]) -> Vec<Request> {
    let [class, words @ ..] = words else { panic!("nothing is said") };
    let class = match *class {
        "hard" => Class::Hard,
        "soft" => Class::Soft,
        "interactive" => Class::Interactive,
        "best-effort" => Class::BestEffort,
        other => panic!("{other}: neither a step nor a class"),
    };
    let is_id = |word: &&str| word.starts_with(|first: char| first.is_ascii_digit());
    let (ids, rest) = words.split_at(words.iter().take_while(|word| is_id(word)).count());
    let of = |id| Request { start: Lba::new(id), ..request(id, class) };
    let mut released: Vec<Request> = numbers(ids).into_iter().map(of).collect();
    for request in &mut released {
        describe(request, now, rest);
    }
    released
}

fn describe(request: &mut Request, mut now: Time, mut words: &[&str]) {
    while let [what, rest @ ..] = words {
        let value = || number(rest.first().expect("a number"));
        let has_value = !matches!(*what, "optional" | "writes");
        match *what {
            "of" => request.task = TaskIndex(value().try_into().expect("a task")),
            "due" => request.due = Some(at(value())),
            "released" => now = at(value()),
            "within" => {
                (request.released, request.eligible) = (now, now);
                request.due = Some(now + Duration::from_ms(value()));
            }
            "from" => request.start = Lba::new(value()),
            "kib" => request.size = Bytes::from_kib(value()),
            "optional" => request.optional = true,
            "writes" => request.op = Op::Write,
            other => panic!("{other}: unknown"),
        }
        words = &rest[usize::from(has_value)..];
    }
}

/// Returns the numbers that words such as `1 2 5..=7` stand for.
fn numbers(words: &[&str]) -> Vec<u64> {
    let range = |word: &&str| match word.split_once("..=") {
        Some((first, last)) => number(first)..=number(last),
        None => number(word)..=number(word),
    };
    words.iter().flat_map(range).collect()
}

fn number(text: &str) -> u64 {
    text.replace('_', "").parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}
