// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons for which a disk cannot be tuned for a proof.

use tidegate_model::Bytes;

use crate::demand::Demand;
use crate::disk::Disk;
use crate::setting::{NR_REQUESTS_MAX, SCHEDULER};

/// Why a disk cannot be tuned: a sentence with the remedy, without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A device that is built on others.
    #[error("`{name}` is built on {}, and only a disk has a scheduler: tune {} instead", list(.disks), list(.disks))]
    BuiltOn {
        /// Its name.
        name: String,
        /// The devices below it.
        disks: Vec<String>,
    },
    /// A file behind a loop device.
    #[error("`{name}` is a file that is attached as a device: tune the disk that the file is on")]
    Loop {
        /// Its name.
        name: String,
    },
    /// A disk with several paths, or one of them.
    #[error(
        "the disk behind `{name}` has several paths ({}), and the requests do not pass the scheduler of a path: {}",
        list(.paths),
        instead_of_paths(.map.as_deref())
    )]
    Multipath {
        /// Its name.
        name: String,
        /// The paths.
        paths: Vec<String>,
        /// The name below `/dev/mapper` of the device that joins the paths.
        map: Option<String>,
    },
    /// A device above the disk sends the requests from threads of its own.
    #[error(
        "`{holder}` is built on this disk and sends requests from its own threads ({kind}), so the I/O class \
         of the program is lost on the way: keep the files with contracts on a plain partition or \
         on a linear LVM volume"
    )]
    ClassLost {
        /// The device above.
        holder: String,
        /// `CRYPT`, or the level of an array.
        kind: String,
    },
    /// No depth can be set.
    #[error(
        "its driver has no queue depth that can be set (`device/queue_depth` is missing, as for NVMe), so \
         nothing limits the requests on the device: serve it with `tidegate serve` instead"
    )]
    NoDepth,
    /// The depth is beyond the host adapter.
    #[error(
        "the host adapter takes only {tags} requests, and the proof is for {depth}: state queue_depth = {tags}"
    )]
    TooDeep {
        /// The number of requests that the adapter takes.
        tags: u64,
        /// The depth that the proof assumes.
        depth: u32,
    },
    /// The adapter's tags do not suffice for all of its disks.
    #[error(
        "the kernel takes requests from the scheduler before it knows of a place for them: all disks of the host \
         adapter together have a larger `device/queue_depth` than it has tags, or this one has more \
         than its equal share of them; lower the depth of the others{}",
        or_of_this_one(*depth)
    )]
    SharedTags {
        /// The depth that the proof assumes.
        depth: u32,
    },
    /// A hypervisor's disk.
    #[error(
        "a hypervisor provides the disk ({name}), and other machines can use the hardware below: tune it on the host"
    )]
    Hypervisor {
        /// Its model or driver.
        name: String,
    },
    /// A disk behind a USB bridge.
    #[error(
        "the disk is behind a USB bridge, which can reorder requests and reset the disk: connect it by SATA or SAS"
    )]
    Usb,
    /// A zoned disk.
    #[error(
        "the disk is zoned ({kind}), and the kernel's scheduler holds writes back for its zones: no bound covers that"
    )]
    Zoned {
        /// The kernel's word.
        kind: String,
    },
    /// Several hardware queues.
    #[error(
        "the driver has {queues} hardware queues, and each can hold requests past the scheduler: the proof is for one"
    )]
    HardwareQueues {
        /// Their number.
        queues: usize,
    },
    /// The scheduler is missing.
    #[error(
        "the kernel offers no `mq-deadline` for it (only {offered}): load it with `modprobe mq-deadline`"
    )]
    NoScheduler {
        /// The schedulers that it offers.
        offered: String,
    },
    /// A scheduler without classes.
    #[error("the kernel's `mq-deadline` has no `prio_aging_expire`: it is older than Linux 5.18")]
    OldKernel,
    /// A write cache beside contracts of writes.
    #[error(
        "the disk's write cache is on and a task writes: a flush is sent past the scheduler, and a write is done \
         before it is on the medium; switch the cache off and measure the disk again"
    )]
    WriteCache,
    /// `io.cost` shares the disk out by weight.
    #[error(
        "`io.cost` is on for this disk ({file}), and makes requests wait outside the scheduler, where classes do \
         not count: switch it off with `echo {device} enable=0 > {file}`"
    )]
    IoCost {
        /// The kernel's file.
        file: String,
        /// The disk's numbers.
        device: String,
    },
    /// More requests than the scheduler holds.
    #[error(
        "the workload can have {} requests waiting, plugs included, and the scheduler holds at most {NR_REQUESTS_MAX}",
        number(*places)
    )]
    Places {
        /// The requests.
        places: u64,
    },
    /// Requests that the kernel must split.
    #[error(
        "the driver splits requests above {most}, and the largest has {size}: use smaller requests"
    )]
    Split {
        /// The driver's limit.
        most: Bytes,
        /// The largest request.
        size: Bytes,
    },
    /// A disk other than the measured one.
    #[error(
        "the drive file was measured on `{measured}`, and this disk is `{found}`: measure this disk"
    )]
    OtherModel {
        /// The model in the drive file.
        measured: String,
        /// The model of this disk.
        found: String,
    },
}

