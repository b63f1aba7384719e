// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Requests that the policy had no room for, and the two lines in which requests stand.
//!
//! Real time and best effort wait apart, because room for one is not always room for the
//! other; each line in the order of release.

use std::collections::VecDeque;
use std::ops::{Index, IndexMut};

use model::{Class, RequestId};

/// In which line a request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    RealTime,
    BestEffort,
}

impl From<Class> for Line {
    fn from(class: Class) -> Self {
        match class {
            Class::Hard | Class::Soft | Class::Interactive => Self::RealTime,
            Class::BestEffort => Self::BestEffort,
        }
    }
}

/// Something for each line.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ByLine<T> {
    pub(crate) real_time: T,
    pub(crate) best_effort: T,
}

impl<T> Index<Line> for ByLine<T> {
    type Output = T;
    fn index(&self, line: Line) -> &T {
        match line {
            Line::RealTime => &self.real_time,
            Line::BestEffort => &self.best_effort,
        }
    }
}

impl<T> IndexMut<Line> for ByLine<T> {
    fn index_mut(&mut self, line: Line) -> &mut T {
        match line {
            Line::RealTime => &mut self.real_time,
            Line::BestEffort => &mut self.best_effort,
        }
    }
}

/// What waits for room, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Held {
    queues: ByLine<VecDeque<RequestId>>,
}

impl Held {
    pub(crate) fn is_empty(&self) -> bool {
        self.is_line_empty(Line::RealTime) && self.is_line_empty(Line::BestEffort)
    }

    pub(crate) fn is_line_empty(&self, line: Line) -> bool {
        self.queues[line].is_empty()
    }

    pub(crate) fn push(&mut self, line: Line, id: RequestId) {
        self.queues[line].push_back(id);
    }

    /// Removes the oldest of a line.
    pub(crate) fn pop(&mut self, line: Line) {
        self.queues[line].pop_front();
    }

    /// The oldest request of the lines that are not found full. Names rise with age.
    pub(crate) fn oldest(&self, is_full: ByLine<bool>) -> Option<(RequestId, Line)> {
        let front = |line: Line| {
            let id = self.queues[line].front().filter(|_| !is_full[line])?;
            Some((*id, line))
        };
        let fronts = [front(Line::RealTime), front(Line::BestEffort)];
        fronts.into_iter().flatten().min_by_key(|(id, _)| *id)
    }
}
