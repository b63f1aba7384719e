// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the two sides of each comparison in an expression.

/// Words that end an operand, as comparison operators do.
const WORDS: [&str; 5] = ["and", "or", "not", "if", "else"];

/// An operand that may become a side of a comparison: where it begins, and whether a comparison
/// precedes it.
#[derive(Clone, Copy)]
struct Open {
    from: usize,
    is_compared: bool,
}

/// Returns the sides of all comparisons, including those in parentheses.
pub(crate) fn sides(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut open = vec![Open { from: 0, is_compared: false }];
    let mut at = 0;
    while let Some(token) = token(&text[at..]) {
        let after = at + token.len();
        let is_comparison = matches!(token, "<" | ">" | "<=" | ">=" | "==" | "!=");
        let is_closed = matches!(token, ")" | "]" | "}");
        if is_comparison || is_closed || token == "," || WORDS.contains(&token) {
            let Open { from, is_compared } =
                open.pop().unwrap_or(Open { from: at, is_compared: false });
            if is_comparison || is_compared {
                found.push(text[from..at].trim());
            }
            if !is_closed {
                open.push(Open { from: after, is_compared: is_comparison });
            }
        } else if matches!(token, "(" | "[" | "{") {
            open.push(Open { from: after, is_compared: false });
        }
        at = after;
    }
    found.extend(open.last().filter(|it| it.is_compared).map(|it| text[it.from..].trim()));
    found
}

/// Returns the first token: a quoted text, a word, a comparison, or one character.
fn token(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let length = if first == '\'' || first == '"' {
        text[1..].find(first).map_or(text.len(), |end| end + 2)
    } else if is_word(first) {
        text.find(|c| !is_word(c)).unwrap_or(text.len())
    } else if ["<=", ">=", "==", "!="].iter().any(|it| text.starts_with(it)) {
        2
    } else {
        first.len_utf8()
    };
    Some(&text[..length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_end_at_words_commas_and_parentheses() {
        assert_eq!(sides("a + 1 < b | max"), ["a + 1", "b | max"]);
        assert_eq!(sides("f('x', z=8) >= 2 and c[1] == d"), ["f('x', z=8)", "2", "c[1]", "d"]);
        assert_eq!(sides("(a | max) > 1 or not (b != 2)"), ["(a | max)", "1", "b", "2"]);
        assert_eq!(sides("f('a < b') is rising"), [""; 0]);
        assert_eq!(sides("1 if a > 2 else 3"), ["a", "2"]);
    }
}
