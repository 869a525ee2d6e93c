//! Builds shapes, writes the text in which shapes are stored, and makes random layers that fit a
//! shape.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_yaml::{Mapping, Value};

use super::shape::{LateShape, MappingForm, SideChoice, TreeShape};

impl TreeShape {
    /// Returns a random mapping of this shape; with fewer bytes in `luck` it is smaller.
    pub fn some_mapping(&self, luck: &mut impl Iterator<Item = u8>) -> Value {
        let mut draw = |of: usize| usize::from(luck.next().unwrap_or(0)) % of.max(1);
        let keys: Vec<String> = match &self.form {
            MappingForm::Struct { .. } | MappingForm::Choice { .. } => {
                self.names().into_iter().map(str::to_owned).collect()
            }
            _ => ["a", "b", "c"].map(str::to_owned).to_vec(),
        };
        // Few keys, so that two layers often have the same ones.
        let most = if self.is_choice() { 1 } else { 1 + draw(4) };
        let mut chosen: Vec<String> =
            (0..most).map(|_| keys[draw(7) * keys.len() / 7].clone()).collect();
        // Choosing twice beside the fields would be a mistake.
        let first = chosen.iter().find(|key| self.is_beside(&key.as_str().into())).cloned();
        chosen.retain(|key| Some(key) == first.as_ref() || !self.is_beside(&key.as_str().into()));
        let entry = |key: String| {
            let value = match &self.form {
                MappingForm::Struct { named_by: Some(name), beside: Some(beside), .. }
                    if *name == key =>
                {
                    let place = usize::from(luck.next().unwrap_or(0)) % (beside.brought.len() + 1);
                    beside
                        .brought
                        .get_index(place)
                        .map_or(Value::Null, |(name, _)| name.as_str().into())
                }
                _ => self.key(&key).some(luck),
            };
            (Value::from(key), value)
        };
        Mapping::from_iter(chosen.into_iter().map(entry)).into()
    }

    /// Returns a random value of this shape.
    fn some(&self, luck: &mut impl Iterator<Item = u8>) -> Value {
        match luck.next().unwrap_or(0) % 8 {
            0 => Value::Null,
            1 => 7.into(),
            2 => vec![Value::from(1)].into(),
            3 => match (&self.form, self.names().last()) {
                (MappingForm::Choice { .. }, Some(name)) => (*name).into(),
                _ => "x".into(),
            },
            _ => self.some_mapping(luck),
        }
    }

    /// Returns the shape of a choice of these names, or of unknown names with unknown options.
    pub fn open_choice(names: impl IntoIterator<Item = (String, LateShape)>) -> Self {
        let names = names.into_iter().map(|(name, options)| (name, Some(Self::late(options))));
        Self {
            form: MappingForm::Choice { names: names.collect(), may_be_other: true },
            items: None,
        }
    }

    fn late(shape: LateShape) -> Arc<Self> {
        Arc::new(Self { form: MappingForm::Late(shape), items: None })
    }

    /// Changes the shape of a field.
    pub fn change(&mut self, field: &str, change: impl FnOnce(&mut Self)) {
        let MappingForm::Struct { fields, .. } = &mut self.form else {
            panic!("only a struct has a field `{field}` to change")
        };
        change(Arc::make_mut(fields.entry(field.to_owned()).or_default()));
    }

    /// Makes a bare value stand for a mapping with this field, which implies all the other fields.
    pub fn name_by(&mut self, field: &str) {
        if let MappingForm::Struct { fields, required, named_by, .. } = &mut self.form {
            if !fields.contains_key(field) {
                fields.shift_insert(0, field.to_owned(), Arc::default());
            }
            required.clear();
            *named_by = Some(field.to_owned());
        }
    }

    /// Puts a choice beside the fields; some names of the struct imply a choice.
    pub fn choose_beside(
        &mut self,
        names: IndexMap<String, LateShape>,
        brought: IndexMap<String, String>,
    ) {
        let names = names.into_iter().map(|(name, options)| (name, Self::late(options))).collect();
        let MappingForm::Struct { beside, .. } = &mut self.form else {
            panic!("only a struct has fields beside a choice")
        };
        *beside = Some(SideChoice { names, brought });
    }
}

/// A shape whose JSON is longer than this gets a line of its own.
const LONGEST_INLINE: usize = 120;

/// Writes the text that `kept` reads.
#[derive(Default)]
pub struct Writer {
    /// The lines by their names: a shape that occurs in several places is written once.
    lines: BTreeMap<String, String>,
}

impl Writer {
    /// Adds a shape under a name.
    pub fn keep(&mut self, name: &str, shape: &TreeShape) {
        let text = json(&self.cut(name.rsplit('.').next().unwrap(), shape));
        assert_eq!(self.lines.insert(name.to_owned(), text), None, "{name} stands for another");
    }

    /// Returns the lines.
    pub fn text(&self) -> String {
        self.lines.iter().map(|(name, text)| format!("{name} {text}\n")).collect()
    }

    /// Returns the shape of a key; adds a line if its text is long, and returns the line's name.
    fn inline(&mut self, key: &str, shape: &TreeShape) -> Arc<TreeShape> {
        let shape = self.cut(key, shape);
        let text = json(&shape);
        if text.len() <= LONGEST_INLINE {
            return Arc::new(shape);
        }
        let known = self.lines.iter().find(|(_, line)| **line == text);
        let name = known.map(|(name, _)| name.clone()).unwrap_or_else(|| {
            let mut names = iter::once(key.to_owned()).chain((2..).map(|n| format!("{key}-{n}")));
            let name = names.find(|name| !self.lines.contains_key(name)).unwrap();
            self.lines.insert(name.clone(), text);
            name
        });
        Arc::new(TreeShape { form: MappingForm::Kept(name), items: None })
    }

    /// Returns a shape in which the names of lines stand for long shapes.
    fn cut(&mut self, key: &str, shape: &TreeShape) -> TreeShape {
        if let MappingForm::Late(late) = &shape.form {
            return self.cut(key, late);
        }
        let mut shape = shape.clone();
        match &mut shape.form {
            MappingForm::Free | MappingForm::Late(_) | MappingForm::Kept(_) => {}
            MappingForm::Map(value) => *value = self.inline(key, value),
            MappingForm::Choice { names, .. } => {
                for (name, shape) in names {
                    *shape = shape.as_ref().map(|shape| self.inline(name, shape));
                }
            }
            MappingForm::Struct { fields, beside, .. } => {
                let beside = beside.iter_mut().flat_map(|beside| &mut beside.names);
                for (name, shape) in fields.iter_mut().chain(beside) {
                    *shape = self.inline(name, shape);
                }
            }
        }
        shape.items = shape.items.map(|items| self.inline(key, &items));
        shape
    }
}

fn json(shape: &TreeShape) -> String {
    serde_json::to_string(shape).expect("memory can be written")
}