/// Parts of driver and model names that identify a hypervisor's disk.
const VIRTUAL_MARKS: [&str; 6] = ["virtio", "xen", "QEMU", "VBOX", "VMware", "Virtual"];

impl Disk {
    /// Returns every reason for which this disk cannot be tuned for this demand.
    pub fn refusals(&self, demand: &Demand, measured: Option<&str>) -> Vec<Refusal> {
        let mut refusals = self.standing_refusals(demand.depth);
        if self.is_no_disk() {
            return refusals;
        }
        let mut add = |refusal: Option<Refusal>| refusals.extend(refusal);
        let is_cached = self.text("queue/write_cache").as_deref() != Some("write through");
        add((is_cached && demand.has_write_contract).then_some(Refusal::WriteCache));
        let places = demand.places;
        add((places > NR_REQUESTS_MAX).then_some(Refusal::Places { places }));
        add(self.split(demand));
        let other = measured.zip(self.model()).filter(|(measured, found)| measured != found);
        add(other
            .map(|(measured, found)| Refusal::OtherModel { measured: measured.to_owned(), found }));
        refusals
    }

    /// Returns every reason for which this disk cannot be tuned for any demand, with `depth`
    /// requests on the device. They can arise after it was tuned.
    pub fn standing_refusals(&self, depth: u32) -> Vec<Refusal> {
        if let Some(refusal) = self.multipath() {
            return vec![refusal];
        }
        let disks = self.slaves();
        if !disks.is_empty() {
            return vec![Refusal::BuiltOn { name: self.name().to_owned(), disks }];
        }
        if self.is_no_disk() {
            return vec![Refusal::Loop { name: self.name().to_owned() }];
        }
        let zoned = self.text("queue/zoned").filter(|kind| kind != "none");
        let queues = self.hardware_queues().filter(|&queues| queues != 1);
        let refusals = [
            self.hypervisor(),
            self.depth(depth),
            self.is_behind("usb").then_some(Refusal::Usb),
            zoned.map(|kind| Refusal::Zoned { kind }),
            queues.map(|queues| Refusal::HardwareQueues { queues }),
            self.scheduler(),
            self.io_cost(),
        ];
        let holders = self.holders();
        let lost = holders.iter().filter_map(Self::class_lost);
        refusals.into_iter().flatten().chain(lost).collect()
    }

    /// Returns whether it is built on other devices or on a file.
    fn is_no_disk(&self) -> bool {
        !self.slaves().is_empty() || self.path("loop").exists()
    }

