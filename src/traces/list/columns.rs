//! The columns of a table of jobs: the field of each, and the unit of its numbers.
//!
//! ```text
//! name,submit,map_time_s        a heading is a field, or a field and the unit of bare numbers
//! job,arrived,duration          name=job,submit_ms=arrived,map_time_s=duration: a mapping
//! ```

use std::str::FromStr;

use super::file::JobFlaw;
use mumakil_base::nearest::nearest;
use mumakil_scenario::workload::JobEntry;

/// A column of a table that holds a field of jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableColumn {
    /// Its place among the columns.
    pub(super) place: usize,
    pub(super) field: String,
    /// The unit of bare numbers.
    pub(super) unit: Option<&'static str>,
}

/// The column of a table that holds a field: `submit_ms=arrived`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedColumn {
    field: String,
    column: String,
}

impl FromStr for MappedColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (field, column) =
            text.split_once('=').ok_or("write FIELD=COLUMN, such as submit_s=arrival")?;
        if field_of(field).is_none() {
            return Err(format!("no field `{field}`{}", suggestion(field)));
        }
        Ok(Self { field: field.to_owned(), column: column.to_owned() })
    }
}

/// The fields that are times, and those that are sizes.
const TIMES: [&str; 6] =
    ["submit", "every", "map_time", "shuffle_time", "sort_time", "reduce_time"];
const SIZES: [&str; 5] = ["input", "shuffle", "output", "map_memory", "reduce_memory"];

/// The endings of headings, with the unit that each stands for.
const TIME_UNITS: [(&str, &str); 5] =
    [("us", "us"), ("ms", "ms"), ("s", "s"), ("min", "min"), ("h", "h")];
const SIZE_UNITS: [(&str, &str); 9] = [
    ("b", "B"),
    ("bytes", "B"),
    ("kb", "kB"),
    ("mb", "MB"),
    ("gb", "GB"),
    ("tb", "TB"),
    ("kib", "KiB"),
    ("mib", "MiB"),
    ("gib", "GiB"),
];

/// Returns the field that a heading names, and the unit of its numbers.
fn field_of(heading: &str) -> Option<(&str, Option<&'static str>)> {
    if JobEntry::field_names().contains(&heading) {
        return Some((heading, None));
    }
    let (field, ending) = heading.rsplit_once('_')?;
    let units: &[(&str, &str)] = match field {
        field if TIMES.contains(&field) => &TIME_UNITS,
        field if SIZES.contains(&field) => &SIZE_UNITS,
        _ => return None,
    };
    let unit = units.iter().find(|(written, _)| ending.eq_ignore_ascii_case(written));
    unit.map(|(_, unit)| (field, Some(*unit)))
}

fn suggestion(heading: &str) -> String {
    // A unit says nothing about which field is meant.
    let (stem, ending) = heading.rsplit_once('_').unwrap_or((heading, ""));
    let is_unit = TIME_UNITS.iter().chain(&SIZE_UNITS).any(|(written, _)| *written == ending);
    let stem = if is_unit { stem } else { heading };
    match nearest(stem, JobEntry::field_names().iter().copied()) {
        Some(near) if is_unit => format!(" (did you mean `{near}_{ending}`?)"),
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    }
}

