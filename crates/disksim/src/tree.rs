// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The syntax tree of a parameter file, before interpretation.
//!
//! ```text
//!   file   =  { block | `source` file | `instantiate` [ names ] `as` name
//!             | `topology` kind name [ .. ] }
//!   block  =  kind [name] `{` { words `=` value } `}`
//!   value  =  word | `source` file | block | `[` { value } `]`
//! ```
//! Words are spans of the text: a layout has hundreds of thousands of them.

use std::rc::Rc;

use super::words::Span;

/// The items of a file in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) items: Vec<Item>,
}

/// One item of a file.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// A block with its parameters.
    Block(Rc<Block>),
    /// Another file whose items belong here.
    Source(Span),
    /// Names of components that instantiate a block.
    Instance {
        /// The components.
        names: List,
        /// The block.
        of: Span,
    },
    /// The nesting of components.
    Topology {
        /// The contents of the outermost component: kind, name, list, and so on.
        below: List,
    },
}

/// A block with its parameters.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: Span,
    pub(crate) name: Option<Span>,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter: its words, separated by one blank each, and its value.
#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// The value of a parameter or an entry of a list.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// A name, a number, a file name.
    Word(Span),
    /// A file that contains the value.
    Source(Span),
    /// Several values.
    List(List),
    /// A block.
    Block(Rc<Block>),
}

/// Values between brackets.
#[derive(Debug, Clone)]
pub(crate) struct List {
    /// The opening bracket.
    pub(crate) span: Span,
    pub(crate) values: Vec<Value>,
}

impl Value {
    /// Returns the value's place in the file; for a block, the place of the word that names its
    /// kind.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Word(span) | Self::Source(span) => *span,
            Self::List(list) => list.span,
            Self::Block(block) => block.kind,
        }
    }
}

impl Tree {
    /// Returns the blocks of this file, without those of the files it sources.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Rc<Block>> {
        self.items.iter().filter_map(|item| match item {
            Item::Block(block) => Some(block),
            _ => None,
        })
    }

    /// Returns the names of the files that this one sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Span> {
        self.items.iter().filter_map(|item| match item {
            Item::Source(span) => Some(*span),
            _ => None,
        })
    }
}
