//! `mumakil show`: shows a key, scenario, policy and so on by its name, and looks up other words.
//!
//! Texts are printed unchanged, so that they can be saved; only tables are wrapped to the terminal.

use self::NameKind::{Key, Preset, Quantity, Scenario, Scheduler, Schema, Suite, Table};
use super::example_files::example_file;
use super::failure::Failure;
use super::lines::{BOLD, TerminalLines};
use super::search::{Passage, SearchAnswer, paragraphs, search};
use super::table::{Align, table};
use super::{Program, terminal};
use mumakil_base::nearest::nearest;
use mumakil_base::worded;
use mumakil_external::protocol;
use mumakil_results::expect::{self, capital};
use mumakil_results::tables::{self, CellKind, ColumnInfo, TableInfo};
use mumakil_scenario::{self as scenario, Reference, Starter, presets};
use mumakil_study as study;

/// The most lines of a key that are shown without an outline: they fit on a screen.
const SCREEN: usize = 30;
/// The most passages, lines of a passage, and commands for further ones.
const SHOWN: usize = 3;
const MOST_LINES: usize = 12;
const MOST_MORE: usize = 4;

/// Show a key, a scenario, a policy or a table, or look up a word
///
/// Case, blanks and hyphens do not matter: `Slow Start` is `hadoop.slow_start`. If several names or
/// none have the word, the best three paragraphs about it are shown.
///
/// `reference` shows all keys of scenarios and studies. `schema` shows the JSON Schema of
/// scenarios, for editors; `schema study` shows that of studies, and `schema protocol` that of the
/// lines between Mumakil and an external policy: Mumakil's lines under `said`, the policy's answers
/// under `heard`.
#[derive(Debug, Default, clap::Args)]
#[command(
    override_usage = "mumakil show [OPTIONS] [KIND] <NAME>",
    after_help = "\
Examples:
  mumakil show cluster.hdfs             a key: what it takes, its default, what it means
  mumakil show workload.mix --all       a key with all keys inside it
  mumakil show fair                     a policy, with its options
  mumakil show quickstart > mine.yaml   a scenario, to begin your own with
  mumakil show ec2-100                  a preset
  mumakil show sojourn                  a quantity of metrics and expectations
  mumakil show jobs.csv                 a table of a run, with its columns
  mumakil show delay scheduling         what has another name here, or several
  mumakil show history.log > history.log   a file to try `predict` with; so morning.tsv, notebook.ipynb, search.py
  mumakil show schema > scenario.schema.json
and as the first line of a scenario, for editors with the YAML language server:
  # yaml-language-server: $schema=scenario.schema.json"
)]
pub(super) struct ShowArguments {
    /// The name; if several things have it, put the kind before it: `scenario`, `preset`, `suite`,
    /// `scheduler`, `quantity`, `table` or `key`
    #[arg(value_name = "NAME", required = true)]
    words: Vec<String>,
    /// Show all keys inside a key, or all options of a policy, not just an outline
    #[arg(long)]
    all: bool,
}

worded! {
    /// The kinds of things that have names.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum NameKind {
        Key = "key",
        Scheduler = "scheduler",
        Quantity = "quantity",
        Table = "table",
        Preset = "preset",
        Scenario = "scenario",
        Suite = "suite",
        Schema = "schema",
    }
}

impl NameKind {
    /// The kinds whose names may stand alone.
    pub(super) const PLAIN: [Self; 7] = [Key, Scheduler, Quantity, Table, Preset, Scenario, Suite];
}

/// The names of schemas.
const SCHEMAS: [&str; 4] = ["scenario", "study", "suite", "protocol"];

/// A text to print.
enum PrintedText {
    Text(String),
    Table(TerminalLines),
}

impl ShowArguments {
    /// Returns the arguments for a name, or for a word that is looked up.
    pub(super) fn of(words: Vec<String>) -> Self {
        Self { words, ..Self::default() }
    }

    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let names = AllNames::of(program, self.all);
        let kind = NameKind::ALL.into_iter().find(|kind| kind.word() == self.words[0]);
        match (kind.filter(|_| 1 < self.words.len()), self.words.join(" ")) {
            (Some(kind), _) => names.print(&self.words[1..].join(" "), &[kind]),
            // `show schema` is short for the schema of scenarios.
            (None, name) if name == "schema" => names.print("scenario", &[Schema]),
            (None, name) => names.print(&name, &NameKind::PLAIN),
        }
    }
}

/// All names that can be shown.
pub(super) struct AllNames<'a> {
    program: &'a Program,
    keys: Reference,
    /// Whether keys are shown with all keys inside them.
    all: bool,
}

impl<'a> AllNames<'a> {
    pub(super) fn of(program: &'a Program, all: bool) -> Self {
        // The schema of studies includes the keys of scenarios.
        Self { program, keys: Reference::of(&study::schema(&program.registry)), all }
    }

