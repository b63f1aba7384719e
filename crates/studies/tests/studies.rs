// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: every study can be read; the page of sources agrees with the studies; the quick form of
//! most studies reproduces their claims; and a difference that no study states always fails.
//!
//! `UPDATE_PAGES=1 cargo test -p tidegate-studies` rewrites the page and the line of the README;
//! check the result with `git diff`.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_studies::{
    Counts, Outputs, Progress, Study, StudyResult, Verdict, all, reproduce, sources_page,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares the part of a file between `before` and `after` with `text`, or replaces it.
fn hold(file: &str, before: &str, after: &str, text: &str) {
    let path = root().join(file);
    let whole = std::fs::read_to_string(&path).unwrap();
    let begin =
        whole.find(before).unwrap_or_else(|| panic!("{file} lacks {before}")) + before.len();
    let end =
        if after.is_empty() { whole.len() } else { begin + whole[begin..].find(after).unwrap() };
    if std::env::var_os("UPDATE_PAGES").is_some() {
        let new = format!("{}{text}{}", &whole[..begin], &whole[end..]);
        std::fs::write(&path, new).unwrap();
    } else {
        assert!(whole[begin..end] == *text, "{file} is stale: run with UPDATE_PAGES=1");
    }
}

#[test]
fn the_page_of_sources_says_what_the_studies_say() {
    let sources = std::fs::read_to_string(root().join("studies/sources.toml")).unwrap();
    let page = sources_page(&all().unwrap(), &sources).unwrap();
    hold(
        "docs/evidence/sources.md",
        "<!-- made by crates/studies/tests/studies.rs -->\n",
        "",
        &page,
    );
}

#[test]
fn the_readme_counts_the_facts() {
    let counts = Counts::of(&all().unwrap());
    let line = format!(
        "Of {} published facts, {} agree ({} of them fitted),\n{} differ for stated reasons, {} differ without a known reason, {} are printed wrong, and {} cannot be compared.\nTidegate's own studies make {} further claims, which every run checks",
        counts.all(),
        counts.agree,
        counts.fitted,
        counts.differ,
        counts.unexplained,
        counts.wrong,
        counts.not_comparable,
        counts.claims
    );
    hold("README.md", "<!-- facts -->", "<!-- -->", &line);
}

fn run(studies: &[Study]) -> Vec<StudyResult<'_>> {
    reproduce(studies, true, &|_| (), &AtomicBool::new(false))
}

/// Studies that take more than half a second in their quick form; `tidegate reproduce --all --quick`
/// runs them too.
const LONG: [&str; 9] = [
    "adaptive-and-fixed-depth",
    "dqf-bounds",
    "dqf-overload-on-a-disk",
    "every-policy",
    "stock-kernel",
    "joining-a-drain",
    "orders-of-best-effort",
    "overload-slopes",
    "tightness",
];

#[test]
fn studies_reproduce_what_they_claim() {
    let mut studies = all().unwrap();
    let count = studies.len();
    studies.retain(|study| !LONG.contains(&study.name.as_str()));
    assert_eq!(studies.len() + LONG.len(), count, "a study of the list is gone");
    for result in run(&studies) {
        let name = &result.study.name;
        assert!(result.is_as_stated(), "{name}: {:?} {:#?}", result.faults, result.facts);
    }
}

/// Goal: the figures can be drawn, and results are never overwritten.
#[test]
fn results_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results");
    let names = ["demand-bounds", "maxtor-parts", "premature-replenishment"];
    let studies = names.map(|name| Study::named(name).unwrap());
    let results = run(&studies);
    Outputs::prepare(&path).unwrap().write(&results, true).unwrap();
    for file in [
        "facts.csv",
        "demand-bounds/load.svg",
        "demand-bounds/demand.csv",
        "maxtor-parts/result.json",
        "maxtor-parts/table-7.1.md",
        "premature-replenishment/sequence.svg",
        "premature-replenishment/table-6.1.csv",
    ] {
        assert!(std::fs::metadata(path.join(file)).unwrap().len() > 50, "{file}");
    }
    assert!(Outputs::prepare(&path).is_err());
}

