//! `mumakil show`: shows a key, scenario, policy, quantity or table by its name.
//!
//! If several of these share the name, the message lists a command for each. Texts are printed
//! unchanged, so that they can be saved; only tables are wrapped to the terminal.

use self::NameKind::{Key, Quantity, Scenario, Scheduler, Schema, Suite, Table};
use super::failure::Failure;
use super::lines::TerminalLines;
use super::table::{Align, table};
use super::{Program, terminal};
use mumakil_base::nearest::nearest;
use mumakil_base::worded;
use mumakil_external::protocol;
use mumakil_results::expect::{self, capital};
use mumakil_results::tables::{self, CellKind, ColumnInfo, TableInfo};
use mumakil_scenario::{self as scenario, Reference, Registry, STARTERS, Starter};
use mumakil_study as study;

/// The most suggestions for a name. There may be many: `w1` is an option of a dozen policies.
const FEW: usize = 3;

/// Show a key, a scenario, a policy, a quantity or a table
///
/// `reference` shows all keys of scenarios and studies. `schema` shows the JSON Schema of
/// scenarios, for editors; `schema study` shows that of studies, and `schema protocol` that of the
/// lines between Mumakil and an external policy: Mumakil's lines under `said`, the policy's answers
/// under `heard`.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "mumakil show [OPTIONS] [KIND] <NAME>",
    after_help = "\
Examples:
  mumakil show cluster.hdfs             a key: what it takes, its default, what it means
  mumakil show fair                     a policy, with its options
  mumakil show quickstart > mine.yaml   a scenario, to begin your own with
  mumakil show sojourn                  a quantity of metrics and expectations
  mumakil show jobs.csv                 a table of a run, with its columns
  mumakil show schema > scenario.schema.json
and as the first line of a scenario, for editors with the YAML language server:
  # yaml-language-server: $schema=scenario.schema.json"
)]
pub(super) struct ShowArguments {
    /// The name; if several things have it, put the kind before it: `scenario`, `suite`,
    /// `scheduler`, `quantity`, `table` or `key`
    #[arg(value_name = "NAME")]
    first: String,
    #[arg(value_name = "NAME", hide = true)]
    second: Option<String>,
}

worded! {
    /// The kinds of things that have names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum NameKind {
        Scenario = "scenario",
        Suite = "suite",
        Scheduler = "scheduler",
        Quantity = "quantity",
        Table = "table",
        Key = "key",
        Schema = "schema",
    }
}

impl NameKind {
    /// The kinds whose names may stand alone.
    const PLAIN: [Self; 6] = [Scenario, Suite, Scheduler, Quantity, Table, Key];

    fn of(word: &str) -> Result<Self, Failure> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or_else(|| {
            let known = Self::ALL.map(|kind| format!("`{}`", kind.word())).join(", ");
            Failure::input(format!("unknown kind `{word}`\n   = there are {known}"))
        })
    }
}

/// A text to print.
enum PrintedText {
    Text(String),
    Table(TerminalLines),
}

impl ShowArguments {
    /// Returns the arguments for a single name.
    pub(super) const fn of(name: String) -> Self {
        Self { first: name, second: None }
    }

    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        // The schema of studies includes the keys of scenarios.
        let names = AllNames { program, registry, keys: Reference::of(&study::schema(registry)) };
        let printed = match (&*self.first, &self.second) {
            // `show schema` is short for the schema of scenarios.
            ("schema", None) => names.one("scenario", &[Schema]),
            (name, None) => names.one(name, &NameKind::PLAIN),
            (kind, Some(name)) => names.one(name, &[NameKind::of(kind)?]),
        };
        match printed? {
            PrintedText::Text(text) => terminal::print_file(&text)?,
            PrintedText::Table(lines) => terminal::print(&lines)?,
        }
        Ok(())
    }
}

/// All names that can be shown.
struct AllNames<'a> {
    program: &'a Program,
    registry: &'a Registry,
    keys: Reference,
}