    /// Prints the thing of these kinds that has the name, or the answers to it as a word.
    fn print(&self, name: &str, kinds: &[NameKind]) -> Result<(), Failure> {
        let mut found: Vec<PrintedText> =
            kinds.iter().filter_map(|kind| self.find(*kind, name)).collect();
        match (found.pop(), found.is_empty()) {
            (Some(PrintedText::Text(text)), true) => Ok(terminal::print_file(&text)?),
            (Some(PrintedText::Table(lines)), true) => Ok(terminal::print(&lines)?),
            _ => self.answer(name, kinds),
        }
    }

    /// Shows the one thing that a word means, or the best passages about it.
    fn answer(&self, word: &str, kinds: &[NameKind]) -> Result<(), Failure> {
        let named = self.named(kinds);
        let chapters = self.program.chapters.iter().filter(|_| 1 < kinds.len());
        let paragraphs = chapters.flat_map(|it| paragraphs(it.name, it.text));
        let found = search(word, named.iter().cloned().chain(paragraphs));
        let is_one = found.get(1).is_none_or(|(second, _)| {
            found[0].0 < *second && !matches!(second, SearchAnswer::Meant(_))
        });
        match found.first() {
            Some((
                SearchAnswer::Name | SearchAnswer::Meant(_) | SearchAnswer::NameEnd(_),
                best,
            )) if is_one => {
                let more = if self.all && best.command.starts_with("show") { " --all" } else { "" };
                let words = format!("{}{more}", best.command);
                self.program.call(&words.split(' ').collect::<Vec<_>>())
            }
            Some(_) if 1 < kinds.len() => Ok(terminal::print(&lines_of(&found))?),
            _ => {
                let hint = match nearest(word, named.iter().map(|passage| &*passage.name)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if kinds == [Key] => "`mumakil show reference` lists all keys".to_owned(),
                    None => "`mumakil list` says what there is".to_owned(),
                };
                let what = if let [kind] = kinds { kind.word() } else { "name" };
                Err(Failure::input(format!("unknown {what} `{word}`\n   = {hint}")))
            }
        }
    }

    /// Returns all names of these kinds; with several kinds also the commands and the chapters.
    pub(super) fn named(&self, kinds: &[NameKind]) -> Vec<Passage> {
        let mut all = Vec::new();
        for kind in kinds {
            let mut add = |name: &str, text: &str| {
                all.push(Passage::named(name, format!("show {} {name}", kind.word()), text));
            };
            match kind {
                Key => self.keys.keys().for_each(|(path, about)| add(path, &about)),
                Scheduler => {
                    let registry = &self.program.registry;
                    let policies = registry.all_names().filter_map(|name| registry.get(name));
                    policies.for_each(|policy| add(policy.name(), policy.about()));
                }
                Quantity => expect::quantities().for_each(|(name, _, about)| add(name, about)),
                Table => tables::all().iter().for_each(|table| add(table.file, table.about)),
                Schema => SCHEMAS.iter().for_each(|name| add(name, "")),
                Preset | Scenario | Suite => {
                    self.files(*kind).iter().for_each(|(_, file)| add(file.name, file.question()));
                }
            }
        }
        if 1 < kinds.len() {
            let chapters = self.program.chapters.iter().map(|it| (it.name, it.title()));
            let commands = self.program.commands.iter().map(|it| (it.name, ""));
            let named = |(name, text)| Passage::named(name, format!("help {name}"), text);
            all.extend(chapters.chain(commands).map(named));
        }
        all
    }

    /// Returns the bundled files of a kind, each with the line that is shown before it.
    fn files(&self, kind: NameKind) -> Vec<(String, Starter)> {
        let plain = |file: &Starter| (String::new(), *file);
        match kind {
            Scenario => Starter::named().map(plain).collect(),
            Suite => self.program.suites.iter().map(plain).collect(),
            _ => presets().map(|(key, it)| (format!("# {key}: {}\n", it.name), *it)).collect(),
        }
    }

    fn find(&self, kind: NameKind, name: &str) -> Option<PrintedText> {
        let registry = &self.program.registry;
        let part = |key: &str| {
            let (part, text) = self.keys.part(key).map(|part| (part.outline(), part.markdown()))?;
            let is_whole = self.all || text.lines().count() <= SCREEN;
            let more = format!("\n`mumakil show {name} --all` shows all keys inside.\n");
            Some(if is_whole { text } else { part + &more })
        };
        let text = match kind {
            Scenario | Suite | Preset => {
                let files = self.files(kind).into_iter().filter(|(_, file)| file.name == name);
                let texts: String = files.map(|(head, file)| head + file.text).collect();
                let example = || example_file(name).filter(|_| kind == Scenario);
                (!texts.is_empty()).then_some(texts).or_else(example)
            }
            // Ask the registry first: a key below `scheduler` need not be a policy.
            Scheduler => registry.get(name).and_then(|_| part(&format!("scheduler.{name}"))),
            Quantity => quantity(name),
            Table => return tables::all().iter().find(|table| table.file == name).map(columns),
            Key if name == "reference" => Some(self.keys.markdown()),
            // For an axis, such as `sweep.cluster.nodes`, show the key of its field,
            // `cluster.nodes`.
            Key => part(name).or_else(|| part(name.strip_prefix("sweep.")?)),
            Schema => {
                let schema = match name {
                    "scenario" => scenario::schema(registry),
                    "study" => study::schema(registry),
                    "suite" => self.program.suite_schema?(registry),
                    "protocol" => protocol::schema(),
                    _ => return None,
                };
                Some(format!("{schema:#}\n"))
            }
        };
        text.map(PrintedText::Text)
    }
}

