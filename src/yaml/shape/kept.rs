//! Shapes, stored as text. The schemas of our own types do not change between two runs, and reading
//! a stored shape takes a hundredth of the time of making the schema.
//!
//! ```text
//! scenario { name cluster:@cluster later:-[@later] workload!:@workload}
//! cluster { preset* nodes hdfs:{ block placement:( random writer:-)}}
//! ```
//! Each line is a name and a shape. Inside a shape, `:` and a shape may follow each name.
//!
//! | written | means |
//! |---|---|
//! | `{ a b! c*}` | a struct: `b` must be there, `c` is the field that a bare value stands for |
//! | `{ a?{"b":true} b}` | `a` has an effect only under a condition |
//! | `{ a\| b:@b\| c=b}` | beside the fields `b` may be chosen; the preset `c` brings `b` |
//! | `( a b:@b)` | a choice; `(? a)` allows other names, too |
//! | `<@a>` | a map of free names |
//! | `-` | an unknown value |
//! | `-[@a]` | an unknown value, or a list whose entries have this shape |
//! | `@a` | the shape in the line `a`, read when it is first used |

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::{LateShape, MappingForm, SideChoice, TreeShape};

/// Returns the shape in the line of this name, which is read when the shape is first used.
pub fn kept(text: &'static str, name: String) -> LateShape {
    Arc::new(LazyLock::new(Box::new(move || {
        // Match the blank, too: the line `workload.mix` also begins with `workload`.
        let line = text.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(' '));
        LineReader { text, rest: line.expect("the shape is stored") }.shape()
    })))
}

/// Reads a line from left to right.
struct LineReader {
    text: &'static str,
    rest: &'static str,
}

/// A name in a struct or a choice.
struct KeptName {
    name: String,
    is_required: bool,
    names_all: bool,
    only_if: Option<Json>,
    shape: Option<Arc<TreeShape>>,
}

impl LineReader {
    fn shape(&mut self) -> TreeShape {
        let form = if self.takes("{") {
            self.fields()
        } else if self.takes("(") {
            let may_be_other = self.takes("?");
            let names = self.entries().into_iter().map(|entry| (entry.name, entry.shape)).collect();
            self.must(")");
            MappingForm::Choice { names, may_be_other }
        } else if self.takes("<") {
            let value = Arc::new(self.shape());
            self.must(">");
            MappingForm::Map(value)
        } else if self.takes("@") {
            // Read at its first use: a type may contain itself.
            MappingForm::Late(kept(self.text, self.name()))
        } else {
            self.must("-");
            MappingForm::Free
        };
        let items = self.takes("[").then(|| {
            let entry = Arc::new(self.shape());
            self.must("]");
            entry
        });
        TreeShape { form, items }
    }

    fn fields(&mut self) -> MappingForm {
        let mut entries = self.entries();
        let only_if = entries.iter_mut();
        let only_if = only_if.filter_map(|entry| Some((entry.name.clone(), entry.only_if.take()?)));
        let only_if = Box::new(only_if.collect());
        let of = |is_so: fn(&KeptName) -> bool| entries.iter().filter(move |entry| is_so(entry));
        let names = |entry: &KeptName| entry.name.clone();
        let required = of(|entry| entry.is_required).map(names).collect();
        let named_by = of(|entry| entry.names_all).map(names).next();
        let fields = entries.into_iter().map(|entry| (entry.name, entry.shape.unwrap_or_default()));
        let fields = fields.collect();
        let beside = self.takes("|").then(|| {
            let names = self.entries().into_iter();
            let names = names.map(|entry| (entry.name, entry.shape.unwrap_or_default())).collect();
            self.must("|");
            let mut brought = IndexMap::new();
            while self.takes(" ") {
                let name = self.name();
                self.must("=");
                brought.insert(name, self.name());
            }
            SideChoice { names, brought }
        });
        self.must("}");
        MappingForm::Struct { fields, only_if, required, named_by, beside }
    }

    fn entries(&mut self) -> Vec<KeptName> {
        let mut entries = Vec::new();
        while self.takes(" ") {
            let (name, names_all, is_required) = (self.name(), self.takes("*"), self.takes("!"));
            let only_if = self.takes("?").then(|| self.json());
            let shape = self.takes(":").then(|| Arc::new(self.shape()));
            entries.push(KeptName { name, is_required, names_all, only_if, shape });
        }
        entries
    }

    fn name(&mut self) -> String {
        let end = self.rest.find(|letter| " *!:=|{}()<>[]@?".contains(letter));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name.to_owned()
    }

    fn json(&mut self) -> Json {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter();
        let value = values.next().and_then(Result::ok).expect("a condition is JSON");
        self.rest = &self.rest[values.byte_offset()..];
        value
    }

    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn must(&mut self, sign: &str) {
        assert!(self.takes(sign), "`{sign}` is missing before `{}`", self.rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Writer;

    #[test]
    fn rows_read_are_rows_written() {
        const TEXT: &str = "\
all { a*!?{\"b\":[null,\"x\"]} b:( x y:{ z}) c?[{},{}]:<-[@late]> d:-[{ e}]| j:@late m:-| p=m}
late (? never after after-that before before-that soon:-)
";
        let mut written = Writer::default();
        for name in ["late", "all"] {
            written.keep(name, &kept(TEXT, name.to_owned()));
        }
        assert_eq!(written.text(), TEXT);
    }
}
