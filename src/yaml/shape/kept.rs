//! Shapes, stored as text. The schemas of our own types do not change between two runs, and reading
//! a stored shape takes a hundredth of the time of making the schema.
//!
//! Each line of the text is a name and a shape as JSON. Inside a shape, the name of a line stands for
//! the shape in that line, which is read when it is first used: a type may contain itself.

use std::mem;
use std::sync::{Arc, LazyLock};

use super::{LateShape, MappingForm, TreeShape};

/// Returns the shape in the line of this name, which is read when the shape is first used.
pub fn kept(text: &'static str, name: String) -> LateShape {
    Arc::new(LazyLock::new(Box::new(move || {
        // Match the blank, too: the line `workload.mix` also begins with `workload`.
        let line = text.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(' '));
        let json = line.expect("the shape is stored");
        let mut shape: TreeShape = serde_json::from_str(json).expect("a line has a shape as JSON");
        shape.look_up(text);
        shape
    })))
}

impl TreeShape {
    /// Replaces the names of lines by the shapes there.
    fn look_up(&mut self, text: &'static str) {
        let inner: Vec<&mut Arc<Self>> = match &mut self.form {
            MappingForm::Free | MappingForm::Late(_) => Vec::new(),
            MappingForm::Kept(name) => {
                self.form = MappingForm::Late(kept(text, mem::take(name)));
                Vec::new()
            }
            MappingForm::Struct { fields, beside, .. } => {
                let beside = beside.iter_mut().flat_map(|beside| beside.names.values_mut());
                fields.values_mut().chain(beside).collect()
            }
            MappingForm::Map(value) => vec![value],
            MappingForm::Choice { names, .. } => names.values_mut().flatten().collect(),
        };
        for shape in inner.into_iter().chain(&mut self.items) {
            Arc::make_mut(shape).look_up(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Writer;

    #[test]
    fn rows_read_are_rows_written() {
        const TEXT: &str = r#"all {"form":{"struct":{"fields":{"a":{},"b":{"form":{"choice":{"names":{"x":null,"y":{"form":{"kept":"late"}}}}}},"c":{"form":{"map":{"form":{"kept":"late"}}},"items":{"form":{"kept":"late"}}}},"only_if":{"a":{"b":[null,"x"]},"c":[{},{}]},"required":["a"],"named_by":"a","beside":{"names":{"j":{"form":{"kept":"late"}},"m":{}},"brought":{"p":"m"}}}}}
late {"form":{"choice":{"names":{"never":null,"after":null,"after-that":null,"before":null,"before-that":null,"soon":{},"sooner-than-that":{}},"may_be_other":true}}}
"#;
        let mut written = Writer::default();
        for name in ["late", "all"] {
            written.keep(name, &kept(TEXT, name.to_owned()));
        }
        assert_eq!(written.text(), TEXT);
    }
}
