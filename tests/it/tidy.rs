//! Rules of this project that no compiler checks.

use std::fs;
use std::path::Path;

use crate::{files, root};

/// A source file: its path from the repository, and its text.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Returns the module of the file, such as `cluster`, whichever crate contains the module.
    fn module(&self) -> &str {
        let path = self.path.strip_prefix("src/").unwrap_or(&self.path);
        let (first, rest) = path.split_once('/').unwrap_or((path, ""));
        let is_room = MEMBERS_OF_ROOMS.contains(&first) && rest != "lib.rs";
        let room = if is_room { rest.split('/').next().unwrap() } else { first };
        let room = room.trim_end_matches(".rs");
        let is_own = first == OWN_FILES && !["fault", "workload"].contains(&room);
        if is_own { first } else { room }
    }

    /// Returns the text above its own tests.
    fn production(&self) -> &str {
        self.text.split_once("mod tests {").map_or(&self.text, |(code, _)| code)
    }

    /// Returns the lines of code with their numbers, from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(self.text.lines().map(str::trim_start));
        // The chapters of the guide are no code, though they lie among the sources.
        let is_code = self.path.ends_with(".rs");
        lines.filter(move |(_, line)| is_code && !line.starts_with("//"))
    }

    /// Returns the names after `crate::`, with their line numbers.
    fn named(&self) -> impl Iterator<Item = (usize, &str)> {
        let named = |(line, code): (usize, _)| {
            let rest = str::split(code, "crate::").skip(1);
            let is_end = |c: char| !c.is_alphanumeric() && c != '_';
            rest.map(move |rest| (line, rest.split(is_end).next().unwrap_or_default()))
        };
        self.code().flat_map(named)
    }
}

/// The crates that are a single module of the map in `lib.rs`.
const MEMBERS_OF_ONE: [&str; 6] = ["compare", "external", "runtime", "study", "traces", "yaml"];

/// The crates that consist of several modules of the map in `lib.rs`.
const MEMBERS_OF_ROOMS: [&str; 7] =
    ["base", "draw", "core", "policies", "results", "scenario", "run"];

/// A crate whose files outside its modules form one more module, with the crate's name.
const OWN_FILES: &str = "scenario";

fn sources(folder: &str) -> Vec<Source> {
    let files = files(&root().join(folder)).into_iter();
    files
        .map(|file| format!("{folder}/{file}"))
        .filter_map(|path| {
            // Skip files that are no text.
            let text = fs::read_to_string(root().join(&path)).ok()?;
            Some(Source { path, text })
        })
        .collect()
}

/// Returns the sources of all crates.
fn all_sources() -> Vec<Source> {
    sources("src").into_iter().chain(sources("satellites")).collect()
}

/// Returns the modules in the order of the map in `lib.rs`.
fn modules() -> Vec<String> {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let name = |line: &str| Some(line.strip_prefix("//! | [`")?.split_once('`')?.0.to_owned());
    text.lines().filter_map(name).collect()
}

#[test]
fn every_source_says_why_it_exists() {
    for source in all_sources() {
        if source.path.ends_with(".rs") {
            assert!(source.text.starts_with("//! "), "{} has no story", source.path);
        }
    }
}

#[test]
fn the_map_of_the_modules_is_complete() {
    let mut declared = MEMBERS_OF_ONE.map(str::to_owned).to_vec();
    declared.push(OWN_FILES.to_owned());
    for folder in
        std::iter::once("src".to_owned()).chain(MEMBERS_OF_ROOMS.map(|it| format!("src/{it}")))
    {
        let text = fs::read_to_string(root().join(folder).join("lib.rs")).unwrap();
        let name = |line: &str| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned());
        declared.extend(text.lines().filter_map(name));
    }
    let mut mapped = modules();
    declared.sort_unstable();
    mapped.sort_unstable();
    assert_eq!(declared, mapped);
}

/// The compiler checks this rule between crates, but not within a crate.
#[test]
fn a_module_names_only_those_above_it() {
    let modules = modules();
    let place = |name: &str| modules.iter().position(|module| module == name);
    let mut upwards = Vec::new();
    for source in all_sources() {
        let Some(own) = place(source.module()) else { continue };
        // A crate of one module uses `crate::` for its own files.
        if MEMBERS_OF_ONE.contains(&source.module()) {
            continue;
        }
        for (line, name) in source.named() {
            if place(name).is_some_and(|other| own < other) {
                upwards.push(format!("{}:{line} names {name}", source.path));
            }
        }
    }
    assert!(upwards.is_empty(), "{upwards:#?}");
}