/// Returns the columns of a table by its header. With a mapping, other columns may stand beside the
/// mapped ones, and are passed over unless they are fields.
pub(super) fn columns(
    header: &[String],
    mapping: &[MappedColumn],
) -> Result<Vec<TableColumn>, JobFlaw> {
    let mut found: Vec<TableColumn> = Vec::new();
    let mut unknown = Vec::new();
    for MappedColumn { column, .. } in mapping {
        if !header.contains(column) {
            let all = header.iter().map(String::as_str);
            let near = nearest(column, all)
                .map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"));
            unknown.push(format!("`{column}`{near}"));
        }
    }
    if !unknown.is_empty() {
        return Err(JobFlaw::new("", format!("the table has no column {}", unknown.join(", "))));
    }
    for (place, heading) in header.iter().enumerate() {
        let mapped = mapping.iter().find(|mapped| mapped.column == *heading);
        let named = mapped.map_or(heading, |mapped| &mapped.field);
        let Some((field, unit)) = field_of(named) else {
            if mapping.is_empty() {
                unknown.push(format!("`{heading}`{}", suggestion(heading)));
            }
            continue;
        };
        // A mapped column goes before one that has the field's name by chance.
        let mut fields = mapping.iter().filter_map(|mapped| field_of(&mapped.field));
        if mapped.is_none() && fields.any(|(of, _)| of == field) {
            continue;
        }
        if found.iter().any(|column| column.field == field) {
            return Err(JobFlaw::new("", format!("two columns `{field}`")));
        }
        found.push(TableColumn { place, field: field.to_owned(), unit });
    }
    match unknown.len() {
        0 => {}
        1 => {
            return Err(JobFlaw::new("", format!("unknown column {}", unknown[0])).hint(FIELDS));
        }
        _ => {
            let all = unknown.join(", ");
            return Err(JobFlaw::new("", format!("unknown columns {all}")).hint(FIELDS));
        }
    }
    if mapping.is_empty() && !found.iter().any(|column| column.field == "name") {
        return Err(JobFlaw::new("", "no column `name`").hint("begin with a header"));
    }
    Ok(found)
}

const FIELDS: &str = "the columns are the fields of a job, such as `submit`, or `submit_ms` for bare \
    numbers; `mumakil trace convert --columns submit_ms=COLUMN,…` reads other tables";

#[cfg(test)]
mod tests {
    use super::*;

    /// A column: its place, its field and the unit of its numbers.
    type Told = (usize, String, Option<&'static str>);

    fn of(header: &[&str], mapping: &[&str]) -> Result<Vec<Told>, String> {
        let header: Vec<String> = header.iter().map(ToString::to_string).collect();
        let mapping: Vec<MappedColumn> = mapping.iter().map(|text| text.parse().unwrap()).collect();
        columns(&header, &mapping)
            .map(|found| found.into_iter().map(|one| (one.place, one.field, one.unit)).collect())
            .map_err(|flaw| flaw.message)
    }

    #[test]
    fn a_heading_is_a_field_with_the_unit_of_its_numbers() {
        let found = of(&["name", "submit_ms", "map_time_s", "input_MB"], &[]).unwrap();
        let column = |place, field: &str, unit| (place, field.to_owned(), unit);
        assert_eq!(
            found,
            [
                column(0, "name", None),
                column(1, "submit", Some("ms")),
                column(2, "map_time", Some("s")),
                column(3, "input", Some("MB")),
            ]
        );
        assert_eq!(
            of(&["name", "submit", "submit_s"], &[]),
            Err("two columns `submit`".to_owned())
        );
    }

    #[test]
    fn all_unknown_columns_are_named_at_once() {
        let told = of(&["name", "submitt", "map_tme_s", "colour"], &[]).unwrap_err();
        assert_eq!(
            told,
            "unknown columns `submitt` (did you mean `submit`?), `map_tme_s` (did you mean \
             `map_time_s`?), `colour`"
        );
    }

    #[test]
    fn mapped_columns_take_their_fields_and_others_are_passed_over() {
        let header = ["id", "arrived", "colour", "maps", "submit"];
        let found = of(&header, &["name=id", "submit_ms=arrived"]).unwrap();
        let fields: Vec<&str> = found.iter().map(|(_, field, _)| field.as_str()).collect();
        assert_eq!(fields, ["name", "submit", "maps"]);
        assert_eq!(found[1].0, 1, "the mapped column, not the one called `submit`");
        assert_eq!(
            of(&header, &["name=ids"]),
            Err("the table has no column `ids` (did you mean `id`?)".to_owned())
        );
        assert!("speed=x".parse::<MappedColumn>().is_err());
    }
}