impl AllNames<'_> {
    /// Returns the text for a name, if exactly one thing of these kinds has it.
    fn one(&self, name: &str, kinds: &[NameKind]) -> Result<PrintedText, Failure> {
        let mut found: Vec<_> =
            kinds.iter().filter_map(|kind| Some((*kind, self.find(*kind, name)?))).collect();
        let words: Vec<&str> = found.iter().map(|(kind, _)| kind.word()).collect();
        match (&words[..], found.pop()) {
            ([_], Some((_, printed))) => Ok(printed),
            ([], _) => Err(self.unknown(name, kinds)),
            (words, _) => {
                let commands = words.iter().map(|kind| format!("`mumakil show {kind} {name}`"));
                let ways = commands.collect::<Vec<_>>().join(" or ");
                let both = words.join(" and a ");
                Err(Failure::input(format!("`{name}` is a {both}\n   = ask for {ways}")))
            }
        }
    }

    fn find(&self, kind: NameKind, name: &str) -> Option<PrintedText> {
        let part = |key: &str| self.keys.part(key).ok().map(|part| part.markdown());
        match kind {
            Scenario => {
                Starter::find(name).map(|starter| PrintedText::Text(starter.text.to_owned()))
            }
            Suite => {
                let suite = self.program.suites.iter().find(|suite| suite.name == name);
                suite.map(|suite| PrintedText::Text(suite.text.to_owned()))
            }
            // Ask the registry first: a key below `scheduler` need not be a policy.
            Scheduler => self
                .registry
                .get(name)
                .and_then(|_| part(&format!("scheduler.{name}")))
                .map(PrintedText::Text),
            Quantity => quantity(name).map(PrintedText::Text),
            Table => tables::all().iter().find(|table| table.file == name).map(columns),
            Key if name == "reference" => Some(PrintedText::Text(self.keys.markdown())),
            // For an axis, such as `sweep.cluster.nodes`, show the key of its field,
            // `cluster.nodes`.
            Key => part(name).or_else(|| part(name.strip_prefix("sweep.")?)).map(PrintedText::Text),
            Schema => {
                let schema = match name {
                    "scenario" => scenario::schema(self.registry),
                    "study" => study::schema(self.registry),
                    "suite" => self.program.suite_schema?(self.registry),
                    "protocol" => protocol::schema(),
                    _ => return None,
                };
                Some(PrintedText::Text(format!("{schema:#}\n")))
            }
        }
    }

    fn unknown(&self, name: &str, kinds: &[NameKind]) -> Failure {
        let near = kinds.iter().flat_map(|kind| self.like(*kind, name));
        let like: Vec<String> = near.take(FEW).map(|name| format!("`{name}`")).collect();
        let places = self.program.places(name).take(FEW).map(|(chapter, heading)| {
            format!("`mumakil help {}` has the word under \"{heading}\"", chapter.name)
        });
        let hint = match like.split_last() {
            Some((last, [])) => format!("did you mean {last}?"),
            Some((last, others)) => format!("did you mean {} or {last}?", others.join(", ")),
            None if kinds == [Key] => "`mumakil show reference` lists all keys".to_owned(),
            // No name is similar, but the word may occur in the guide.
            None => match places.collect::<Vec<_>>().join("\n   = ") {
                none if none.is_empty() => "`mumakil list` says what there is".to_owned(),
                places => places,
            },
        };
        let what = if let [kind] = kinds { kind.word() } else { "name" };
        Failure::input(format!("unknown {what} `{name}`\n   = {hint}"))
    }

    /// Returns the names of a kind that resemble an unknown name.
    fn like(&self, kind: NameKind, name: &str) -> Vec<String> {
        let near = match kind {
            Scenario => nearest(name, STARTERS.iter().map(|starter| starter.name)),
            Suite => nearest(name, self.program.suites.iter().map(|suite| suite.name)),
            Scheduler => nearest(name, self.registry.all_names()),
            Quantity => nearest(name, expect::quantities().map(|(name, ..)| name)),
            Schema => nearest(name, ["scenario", "study", "suite", "protocol"]),
            Table => {
                // Compare without `.csv`: otherwise all names would be similar.
                let stems = tables::all().into_iter().map(|table| stem(table.file));
                return Vec::from_iter(
                    nearest(stem(name), stems).map(|stem| format!("{stem}.csv")),
                );
            }
            Key => {
                let like = self.keys.part(name).err().unwrap_or_default();
                return like.into_iter().map(str::to_owned).collect();
            }
        };
        Vec::from_iter(near.map(str::to_owned))
    }
}

fn stem(file: &str) -> &str {
    file.trim_end_matches(".csv")
}

fn quantity(name: &str) -> Option<String> {
    let (name, of, about) = expect::quantities().find(|(known, ..)| *known == name)?;
    let tables = tables::all();
    let columns =
        tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let from = columns
        .filter(|(_, column)| column.quantity == Some(name))
        .map(|(table, column)| format!(", the column `{}` of `{}`", column.name, table.file));
    let from: String = from.collect();
    Some(format!("# {name}\n\n{}.\n\nA quantity: {of}{from}.\n", capital(about)))
}

/// Returns the text about a table, with a line for each column.
fn columns(of: &TableInfo) -> PrintedText {
    let mut lines = TerminalLines::default();
    lines.bold(of.file, "");
    of.about.lines().for_each(|line| lines.line(line));
    lines.line("");
    let mut rows = vec![["column", "holds", "meaning"].map(str::to_owned).to_vec()];
    rows.extend(
        of.columns
            .iter()
            .map(|column| vec![column.name.to_owned(), holds(column), meaning(column)]),
    );
    lines += table(&rows, &[Align::Left; 3]);
    lines.line("");
    lines.line("`mumakil help metrics` says what quantities and filters are.");
    PrintedText::Table(lines)
}