/// Makes a study with `fact` as its only fact.
fn made_up(fact: &str) -> (tempfile::TempDir, Study) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "title = \"t\"\nitems = [\"figure 1\"]\n[grid.main]\nsource = {{ kind = \"formula\", values = {{ y = \"{{{{ 2 * x }}}}\" }} }}\n\
         measures = [\"y\"]\naxes = {{ x = [1, 2, 3] }}\n[[fact]]\nat = \"figure 1\"\nsays = \"s\"\n{fact}"
    );
    std::fs::write(folder.path().join("study.toml"), text).unwrap();
    let study = Study::from_folder(folder.path()).unwrap();
    (folder, study)
}

/// Canary: if these facts passed, no verdict would mean anything.
#[test]
fn a_difference_without_a_reason_is_never_let_pass() {
    for (fact, verdict, is_as_stated) in [
        ("ours = \"main('y', x=2)\"\npublished = \"4\"", Verdict::Reproduced, true),
        ("ours = \"main('y', x=2)\"\npublished = \"5\"", Verdict::NotAsStated, false),
        ("ours = \"main('y', x=2)\"\npublished = \"5\"\ndiffers = \"r\"", Verdict::Differs, true),
        (
            "ours = \"main('y', x=2)\"\npublished = \"5\"\nunexplained = \"r\"",
            Verdict::Unexplained,
            true,
        ),
        ("kind = \"ranking\"\nours = \"main('y') is falling\"", Verdict::NotAsStated, false),
    ] {
        let (_folder, study) = made_up(fact);
        let results =
            reproduce(std::slice::from_ref(&study), false, &|_| (), &AtomicBool::new(false));
        assert_eq!(results[0].facts[0].verdict, verdict, "{fact}");
        assert_eq!(results[0].is_as_stated(), is_as_stated, "{fact}");
    }
    let (_folder, study) = made_up("ours = \"main('y', x=2)\"\npublished = \"4\"\ndiffers = \"r\"");
    let results = reproduce(std::slice::from_ref(&study), false, &|_| (), &AtomicBool::new(false));
    assert!(!results[0].is_as_stated(), "a reason whose difference is gone");
}

/// Canary: a false claim of ours fails the study, and the study's table is still written.
#[test]
fn a_claim_that_does_not_hold_fails() {
    for (holds, is_as_stated) in [("main('y', x=2) == 4", true), ("main('y', x=2) > 4", false)] {
        let claim = format!(
            "ours = \"main('y', x=2)\"\npublished = \"4\"\n[[expect]]\nsays = \"s\"\nholds = \"{holds}\""
        );
        let (_folder, study) = made_up(&claim);
        let results = run(std::slice::from_ref(&study));
        assert_eq!(results[0].is_as_stated(), is_as_stated, "{holds}");
    }
}

/// Goal: a study reads a result file in its folder. Method: a handwritten file with two runs.
#[test]
fn a_recorded_result_has_measures() {
    let (folder, _) = made_up("ours = \"main('response_ns_max')\"\npublished = \"9\"");
    let run = |policy: &str| {
        format!(
            r#"{{"policy":"{policy}","sources":[{{"name":"t","is_best_effort":false,"response_ns_steps":[[5,3],[9,1]]}}],"longest_busy_interval":null}}"#
        )
    };
    let text = format!(
        r#"{{"format":"tidegate-result","version":3,"command":"run","report":{{}},"runs":[{},{}]}}"#,
        run("dqf"),
        run("noop")
    );
    std::fs::write(folder.path().join("live.result.json"), text).unwrap();
    let path = folder.path().join("study.toml");
    let study = |source: &str| {
        let facts = "[[fact]]\nat = \"figure 1\"\nsays = \"s\"\nours = \"main('response_ns_max') + main('t.jobs') + main('response_ns_mean')\"\npublished = \"19\"\n";
        let grid = format!(
            "[grid.main]\nsource = {{ kind = \"result\", file = \"live.result.json\"{source} }}\nmeasures = [\"response_ns_max\", \"response_ns_mean\", \"t.jobs\", \"schedule\"]\n"
        );
        let text = format!("title = \"t\"\nitems = [\"figure 1\"]\n{grid}{facts}");
        std::fs::write(&path, text).unwrap();
        Study::from_folder(folder.path()).unwrap()
    };
    let wanted = study(", policy = \"dqf\"");
    let results = self::run(std::slice::from_ref(&wanted));
    assert!(results[0].is_as_stated(), "{:?} {:?}", results[0].faults, results[0].facts);
    let unnamed = study("");
    assert!(self::run(std::slice::from_ref(&unnamed))[0].faults[0].contains("several runs"));
}

