// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Soft guarantees, shown with the hard ones. A soft guarantee combines measured quantiles
//! (`model`), their confidence (`measure`) and the bounds for jobs (`analysis`).
//!
//! The verdict stays hard: a soft guarantee holds for the device as measured, and the verdict holds
//! for any device that stays within its table.

use serde::Serialize;
use tidegate_analysis::{Assessment, SoftPromise, soft_promise};
use tidegate_model::{Class, SoftTable, Task, Workload};
use tidegate_stats::confidence::exceedance_ppb;

use crate::figures;
use crate::ns::Ns;
use crate::page::Page;

/// The confidence of all statements about one quantile, for all entries of its table together, in
/// parts per million.
const CONFIDENCE_PPM: u32 = 990_000;
/// The complement of the confidence, in parts per billion.
const DOUBT_PPB: u32 = 10_000_000;
/// A probability of one, in parts per billion.
const WHOLE_PPB: u64 = 1_000_000_000;

/// The guarantees at one quantile.
#[derive(Debug)]
pub(crate) struct Soft {
    level_ppm: u32,
    samples: u64,
    promise: SoftPromise,
}

/// Returns the probability that a batch exceeds its entry of the table, with [`CONFIDENCE_PPM`] for
/// all entries together (Bonferroni): the doubt is divided among the entries. A batch of reads and
/// writes exceeds the sum of two entries only if it exceeds one of them.
fn exceedance_of(table: &SoftTable) -> Option<u64> {
    let entries = table.sources.iter().map(|source| source.entries).sum::<u32>();
    let doubt_ppb = (DOUBT_PPB / entries.max(1)).max(1);
    let of_source = |source: &tidegate_model::soft_table::SampleCount| {
        let is_measured = source.samples > 0;
        is_measured.then(|| exceedance_ppb(source.samples, table.level_ppm, doubt_ppb))?
    };
    table.sources.iter().map(|source| of_source(source).map(u64::from)).sum()
}

/// The guarantee of one task at one quantile.
#[derive(Debug, Serialize)]
pub(crate) struct SoftBound {
    quantile_ppm: u32,
    confidence_ppm: u32,
    samples: u64,
    response_ns_max: Ns,
    miss_ppb_max: u64,
    meets_deadline: bool,
}

impl Soft {
    /// Returns the useful guarantees: those whose promised probability is above 0, and whose
    /// response time is below every hard bound.
    pub(crate) fn promises(workload: &Workload, assessment: &Assessment) -> Vec<Self> {
        let is_shorter = |promise: &SoftPromise| {
            let hard = assessment.tasks.iter().filter_map(|task| task.response_max);
            hard.into_iter().all(|(response, _)| promise.response_max < response)
        };
        let of_table = |table: &SoftTable| {
            let exceedance = exceedance_of(table)?;
            let promise = soft_promise(workload, assessment, &table.table, exceedance)?;
            let samples = table.sources.iter().map(|source| source.samples).min()?;
            let is_worth_it = promise.miss_ppb_max < WHOLE_PPB && is_shorter(&promise);
            is_worth_it.then_some(Self { level_ppm: table.level_ppm, samples, promise })
        };
        workload.contracts.soft.iter().rev().filter_map(of_table).collect()
    }

    /// Returns a task's guarantee.
    pub(crate) fn bound_of(&self, task: &Task) -> SoftBound {
        SoftBound {
            quantile_ppm: self.level_ppm,
            confidence_ppm: CONFIDENCE_PPM,
            samples: self.samples,
            response_ns_max: self.promise.response_max.into(),
            miss_ppb_max: self.promise.miss_ppb_max,
            meets_deadline: self.is_met(task),
        }
    }

    /// Writes the guarantees and their basis, or the reason why there are none although a task
    /// requests one.
    pub(crate) fn write(
        soft: &[Self],
        workload: &Workload,
        assessment: &Assessment,
        page: &mut Page,
    ) {
        for promise in soft {
            page.labelled("Soft", promise.sentence(workload, assessment));
        }
        let is_asked = workload.tasks.iter().any(|task| task.class == Class::Soft);
        if !soft.is_empty() {
            let condition = "Soft bounds hold while batches take as long as the measured ones did; \
                             the verdict does not rest on them.";
            page.labelled("", condition);
        } else if is_asked && workload.contracts.samples_withheld {
            let elsewhere = "nothing is promised: the quantiles of the table are those of random \
                             places, and the requests are not known to lie at random";
            page.labelled("Soft", elsewhere);
        } else if is_asked && assessment.serves_by_position(workload) {
            let by_order = "nothing is promised: the quantiles of the table are those of batches in the \
                            order of release, and here positions decide the order";
            page.labelled("Soft", by_order);
        } else if is_asked {
            let nothing = "nothing below the hard bounds can be promised: it takes a drive with \
                           measured quantiles, dqf, and hard bounds for every task";
            page.labelled("Soft", nothing);
        }
    }

    fn is_met(&self, task: &Task) -> bool {
        self.promise.response_max <= task.deadline
    }

    /// Formats the quantile, for example `p99.9`.
    fn level(&self) -> String {
        let (whole, rest) = (self.level_ppm / 10_000, self.level_ppm % 10_000);
        let digits = format!("{rest:04}");
        match digits.trim_end_matches('0') {
            "" => format!("p{whole}"),
            digits => format!("p{whole}.{digits}"),
        }
    }

    fn sentence(&self, workload: &Workload, assessment: &Assessment) -> String {
        let gained = workload.tasks.iter().zip(&assessment.tasks).filter(|(task, assessed)| {
            task.class == Class::Soft && !assessed.is_deadline_met && self.is_met(task)
        });
        let gained: Vec<&str> = gained.map(|(task, _)| task.name.as_str()).collect();
        let gained = match gained[..] {
            [] => String::new(),
            [name] => format!("; so {name} (soft) meets its deadline that often"),
            [first, .., last] => {
                format!("; so {first} to {last} (soft) meet their deadlines that often")
            }
        };
        format!(
            "{}, and at most 1 job in {} takes longer, with 99 % confidence ({} of {} samples)\
             {gained}",
            figures::ms_ceil(self.promise.response_max),
            WHOLE_PPB / self.promise.miss_ppb_max.max(1),
            self.level(),
            self.samples
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::overruns::tests::checked;

    /// Goal: quantiles were measured at random places, so there are no soft guarantees for requests
    /// at other places.
    #[test]
    fn nothing_soft_is_promised_at_places_that_are_set() {
        let (json, text) = checked("\"random\"");
        assert!(!json["tasks"][0]["soft"].as_array().unwrap().is_empty(), "{json}");
        assert!(text.contains("99 % confidence (p99"), "{text}");
        let (json, text) = checked("{ from = \"0%\", to = \"0.5%\" }");
        assert!(json["tasks"][0]["soft"].as_array().unwrap().is_empty(), "{json}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Soft nothing is promised: the quantiles"), "{text}");
    }
}