/// Returns the type of a column's values, with the unit if it has one.
fn holds(column: &ColumnInfo) -> String {
    let holds = match column.kind {
        CellKind::SlotTime => "slots × ms",
        CellKind::Whole | CellKind::Decimal if column.is_time() => "ms",
        CellKind::Whole | CellKind::Decimal => "number",
        CellKind::Flag => "true or false",
        CellKind::Text => return "text".to_owned(),
        CellKind::Words(_) => "word",
    };
    format!("{holds}{}", if column.may_be_empty { ", or empty" } else { "" })
}

/// Returns the meaning of a column, the setting that adds it, and its name in expectations.
fn meaning(column: &ColumnInfo) -> String {
    let mut text = column.about.to_owned();
    if let CellKind::Words(words) = column.kind {
        text = format!("{}: {}.", text.trim_end_matches('.'), words.join(", "));
    }
    text += &column.record.map(|key| format!(" With `record.{key}`.")).unwrap_or_default();
    text += &column.quantity.map(|name| format!(" Quantity `{name}`.")).unwrap_or_default();
    text + &column.key.map(|name| format!(" Filter `{name}`.")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chapter;

    /// Returns the printed text, or the error message.
    fn shown(name: &str, kinds: &[NameKind]) -> String {
        let chapter = Chapter::new("results", "# Results\nThe work of Carl.");
        let program = Program::new(crate::testing::registry(), vec![chapter], Vec::new());
        let registry = &program.registry;
        let keys = Reference::of(&study::schema(registry));
        let names = AllNames { program: &program, registry, keys };
        match names.one(name, kinds) {
            Ok(PrintedText::Text(text)) => text,
            Ok(PrintedText::Table(lines)) => lines.bare(),
            Err(failure) => failure.words(),
        }
    }

    #[test]
    fn a_name_that_two_things_have_is_not_guessed() {
        assert_eq!(
            shown("faults", &NameKind::PLAIN),
            "`faults` is a scenario and a key\n   = ask for `mumakil show scenario faults` or `mumakil show key faults`"
        );
        assert_eq!(shown("faults", &[Scenario]), Starter::find("faults").unwrap().text);
        assert!(shown("faults", &[Key]).starts_with("## `faults`"));
    }

    #[test]
    fn everything_that_is_listed_can_be_shown() {
        let registry = crate::testing::registry();
        let starters = STARTERS.iter().map(|starter| (Scenario, starter.name));
        let policies = registry.names().map(|name| (Scheduler, name));
        let quantities = expect::quantities().map(|(name, ..)| (Quantity, name));
        let tables = tables::all().into_iter().map(|table| (Table, table.file));
        for (kind, name) in starters.chain(policies).chain(quantities).chain(tables) {
            assert!(!shown(name, &[kind]).starts_with("unknown"), "{name}");
        }
    }

    #[test]
    fn a_column_says_its_unit_and_what_expectations_call_it() {
        let table = shown("jobs.csv", &NameKind::PLAIN);
        let row = |name: &str| {
            let row = table.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
            row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect::<Vec<_>>()
        };
        let meaning = "From its arrival to its end; empty for refused jobs. Quantity `sojourn`.";
        assert_eq!(row("sojourn_ms"), ["sojourn_ms", "ms, or empty", meaning]);
        let words =
            "How it ended: succeeded, failed, killed, refused, unfinished. Filter `outcome`.";
        assert_eq!(row("outcome"), ["outcome", "word", words]);
    }

    #[test]
    fn an_unknown_name_has_likely_ones_of_all_kinds() {
        for (name, like) in [
            ("fiar", "`fair`"),
            ("quickstrat", "`quickstart`"),
            ("sojurn", "`sojourn`"),
            ("tasks", "`tasks.csv` or `record.tasks`"),
            ("task_timeout", "`hadoop.task_timeout`"),
        ] {
            let hint = format!("unknown name `{name}`\n   = did you mean {like}?");
            assert_eq!(shown(name, &NameKind::PLAIN), hint);
        }
    }

    #[test]
    fn an_unknown_word_is_looked_up_in_the_guide() {
        let told = shown("hedging", &NameKind::PLAIN);
        assert!(told.ends_with("`mumakil list` says what there is"), "{told}");
        let told = shown("Carl", &NameKind::PLAIN);
        assert!(told.contains("= `mumakil help results` has the word under \""), "{told}");
    }
}