/// Goal: a study compares a recorded profile of a processor with two causes. Method: three
/// handwritten profiles, of which the median counts. In 10 ms the machine's line has 1 + 0.1 ms, and
/// the load of 2 ms in 10 ms has 3.6 ms (5.3.0.6), 4.7 ms together. In 1 ms the sum exceeds the
/// interval.
#[test]
fn a_recorded_profile_is_compared_with_its_causes() {
    let profile = |stolen_ns: [u32; 2], fit: &str| {
        format!(
            "name = \"p\"\n[conditions]\ncpu = 0\n[stolen]\ninterval_ns = [1000000, 10000000]\nns_max = {stolen_ns:?}\n{fit}"
        )
    };
    let line = "[fit.demand]\nutilization_ppb = 10000000\noffset_ns = 1000000\n";
    let source = |interval: &str, causes: &str| {
        format!(
            "source = {{ kind = \"cpu-profile\", files = [\"load.cpu.toml\", \"less.cpu.toml\", \"more.cpu.toml\"], interval = \"{interval}\"{causes} }}"
        )
    };
    let causes =
        ", causes = { machine = \"idle.cpu.toml\", execution = \"2ms\", period = \"10ms\" }";
    let measures = "[\"stolen_ns\", \"stolen_load\", \"load_ns\", \"sum_ns\", \"exceeds_load\", \"is_covered\"]";
    let run_at = |interval: &str, causes: &str, stolen_ns: u32, expected: &str| {
        let (folder, _) = made_up("kind = \"picture\"");
        let write =
            |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
        write("idle.cpu.toml", profile([100_000, 200_000], line));
        write("load.cpu.toml", profile([1_000_000, stolen_ns], ""));
        write("less.cpu.toml", profile([0, 0], ""));
        write("more.cpu.toml", profile([1_000_000, 9_000_000], ""));
        let text = format!(
            "title = \"t\"\nitems = [\"figure 1\"]\n[grid.main]\n{}\nmeasures = {measures}\n\
             [[fact]]\nat = \"figure 1\"\nsays = \"s\"\nkind = \"ranking\"\nours = \"{expected}\"\n",
            source(interval, causes)
        );
        write("study.toml", text);
        let study = Study::from_folder(folder.path()).unwrap();
        let results = run(std::slice::from_ref(&study));
        (results[0].is_as_stated(), results[0].faults.join(", "))
    };
    let at_10 = |rest: &str| {
        format!(
            "main('load_ns') == 2e6 and main('sum_ns') == 4.7e6 and main('exceeds_load') == 1 and {rest}"
        )
    };
    let within = "main('is_covered') == 1 and main('stolen_load') == 0.47";
    let above = "main('is_covered') == 0 and main('stolen_ns') == 4700001";
    for (interval, stolen_ns, expected) in [
        ("10ms", 4_700_000, at_10(within)),
        ("10ms", 4_700_001, at_10(above)),
        ("1ms", 4_700_000, "main('sum_ns') == 1e6 and main('is_covered') == 1".to_owned()),
    ] {
        let (is_as_stated, faults) = run_at(interval, causes, stolen_ns, &expected);
        assert!(is_as_stated, "{interval}, {stolen_ns}: {faults}");
    }
    assert!(run_at("2ms", causes, 1, "true").1.contains("no intervals of 2ms"));
    let no_line = causes.replace("idle", "load");
    assert!(run_at("1ms", &no_line, 1, "true").1.contains("no [fit.demand]"));
    assert!(run_at("1ms", "", 1, "true").1.contains("there is no measure `load_ns`"));
}

