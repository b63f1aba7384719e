// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the known name that a misspelt name probably means.

/// The smallest length of a name that can count as the beginning of another name.
const BEGINNING_MIN: usize = 3;

/// Returns the known name that `name` probably means: a name that begins with it, or the nearest
/// name of which at most a third of the letters differ, rounded up; `None` if there is none.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let distance_max = if length < BEGINNING_MIN { 0 } else { length.div_ceil(3) };
    let near = known.into_iter().filter_map(|candidate| {
        let begins = length >= BEGINNING_MIN && candidate.starts_with(&name);
        // A swap of two neighbours counts as one change.
        let distance = strsim::osa_distance(&name, candidate);
        (begins || distance <= distance_max).then_some((!begins, distance, candidate))
    });
    near.min_by_key(|&(begins_not, distance, _)| (begins_not, distance)).map(|(_, _, it)| it)
}

/// Returns the advice for an unknown name: the known name that it probably means, or the list of
/// all known names.
pub fn advice<'a>(name: &str, known: impl IntoIterator<Item = &'a str, IntoIter: Clone>) -> String {
    let known = known.into_iter();
    let all = known.clone().collect::<Vec<_>>().join(", ");
    match closest(name, known) {
        Some(meant) => format!("did you mean `{meant}`? Otherwise write one of {all}"),
        None => format!("write one of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicyName;

    #[test]
    fn misspelt_names_mean_the_nearest_known_one() {
        let fields = ["name", "count", "period", "deadline", "requests", "size", "op", "place"];
        let policies = PolicyName::ALL.map(PolicyName::name);
        let drives = ["fujitsu-max3036rc", "maxtor-atlas-10k-v", "nvme-ssd", "sata-ssd"];
        assert_eq!(closest("perod", fields), Some("period"));
        assert_eq!(closest("dedline", fields), Some("deadline"));
        assert_eq!(closest("tasks", ["drive", "task", "best_effort"]), Some("task"));
        for (written, meant) in
            [("dfq", "dqf"), ("DQF", "dqf"), ("gated", "gated-drain"), ("edff", "edf")]
        {
            assert_eq!(closest(written, policies), Some(meant), "{written}");
        }
        assert_eq!(closest("fujitsu", drives), Some("fujitsu-max3036rc"));
        for strange in ["", "x", "everything", "0"] {
            assert_eq!(closest(strange, policies), None, "{strange}");
        }
    }
}
