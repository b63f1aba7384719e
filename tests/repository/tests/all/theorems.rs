// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the table of theorems in `docs/evidence/proofs.md` agrees with `make proof`. Each row that
//! claims a machine's check names a theorem whose assumptions `proofs/Theorems.v` prints, and each
//! such theorem has a row; each attack that a row names is a test; each theorem that a page of the
//! theory cites has a row. Method: the files are read and compared. Each rule has a canary.

use std::collections::BTreeSet;

use tidegate_repository::files;

const TABLE: &str = "docs/evidence/proofs.md";
const THEOREMS: &str = "proofs/Theorems.v";

/// A theorem: the path `proofs/NAME.v`, and the theorem's name in that file.
type Theorem = (String, String);

/// Returns the theorems whose assumptions this file prints.
fn printed(theorems: &str) -> Vec<Theorem> {
    let names = theorems.lines().filter_map(|line| line.strip_prefix("Print Assumptions "));
    let words = names.filter_map(|rest| rest.split_whitespace().next());
    let paths = words.filter_map(|word| word.trim_end_matches('.').split_once('.'));
    // A theorem inside a module of its file is listed by the last part of its name.
    let name = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    paths.map(|(file, path)| (format!("proofs/{file}.v"), name(path))).collect()
}

/// Returns the cells of each row of the table of theorems, without its header.
fn rows(page: &str) -> Vec<Vec<String>> {
    let table = page.lines().skip_while(|line| !line.starts_with("| theorem |"));
    let rows = table.take_while(|line| line.starts_with('|')).skip(2);
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// Returns the words in backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns the theorems that a text cites, as in "`proofs/A.v`, `one` and `two`".
fn cited(text: &str) -> Vec<Theorem> {
    let mut theorems = Vec::new();
    let mut file = None;
    for word in quoted(text) {
        if word.starts_with("proofs/") {
            file = Some(word);
        } else if let Some(file) = &file {
            theorems.push((file.clone(), word));
        }
    }
    theorems
}

/// Returns the differences between the table, the theorems that a machine checks, and the attacks
/// that exist.
fn faults(page: &str, theorems: &str, is_attack: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    let printed = printed(theorems);
    let mut in_table = Vec::new();
    for row in rows(page) {
        let [name, _, checked, _, attack, _] = row.as_slice() else {
            faults.push(format!("{} has {} cells", row[0], row.len()));
            continue;
        };
        let cited = cited(checked);
        if checked.starts_with("machine") == cited.is_empty() {
            faults.push(format!("{name}: {checked} is not one theorem of one file"));
        }
        for attack in quoted(attack).iter().filter(|attack| !is_attack(attack)) {
            faults.push(format!("{name}: there is no attack {attack}"));
        }
        in_table.extend(cited);
    }
    let show = |(file, name): &Theorem| format!("{file}, {name}");
    for theorem in in_table.iter().filter(|theorem| !printed.contains(theorem)) {
        faults.push(format!("{} is in the table only", show(theorem)));
    }
    for theorem in printed.iter().filter(|theorem| !in_table.contains(theorem)) {
        faults.push(format!("{} has no row", show(theorem)));
    }
    faults
}

fn read(path: &str) -> String {
    std::fs::read_to_string(files::root().join(path)).expect("the file can be read")
}

#[test]
fn the_table_says_what_the_machine_checks() {
    let attacks = files::root().join("tests/soundness/tests/all");
    let is_attack = |name: &str| attacks.join(format!("{name}.rs")).exists();
    let table = read(TABLE);
    let faults = faults(&table, &read(THEOREMS), is_attack);
    assert!(faults.is_empty(), "{} faults:\n  {}", faults.len(), faults.join("\n  "));
    assert!(rows(&table).len() > 15, "the table was found");
}

#[test]
fn cited_theorems_have_rows() {
    let in_table: BTreeSet<Theorem> =
        rows(&read(TABLE)).iter().flat_map(|row| cited(&row[2])).collect();
    let mut count = 0;
    for file in files::all().iter().filter(|file| file.path.starts_with("docs/theory/")) {
        for line in file.text.split("\n\n").filter(|text| text.starts_with("*Machine-checked")) {
            let is_model = |file: &str| file.ends_with("Model.v");
            for theorem in cited(line).into_iter().filter(|(file, _)| !is_model(file)) {
                assert!(in_table.contains(&theorem), "{}: {theorem:?} has no row", file.path);
                count += 1;
            }
        }
    }
    assert!(count > 5, "only {count} citations were found");
}

#[test]
fn canary_disagreements_are_found() {
    let page = "# A\n| theorem | statement | checked | judge | attack | ratio |\n|-|-|-|-|-|-|\n\
        | a | s | machine: `proofs/A.v`, `one` | | `there` | |\n\
        | b | s | machine: `proofs/A.v`, `gone` | | `missing` | |\n\
        | c | s | machine | | | |\n\
        | d | s | on paper | | | |\n\
        | e | s |\n\n| later | s | t | u | v | w |\n";
    let theorems = "Require Import A.\nPrint Assumptions A.one.   (* One *)\n\
        Print Assumptions A.Inner.two.\n";
    assert_eq!(
        faults(page, theorems, |name| name == "there"),
        [
            "b: there is no attack missing",
            "c: machine is not one theorem of one file",
            "e has 2 cells",
            "proofs/A.v, gone is in the table only",
            "proofs/A.v, two has no row",
        ]
    );
}
