// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A strict parser of pages, for tests: it shares no code with the library that formats them.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a sample.
type Labels = BTreeMap<String, String>;

/// A sample: its labels and its value.
type Sample = (Labels, f64);

/// A parsed page: the type of each family, and the samples by full name.
#[derive(Debug, Default)]
pub struct Page {
    types: BTreeMap<String, String>,
    samples: BTreeMap<String, Vec<Sample>>,
}

impl Page {
    /// Parses a page of OpenMetrics.
    ///
    /// # Errors
    /// A description of the page's first fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let body = text.strip_suffix("# EOF\n").ok_or("no `# EOF` at its end")?;
        Self::parse_body(body, |kind| match kind {
            "counter" => Some(&["_total"]),
            "gauge" => Some(&[""]),
            "info" => Some(&["_info"]),
            "histogram" => Some(&["_bucket", "_sum", "_count"]),
            _ => None,
        })
    }

    /// Parses a page in Prometheus' text format, which has fewer types and names the families of
    /// counters differently.
    ///
    /// # Errors
    /// A description of the page's first fault.
    pub fn parse_prometheus(text: &str) -> Result<Self, String> {
        Self::parse_body(text, |kind| match kind {
            "counter" | "gauge" => Some(&[""]),
            "histogram" => Some(&["_bucket", "_sum", "_count"]),
            _ => None,
        })
    }

    /// Parses the lines of a page. `suffixes` gives the suffixes of samples by type.
    fn parse_body(
        body: &str,
        suffixes: impl Fn(&str) -> Option<&'static [&'static str]>,
    ) -> Result<Self, String> {
        let mut page = Self::default();
        let (mut helped, mut family) = (BTreeSet::new(), String::new());
        // A set of labels for each name, because comparing with each earlier sample would be
        // quadratic.
        let mut said: BTreeMap<String, BTreeSet<Labels>> = BTreeMap::new();
        for line in body.lines() {
            let fault = |what: &str| Err(format!("{what}: {line}"));
            if let Some(rest) = line.strip_prefix("# ") {
                let mut words = rest.splitn(3, ' ');
                let (what, name) = (words.next(), words.next().unwrap_or_default());
                match (what, words.next()) {
                    (Some("HELP"), Some(_)) if helped.insert(name.to_owned()) => {}
                    (Some("TYPE"), Some(kind)) => {
                        name.clone_into(&mut family);
                        if page.types.insert(family.clone(), kind.to_owned()).is_some() {
                            return fault("a second type");
                        }
                    }
                    _ => return fault("no HELP or TYPE"),
                }
                continue;
            }
            let (name, labels, value) = sample(line)?;
            let suffixes = page.types.get(&family).and_then(|kind| suffixes(kind));
            let Some(suffixes) = suffixes else { return fault("of no type") };
            if !helped.contains(&family)
                || !suffixes.iter().any(|suffix| name == format!("{family}{suffix}"))
            {
                return fault("not of the family before it");
            }
            if !said.entry(name.clone()).or_default().insert(labels.clone()) {
                return fault("said twice");
            }
            page.samples.entry(name).or_default().push((labels, value));
        }
        page.check_histograms()?;
        Ok(page)
    }

    /// Checks that the buckets of each histogram grow, end with +Inf, and agree with the count.
    fn check_histograms(&self) -> Result<(), String> {
        for (name, _) in self.types.iter().filter(|(_, kind)| *kind == "histogram") {
            let of = |suffix: &str| self.samples.get(&format!("{name}{suffix}"));
            let (Some(buckets), Some(sums), Some(counts)) =
                (of("_bucket"), of("_sum"), of("_count"))
            else {
                return Err(format!("{name} has no _bucket, _sum or _count"));
            };
            if !sums.iter().map(|it| &it.0).eq(counts.iter().map(|it| &it.0)) {
                return Err(format!("{name} has not a sum for each count"));
            }
            let mut by_labels: BTreeMap<Labels, Vec<(&str, f64)>> = BTreeMap::new();
            for (labels, count) in buckets {
                let mut others = labels.clone();
                others.remove("le");
                let limit = labels.get("le").ok_or(format!("{name} {labels:?} has no limit"))?;
                by_labels.entry(others).or_default().push((limit, *count));
            }
            for (labels, count) in counts {
                let buckets = by_labels.remove(labels).ok_or("no buckets")?;
                let is_growing = buckets
                    .is_sorted_by(|a, b| a.1 <= b.1 && number(a.0).unwrap() < number(b.0).unwrap());
                if !is_growing || buckets.last() != Some(&("+Inf", *count)) {
                    return Err(format!("{name} {labels:?}: {buckets:?}"));
                }
            }
            if !by_labels.is_empty() {
                return Err(format!("{name} has buckets without a count"));
            }
        }
        Ok(())
    }

    /// Returns the value of the first sample with this full name and these labels.
    ///
    /// # Panics
    /// If there is none.
    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let has = |sample: &&Sample| {
            labels.iter().all(|(label, value)| sample.0.get(*label).is_some_and(|it| it == value))
        };
        let of_name = self.samples.get(name).into_iter().flatten();
        of_name.clone().find(has).unwrap_or_else(|| panic!("no {name} {labels:?}: {of_name:?}")).1
    }

    /// Returns whether the page has samples with this full name.
    pub fn has(&self, name: &str) -> bool {
        self.samples.contains_key(name)
    }

    /// Returns the number of samples with this full name.
    pub fn count(&self, name: &str) -> usize {
        self.samples.get(name).map_or(0, Vec::len)
    }

    /// Returns the full names of all samples.
    pub fn samples(&self) -> impl Iterator<Item = &String> {
        self.samples.keys()
    }

    /// Returns the families with their types.
    pub const fn types(&self) -> &BTreeMap<String, String> {
        &self.types
    }
}

