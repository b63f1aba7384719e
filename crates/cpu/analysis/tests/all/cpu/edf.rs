// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the processor demand criterion with a processor that is simulated tick by tick.

use tidegate_cpu_analysis::{EdfSource, EdfVerdict, processor_demand};
use tidegate_model::{Duration, Random};

use super::generate::{Ticks, tasks};
use super::tick::{Order, periodic, run};

fn verdict(tasks: &[Ticks]) -> EdfVerdict {
    let source = |task: &Ticks| EdfSource {
        source: task.source(),
        deadline: Duration::from_ns(task.deadline),
        blocking: Duration::ZERO,
    };
    let sources: Vec<EdfSource> = tasks.iter().map(source).collect();
    processor_demand(&sources, Duration::ZERO, &[])
}

/// The criterion is exact: an accepted set, released together and as often as possible, meets every
/// deadline, and a rejected set misses one.
#[test]
fn criterion_is_exact() {
    let mut random = Random::new(8, 1);
    let (mut met, mut exceeded) = (0, 0);
    for _ in 0..20_000 {
        let tasks = tasks(&mut random);
        let verdict = verdict(&tasks);
        let needed = |task: &Ticks| task.execution * 1_000_000 / task.period;
        if tasks.iter().map(needed).sum::<u64>() > 1_000_000 {
            assert_eq!(verdict, EdfVerdict::Unbounded, "{tasks:?}");
            continue;
        }
        let ticks = 400;
        let seen =
            run(&tasks, &periodic(&tasks, &vec![0; tasks.len()], ticks), Order::Deadline, ticks);
        match verdict {
            EdfVerdict::Met { .. } => assert!(!seen.is_missed(&tasks), "{tasks:?}"),
            EdfVerdict::Exceeded { .. } => assert!(seen.is_missed(&tasks), "{tasks:?}"),
            EdfVerdict::Unbounded => panic!("{tasks:?}"),
        }
        met += u32::from(matches!(verdict, EdfVerdict::Met { .. }));
        exceeded += u32::from(!matches!(verdict, EdfVerdict::Met { .. }));
    }
    assert!(met > 2_000 && exceeded > 2_000, "{met} {exceeded}");
}

/// Liu and Layland: if each deadline is the end of the period, the whole processor can be used.
#[test]
fn implicit_deadlines_may_use_it_all() {
    let task = |execution, period| Ticks { execution, period, deadline: period };
    let met = |busy| EdfVerdict::Met { busy: Duration::from_ns(busy) };
    assert_eq!(verdict(&[task(1, 2), task(1, 3), task(1, 6)]), met(6));
    assert_eq!(verdict(&[task(1, 2), task(1, 3), task(1, 5)]), EdfVerdict::Unbounded);
    let due = |deadline, it: Ticks| Ticks { deadline, ..it };
    assert_eq!(verdict(&[due(1, task(1, 2)), due(2, task(1, 3))]), met(2));
    let exceeded = verdict(&[task(2, 4), due(2, task(1, 3)), due(2, task(2, 12))]);
    assert!(matches!(exceeded, EdfVerdict::Exceeded { .. }), "{exceeded:?}");
}
