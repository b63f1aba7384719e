// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The metric families of a page: each has one name, and one sample for each set of labels.
//!
//! # Source
//! OpenMetrics 1.0. The crate `prometheus-client` formats the text.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use tidegate_model::Duration;
use tidegate_stats::ResponseCounts;

use crate::format::Format;

/// The labels of a sample: pairs of name and value.
pub type Labels = Vec<(&'static str, String)>;

/// Returns the labels of a sample.
pub fn labels<const N: usize>(pairs: [(&'static str, &str); N]) -> Labels {
    pairs.map(|(name, value)| (name, value.to_owned())).into()
}

/// The value of a gauge or a counter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A count.
    Count(u64),
    /// A time, which the page shows in seconds.
    Time(Duration),
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<Duration> for Value {
    fn from(time: Duration) -> Self {
        Self::Time(time)
    }
}

/// The metrics of one name.
#[derive(Debug)]
struct Family {
    name: String,
    help: &'static str,
    samples: Samples,
}

/// The samples of a family.
#[derive(Debug)]
enum Samples {
    Info(Labels),
    Gauges(Vec<(Labels, Value)>),
    Counters(Vec<(Labels, Value)>),
    Histograms(Vec<(Labels, ResponseCounts)>),
}

/// The families of a page, in the order of the page.
#[derive(Debug, Default)]
pub struct Families(Vec<Family>);

impl Families {
    /// Adds facts as labels of an info metric; the page appends `_info` to the name.
    pub fn info(&mut self, name: impl Into<String>, help: &'static str, labels: Labels) {
        self.add(name, help, Samples::Info(labels));
    }

    /// Adds a gauge without labels.
    pub fn gauge(&mut self, name: impl Into<String>, help: &'static str, value: impl Into<Value>) {
        self.gauges(name, help, [(Labels::new(), value)]);
    }

    /// Adds a counter without labels; the page appends `_total` to the name.
    pub fn counter(
        &mut self,
        name: impl Into<String>,
        help: &'static str,
        value: impl Into<Value>,
    ) {
        self.counters(name, help, [(Labels::new(), value)]);
    }

    /// Adds a family of gauges, unless there are no samples.
    pub fn gauges<V: Into<Value>>(
        &mut self,
        name: impl Into<String>,
        help: &'static str,
        samples: impl IntoIterator<Item = (Labels, V)>,
    ) {
        self.add(name, help, Samples::Gauges(values(samples)));
    }

    /// Adds a family of counters, which never decrease, unless there are no samples.
    pub fn counters<V: Into<Value>>(
        &mut self,
        name: impl Into<String>,
        help: &'static str,
        samples: impl IntoIterator<Item = (Labels, V)>,
    ) {
        self.add(name, help, Samples::Counters(values(samples)));
    }

    /// Adds a family of histograms of response times in seconds, unless there are no samples.
    pub fn histograms(
        &mut self,
        name: impl Into<String>,
        help: &'static str,
        samples: impl IntoIterator<Item = (Labels, ResponseCounts)>,
    ) {
        self.add(name, help, Samples::Histograms(samples.into_iter().collect()));
    }

    fn add(&mut self, name: impl Into<String>, help: &'static str, samples: Samples) {
        if !samples.is_empty() {
            self.0.push(Family { name: name.into(), help, samples });
        }
    }

    /// Returns the text of the page.
    ///
    /// # Panics
    /// Never: writing to a string cannot fail.
    pub fn into_text(self, format: Format) -> String {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry)
            .expect("a string takes all text");
        format.text(text)
    }
}

fn values<V: Into<Value>>(samples: impl IntoIterator<Item = (Labels, V)>) -> Vec<(Labels, Value)> {
    samples.into_iter().map(|(labels, value)| (labels, value.into())).collect()
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for Family { name, help, samples } in &self.0 {
            samples.encode(encoder.encode_descriptor(name, help, None, samples.kind())?)?;
        }
        Ok(())
    }
}

impl Samples {
    fn is_empty(&self) -> bool {
        match self {
            Self::Info(_) => false,
            Self::Gauges(samples) | Self::Counters(samples) => samples.is_empty(),
            Self::Histograms(samples) => samples.is_empty(),
        }
    }

    fn kind(&self) -> MetricType {
        match self {
            Self::Info(_) => MetricType::Info,
            Self::Gauges(_) => MetricType::Gauge,
            Self::Counters(_) => MetricType::Counter,
            Self::Histograms(_) => MetricType::Histogram,
        }
    }

    fn encode(&self, mut metric: MetricEncoder<'_>) -> fmt::Result {
        match self {
            Self::Info(labels) => metric.encode_info(labels),
            Self::Gauges(samples) => {
                with_labels(&mut metric, samples, |metric, value| match *value {
                    Value::Count(count) => metric.encode_gauge(&count),
                    Value::Time(time) => metric.encode_gauge(&seconds(time)),
                })
            }
            Self::Counters(samples) => {
                with_labels(&mut metric, samples, |metric, value| match *value {
                    Value::Count(count) => {
                        metric.encode_counter::<NoLabelSet, _, u64>(&count, None)
                    }
                    Value::Time(time) => {
                        metric.encode_counter::<NoLabelSet, _, u64>(&seconds(time), None)
                    }
                })
            }
            Self::Histograms(samples) => with_labels(&mut metric, samples, |metric, counts| {
                metric.encode_histogram::<NoLabelSet>(
                    seconds(counts.sum()),
                    counts.count(),
                    &buckets(counts),
                    None,
                )
            }),
        }
    }
}

/// Encodes each sample with its labels.
fn with_labels<T>(
    metric: &mut MetricEncoder<'_>,
    samples: &[(Labels, T)],
    encode: impl Fn(&mut MetricEncoder<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (labels, value) in samples {
        if labels.is_empty() {
            encode(metric, value)?;
        } else {
            encode(&mut metric.encode_family(labels)?, value)?;
        }
    }
    Ok(())
}

fn seconds(time: Duration) -> f64 {
    std::time::Duration::from_nanos(time.ns()).as_secs_f64()
}

fn buckets(counts: &ResponseCounts) -> Vec<(f64, u64)> {
    let limit = |limit: Option<Duration>| limit.map_or(f64::INFINITY, seconds);
    counts.classes().map(|(longest, count)| (limit(longest), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;

    /// Goal: with any labels, a page is valid in both formats. It has samples of each kind, and no
    /// family without samples.
    #[test]
    fn a_page_is_valid_in_both_formats() {
        let name = "cam\u{e9}ra \\ \"1\"\nx";
        let page = |format| {
            let mut families = Families::default();
            families.info("a", "Facts", labels([("name", name)]));
            families.gauge("b_seconds", "A time", Duration::from_us(1_500));
            families.gauges("c", "Numbers", [(labels([("name", name)]), 7_u64)]);
            families.counter("d", "Events", 3_u64);
            families.counters("e", "Nothing", Vec::<(Labels, u64)>::new());
            let mut counts = ResponseCounts::default();
            counts.record(Duration::from_us(120));
            families.histograms("f_seconds", "Times", [(labels([("name", name)]), counts)]);
            families.into_text(format)
        };
        let open_metrics = Page::parse(&page(Format::OpenMetrics)).unwrap();
        let prometheus = Page::parse_prometheus(&page(Format::Prometheus)).unwrap();
        assert!(open_metrics.samples().eq(prometheus.samples()));
        for parsed in [open_metrics, prometheus] {
            for (sample, value) in [("c", 7.0), ("f_seconds_sum", 0.000_12), ("a_info", 1.0)] {
                assert!((parsed.value(sample, &[("name", name)]) - value).abs() < 1e-9, "{sample}");
            }
            for (sample, value) in [("b_seconds", 0.001_5), ("d_total", 3.0)] {
                assert!((parsed.value(sample, &[]) - value).abs() < 1e-9, "{sample}");
            }
            assert!(!parsed.has("e") && !parsed.has("e_total"));
        }
    }
}
