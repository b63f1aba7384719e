// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate profile --json` prints one object with the drive file's contents, its path, and
//! the findings. Method: simulated drives; the object is compared with the file.

use crate::common::Folder;
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

/// Goal: the object has the drive file's times with their units, and the paths of both files.
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

/// Goal: without --output nothing is lost, because the object contains the drive file.
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
    // `--plan` writes nothing, so it does not need permission to write.
    let plan = profile(&folder, &["--only=flush", "--plan"]);
    let experiments = plan["plan"].as_array().unwrap().iter().map(|step| &step["experiment"]);
    assert_eq!(experiments.collect::<Vec<_>>(), ["flush"]);
    assert_eq!((&steps[0]["experiment"], &steps[0]["samples"]), (&"batch".into(), &15.into()));
    profile(&folder, &["--only=batch", "-o", "d.toml"]);
    let value = profile(&folder, &["--only=batch", "--size=4KiB", "--add", "-o", "d.toml"]);
    assert!(kinds(&value).contains(&"added_costs"), "{value:#}");
}

/// Goal: the object's facts about the whole drive equal those in the drive file, even if the file
/// contains earlier measurements.
#[test]
fn depth_identity_and_starvation_are_those_of_the_file() {
    let folder = Folder::new();
    let is_of_file = |value: &Value| {
        let text = std::fs::read_to_string(folder.path().join("d.drive.toml")).unwrap();
        let file: toml::Table = text.parse().unwrap();
        assert_eq!(value["depth"], serde_json::to_value(&file["depth"]).unwrap());
        assert_eq!(value["identity"], serde_json::to_value(&file["identity"]).unwrap());
        let starved = serde_json::to_value(&file["starvation_ns_max"]).unwrap();
        assert_eq!(value["starvation_ns_max"], starved);
        assert_eq!(value["has_mechanics"], file.contains_key("mechanics"));
    };
    let batch = ["--only=batch", "-o", "d.drive.toml"];
    let value = profile(&folder, &batch);
    is_of_file(&value);
    assert_eq!(value["has_mechanics"], true);
    is_of_file(&profile(&folder, &[&batch[..], &["--size=4KiB", "--add"]].concat()));
    let value = profile(&folder, &["--only=batch"]);
    assert_eq!(value["has_mechanics"], true, "the printed file has it");
}

/// Goal: no measurement is lost if standard output is full: the object is printed to standard
/// error.
#[test]
fn what_standard_output_does_not_take_is_not_lost() {
    let folder = Folder::new();
    let arguments = ["profile", "fujitsu-max3036rc", "--depth=2", "--samples=2", "--only=batch"];
    let to_full = |more: &[&str]| {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = folder.command(&[&arguments[..], more].concat());
        let output = command.stdout(full).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, stderr) = to_full(&["--json"]);
    let object = &stderr[stderr.find("\n{").expect("the object")..];
    // The error follows in a separate object.
    let value: Value =
        serde_json::Deserializer::from_str(object).into_iter().next().unwrap().unwrap();
    assert_eq!((code, value["batch"][0]["samples"].as_u64()), (Some(3), Some(2)), "{stderr}");
    let (code, stderr) = to_full(&["--json", "-o", "d.toml"]);
    assert!(code == Some(3) && stderr.contains("cannot write to standard output"), "{stderr}");
    assert_eq!(folder.run(&["drive", "show", "d.toml"]).0, 0, "it is written");
    assert!(!folder.path().join("d.toml.samples").exists(), "its samples are no longer needed");
}
