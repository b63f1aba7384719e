// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Policies that are written in Python.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use tidegate_model::{Class, Op, Outcome, RequestId, Tag, Time};
use tidegate_policy::{Decision, Event, NoticeKind, Policy};
use tidegate_sim::checkers::{
    BatchSize, Checkers, ClassOrder, DepthKept, DueOrder, ExactlyOnce, IdleDispatch, Lines,
    ReleaseOrder, Served, WorkConservation,
};

use crate::fault::{PolicyError, no_name};

create_exception!(
    tidegate,
    Full,
    PyException,
    "Raised by `observe` of a policy whose queue has no room for a released request: the host keeps \
     the request and offers it again."
);

/// A request, as a policy sees it.
#[pyclass(frozen, get_all, module = "tidegate.policy")]
pub(crate) struct Request {
    /// The request's number, unique in a run.
    id: u64,
    /// The index of its source: tasks come first, in the order of the file.
    task: u32,
    /// `hard`, `soft`, `interactive` or `best_effort`.
    class_: &'static str,
    /// The request's release, from which its response time counts, in ns.
    released_ns: u64,
    /// The request's absolute deadline in ns; `None` for best effort.
    due_ns: Option<u64>,
    /// Whether the request is a write.
    is_write: bool,
    /// The request's first sector, of 512 bytes.
    start_sector: u64,
    /// The request's size in bytes.
    size_bytes: u64,
    /// Whether the contract allows the request to be dropped.
    is_optional: bool,
}

#[pymethods]
impl Request {
    fn __repr__(&self) -> String {
        let Self { id, task, class_, released_ns, .. } = self;
        format!("Request(id={id}, task={task}, class_={class_:?}, released_ns={released_ns})")
    }
}

/// A request was released.
#[pyclass(frozen, get_all, module = "tidegate.policy")]
pub(crate) struct Release {
    request: Py<Request>,
}

/// The drive completed a request.
#[pyclass(frozen, get_all, module = "tidegate.policy")]
pub(crate) struct Complete {
    id: u64,
    has_failed: bool,
}

/// A request was cancelled. If it is not queued, the event has no effect.
#[pyclass(frozen, get_all, module = "tidegate.policy")]
pub(crate) struct Cancel {
    id: u64,
}

/// A task reported on its own service: `deadline_missed` or `stream_ended`.
#[pyclass(frozen, get_all, module = "tidegate.policy")]
pub(crate) struct Notice {
    task: u32,
    report: &'static str,
}

/// The decision to send nothing more before this instant.
#[pyclass(frozen, get_all, module = "tidegate.policy")]
pub(crate) struct Wait {
    until_ns: u64,
}

#[pymethods]
impl Wait {
    #[new]
    fn new(until_ns: u64) -> Self {
        Self { until_ns }
    }
}

