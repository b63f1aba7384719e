// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Figures 6.1, 6.2, 6.8 and 6.9 of the dissertation, and table 6.1.

use model::Duration;
use model::cpu::{Arrivals, CpuWork, CpuWorkload, Execution, ServerKind};

use crate::common::{
    endless_work, in_ticks, jobs_at, run, server, stretches, task, ticks, with_server,
};

#[test]
fn probe() {
    for kind in ServerKind::ALL {
        // Figure 6.1: two ticks at 0, then from 10 on always work.
        let mut workload = with_server(server(kind, 4, 20), 2, 1);
        workload.work.push(jobs_at(&[0], 2));
        workload.work.push(CpuWork { name: "rest".into(), ..jobs_at(&[10], 1_000_000) });
        let st = stretches(&workload, 400);
        let sum: u64 = stretches(&workload, 20_000).iter().map(|(a, b)| b - a).sum();
        println!(
            "6.1 {kind}: {:?} util {}",
            st.iter().take(16).collect::<Vec<_>>(),
            sum as f64 / 20_000.
        );
    }
    for kind in ServerKind::ALL {
        let mut workload = with_server(server(kind, 20, 50), 2, 0);
        workload.tasks.push(model::cpu::CpuTask { offset: ticks(41), ..task("1", 10, 200, 3) });
        workload.tasks.push(task("3", 49, 200, 1));
        workload.work.push(jobs_at(&[0], 18));
        workload.work.push(CpuWork { name: "b".into(), ..jobs_at(&[40, 90], 20) });
        let r = run(&workload, 200, 1);
        println!(
            "6.2 {kind}: {:?} {:?}",
            r.tasks[1].responses.max().map(in_ticks),
            stretches(&workload, 200)
        );
    }
    for kind in ServerKind::ALL {
        print!("6.8 {kind}: ");
        for overrun in [0, 1] {
            for load in [20, 40, 60, 80, 100] {
                let mut workload = with_server(server(kind, 40, 120), 2, overrun);
                workload.work.push(CpuWork {
                    arrivals: Arrivals::Poisson {
                        gap_mean: Duration::from_ns(30_000_000 * 100 / load),
                    },
                    execution: Execution::Exponential { mean: ticks(10) },
                    ..jobs_at(&[], 1)
                });
                let r = run(&workload, 1_000_000, 1);
                print!("{:.3} ", r.servers[0].window.highest().ns() as f64 / 120e6);
            }
        }
        println!();
    }
    for kind in ServerKind::ALL {
        print!("6.9 {kind}: ");
        for x in [10, 40, 56, 57, 58, 59, 70] {
            let mut workload: CpuWorkload = with_server(server(kind, 42, 100), 2, 0);
            workload.tasks.push(task("high", x, 141, 3));
            endless_work(&mut workload, 1_000_000);
            let r = run(&workload, 141_000, 1);
            print!("{x}:{:.3} ", r.servers[0].executed.ns() as f64 / 141e9);
        }
        println!();
    }
}
