// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plots: what is drawn is a [`Chart`]; [`text`] and [`svg`] only know how to draw one.

pub(crate) mod axis;
pub(crate) mod svg;
pub(crate) mod text;

use axis::Axis;

/// A curve over two axes, and points beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart {
    /// What is drawn.
    pub(crate) title: String,
    /// The axis below.
    pub(crate) x: Axis,
    /// The axis on the left.
    pub(crate) y: Axis,
    /// Points to be joined, in order of x.
    pub(crate) curve: Vec<(u64, u64)>,
    /// Points that stand for themselves.
    pub(crate) points: Vec<(u64, u64)>,
}
