// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Screens of `tidegate watch` that need neither root nor a disk; the other screens are in
//! `src/watch/tests.rs`.

use crate::screens;

screens! {
    watch_refused: [
        "tidegate watch sdq",
        "tidegate watch sdq --learn",
        "tidegate watch sdq house.toml --learn -o a.workload.toml",
        "tidegate watch sdq --duration 60",
        "tidegate watch sdq --learn -o a.toml --log ./a.toml",
        "tidegate watch sdq --metrics a.prom --result a.prom",
    ];
}