/// Canary: none of these facts has a value to compare.
#[test]
fn a_fact_without_a_value_is_never_let_pass() {
    for fact in [
        "ours = \"mian('y', x=2)\"\npublished = \"4\"",
        "ours = \"main('y')\"\npublished = \"4\"",
        "ours = \"main('y', x=9)\"\npublished = \"4\"",
        "kind = \"ranking\"\nours = \"main('y') > 1000\"",
        "kind = \"ranking\"\nours = \"main('y', x=2) is rising\"",
    ] {
        let (_folder, study) = made_up(fact);
        let results = run(std::slice::from_ref(&study));
        assert_eq!(results[0].facts[0].verdict, Verdict::Faulty, "{fact}");
        assert!(!results[0].is_as_stated(), "{fact}");
    }
}

/// Goal: if runs that should confirm a reason are missing, the fact gets no verdict, even if the
/// compared points are present.
#[test]
fn a_missing_point_of_what_shows_a_reason_leaves_no_verdict() {
    let fact = "ours = \"main('y', x=2)\"\npublished = \"5\"\ndiffers = \"r\"\nshown = \"main('y', x=3) > 1\"";
    let (folder, _) = made_up(fact);
    let path = folder.path().join("study.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("{{ 2 * x }}", "{{ 2 * x if x < 3 else z }}")).unwrap();
    let study = Study::from_folder(folder.path()).unwrap();
    let results = reproduce(std::slice::from_ref(&study), false, &|_| (), &AtomicBool::new(false));
    assert_eq!((results[0].faults.len(), results[0].facts[0].verdict), (1, Verdict::NotRun));
}

/// Goal: a maximum over an incomplete grid gives no verdict. Here one of three points is missing.
#[test]
fn a_missing_point_leaves_its_facts_without_a_verdict() {
    let (folder, _) = made_up("ours = \"main('y') | max\"\npublished = \"4\"");
    let path = folder.path().join("study.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("{{ 2 * x }}", "{{ 2 * x if x < 3 else z }}")).unwrap();
    let study = Study::from_folder(folder.path()).unwrap();
    let results = run(std::slice::from_ref(&study));
    assert_eq!((results[0].faults.len(), results[0].facts[0].verdict), (1, Verdict::NotRun));
    assert!(!results[0].is_as_stated());
}

#[test]
fn a_study_is_named_once() {
    let names = ["maxtor-parts", "demand-bounds", "maxtor-parts"].map(str::to_owned);
    assert!(Study::all_named(&names).unwrap_err().to_string().contains("`maxtor-parts`"));
    assert_eq!(Study::all_named(&names[1..]).unwrap().len(), 2);
}

/// Goal: after an interruption between two points of a grid, its facts get no verdict.
#[test]
fn an_interruption_with_some_points_keeps_no_false_verdict() {
    let (folder, _) = made_up("ours = \"main('y') | max\"\npublished = \"4\"");
    let path = folder.path().join("study.toml");
    let many = (0..2000).map(|x| (x % 3).to_string()).collect::<Vec<_>>().join(", ");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("[1, 2, 3]", &format!("[{many}]"))).unwrap();
    let study = Study::from_folder(folder.path()).unwrap();
    let cancelled = AtomicBool::new(false);
    let stop = |_: Progress<'_>| cancelled.store(true, Ordering::Relaxed);
    let results = reproduce(std::slice::from_ref(&study), false, &stop, &cancelled);
    assert!((1..2000).contains(&results[0].left_out), "{}", results[0].left_out);
    assert_eq!(results[0].facts[0].verdict, Verdict::NotRun);
}

#[test]
fn an_interruption_keeps_no_false_verdict() {
    let (_folder, study) = made_up("ours = \"main('y', x=2)\"\npublished = \"5\"");
    let results = reproduce(std::slice::from_ref(&study), false, &|_| (), &AtomicBool::new(true));
    assert_eq!((results[0].left_out, results[0].facts[0].verdict), (3, Verdict::NotRun));
}

#[test]
fn a_misspelt_study_is_refused_with_advice() {
    let fault = Study::named("premature-replenishmnt").unwrap_err();
    assert!(fault.help().contains("premature-replenishment"));
}