/// Returns the best passages, each with its place, and the places of some more.
fn lines_of(found: &[(SearchAnswer, Passage)]) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let (best, more) = found.split_at(SHOWN.min(found.len()));
    for (_, Passage { name, command, text, .. }) in best {
        lines.part(BOLD, name);
        lines.line(format!("   (mumakil {command})"));
        for line in text.trim_end().lines().take(MOST_LINES) {
            lines += table(&[vec![line.to_owned()]], &[Align::Left]);
        }
        lines.line("");
    }
    let mut commands: Vec<String> =
        more.iter().map(|(_, it)| format!("`mumakil {}`", it.command)).collect();
    commands.dedup();
    let others = commands.len().saturating_sub(MOST_MORE);
    commands.truncate(MOST_MORE);
    if 0 < others {
        commands.push(format!("and {others} others"));
    }
    if !commands.is_empty() {
        lines.line(format!("More: {}", commands.join(", ")));
    }
    lines
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
    use mumakil_scenario::STARTERS;

    fn names<R>(of: impl FnOnce(&AllNames<'_>) -> R) -> R {
        let program = Program::new(crate::testing::registry(), Vec::new(), Vec::new());
        of(&AllNames::of(&program, false))
    }

    /// Returns the printed texts of the things that have a name.
    fn shown(name: &str, kinds: &[NameKind]) -> Vec<String> {
        names(|names| {
            let found = kinds.iter().filter_map(|kind| names.find(*kind, name));
            let texts = found.map(|printed| match printed {
                PrintedText::Text(text) => text,
                PrintedText::Table(lines) => lines.bare(),
            });
            texts.collect()
        })
    }

    #[test]
    fn a_name_that_two_things_have_is_not_guessed() {
        assert_eq!(shown("faults", &NameKind::PLAIN).len(), 2);
        let lines =
            names(|names| lines_of(&search("faults", names.named(&NameKind::PLAIN).into_iter())))
                .bare();
        assert!(lines.contains("(mumakil show key faults)"), "{lines}");
        assert!(lines.contains("(mumakil show scenario faults)"), "{lines}");
        assert_eq!(shown("faults", &[Scenario]), [Starter::find("faults").unwrap().text]);
        assert!(shown("faults", &[Key])[0].starts_with("## `faults`"));
    }

    #[test]
    fn presets_of_one_name_are_shown_together() {
        let mumak = &shown("mumak", &NameKind::PLAIN)[0];
        assert!(mumak.starts_with("# hadoop.line: mumak\n"), "{mumak}");
        assert!(mumak.contains("\n# cluster.preset: mumak\n"), "{mumak}");
    }

    #[test]
    fn a_long_key_is_shown_as_an_outline() {
        let outline = &shown("workload.mix", &[Key])[0];
        assert!(outline.lines().count() < SCREEN, "{outline}");
        assert!(outline.ends_with("`mumakil show workload.mix --all` shows all keys inside.\n"));
    }

    #[test]
    fn everything_that_is_listed_can_be_shown() {
        let registry = crate::testing::registry();
        let starters = STARTERS.iter().map(|starter| (Scenario, starter.name));
        let policies = registry.all_names().map(|name| (Scheduler, name));
        let quantities = expect::quantities().map(|(name, ..)| (Quantity, name));
        let tables = tables::all().into_iter().map(|table| (Table, table.file));
        for (kind, name) in starters.chain(policies).chain(quantities).chain(tables) {
            assert_eq!(shown(name, &[kind]).len(), 1, "{name}");
        }
    }

    #[test]
    fn a_column_says_its_unit_and_what_expectations_call_it() {
        let table = &shown("jobs.csv", &NameKind::PLAIN)[0];
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
    fn an_unknown_name_has_a_likely_one() {
        for (name, like) in [
            ("fiar", "did you mean `fair`?"),
            ("quickstrat", "did you mean `quickstart`?"),
            ("sojurn", "did you mean `sojourn`?"),
            ("hedging", "`mumakil list` says what there is"),
        ] {
            let failure = names(|names| names.print(name, &NameKind::PLAIN)).unwrap_err();
            assert_eq!(failure.words(), format!("unknown name `{name}`\n   = {like}"));
        }
    }
}
