//! JSON, as far as it is said to a policy: in a line, right, and without spaces.

/// A value of JSON; a mapping is a list of pairs.
#[derive(Clone, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Reads the value at the front of a text.
    pub fn read(from: &mut &str) -> Self {
        let first = from.as_bytes()[0];
        if first == b'-' || first.is_ascii_digit() {
            let (number, rest) = from.split_at(from.find([',', ']', '}']).unwrap_or(from.len()));
            *from = rest;
            return Self::Number(number.parse().expect("a number"));
        }
        *from = &from[1..];
        match first {
            b'{' => Self::Map(Self::all(from, '}', |from| (Self::key(from), Self::read(from)))),
            b'[' => Self::List(Self::all(from, ']', Self::read)),
            b'"' => Self::Text(Self::text(from)),
            word => {
                *from = &from[if word == b'f' { 4 } else { 3 }..];
                if word == b'n' { Self::Null } else { Self::Bool(word == b't') }
            }
        }
    }

    fn all<T>(from: &mut &str, end: char, one: impl Fn(&mut &str) -> T) -> Vec<T> {
        let mut all = Vec::new();
        while !from.starts_with(end) {
            all.push(one(from));
            *from = from.trim_start_matches(',');
        }
        *from = &from[1..];
        all
    }

    fn key(from: &mut &str) -> String {
        *from = &from[1..];
        let key = Self::text(from);
        *from = &from[1..];
        key
    }

    /// Reads a text, whose first quotation mark was read.
    fn text(from: &mut &str) -> String {
        let (mut text, mut rest) = (String::new(), from.chars());
        loop {
            match rest.next().expect("a text has an end") {
                '"' => break,
                '\\' => text.push(match rest.next().expect("something is escaped") {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'u' => {
                        let code = u32::from_str_radix(&rest.as_str()[..4], 16);
                        rest.nth(3);
                        code.ok().and_then(char::from_u32).unwrap_or('?')
                    }
                    other => other,
                }),
                other => text.push(other),
            }
        }
        *from = rest.as_str();
        text
    }

    /// Returns what stands under a key of a mapping; null, if nothing does.
    pub fn get(&self, key: &str) -> &Self {
        let Self::Map(pairs) = self else { return &Self::Null };
        pairs.iter().find(|(name, _)| name == key).map_or(&Self::Null, |(_, value)| value)
    }

    /// Returns the values of a list; none of anything else.
    pub fn list(&self) -> &[Self] {
        if let Self::List(values) = self { values } else { &[] }
    }

    /// Returns a number, or 0.
    pub fn number(&self) -> u64 {
        if let Self::Number(number) = self { *number as u64 } else { 0 }
    }

    /// Returns two numbers, of maps and of reduces.
    pub fn two(&self) -> [u64; 2] {
        [0, 1].map(|at| self.list().get(at).map_or(0, Self::number))
    }

    /// Returns a text, or an empty one.
    pub fn words(&self) -> String {
        if let Self::Text(text) = self { text.clone() } else { String::new() }
    }
}

/// Returns a text as JSON.
pub fn quoted(text: &str) -> String {
    let plain = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", plain.replace(char::is_control, " "))
}