fn number(text: &str) -> Result<f64, String> {
    match text {
        "+Inf" => Ok(f64::INFINITY),
        _ => text.parse().map_err(|_| format!("no number: {text}")),
    }
}

/// Parses `name{label="value",..} 1.5`.
fn sample(line: &str) -> Result<(String, Labels, f64), String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = line.find(|c| !is_name(c)).ok_or("a name alone")?;
    let (name, mut rest) = line.split_at(end);
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!("no name: {line}"));
    }
    let mut labels = Labels::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").ok_or(format!("no label: {line}"))?;
            if label.is_empty() || label.contains(|c| !is_name(c)) {
                return Err(format!("no label `{label}`: {line}"));
            }
            let (value, after) = quoted(after).ok_or(format!("no end: {line}"))?;
            if labels.insert(label.to_owned(), value).is_some() {
                return Err(format!("`{label}` twice: {line}"));
            }
            rest = match after.strip_prefix(',') {
                Some(after) => after,
                None if after.starts_with('}') => after,
                None => return Err(format!("no comma: {line}")),
            };
        }
        rest = &rest[1..];
    }
    let value = rest.strip_prefix(' ').ok_or(format!("no value: {line}"))?;
    Ok((name.to_owned(), labels, number(value)?))
}

/// Parses up to the first quotation mark that is not escaped.
fn quoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                c @ ('"' | '\\') => value.push(c),
                _ => return None,
            },
            c => value.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Canary: the parser detects each fault that it checks for.
    #[test]
    fn the_parser_of_this_test_refuses_what_is_no_page() {
        let good = "# HELP a b.\n# TYPE a counter\na_total{x=\"1\",y=\"2\"} 2\n\
                    # HELP h b.\n# TYPE h histogram\nh_sum{z=\"1\"} 3\nh_count{z=\"1\"} 4\n\
                    h_bucket{le=\"0.5\",z=\"1\"} 1\nh_bucket{le=\"+Inf\",z=\"1\"} 4\n# EOF\n";
        Page::parse(good).unwrap();
        for (from, to) in [
            ("# EOF\n", ""),
            ("# TYPE a counter\n", ""),
            ("# HELP a b.\n", ""),
            ("a_total{", "a{"),
            ("a_total{x=\"1\"", "a_total{x=\"1\",y=\"2\"} 3\na_total{x=\"1\""),
            ("x=\"1\"", "x=\"1"),
            ("x=\"1\"", "x=\"\\q\""),
            (" 2\n", " two\n"),
            ("\",y", "\"y"),
            (",y=", ",x="),
            ("h_sum{z=\"1\"} 3\n", ""),
            ("h_sum{z=\"1\"}", "h_sum{z=\"2\"}"),
            ("h_count{z=\"1\"} 4\n", ""),
            ("h_bucket{le=\"+Inf\",z=\"1\"} 4\n", ""),
            ("le=\"+Inf\",z=\"1\"", "le=\"+Inf\",z=\"2\""),
            ("h_bucket{le=\"0.5\",z=\"1\"} 1\nh_bucket{le=\"+Inf\",z=\"1\"} 4\n", ""),
            ("} 1\n", "} 5\n"),
            ("h_bucket{le=\"+Inf\",z=\"1\"} 4", "h_bucket{le=\"+Inf\",z=\"1\"} 3"),
        ] {
            let broken = good.replace(from, to);
            assert_ne!(broken, good, "{from}");
            assert!(Page::parse(&broken).is_err(), "{broken}");
        }
    }
}
