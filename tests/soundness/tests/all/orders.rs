// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: no order of best effort lets a response exceed its bound or a policy break its rule.
//! Method: every policy that serves best effort in the order of its workload, in every order, on
//! the disk of RTAS 2008 with every checker. Only a disk with mechanics has access times to order
//! by.

use tidegate_analysis::Answer;
use tidegate_model::{BestEffortOrder, Duration, PolicyName};
use tidegate_soundness::throttling::experiment;

/// Tasks and their period in ms.
const TASKS: [(u32, u64); 3] = [(1, 75), (1, 160), (4, 160)];

#[test]
fn no_order_of_best_effort_exceeds_a_bound_on_a_disk() {
    let mut proven = 0;
    let orders =
        |order: &BestEffortOrder| TASKS.map(|(count, period_ms)| (*order, count, period_ms));
    for (order, count, period_ms) in BestEffortOrder::ALL.iter().flat_map(orders) {
        let mut disk = experiment(Duration::from_ms(period_ms), count);
        disk.workload.best_effort_order = Some(order);
        let has_order = |policy: &PolicyName| {
            let facts = policy.facts();
            facts.best_effort.has_order() && facts.theorem.is_ok()
        };
        for policy in PolicyName::ALL.into_iter().filter(has_order) {
            let outcome = disk.outcome(policy, 60);
            if outcome.assessment.answer != Answer::Proven {
                continue;
            }
            proven += 1;
            let case = format!("{policy}, {order}, {count} x {period_ms} ms: {outcome}");
            assert_eq!(outcome.excess(), None, "{case}");
            assert!(outcome.misses == 0 || !outcome.overrun_sum.is_zero(), "{case}");
        }
    }
    assert!(proven >= 80, "{proven} runs with a proof");
}
