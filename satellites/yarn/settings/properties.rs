//! Hadoop's XML of properties: names with values.

use std::collections::BTreeMap;
use std::str::FromStr;

/// The properties of a file; the last value of a name counts.
#[derive(Debug, Default)]
pub(crate) struct HadoopProperties(pub(crate) BTreeMap<String, String>);

impl HadoopProperties {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
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
        Ok(Self(values))
    }

    /// Returns the properties whose names begin with a prefix, without it.
    pub(super) fn below(&self, prefix: &str) -> Self {
        let below = self.0.iter().filter_map(|(name, value)| {
            Some((name.strip_prefix(prefix)?.to_owned(), value.clone()))
        });
        Self(below.collect())
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(super) fn get<T: FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        self.text(name).map_or(Ok(default), |text| {
            text.parse().map_err(|_| format!("`{name}`: `{text}` is not a number that fits here"))
        })
    }

    pub(super) fn is_on(&self, name: &str, default: bool) -> bool {
        match self.text(name) {
            Some(text) if text.eq_ignore_ascii_case("true") => true,
            Some(text) if text.eq_ignore_ascii_case("false") => false,
            _ => default,
        }
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
    fn the_last_value_of_a_name_counts() {
        let text = "<configuration>\
            <property><name>a</name><value>1</value></property>\
            <property><name>a</name><value> 2 </value></property></configuration>";
        let properties = HadoopProperties::parse(text).unwrap();
        assert_eq!(properties.get("a", 0), Ok(2));
        assert_eq!(properties.get("b", 7), Ok(7));
        assert!(properties.get::<bool>("a", true).is_err());
    }

    #[test]
    fn a_property_without_a_name_is_refused_with_its_line() {
        let text = "<configuration>\n<property><value>1</value></property></configuration>";
        assert!(HadoopProperties::parse(text).unwrap_err().starts_with("line 2"));
    }
}