/// The head of `mapred.rs` lists its files in layers (floors). A file must name other files
/// directly, not through the re-exports of `mapred`. Tests are exempt: they may use files of their
/// own layer.
#[test]
fn a_file_of_mapred_names_only_those_on_floors_above_its_own() {
    let text = fs::read_to_string(root().join("src/core/mapred.rs")).unwrap();
    let floors: Vec<&str> = text.lines().filter(|line| line.starts_with("//! | `")).collect();
    let floor = |name: &str| floors.iter().position(|floor| floor.contains(&format!("`{name}`")));
    let mut wrong = Vec::new();
    for source in sources("src/core/mapred").into_iter().filter(|it| !it.path.contains("/tests")) {
        let own = source.path["src/core/mapred/".len()..].split(['/', '.']).next().unwrap();
        let its = floor(own).unwrap_or_else(|| panic!("{} is in no layer", source.path));
        for (line, code) in source.code() {
            for rest in code.split("crate::mapred::").skip(1) {
                let is_end = |c: char| !c.is_alphanumeric() && c != '_';
                let name = rest.split(is_end).next().unwrap_or_default();
                if name != own && floor(name).is_none_or(|other| its <= other) {
                    wrong.push(format!("{}:{line} names {name}", source.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the names of all types outside tests, each with its file and line.
fn types() -> Vec<(String, String)> {
    let mut types = Vec::new();
    for source in all_sources() {
        if source.path.contains("/tests") || source.path.ends_with("/testing.rs") {
            continue;
        }
        let last = source.production().lines().count();
        for (number, line) in source.code().take_while(|(number, _)| *number <= last) {
            let words = line.split_once("pub").filter(|(before, _)| before.is_empty());
            let words = words.map_or(line, |(_, rest)| rest.split_once(' ').unwrap_or_default().1);
            let kinds = ["struct ", "enum ", "trait ", "union "];
            let Some(rest) = kinds.iter().find_map(|kind| words.strip_prefix(kind)) else {
                continue;
            };
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            // If no name follows, a macro names the type.
            if !name.is_empty() {
                types.push((name.to_owned(), format!("{}:{number}", source.path)));
            }
        }
    }
    types
}

#[test]
fn no_two_types_share_a_name() {
    let mut types = types();
    types.sort_unstable();
    assert!(1000 < types.len(), "only {} types are found", types.len());
    let twice = types.windows(2).filter(|two| two[0].0 == two[1].0);
    let twice: Vec<_> = twice.collect();
    assert!(twice.is_empty(), "{twice:#?}");
}

#[test]
fn no_type_has_a_bare_name() {
    let list = fs::read_to_string(root().join("tests/words/bare")).unwrap();
    let bare: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(bare.contains(&"Kind") && bare.contains(&"Turn"), "{bare:?}");
    let found: Vec<_> = types().into_iter().filter(|(name, _)| bare.contains(&&**name)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn only_the_edge_prints() {
    for source in all_sources().iter().filter(|source| !is_test_file(&source.path)) {
        let prints = |code: &str| ["println!", "print!("].iter().any(|word| code.contains(word));
        let printing = source.code().find(|(_, code)| prints(code));
        assert!(source.module() == "cli" || printing.is_none(), "{} {printing:?}", source.path);
    }
}

/// Only `src/cli/terminal.rs` and `progress.rs` may write to a terminal, so that no name can
/// control it.
#[test]
fn one_place_writes_to_a_terminal() {
    let streams = ["stdout(", "stderr(", "println!", "print!(", "set_message(", "MultiProgress"];
    let may = |path: &str, stream: &str| match stream {
        "set_message(" => path == "src/cli/progress.rs",
        _ => path == "src/cli/terminal.rs",
    };
    for source in all_sources().iter().filter(|source| !is_test_file(&source.path)) {
        for (number, line) in (1..).zip(source.production().lines()) {
            let is_code = source.path.ends_with(".rs") && !line.trim_start().starts_with("//");
            let asks = line.contains(".is_terminal()")
                || line.contains("use_stderr()")
                || line.contains("Stdio::");
            let stream = streams.iter().find(|stream| is_code && !asks && line.contains(**stream));
            let writes = stream.filter(|stream| !may(&source.path, stream));
            assert!(writes.is_none(), "{}:{number}: {line}", source.path);
        }
    }
    let progress = fs::read_to_string(root().join("src/cli/progress.rs")).unwrap();
    assert_eq!(progress.matches("set_message(").count(), 1, "through `show` alone");
}

/// Tests can make a write fail only if it goes through `src/base/disk.rs`.
#[test]
fn one_place_changes_the_disk() {
    let changes = ["fs::write(", "fs::create_dir", "fs::copy(", "File::create(", ".create(true)"];
    for source in all_sources() {
        let (code, _) = source.text.split_once("#[cfg(").unwrap_or((&source.text, ""));
        let is_of_std = |line: &&str| line.contains("fs::") && !line.contains("disk::");
        let is_test = is_test_file(&source.path);
        let imports =
            code.lines().any(|line| line.starts_with("use std::fs") && line.contains("File"));
        let change = code.lines().find(|line| {
            let ours = ["AsideFile::create(", "disk::File::create("];
            let line = &ours.iter().fold(line.to_string(), |line, ours| line.replace(ours, ""));
            changes.iter().any(|change| line.contains(change)) && (imports || is_of_std(&&**line))
        });
        let may =
            is_test || ["src/base/disk.rs", "src/study/run/store.rs"].contains(&&*source.path);
        assert!(
            may || !source.path.ends_with(".rs") || change.is_none(),
            "{} {change:?}",
            source.path
        );
    }
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let mut all: Vec<Source> =
        ["src", "tests", "benches", "scenarios"].into_iter().flat_map(sources).collect();
    for path in ["README.md", "CHANGELOG.md", "Makefile", "Cargo.toml", ".ci/run"] {
        let text = fs::read_to_string(root().join(path)).unwrap();
        all.push(Source { path: path.to_owned(), text });
    }
    // Put the names together here, so that this file itself does not match.
    let homes = ["home", "Users", "root", "work", "tmp"].map(|home| format!("/{home}/"));
    for source in all {
        for (number, line) in (1..).zip(source.text.lines()) {
            let found = homes.iter().find(|home| line.contains(*home));
            assert!(found.is_none(), "{}:{number}: {line}", source.path);
        }
    }
}

#[test]
fn the_citation_has_the_version() {
    let citation = fs::read_to_string(root().join("CITATION.cff")).unwrap();
    assert!(
        citation.contains(concat!("\nversion: ", env!("CARGO_PKG_VERSION"), "\n")),
        "{citation}"
    );
}

/// The crate of a source file, as `tests/lines.txt` names it: files beside the crates are the
/// command's.
fn crate_of(path: &str) -> &str {
    let mut parts = path.split('/');
    let (parent, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_crate = |folder: &Path| folder.join("Cargo.toml").exists();
    match root().join(parent) {
        path if is_crate(&path.join(folder)) => folder,
        path if is_crate(&path) => parent,
        _ => "mumakil",
    }
}

fn is_test_file(path: &str) -> bool {
    path.split('/').any(|part| {
        part == "tests"
            || part.ends_with(".rs") && ["tests", "testing"].iter().any(|of| part.starts_with(of))
    })
}

/// A satellite can be deleted by its folder and the lines of the program that name it.
#[test]
fn nothing_but_the_program_names_a_satellite() {
    for folder in fs::read_dir(root().join("satellites")).unwrap().map(|it| it.unwrap().file_name())
    {
        let (folder, name) =
            (format!("satellites/{}/", folder.display()), format!("mumakil_{}", folder.display()));
        let names_it = |code: &str| {
            code.split_once(&*name)
                .is_some_and(|(_, rest)| !rest.starts_with(char::is_alphanumeric))
        };
        for source in all_sources().into_iter().chain(sources("tests/it")) {
            let is_its_own = source.path.starts_with(&folder) || source.path == "src/lib.rs";
            let found = source.code().find(|(_, code)| !is_its_own && names_it(code));
            assert!(found.is_none(), "{}: {found:?}", source.path);
        }
    }
}

/// A budget that is raised needs a reason, and one that is not needed is lowered.
#[test]
fn each_crate_keeps_to_its_budget_of_lines() {
    let mut lines = std::collections::BTreeMap::new();
    // Policies in other folders there are examples, as scenarios are.
    let bundled = sources("scenarios").into_iter().filter(|one| !one.path.contains("/policies/"));
    for source in all_sources().into_iter().chain(bundled) {
        if source.path.ends_with(".rs") && !is_test_file(&source.path) {
            *lines.entry(crate_of(&source.path).to_owned()).or_insert(0) +=
                source.production().lines().count();
        }
    }
    let text = fs::read_to_string(root().join("tests/lines.txt")).unwrap();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, budget) = line.split_once(' ').expect("a crate and its budget");
        let budget: usize = budget.trim().parse().expect("a number of lines");
        let has = lines.remove(name).unwrap_or(0);
        assert!(
            budget * 49 / 50 <= has && has <= budget,
            "`{name}` has {has} lines, and {budget} in tests/lines.txt: take lines away, or write \
             the number there and its reason into the commit",
        );
    }
    assert!(lines.is_empty(), "crates without a budget in tests/lines.txt: {lines:?}");
}

#[test]
fn no_function_is_named_by_a_question() {
    let is_question = |code: &str| {
        let name = code.split_once("fn ").map_or("", |(_, name)| name);
        ["what_", "who_", "whose_", "whoever_"].iter().any(|word| name.starts_with(word))
    };
    for source in all_sources().into_iter().chain(sources("tests")) {
        let found = source.code().find(|(_, code)| is_question(code));
        assert!(found.is_none(), "{}: {found:?}", source.path);
    }
}

/// Returns the names of the functions outside of tests that have more lines than this, each with its file.
fn longer_functions(most: usize) -> Vec<String> {
    let mut found = Vec::new();
    for source in all_sources().iter().filter(|source| !is_test_file(&source.path)) {
        let lines: Vec<&str> = source.production().lines().collect();
        for (first, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let words = code.split("fn ").next().unwrap_or_default();
            let modifiers = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe"];
            if !code.contains("fn ") || !words.split_whitespace().all(|it| modifiers.contains(&it))
            {
                continue;
            }
            let indent = &line[..line.len() - code.len()];
            // A body ends with a brace below its head; a declaration without a body has no brace.
            let ends = |other: &&str| {
                let rest = other.strip_prefix(indent).filter(|rest| !rest.starts_with(' '));
                rest.is_some_and(|rest| rest.starts_with('}') || rest.ends_with(';'))
            };
            let last = first + lines[first..].iter().position(ends).unwrap_or(0);
            // A list of things that are described is as long as it is.
            let is_doc = |line: &&&str| line.trim_start().starts_with("///");
            let length = lines[first..=last].iter().filter(|line| !is_doc(line)).count();
            if most < length {
                let name = code.split("fn ").nth(1).unwrap_or_default();
                found.push(format!("{}: {name} has {length} lines", source.path));
            }
        }
    }
    found
}

#[test]
fn no_function_has_a_hundred_lines() {
    let found = longer_functions(100);
    assert!(found.is_empty(), "{found:#?}");
    let long = longer_functions(70);
    assert!(long.len() <= MOST_LONG, "{long:#?}");
}

/// How many functions may have more than 70 lines. It only ever sinks.
const MOST_LONG: usize = 12;

/// Returns the name that a line of code binds.
fn bound(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("let ")?;
    let rest = rest.strip_prefix("mut ").unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    Some(&rest[..end]).filter(|name| !name.is_empty() && rest[end..].starts_with([' ', ':']))
}

/// A statement outside of tests that binds a name.
struct Binding {
    place: String,
    is_closure: bool,
    /// Whether the statement directly above binds the name, too, and this one uses it.
    is_rebound: bool,
}

fn bindings() -> Vec<Binding> {
    let mut found = Vec::new();
    for source in all_sources().iter().filter(|source| !is_test_file(&source.path)) {
        let lines: Vec<&str> = source.production().lines().collect();
        // The line below the statement above, its indentation, and the name that it binds.
        let mut above = None;
        for (first, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            let Some(name) = bound(code).filter(|_| source.path.ends_with(".rs")) else { continue };
            let indent = &line[..line.len() - code.len()];
            // A statement ends where a line of its indentation ends it.
            let ends = |other: &&str| {
                other.strip_prefix(indent).is_some_and(|rest| !rest.starts_with(' '))
                    && other.ends_with(';')
            };
            let last = first + lines[first..].iter().position(ends).unwrap_or(0);
            let text = lines[first..=last].join("\n");
            let value = text.split_once(" =").map_or("", |(_, value)| value.trim_start());
            let is_closure = ["|", "move |"].iter().any(|begin| value.starts_with(begin));
            let mut words = value.split(|c: char| !c.is_alphanumeric() && c != '_');
            let is_rebound = above == Some((first, indent, name)) && words.any(|it| it == name);
            let place = format!("{}:{}: {name}", source.path, first + 1);
            found.push(Binding { place, is_closure, is_rebound });
            above = Some((last + 1, indent, name));
        }
    }
    found
}

/// How many closures may have names, and how many names may be bound again by the statement below.
/// Both only ever sink: a closure that is used once stands where it is used.
const MOST_NAMED_CLOSURES: usize = 639;
const MOST_REBOUND: usize = 12;

#[test]
fn few_closures_have_names_and_few_names_are_bound_twice() {
    let bindings = bindings();
    let places = |is: fn(&Binding) -> bool| -> Vec<&str> {
        bindings.iter().filter(|it| is(it)).map(|it| it.place.as_str()).collect()
    };
    let (closures, rebound) = (places(|it| it.is_closure), places(|it| it.is_rebound));
    assert!(closures.len() <= MOST_NAMED_CLOSURES, "{} named closures", closures.len());
    assert!(rebound.len() <= MOST_REBOUND, "{}: {rebound:#?}", rebound.len());
}
