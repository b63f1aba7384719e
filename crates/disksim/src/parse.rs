// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses the language of parameter files.
//!
//! Existing files omit commas and put values on separate lines, so commas are optional everywhere:
//! the next token shows what follows a value. Parsing takes one pass, limits nesting, and opens no
//! other file.

use std::rc::Rc;

use tidegate_model::{FileError, printable};

use super::tree::{Block, Item, List, Parameter, Tree, Value};
use super::words::{Span, Token, TokenKind, Words};

/// The maximum depth of nesting; real files have five levels.
const DEPTH_MAX: u32 = 32;

/// Parses the items of a parameter file.
///
/// # Errors
/// The first place that does not fit the language, and what to write there.
pub(crate) fn parse(text: &str) -> Result<Tree, FileError> {
    let mut words = Words::new(text);
    let next = words.next();
    let mut parser = Parser { text, words, next, depth: 0 };
    let mut items = Vec::new();
    while let Some(item) = parser.item()? {
        items.push(item);
    }
    Ok(Tree { items })
}

struct Parser<'a> {
    text: &'a str,
    words: Words<'a>,
    /// The current token.
    next: Token,
    depth: u32,
}

impl Parser<'_> {
    fn item(&mut self) -> Result<Option<Item>, FileError> {
        self.skip_commas();
        if self.next.kind == TokenKind::End {
            return Ok(None);
        }
        let first = self.word("a block, for example `dm_disk name { .. }`")?;
        let item = match first.of(self.text) {
            "source" => Item::Source(self.word("the name of a file")?),
            "instantiate" => self.instance()?,
            "topology" => self.topology()?,
            _ => Item::Block(self.block(first)?),
        };
        Ok(Some(item))
    }

    /// Parses the rest after `instantiate`.
    fn instance(&mut self) -> Result<Item, FileError> {
        let names = self.list()?;
        let joint = self.word("`as`")?;
        if joint.of(self.text) != "as" {
            return Err(self.unexpected(joint, "`as` and the name of a block"));
        }
        Ok(Item::Instance { names, of: self.word("the name of a block")? })
    }

    /// Parses the rest after `topology`.
    fn topology(&mut self) -> Result<Item, FileError> {
        self.word("the kind of the outermost component")?;
        self.word("the name of the outermost component")?;
        Ok(Item::Topology { below: self.list()? })
    }

    /// Parses a block whose kind was read.
    fn block(&mut self, kind: Span) -> Result<Rc<Block>, FileError> {
        let name = if self.next.kind == TokenKind::Word { Some(self.take().span) } else { None };
        self.expect(TokenKind::BlockBegin, "`{`, the beginning of a block")?;
        self.descend(kind)?;
        let mut parameters = Vec::new();
        while self.goes_on(TokenKind::BlockEnd, kind)? {
            parameters.push(self.parameter()?);
        }
        self.depth -= 1;
        Ok(Rc::new(Block { kind, name, parameters }))
    }

    fn parameter(&mut self) -> Result<Parameter, FileError> {
        let first = self.word("the name of a parameter")?;
        let mut name = first.of(self.text).to_owned();
        let mut last = first;
        while self.next.kind == TokenKind::Word {
            last = self.take().span;
            name.push(' ');
            name.push_str(last.of(self.text));
        }
        if self.next.kind != TokenKind::Equal {
            let place = first.to(last).range();
            return Err(FileError::new(
                place,
                format!("the parameter `{}` has no value", shortened(&name)),
                "write `name = value`",
            ));
        }
        self.take();
        Ok(Parameter { name, value: self.value()? })
    }

    fn value(&mut self) -> Result<Value, FileError> {
        if self.next.kind == TokenKind::ListBegin {
            return Ok(Value::List(self.list()?));
        }
        let word = self.word("a value")?;
        if self.begins_block() {
            return Ok(Value::Block(self.block(word)?));
        }
        if word.of(self.text) == "source" && self.next.kind == TokenKind::Word {
            return Ok(Value::Source(self.take().span));
        }
        Ok(Value::Word(word))
    }

    /// Returns whether the word just read is the kind of a block: `{` follows, or a name and `{`.
    fn begins_block(&self) -> bool {
        match self.next.kind {
            TokenKind::BlockBegin => true,
            TokenKind::Word => self.words.clone().next().kind == TokenKind::BlockBegin,
            _ => false,
        }
    }

    fn list(&mut self) -> Result<List, FileError> {
        let begin = self.expect(TokenKind::ListBegin, "`[`, the beginning of a list")?;
        self.descend(begin)?;
        let mut values = Vec::new();
        while self.goes_on(TokenKind::ListEnd, begin)? {
            values.push(self.value()?);
        }
        self.depth -= 1;
        Ok(List { span: begin, values })
    }

    /// Returns whether more items follow before `end`; if `end` is next, consumes it. `begin` is
    /// the opening bracket.
    fn goes_on(&mut self, end: TokenKind, begin: Span) -> Result<bool, FileError> {
        self.skip_commas();
        if self.next.kind == TokenKind::End {
            let what = if end == TokenKind::BlockEnd { ("block", "}") } else { ("list", "]") };
            return Err(FileError::new(
                begin.range(),
                format!("the {} that begins here does not end", what.0),
                format!("the file is cut off, or a `{}` is missing", what.1),
            ));
        }
        if self.next.kind != end {
            return Ok(true);
        }
        self.take();
        Ok(false)
    }

    fn descend(&mut self, place: Span) -> Result<(), FileError> {
        self.depth += 1;
        if self.depth <= DEPTH_MAX {
            return Ok(());
        }
        Err(FileError::new(
            place.range(),
            format!("blocks and lists are nested deeper than {DEPTH_MAX} levels"),
            "no valid file is nested this deep: look for a superfluous bracket",
        ))
    }

    fn skip_commas(&mut self) {
        while self.next.kind == TokenKind::Comma {
            self.take();
        }
    }

    fn word(&mut self, wanted: &str) -> Result<Span, FileError> {
        self.expect(TokenKind::Word, wanted)
    }

    fn expect(&mut self, kind: TokenKind, wanted: &str) -> Result<Span, FileError> {
        if self.next.kind == kind {
            return Ok(self.take().span);
        }
        Err(self.unexpected(self.next.span, wanted))
    }

    fn unexpected(&self, place: Span, wanted: &str) -> FileError {
        let found = match place.of(self.text) {
            "" => "the file ends here".to_owned(),
            text => format!("`{}` cannot stand here", shortened(text)),
        };
        FileError::new(place.range(), found, format!("write {wanted}"))
    }

    fn take(&mut self) -> Token {
        std::mem::replace(&mut self.next, self.words.next())
    }
}

/// Shortens a text of any length and content for a message.
pub(crate) fn shortened(text: &str) -> String {
    const LENGTH_MAX: usize = 60;
    let mut short: String = printable(&text.chars().take(LENGTH_MAX).collect::<String>());
    if text.chars().nth(LENGTH_MAX).is_some() {
        short.push_str("..");
    }
    short
}

#[cfg(test)]
mod tests;
