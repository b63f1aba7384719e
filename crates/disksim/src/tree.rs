// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a parameter file says, before anything of it is understood.
//!
//! ```text
//!   file   =  { block | `source` file | `instantiate` [ names ] `as` name
//!             | `topology` kind name [ .. ] }
//!   block  =  kind [name] `{` { words `=` value } `}`
//!   value  =  word | `source` file | block | `[` { value } `]`
//! ```
//! Words are places in the text: a layout has hundreds of thousands of them.

use std::rc::Rc;

use super::words::Span;

/// The items of a file in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) items: Vec<Item>,
}

/// One item of a file.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// A block with its parameters.
    Block(Rc<Block>),
    /// Another file whose items stand here.
    Source(Span),
    /// Names of components that are made as a block says.
    Instance {
        /// The components.
        names: List,
        /// The block.
        of: Span,
    },
    /// Which component hangs on which.
    Topology {
        /// What hangs on the outermost component: kind, name, list, and so on.
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

/// A parameter: its words, one blank between them, and its value.
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
    /// A file that has the value.
    Source(Span),
    /// Several values.
    List(List),
    /// A block.
    Block(Rc<Block>),
}

/// Values between brackets.
#[derive(Debug, Clone)]
pub(crate) struct List {
    /// The bracket that begins it.
    pub(crate) span: Span,
    pub(crate) values: Vec<Value>,
}

impl Value {
    /// Where it stands; of a block its kind.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Word(span) | Self::Source(span) => *span,
            Self::List(list) => list.span,
            Self::Block(block) => block.kind,
        }
    }
}

impl Tree {
    /// The blocks of this file, without those of the files it sources.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &Rc<Block>> {
        self.items.iter().filter_map(|item| match item {
            Item::Block(block) => Some(block),
            _ => None,
        })
    }

    /// The names of the files that this one sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Span> {
        self.items.iter().filter_map(|item| match item {
            Item::Source(span) => Some(*span),
            _ => None,
        })
    }
}