/// Declares that each event's fields can be matched by position.
macro_rules! matched_by_position {
    ($($Event:ident: $($field:literal),+;)+) => {$(
        #[pymethods]
        impl $Event {
            #[classattr]
            fn __match_args__() -> ($(matched_by_position!(@text $field),)+) {
                ($($field,)+)
            }
        }
    )+};
    (@text $field:literal) => { &'static str };
}

matched_by_position! {
    Release: "request";
    Complete: "id", "has_failed";
    Cancel: "id";
    Notice: "task", "report";
}

/// A policy that takes its decisions from a Python object. The first exception ends the run.
pub(crate) struct OwnPolicy {
    object: Py<PyAny>,
    /// The requests that may be dispatched; the host would fail on any other request.
    queued: HashSet<u64>,
    failure: Rc<RefCell<Option<PyErr>>>,
}

impl OwnPolicy {
    /// Wraps an object with the methods `observe(now_ns, event)` and `decide(now_ns)`. The first
    /// exception is stored in `failure`.
    pub(crate) fn new(object: Py<PyAny>, failure: Rc<RefCell<Option<PyErr>>>) -> Self {
        Self { object, queued: HashSet::new(), failure }
    }

    fn fail(&self, error: PyErr) {
        let mut failure = self.failure.borrow_mut();
        if failure.is_none() {
            *failure = Some(error);
        }
    }

    fn tell(&mut self, now: Time, event: &Event) -> PyResult<()> {
        Python::attach(|py| {
            let event = match event {
                Event::Release(request) => {
                    let request = Py::new(py, Request::of(request))?;
                    Py::new(py, Release { request })?.into_any()
                }
                Event::Complete { id, outcome } => {
                    let has_failed = *outcome == Outcome::Failed;
                    Py::new(py, Complete { id: id.0, has_failed })?.into_any()
                }
                Event::Cancel(id) => Py::new(py, Cancel { id: id.0 })?.into_any(),
                Event::Notice { task, kind } => {
                    let report = match kind {
                        NoticeKind::DeadlineMissed => "deadline_missed",
                        NoticeKind::StreamEnded => "stream_ended",
                        _ => return Ok(()),
                    };
                    Py::new(py, Notice { task: task.0, report })?.into_any()
                }
                // The plan never changes during a simulation.
                Event::Reconfigure(_) => return Ok(()),
            };
            self.object.call_method1(py, "observe", (now.ns(), event)).map(|_| ())
        })
    }

    fn asked(&mut self, now: Time) -> PyResult<Decision> {
        Python::attach(|py| {
            let decision = self.object.call_method1(py, "decide", (now.ns(),))?;
            let decision = decision.bind(py);
            if decision.is_none() {
                return Ok(Decision::AwaitEvent);
            }
            if let Ok(wait) = decision.cast::<Wait>() {
                let until = Time::from_ns(wait.get().until_ns);
                if until <= now {
                    let text = format!("decide returned Wait({}) at {}", until.ns(), now.ns());
                    return Err(PolicyError::new_err(format!("{text}, which is not later")));
                }
                return Ok(Decision::NotBefore(until));
            }
            let id = match decision.cast::<Request>() {
                Ok(request) => request.get().id,
                Err(_) => decision.extract().map_err(|_| {
                    let text = "decide must return a Request or its id, a Wait, or None";
                    PolicyError::new_err(format!("{text}; it returned {decision:?}"))
                })?,
            };
            if !self.queued.remove(&id) {
                let text = format!("decide sent request {id}, which is not queued");
                return Err(PolicyError::new_err(text));
            }
            Ok(Decision::Dispatch { id: RequestId(id), tag: Tag::Simple })
        })
    }
}

impl Policy for OwnPolicy {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), tidegate_policy::Full> {
        if self.failure.borrow().is_some() {
            return Ok(());
        }
        let released = match &event {
            Event::Release(request) => Some(request.id.0),
            Event::Cancel(id) => {
                self.queued.remove(&id.0);
                None
            }
            Event::Complete { .. } | Event::Notice { .. } | Event::Reconfigure(_) => None,
        };
        match self.tell(now, &event) {
            Ok(()) => self.queued.extend(released),
            Err(error) => {
                let is_full = Python::attach(|py| error.is_instance_of::<Full>(py));
                if is_full && released.is_some() {
                    return Err(tidegate_policy::Full);
                }
                self.fail(error);
            }
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        if self.failure.borrow().is_some() {
            return Decision::AwaitEvent;
        }
        self.asked(now).unwrap_or_else(|error| {
            self.fail(error);
            Decision::AwaitEvent
        })
    }
}

impl Request {
    fn of(request: &tidegate_model::Request) -> Self {
        Self {
            id: request.id.0,
            task: request.task.0,
            class_: match request.class {
                Class::Hard => "hard",
                Class::Soft => "soft",
                Class::Interactive => "interactive",
                Class::BestEffort => "best_effort",
            },
            released_ns: request.released.ns(),
            due_ns: request.due.map(Time::ns),
            is_write: request.op == Op::Write,
            start_sector: request.start.get(),
            size_bytes: request.size.get(),
            is_optional: request.optional,
        }
    }
}

/// The names of the rules that a policy can declare.
const RULES: [&str; 5] =
    ["work_conserving", "one_at_a_time", "release_order", "due_order", "class_order"];

/// Returns the checkers of the declared `rules`, and of the rules that hold for every policy: each
/// request is served exactly once, and the drive never holds more than `depth` requests.
pub(crate) fn checkers_of(rules: &[String], depth: u32) -> PyResult<Checkers> {
    let mut checkers = Checkers::default();
    checkers.add(ExactlyOnce::default());
    checkers.add(DepthKept::new(depth));
    for rule in rules {
        match &**rule {
            "work_conserving" => checkers.add(WorkConservation::new(depth, Served::All)),
            "one_at_a_time" => {
                checkers.add(BatchSize::new(1, 1));
                checkers.add(IdleDispatch::default());
            }
            "release_order" => checkers.add(ReleaseOrder::new(Lines::Common)),
            "due_order" => checkers.add(DueOrder::new(u32::MAX)),
            "class_order" => checkers.add(ClassOrder::new(u32::MAX)),
            rule => {
                return Err(no_name("rule", rule, RULES));
            }
        }
    }
    Ok(checkers)
}
