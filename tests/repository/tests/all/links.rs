// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: every link and every reference to the docs has a target: links and anchors in README,
//! CHANGELOG and docs; pages, sections and equations that code, scripts and settings name; the
//! table of contents. Method: all files are read and compared. Each rule has a canary.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use tidegate_repository::files::{self, SourceFile};
use tidegate_repository::markdown::Page;
use tidegate_repository::references;

const SUMMARY: &str = "docs/SUMMARY.md";

/// The folder of this crate, whose tests contain faulty references as canaries.
const CANARIES: &str = "tests/repository/";

/// Returns the pages among the files, by path.
fn pages(files: &[SourceFile]) -> BTreeMap<String, Page> {
    let pages = files.iter().filter(|file| file.has_extension(&["md"]));
    pages.map(|file| (file.path.clone(), Page::read(&file.text))).collect()
}

/// Resolves a path relative to the folder of `from`; the result has no `..`.
fn joined(from: &str, target: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in Path::new(from).parent().unwrap_or(Path::new("")).join(target).components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::CurDir => {}
            other => parts.push(other.as_os_str().to_string_lossy().into_owned()),
        }
    }
    parts.join("/")
}

/// Returns the links without a target. `exists` returns whether a path is in the repository.
fn link_faults(pages: &BTreeMap<String, Page>, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut faults = Vec::new();
    for (path, page) in pages {
        for link in &page.links {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let file = if file.is_empty() { path.clone() } else { joined(path, file) };
            let has_anchor = |page: &Page| anchor.is_empty() || page.anchors.contains(anchor);
            let at = format!("{path}:{}", link.line);
            if !exists(&file) {
                faults.push(format!("{at}: {} is not there", link.target));
            } else if !pages.get(&file).is_none_or(has_anchor) {
                faults.push(format!("{at}: {file} has no heading #{anchor}"));
            }
        }
    }
    faults
}

/// Returns a file's references to pages, sections or equations that do not exist.
fn reference_faults(file: &SourceFile, pages: &BTreeMap<String, Page>) -> Vec<String> {
    let mut faults = Vec::new();
    let is_page = file.has_extension(&["md"]);
    for reference in references::find(&file.text) {
        let name = &reference.page;
        let mut fault =
            |text: String| faults.push(format!("{}:{}: {text}", file.path, reference.line));
        if !name.starts_with("docs/") {
            if !is_page {
                fault(format!("write the path of {name}, from docs/ on"));
            }
            continue;
        }
        let Some(page) = pages.get(name) else {
            fault(format!("{name} is not there"));
            continue;
        };
        for section in reference.sections.iter().filter(|number| !page.sections.contains(number)) {
            fault(format!("{name} has no section {section}"));
        }
        let has_tag = |tag: &String| page.equations.iter().any(|(_, found)| found == tag);
        for tag in reference.equations.iter().filter(|tag| !has_tag(tag)) {
            fault(format!("{name} has no equation ({tag})"));
        }
    }
    faults
}

/// Returns the theory's section numbers and equation tags that are not unique, and the tags that do
/// not begin with the number of their section.
fn number_faults(pages: &BTreeMap<String, Page>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut seen = BTreeMap::new();
    for (path, page) in pages.iter().filter(|(path, _)| path.starts_with("docs/theory/")) {
        let sections = page.sections.iter().map(|number| format!("section {number}"));
        let equations = page.equations.iter().map(|(_, tag)| format!("equation ({tag})"));
        for name in sections.chain(equations) {
            if let Some(other) = seen.insert(name.clone(), path) {
                faults.push(format!("{path}: {name} is in {other} already"));
            }
        }
        for (section, tag) in &page.equations {
            let begins = section.is_some_and(|number| tag.starts_with(&format!("{number}.")));
            if !begins {
                faults.push(format!("{path}: equation ({tag}) stands in section {section:?}"));
            }
        }
    }
    faults
}

/// Returns the pages of the docs that the table of contents does not list, or lists twice.
fn summary_faults(pages: &BTreeMap<String, Page>) -> Vec<String> {
    let listed: Vec<String> =
        pages[SUMMARY].links.iter().map(|link| joined(SUMMARY, &link.target)).collect();
    let all = pages.keys().filter(|path| path.starts_with("docs/") && *path != SUMMARY);
    let mut faults = Vec::new();
    for path in all {
        let count = listed.iter().filter(|found| *found == path).count();
        if count != 1 {
            faults.push(format!("{SUMMARY}: lists {path} {count} times"));
        }
    }
    faults
}

