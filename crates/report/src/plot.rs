// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plots: a [`Chart`] says what is drawn; [`text`] and [`svg`] draw it.

pub(crate) mod axis;
pub(crate) mod svg;
pub(crate) mod text;

use axis::Axis;

/// A curve over two axes, and points beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart {
    /// The title.
    pub(crate) title: String,
    /// The horizontal axis.
    pub(crate) x: Axis,
    /// The vertical axis.
    pub(crate) y: Axis,
    /// Points that are joined, in order of x.
    pub(crate) curve: Vec<(u64, u64)>,
    /// Separate points.
    pub(crate) points: Vec<(u64, u64)>,
}
