//! Parses text to syntax, by recursive descent: each level of precedence is a function.
//!
//! The levels from weak to strong: `or`, `and`, `not`, comparisons, `+ -`, `* /`, the sign, `^`.

use std::ops::Range;

use super::complaint::ExprComplaint;
use super::operation::{ComparisonSign, Operation, Operator};
use super::syntax::{Choice, ExprSetting, Literal, Spanned, Syntax, SyntaxNode};
use super::token::{PlacedToken, Token, tokens};
use super::unit::{Unit, with_unit};

/// The largest number of levels to which parentheses, signs and calls may be nested. Chosen: far
/// deeper than users write, but safe for the stack, where each level takes some ten calls.
const DEEPEST: usize = 50;

/// Parses a text that must be one expression.
///
/// # Errors
/// If the text is not an expression. Names are not checked here.
pub fn parse(text: &str) -> Result<SyntaxNode, ExprComplaint> {
    let mut parser = Parser { text, tokens: tokens(text)?, next: 0, depth: 0 };
    let node = parser.or()?;
    match parser.peek().token {
        Token::End => Ok(node),
        _ => Err(parser.unexpected("the expression could end here")),
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<PlacedToken>,
    next: usize,
    depth: usize,
}

type Parsed<T = SyntaxNode> = Result<T, ExprComplaint>;

impl<'a> Parser<'a> {
    fn peek(&self) -> &PlacedToken {
        // The last token is `End`; it is returned again and again.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    fn slice(&self, span: Range<usize>) -> &'a str {
        &self.text[span]
    }

    /// Returns the next token if it is a word.
    fn word(&self) -> Option<&'a str> {
        let PlacedToken { token, span } = self.peek();
        (*token == Token::Word).then(|| self.slice(span.clone()))
    }

    /// Takes the next token if it is this sign or word. Returns whether it took the token.
    fn take(&mut self, text: &'static str) -> bool {
        // Operators may be words (`and`, `within`) or signs.
        let comes = self.peek().token == Token::Sign(text) || self.word() == Some(text);
        self.next += usize::from(comes);
        comes
    }

    fn need(&mut self, text: &'static str) -> Parsed<()> {
        if self.take(text) { Ok(()) } else { Err(self.unexpected(&format!("expected `{text}`"))) }
    }

    fn unexpected(&self, expected: &str) -> ExprComplaint {
        let PlacedToken { token, span } = self.peek();
        let text = self.slice(span.clone());
        let message = match token {
            Token::End => format!("the expression ends too early: {expected}"),
            _ => format!("unexpected `{text}`: {expected}"),
        };
        let complaint = ExprComplaint::new(span.clone(), message);
        match text {
            "=" => complaint.hint("to compare, write `==`; a filter stands in brackets"),
            _ => complaint,
        }
    }

    /// Returns the end of the last token taken, in bytes.
    fn end(&self) -> usize {
        self.next.checked_sub(1).map_or(0, |last| self.tokens[last].span.end)
    }

    fn since(&self, start: usize, item: Syntax) -> SyntaxNode {
        Spanned { span: start..self.end(), item }
    }

    /// Parses a part that may be nested, and limits the depth.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return Err(self.unexpected("the expression is nested too deeply"));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn or(&mut self) -> Parsed {
        self.chain(&[Operator::Or], Self::and)
    }

    fn and(&mut self) -> Parsed {
        self.chain(&[Operator::And], Self::not)
    }

    fn not(&mut self) -> Parsed {
        let start = self.peek().span.start;
        if !self.take("not") {
            return self.comparison();
        }
        let of = self.deeper(Self::not)?;
        Ok(self.since(start, Syntax::Operation(Operation::Not, vec![of])))
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.sum()?;
        if self.take("within") {
            return self.within(first);
        }
        let start = first.span.start;
        let (mut signs, mut rest) = (Vec::new(), Vec::new());
        while let Some(sign) = ComparisonSign::ALL.into_iter().find(|sign| self.take(sign.word())) {
            signs.push(sign);
            rest.push(self.sum()?);
        }
        if signs.is_empty() {
            return Ok(first);
        }
        let parts = std::iter::once(first).chain(rest).collect();
        Ok(self.since(start, Syntax::Operation(Operation::Compare(signs), parts)))
    }

    fn within(&mut self, left: SyntaxNode) -> Parsed {
        let start = left.span.start;
        let at = self.peek().span.start;
        let expected = "expected a band such as `15 %`, `10 points` or `5s`";
        let literal = self.literal()?.ok_or_else(|| self.unexpected(expected))?;
        let band = Spanned { span: at..self.end(), item: literal };
        self.need("of")?;
        let right = self.sum()?;
        Ok(self.since(start, Syntax::Operation(Operation::Within(band), vec![left, right])))
    }

    fn sum(&mut self) -> Parsed {
        self.chain(&[Operator::Plus, Operator::Minus], Self::product)
    }

    fn product(&mut self) -> Parsed {
        self.chain(&[Operator::Times, Operator::Over], Self::signed)
    }

    /// Parses operands joined by operators of one precedence level, associating from the left.
    fn chain(&mut self, operators: &[Operator], operand: fn(&mut Self) -> Parsed) -> Parsed {
        let mut node = operand(self)?;
        let start = node.span.start;
        while let Some(operator) = operators.iter().find(|operator| self.take(operator.word())) {
            let right = operand(self)?;
            let operation = Operation::Binary(*operator);
            node = self.since(start, Syntax::Operation(operation, vec![node, right]));
        }
        Ok(node)
    }

    fn signed(&mut self) -> Parsed {
        let start = self.peek().span.start;
        if !self.take("-") {
            return self.power();
        }
        let of = self.deeper(Self::signed)?;
        Ok(self.since(start, Syntax::Operation(Operation::Negate, vec![of])))
    }

    fn power(&mut self) -> Parsed {
        let base = self.atom()?;
        if !self.take("^") {
            return Ok(base);
        }
        let start = base.span.start;
        // The exponent associates from the right and may have a sign: `2 ^ -3 ^ 2` is `2 ^ (-(3 ^
        // 2))`.
        let exponent = self.deeper(Self::signed)?;
        let power = Operation::Binary(Operator::Power);
        Ok(self.since(start, Syntax::Operation(power, vec![base, exponent])))
    }

    fn atom(&mut self) -> Parsed {
        let start = self.peek().span.start;
        if self.take("(") {
            let node = self.deeper(Self::or)?;
            self.need(")")?;
            return Ok(Spanned { span: start..self.end(), ..node });
        }
        if let Some(literal) = self.literal()? {
            return Ok(self.since(start, Syntax::Literal(literal)));
        }
        match self.word() {
            Some(word) if !["or", "and", "not", "within", "of"].contains(&word) => {
                self.deeper(|parser| parser.named(word))
            }
            _ => Err(self.unexpected("expected a number, a quantity or a call")),
        }
    }

    /// Parses an expression that begins with a name.
    fn named(&mut self, word: &str) -> Parsed {
        let span = self.peek().span.clone();
        let start = span.start;
        self.next += 1;
        if self.take("(") {
            let name = Spanned { span, item: word.to_owned() };
            let (arguments, settings) = self.arguments()?;
            return Ok(self.since(start, Syntax::Call { name, arguments, settings }));
        }
        let mut filters = Vec::new();
        if self.take("[") {
            self.list("]", |parser| {
                filters.push(parser.setting()?);
                Ok(())
            })?;
        }
        Ok(self.since(start, Syntax::Name { name: word.to_owned(), filters }))
    }

    /// Parses items that are separated by commas, up to the closing sign.
    fn list(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        while !self.take(close) {
            item(self)?;
            if !self.take(",") && self.peek().token != Token::Sign(close) {
                return Err(self.unexpected(&format!("expected `,` or `{close}`")));
            }
        }
        Ok(())
    }

    fn arguments(&mut self) -> Parsed<(Vec<SyntaxNode>, Vec<ExprSetting>)> {
        let (mut arguments, mut settings) = (Vec::new(), Vec::new());
        self.list(")", |parser| {
            let first = parser.next;
            let named = parser.key().is_some() && parser.peek().token == Token::Sign("=");
            parser.next = first;
            if named {
                settings.push(parser.setting()?);
            } else if settings.is_empty() {
                arguments.push(parser.or()?);
            } else {
                return Err(parser.unexpected("what has no name comes before what has one"));
            }
            Ok(())
        })?;
        Ok((arguments, settings))
    }

    fn setting(&mut self) -> Parsed<ExprSetting> {
        let start = self.peek().span.start;
        let Some(item) = self.key() else {
            return Err(self.unexpected("expected a filter such as `class=small`"));
        };
        let span = start..self.end();
        self.need("=")?;
        let value = self.choice(item == "by")?;
        Ok(ExprSetting { key: Spanned { span, item }, value })
    }

    /// Takes a key. Names of fields may have dashes, such as `log-normal`.
    fn key(&mut self) -> Option<String> {
        self.word()?;
        self.joined()
    }

    /// Parses the value of a key. Here `hfsp-wait` without blanks is a word, not a difference.
    fn choice(&mut self, by: bool) -> Parsed<Spanned<Choice>> {
        let (start, first) = (self.peek().span.start, self.next);
        let at = |parser: &Self, item| Ok(Spanned { span: start..parser.end(), item });
        if self.take("[") {
            let items = self.choices()?;
            return at(self, Choice::List(items));
        }
        if let Some(choice) = self.quoted() {
            return at(self, choice);
        }
        if let Some(range) = self.range()? {
            return at(self, range);
        }
        self.next = first;
        if let Some(word) = self.joined() {
            if by && self.take("[") {
                let items = self.choices()?;
                return at(self, Choice::Through(word, items));
            }
            if self.closes() {
                return at(self, Choice::Word(word));
            }
        }
        self.next = first;
        let node = self.deeper(Self::or)?;
        at(self, Choice::Computed(node.into()))
    }

    fn choices(&mut self) -> Parsed<Vec<Spanned<Choice>>> {
        self.deeper(|parser| {
            let mut items = Vec::new();
            parser.list("]", |parser| {
                items.push(parser.choice(false)?);
                Ok(())
            })?;
            Ok(items)
        })
    }

    fn quoted(&mut self) -> Option<Choice> {
        let PlacedToken { token, span } = self.peek();
        let inside = span.start + 1..span.end.max(1) - 1;
        let word = (*token == Token::Quoted).then(|| self.slice(inside).to_owned())?;
        self.next += 1;
        Some(Choice::Word(word))
    }

    /// Parses a number or a range; `None` if the setting continues after the number.
    fn range(&mut self) -> Parsed<Option<Choice>> {
        let starts = matches!(self.peek().token, Token::Number | Token::Sign(".."));
        if !starts {
            return Ok(None);
        }
        // `4xlarge` is a word, not a number with an unknown unit.
        let Ok(from) = self.literal() else { return Ok(None) };
        let choice = match from {
            from if self.take("..") => Some(Choice::Range(from, self.literal()?)),
            from => from.map(Choice::Number),
        };
        // `1 + n` also begins with a number, but is an expression.
        Ok(choice.filter(|_| self.closes()))
    }

    /// Takes words, numbers and dashes without blanks between them as one word.
    fn joined(&mut self) -> Option<String> {
        let start = self.peek().span.start;
        let mut end = start;
        while let PlacedToken { token: Token::Word | Token::Number | Token::Sign("-"), span } =
            self.peek()
            && span.start == end
        {
            end = span.end;
            self.next += 1;
        }
        let word = self.slice(start..end);
        // A text that begins or ends with a dash is arithmetic, such as `-x`.
        let fits = !word.starts_with('-') && !word.ends_with('-') && !word.is_empty();
        fits.then(|| word.to_owned())
    }

    /// Returns whether a setting can end before the next token.
    fn closes(&self) -> bool {
        matches!(self.peek().token, Token::Sign("," | ")" | "]") | Token::End)
    }

    /// Parses a number with its unit, if the next token is a number: `3`, `15 %`, `0.5 points`, `1h
    /// 30min`.
    fn literal(&mut self) -> Parsed<Option<Literal>> {
        let PlacedToken { token: Token::Number, span } = self.peek().clone() else {
            return Ok(None);
        };
        let digits = self.slice(span.clone());
        let Ok(number) = digits.parse::<f64>() else {
            return Err(ExprComplaint::new(span, format!("`{digits}` is not a number")));
        };
        self.next += 1;
        let (value, unit) = if self.take("%") || self.take("points") || self.take("point") {
            (number / 100.0, Unit::SHARE)
        } else {
            self.measured(span.clone(), number)?
        };
        let text = self.slice(span.start..self.end()).to_owned();
        Ok(Some(Literal { value, unit, percent: text.ends_with('%'), text }))
    }

    /// Takes the unit behind a number, and further parts of a time such as `1h 30min`.
    fn measured(&mut self, span: Range<usize>, number: f64) -> Parsed<(f64, Unit)> {
        let whole = |parser: &Self, end| with_unit(parser.slice(span.start..end));
        let mut measured = None;
        while self.peek().token == Token::Word {
            let PlacedToken { span: unit, .. } = self.peek().clone();
            let Some(found) = whole(self, unit.end) else { break };
            self.next += 1;
            measured = Some(found);
            let next = self.tokens.get(self.next + 1).map(|next| next.span.end);
            let another = self.peek().token == Token::Number;
            // Only times have several parts: `1h 30min`.
            let Some(end) = next.filter(|_| another && found.1 == Unit::TIME) else { break };
            if whole(self, end).is_none() {
                break;
            }
            self.next += 1;
        }
        match (measured, self.peek()) {
            (Some(measured), _) => Ok(measured),
            // A word right behind the digits must be a unit; after a blank it may be `of` or `and`.
            (None, next) if next.token == Token::Word && next.span.start == span.end => {
                let word = self.slice(next.span.clone());
                let units = ["us", "ms", "s", "min", "h", "d", "B", "KiB", "MiB", "GiB", "points"];
                let complaint =
                    ExprComplaint::new(next.span.clone(), format!("unknown unit `{word}`"));
                Err(complaint.nearest(word, units))
            }
            (None, _) => Ok((number, Unit::PLAIN)),
        }
    }
}