fn assert_none(faults: &[String]) {
    assert!(faults.is_empty(), "{} faults:\n  {}", faults.len(), faults.join("\n  "));
}

#[test]
fn links_lead_somewhere() {
    let root = files::root();
    assert_none(&link_faults(&pages(&files::all()), |path| root.join(path).exists()));
}

#[test]
fn references_name_what_is_there() {
    let files = files::all();
    let pages = pages(&files);
    let read = files.iter().filter(|file| !file.path.starts_with(CANARIES));
    assert_none(&read.flat_map(|file| reference_faults(file, &pages)).collect::<Vec<_>>());
}

#[test]
fn sections_and_equations_are_unique() {
    assert_none(&number_faults(&pages(&files::all())));
}

#[test]
fn the_table_of_contents_lists_each_page_once() {
    assert_none(&summary_faults(&pages(&files::all())));
}

/// Makes pages that are not on disk, for the canaries.
fn made_up(texts: &[(&str, &str)]) -> BTreeMap<String, Page> {
    texts.iter().map(|(path, text)| ((*path).to_owned(), Page::read(text))).collect()
}

#[test]
fn canary_links_to_nothing_are_found() {
    let pages = made_up(&[
        ("docs/a.md", "# A `b`\n[gone](../gone.md) [B](theory/b.md#2-so-it-is) `[code](no.md)`\n"),
        (
            "docs/theory/b.md",
            "## 2. So *it* is\n[up](../a.md#a-b)\n[no](#none)\n[web](https://x)\n",
        ),
    ]);
    let exists: BTreeSet<String> = pages.keys().cloned().collect();
    assert_eq!(
        link_faults(&pages, |path| exists.contains(path)),
        [
            "docs/a.md:2: ../gone.md is not there",
            "docs/theory/b.md:3: docs/theory/b.md has no heading #none",
        ]
    );
}

#[test]
fn canary_references_to_nothing_are_found() {
    let pages = made_up(&[("docs/a.md", "## 3. Three\n$$x \\tag{3.1}$$\n## 4. Four\n")]);
    let faults = |text: &str| reference_faults(&SourceFile::new("x.rs", text), &pages);
    assert_eq!(faults("/// Own, `docs/a.md` section 3.\n/// docs/a.md equation (3.1)."), [""; 0]);
    assert_eq!(faults("// docs/gone.md"), ["x.rs:1: docs/gone.md is not there"]);
    assert_eq!(
        faults("//\n// `docs/a.md`\n/// section 9, 8"),
        ["x.rs:2: docs/a.md has no section 9", "x.rs:2: docs/a.md has no section 8",]
    );
    assert_eq!(
        faults("docs/a.md sections 3 (one) and 5 (two)."),
        ["x.rs:1: docs/a.md has no section 5"]
    );
    assert_eq!(
        faults("//! sections 3 to\n//! 5 of docs/a.md."),
        ["x.rs:2: docs/a.md has no section 5"]
    );
    assert_eq!(faults("docs/a.md 7)."), ["x.rs:1: docs/a.md has no section 7"]);
    assert_eq!(faults("docs/a.md equation (3.2)."), ["x.rs:1: docs/a.md has no equation (3.2)"]);
    assert_eq!(faults("see (a.md 3)."), ["x.rs:1: write the path of a.md, from docs/ on"]);
}

#[test]
fn canary_numbers_that_repeat_or_stray_are_found() {
    let pages = made_up(&[
        ("docs/theory/a.md", "## 3. Three\n$$x \\tag{3.1}$$\n"),
        ("docs/theory/b.md", "## 3. Again\n## 4. Four\n$$x \\tag{3.1}$$\n"),
    ]);
    assert_eq!(
        number_faults(&pages),
        [
            "docs/theory/b.md: section 3 is in docs/theory/a.md already",
            "docs/theory/b.md: equation (3.1) is in docs/theory/a.md already",
            "docs/theory/b.md: equation (3.1) stands in section Some(4)",
        ]
    );
}

#[test]
fn canary_pages_out_of_the_contents_are_found() {
    let pages = made_up(&[
        (SUMMARY, "- [A](a.md)\n- [B](b.md)\n- [B](b.md)\n"),
        ("docs/a.md", ""),
        ("docs/b.md", ""),
        ("docs/c.md", ""),
        ("README.md", ""),
    ]);
    assert_eq!(
        summary_faults(&pages),
        ["docs/SUMMARY.md: lists docs/b.md 2 times", "docs/SUMMARY.md: lists docs/c.md 0 times"]
    );
}
