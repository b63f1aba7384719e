// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the reference lists every code of a premise with its weight and its condition, in the
//! order in which verdicts name doubts. Method: compare its table with the list.

use tidegate_model::PremiseCode;

const PAGE: &str = include_str!("../../../../docs/reference/premises.md");

#[test]
fn the_reference_lists_every_code() {
    let (_, codes) = PAGE.split_once("## Codes").expect("a section of codes");
    let rows: Vec<&str> = codes.lines().filter(|line| line.starts_with("| `")).collect();
    let expected = PremiseCode::ALL
        .map(|code| format!("| `{code}` | {} | {} |", code.weight(), code.meaning()));
    assert_eq!(rows, expected);
}
