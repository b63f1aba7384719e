// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The order of arrival.

use std::collections::VecDeque;

use tidegate_model::{Request, RequestId};

use super::Order;

/// First in, first out. It grows on demand and keeps its capacity.
#[derive(Debug, Clone, Default)]
pub(crate) struct FirstCome {
    requests: VecDeque<Request>,
}

impl Order for FirstCome {
    fn push(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    fn peek(&self) -> Option<&Request> {
        self.requests.front()
    }

    fn pop(&mut self) -> Option<Request> {
        self.requests.pop_front()
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let index = self.requests.iter().position(|request| request.id == id)?;
        self.requests.remove(index)
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn boxed(&self) -> Box<dyn Order> {
        Box::new(self.clone())
    }
}
