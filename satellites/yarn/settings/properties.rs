//! Hadoop's properties: names with values, from its XML or from a scenario.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use mumakil_base::nearest::nearest;
use mumakil_base::units::SimSpan;

/// Properties by name. They note the names that are looked for: no other has an effect.
#[derive(Debug, Default)]
pub(crate) struct HadoopProperties {
    values: BTreeMap<String, String>,
    known: RefCell<BTreeSet<String>>,
}

impl HadoopProperties {
    pub(crate) fn new(values: BTreeMap<String, String>) -> Self {
        Self { values, known: RefCell::default() }
    }

    /// Reads a file; the last value of a name counts.
    pub(crate) fn parse(text: &str) -> Result<BTreeMap<String, String>, String> {
        let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
        let mut values = BTreeMap::new();
        for property in document.root_element().children().filter(|it| it.has_tag_name("property"))
        {
            let Some(name) = text_in(property, "name") else {
                let line = document.text_pos_at(property.range().start).row;
                return Err(format!("line {line}: a property without a name"));
            };
            values.insert(name, text_in(property, "value").unwrap_or_default());
        }
        Ok(values)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.known.borrow_mut().insert(name.to_owned());
        self.values.get(name).map(|text| text.trim())
    }

    pub(crate) fn get<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        self.text(name).map_or(Ok(default), |text| {
            text.parse().map_err(|_| format!("`{name}`: `{text}` is not a number that fits here"))
        })
    }

    /// Returns the time between two rounds of something.
    pub(crate) fn interval(&self, name: &str, default_ms: u32) -> Result<SimSpan, String> {
        match self.get(name, default_ms)? {
            0 => Err(format!("`{name}`: at 0 ms time would stand still")),
            ms => Ok(SimSpan::from_millis(ms.into())),
        }
    }

    pub(crate) fn is_on(&self, name: &str, default: bool) -> bool {
        match self.text(name) {
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            _ => default,
        }
    }

    /// Returns the names that nobody has looked for, each with the most alike that somebody has.
    pub(crate) fn idle(&self) -> Vec<(String, Option<String>)> {
        let known = self.known.borrow();
        let idle = self.values.keys().filter(|name| !known.contains(*name));
        let with_likely = idle.map(|name| {
            let likely = nearest(name, known.iter().map(String::as_str));
            (name.clone(), likely.map(str::to_owned))
        });
        with_likely.collect()
    }
}

fn text_in(property: roxmltree::Node<'_, '_>, tag: &str) -> Option<String> {
    let child = property.children().find(|child| child.has_tag_name(tag))?;
    Some(child.text()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_name_counts_and_names_that_nobody_looks_for_are_idle() {
        let text = "<configuration>\
            <property><name>a</name><value>1</value></property>\
            <property><name>number</name><value>1</value></property>\
            <property><name>a</name><value> 2 </value></property></configuration>";
        let properties = HadoopProperties::new(HadoopProperties::parse(text).unwrap());
        assert_eq!(properties.get("a", 0), Ok(2));
        assert_eq!(properties.get("numbers", 7), Ok(7));
        assert!(properties.get::<bool>("a", true).is_err());
        assert_eq!(properties.idle(), [("number".to_owned(), Some("numbers".to_owned()))]);
    }

    #[test]
    fn a_property_without_a_name_is_refused_with_its_line() {
        let text = "<configuration>\n<property><value>1</value></property></configuration>";
        assert!(HadoopProperties::parse(text).unwrap_err().starts_with("line 2"));
    }
}
