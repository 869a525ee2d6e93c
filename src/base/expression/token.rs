//! Cuts the text of an expression into numbers, words and signs.

use std::ops::Range;

use super::complaint::ExprComplaint;

/// The largest length of an expression, in bytes. Chosen: far longer than users write, but safe for
/// the stack.
const LONGEST: usize = 2_000;

/// Longer signs come first, so that `<` does not match the beginning of `<=`.
const SIGNS: [&str; 18] =
    ["..", "<=", ">=", "==", "!=", "<", ">", "=", "+", "-", "*", "/", "^", "%", "(", ")", "[", "]"];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number,
    /// A name, which may have dots inside: `locality.node`.
    Word,
    Quoted,
    Sign(&'static str),
    End,
}

/// A token and its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedToken {
    pub(super) token: Token,
    pub(super) span: Range<usize>,
}

/// Cuts a text into tokens; the last token is `End`.
pub(super) fn tokens(text: &str) -> Result<Vec<PlacedToken>, ExprComplaint> {
    if LONGEST < text.len() {
        let message = format!("an expression has at most {LONGEST} bytes");
        return Err(ExprComplaint::new(LONGEST..text.len(), message));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        let (token, length) = first(&text[at..]).ok_or_else(|| unexpected_character(text, at))?;
        tokens.push(PlacedToken { token: token.clone(), span: at..at + length });
        at += length;
        if token == Token::End {
            return Ok(tokens);
        }
    }
}

/// Returns the first token and its length in bytes; `None` if the text begins with no token.
fn first(text: &str) -> Option<(Token, usize)> {
    let Some(letter) = text.chars().next() else { return Some((Token::End, 0)) };
    if letter.is_ascii_digit() {
        return Some((Token::Number, dotted(text, |c| c.is_ascii_digit())));
    }
    if letter.is_alphabetic() || letter == '_' {
        return Some((Token::Word, dotted(text, |c| c.is_alphanumeric() || c == '_')));
    }
    if matches!(letter, '"' | '\'') {
        return Some((Token::Quoted, text[1..].find(letter)? + 2));
    }
    if letter == ',' {
        return Some((Token::Sign(","), 1));
    }
    let sign = SIGNS.into_iter().find(|sign| text.starts_with(sign))?;
    Some((Token::Sign(sign), sign.len()))
}

/// Returns the length in bytes of a sequence of `inside` characters, with single dots between them.
fn dotted(text: &str, inside: impl Fn(char) -> bool) -> usize {
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        // A dot counts only if an `inside` character follows: `1..25` is a range, and does not
        // begin with the number `1.`.
        let between = letter == '.' && letters.peek().is_some_and(|(_, next)| inside(*next));
        if !inside(letter) && !between {
            return at;
        }
    }
    text.len()
}

fn unexpected_character(text: &str, at: usize) -> ExprComplaint {
    let letter = text[at..].chars().next().unwrap_or_default();
    let span = at..at + letter.len_utf8();
    match letter {
        '"' | '\'' => ExprComplaint::new(at..text.len(), "the quote does not end"),
        // Signs that users copy from papers or know from programming languages.
        '≤' => ExprComplaint::new(span, "unknown sign `≤`").hint("write `<=`"),
        '≥' => ExprComplaint::new(span, "unknown sign `≥`").hint("write `>=`"),
        '!' => ExprComplaint::new(span, "unknown sign `!`").hint("write `not`, or `!=`"),
        '&' => ExprComplaint::new(span, "unknown sign `&`").hint("write `and`"),
        '|' => ExprComplaint::new(span, "unknown sign `|`").hint("write `or`"),
        _ => ExprComplaint::new(span, format!("unknown sign `{letter}`")),
    }
}