    /// Returns the refusal of a disk with several paths. The device mapper's device sends each request
    /// to a path's queue itself. All paths have one permanent name, so a rule and a record would be for
    /// all of them.
    ///
    /// # Source
    /// `blk_insert_cloned_request` in `block/blk-mq.c` of Linux 6.1 and 6.12.
    fn multipath(&self) -> Option<Refusal> {
        let is_map = |disk: &Self| disk.text("dm/uuid").is_some_and(|it| it.starts_with("mpath-"));
        let map = [self.clone()].into_iter().chain(self.holders()).find(is_map);
        let paths = match &map {
            Some(map) => map.slaves(),
            None => self.paths(),
        };
        let name = self.name().to_owned();
        let map_name = map.as_ref().and_then(|map| map.text("dm/name"));
        (map.is_some() || paths.len() > 1).then_some(Refusal::Multipath {
            name,
            paths,
            map: map_name,
        })
    }

    fn hypervisor(&self) -> Option<Refusal> {
        let names = [self.driver(), self.model()].into_iter().flatten();
        let is_virtual = |name: &String| VIRTUAL_MARKS.iter().any(|mark| name.contains(mark));
        names.into_iter().find(is_virtual).map(|name| Refusal::Hypervisor { name })
    }

    fn depth(&self, depth: u32) -> Option<Refusal> {
        if self.number("device/queue_depth").is_none() {
            return Some(Refusal::NoDepth);
        }
        match self.adapter_tags() {
            Some(tags) if u64::from(depth) > tags => Some(Refusal::TooDeep { tags, depth }),
            _ => (!self.has_spare_tags(depth)).then_some(Refusal::SharedTags { depth }),
        }
    }

    fn scheduler(&self) -> Option<Refusal> {
        let offered = self.text("queue/scheduler").unwrap_or_else(|| "none".to_owned());
        let words = offered.split_whitespace().map(|word| word.trim_matches(['[', ']']));
        if words.into_iter().all(|word| word != SCHEDULER) {
            return Some(Refusal::NoScheduler { offered });
        }
        let is_active = self.value("queue/scheduler").as_deref() == Some(SCHEDULER);
        let has_aging = self.path("queue/iosched/prio_aging_expire").exists();
        (is_active && !has_aging).then_some(Refusal::OldKernel)
    }

    /// Returns whether the kernel shares the disk out by weight (`CONFIG_BLK_CGROUP_IOCOST`).
    fn io_cost(&self) -> Option<Refusal> {
        const FILE: &str = "sys/fs/cgroup/io.cost.qos";
        let device = self.text("dev")?;
        let text = std::fs::read_to_string(self.root().at(FILE)).ok()?;
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(&*device));
        let is_on = lines.any(|rest| rest.starts_with(' ') && rest.contains("enable=1"));
        is_on.then(|| Refusal::IoCost { file: format!("/{FILE}"), device })
    }

    fn split(&self, demand: &Demand) -> Option<Refusal> {
        let most = Bytes::from_kib(self.number("queue/max_hw_sectors_kb")?);
        let size = demand.size_max;
        (size > most).then_some(Refusal::Split { most, size })
    }

    /// Returns why a device on top of the disk loses the class of requests.
    fn class_lost(&self) -> Option<Refusal> {
        let uuid = self.text("dm/uuid").unwrap_or_default();
        let crypt = uuid.starts_with("CRYPT-").then(|| "CRYPT".to_owned());
        let kind = crypt.or_else(|| self.text("md/level"))?;
        Some(Refusal::ClassLost { holder: self.name().to_owned(), kind })
    }
}

/// Returns the remedy for a disk with several paths, which this device joins.
fn instead_of_paths(map: Option<&str>) -> String {
    match map {
        Some(map) => format!("serve `/dev/mapper/{map}` with `tidegate serve` instead"),
        None => "join them with multipath, and serve the result with `tidegate serve`".to_owned(),
    }
}

/// Returns the further remedy if a proof for this depth needs more tags than there are.
fn or_of_this_one(depth: u32) -> String {
    if depth > 1 { format!(", or state a queue_depth below {depth}") } else { String::new() }
}

/// Returns how many requests can wait; a load without a limit stands for more than any number.
fn number(places: u64) -> String {
    if places == u64::MAX { "any number of".to_owned() } else { places.to_string() }
}

/// Returns `sda, sdb`.
fn list(names: &[String]) -> String {
    names.join(", ")
}
