// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate profile --json`: one object that says what the drive file says, where that is, and what
//! to think of it.

mod common;

use common::Folder;
use serde_json::Value;

fn profile(folder: &Folder, more: &[&str]) -> Value {
    let common = ["profile", "fujitsu-max3036rc", "--depth=3", "--samples=5"];
    let (code, value) = folder.json(&[&common[..], more].concat());
    assert_eq!(code, 0, "{value:#}");
    value
}

fn kinds(value: &Value) -> Vec<&str> {
    let warnings = value["warnings"].as_array().unwrap();
    warnings.iter().map(|it| it["kind"].as_str().unwrap()).collect()
}

/// Goal: times are those of the drive file, with their units, and both are where the object says.
#[test]
fn one_object_has_what_the_drive_file_has() {
    let folder = Folder::new();
    let only = "--only=batch,single,drain,throughput,rotation,starvation,stripe";
    let value = profile(&folder, &[only, "-o", "d.toml", "--keep-samples"]);
    let (_, shown) = folder.json(&["drive", "show", "d.toml"]);
    assert_eq!(value["written"], "d.toml");
    assert_eq!(value["samples_file"], "d.toml.samples");
    assert_eq!((&value["end"], &value["toml"]), (&"complete".into(), &Value::Null));
    assert_eq!(value["batch"][0]["ns_max"], shown["tables"][0]["ns_max"]);
    assert_eq!(value["batch"][0]["ns_max"].as_array().unwrap().len(), 3);
    assert_eq!(value["batch"][0]["size_bytes"], 131_072);
    assert_eq!(value["drain"][0]["ns_max"], shown["drain"][0]["ns_max"]);
    assert_eq!(value["drain_starts"].as_array().unwrap().len(), 3);
    assert_eq!(value["single"][0]["ns_max"], shown["single"][0]["ns_max"]);
    assert_eq!(value["single"][0]["ns_p50"], shown["single"][0]["ns_quantiles"][2]);
    assert_eq!(value["throughput"][0]["bytes_per_s"], shown["throughput"][0]["bytes_per_s"]);
    assert_eq!(value["starvation_ns_max"], shown["starvation_ns_max"]);
    assert_eq!(value["fit"]["geometry"], shown["fit"]["geometry"]);
    assert!(value["cost"]["request"][0]["ns_max"].as_u64().unwrap() > 0);
    assert_eq!(value["findings"][0]["experiment"], "batch");
    assert_eq!(value["findings"][0]["samples"], 15);
    assert_eq!(kinds(&value), ["skipped", "few_samples"]);
}

/// Goal: without --output nothing is lost: the object carries the drive file.
#[test]
fn what_is_not_written_is_in_the_object() {
    let folder = Folder::new();
    let value = profile(&folder, &["--only=batch"]);
    assert_eq!((&value["written"], &value["samples_file"]), (&Value::Null, &Value::Null));
    folder.file("d.toml", value["toml"].as_str().unwrap());
    let (code, shown) = folder.json(&["drive", "show", "d.toml"]);
    assert_eq!(code, 0);
    assert_eq!(value["batch"][0]["ns_max"], shown["tables"][0]["ns_max"]);
}

#[test]
fn a_plan_and_what_is_said_of_costs_are_in_the_object() {
    let folder = Folder::new();
    let plan = profile(&folder, &["--only=batch,single", "--plan"]);
    let steps = plan["plan"].as_array().unwrap();
    let time = |step: &Value| step["time_ns"].as_u64().unwrap();
    assert_eq!(steps.iter().map(time).sum::<u64>(), time(&plan));
    assert_eq!((&steps[0]["experiment"], &steps[0]["samples"]), (&"batch".into(), &15.into()));
    profile(&folder, &["--only=batch", "-o", "d.toml"]);
    let value = profile(&folder, &["--only=batch", "--size=4KiB", "--add", "-o", "d.toml"]);
    assert!(kinds(&value).contains(&"added_costs"), "{value:#}");
}
