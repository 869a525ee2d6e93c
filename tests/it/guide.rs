//! Checks that the README, the guide and the course are true: executes the commands of their
//! transcripts again, checks their scenarios, and generates the generated texts again.
//!
//! `make transcripts` writes the current output into the files.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use mumakil::guide::CHAPTERS;
use mumakil::scenario::{Draft, Reference};
use mumakil::study::{self, Plan, Study};

use crate::{Room, files, lacks_python, names, root};

const README: &str = "README.md";
const REFERENCE: &str = "src/guide/reference.md";
const REFERENCE_HEAD: &str = "\
# Reference

Every key of a scenario, and then those that only studies have. In a terminal, `mumakil show reference` shows
them all, and `mumakil show cluster.hdfs` one part. `[]` stands for the entries of a list and `NAME`
for a name of your own.

<!-- made by make transcripts -->

";

/// Returns the README, all handwritten chapters and all lessons, with their paths in the repository.
fn texts() -> Vec<(String, String)> {
    let satellites = names(&root().join("satellites")).into_iter();
    let folders = satellites.map(|name| format!("satellites/{name}"));
    let paths = std::iter::once("src/guide".to_owned()).chain(folders).flat_map(|folder| {
        let names = names(&root().join(&folder)).into_iter();
        names.filter(|name| name.ends_with(".md")).map(move |name| format!("{folder}/{name}"))
    });
    let paths = paths.filter(|path| path != REFERENCE).chain([README.to_owned()]);
    let read = |path: String| (fs::read_to_string(root().join(&path)).unwrap(), path);
    paths.map(read).map(|(text, path)| (path, text)).collect()
}

/// Compares a file with its expected content, or writes the expected content if `MUMAKIL_UPDATE` is
/// set. The content is that of a program with all satellites, of which `tests/satellites/run` deletes
/// one.
pub(crate) fn compare(path: &str, made: &str) {
    if std::env::var_os("MUMAKIL_WITHOUT").is_some() {
        return;
    }
    let written = fs::read_to_string(root().join(path)).unwrap_or_default();
    if std::env::var_os("MUMAKIL_UPDATE").is_some() {
        fs::write(root().join(path), made).unwrap();
    } else {
        let lines = || written.lines().zip(made.lines()).enumerate();
        let first = lines().find(|(_, (written, made))| written != made);
        assert!(written == made, "{path} has changed: `make transcripts` writes it. {first:?}");
    }
}

#[test]
fn the_reference_is_that_of_the_schema() {
    let reference = Reference::of(&study::schema(&mumakil::registry()));
    compare(REFERENCE, &format!("{REFERENCE_HEAD}{}", reference.chapter()));
}

#[cfg(unix)]
#[test]
fn the_transcripts_are_true() {
    for (path, text) in texts().into_iter().filter(|(_, text)| has_its_commands(text)) {
        compare(&path, &at_its_home(&typed_again(&text, path != README)));
    }
}

/// Returns whether the program has all commands of a text: somebody may have deleted a satellite.
pub(crate) fn has_its_commands(text: &str) -> bool {
    let program = mumakil::cli::program(mumakil::registry());
    let names: Vec<&str> = program.commands.iter().map(mumakil::cli::Command::name).collect();
    text.split("\n$ mumakil ").skip(1).all(|rest| {
        let mut words = rest.split_whitespace();
        let (one, two) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let both = format!("{one} {two}");
        // Satellites add to `trace`, which has these itself.
        let is_its_own = ["inspect", "convert"].contains(&two);
        let has_others = names.iter().any(|name| name.starts_with(&format!("{one} ")));
        let name = if has_others && !is_its_own { &*both } else { one };
        one.starts_with('-') || names.contains(&name)
    })
}

/// Returns a text in which each command of a `console` block is followed by its current output.
///
/// The commands of a text are executed one after the other in one folder, which may have the
/// repository's scenarios. Wall times of runs and studies are not updated.
#[cfg(unix)]
fn typed_again(text: &str, has_sources: bool) -> String {
    let room = Room::new();
    if has_sources {
        std::os::unix::fs::symlink(root().join("scenarios"), room.path("scenarios")).unwrap();
    }
    let mut made = String::new();
    let mut blocks = text.split("```console\n");
    made.push_str(blocks.next().unwrap());
    for block in blocks {
        let (block, rest) = block.split_once("```").expect("a block ends");
        made.push_str("```console\n");
        for entry in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, printed) = entry.split_once('\n').unwrap_or((entry, ""));
            let now = type_in(&room, command);
            let is_same = without_wall_clock(&now) == without_wall_clock(printed);
            let now = if is_same { printed } else { &now };
            let _ = writeln!(made, "$ {command}");
            if !now.is_empty() {
                let _ = writeln!(made, "{}", now.trim_end_matches('\n'));
            }
        }
        let _ = write!(made, "```{rest}");
    }
    made
}

#[cfg(unix)]
fn type_in(room: &Room, command: &str) -> String {
    let mut path = PathBuf::from(env!("CARGO_BIN_EXE_mumakil"));
    path.pop();
    let old = std::env::var("PATH").unwrap_or_default();
    let mut shell = assert_cmd::Command::new("sh");
    shell.current_dir(room.path("")).env("PATH", format!("{}:{old}", path.display()));
    let output = shell.args(["-c", command]).output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    String::from_utf8(printed).unwrap()
}

#[cfg(unix)]
fn without_wall_clock(printed: &str) -> String {
    let blind = |line: &str| {
        let timed = [" of cluster time in ", " runs in "].into_iter();
        let before = timed.filter_map(|words| Some(line.split_once(words)?.0)).next();
        before.unwrap_or(line).to_owned()
    };
    printed.lines().map(blind).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_scenario_and_study_of_the_guide_is_in_order() {
    // Leave out blocks that name files: only readers who have these files can use such a block.
    let has_files =
        |block: &&str| [".gz", ".csv", ".tsv", ".json"].iter().any(|ending| block.contains(ending));
    let (mut scenarios, mut studies) = (0, 0);
    for (path, text) in texts() {
        let blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for block in blocks.filter(|block| !has_files(block)) {
            let fine = |error: &dyn std::fmt::Display| format!("{path}: {error}\n{block}");
            let draft = Draft::of(&path, block).unwrap_or_else(|error| panic!("{}", fine(&error)));
            if draft.says("score") {
                // A suite, which is a satellite's.
            } else if draft.is_study() {
                let study = Study::of(draft).unwrap_or_else(|error| panic!("{}", fine(&error)));
                let plan = Plan::new(&study, &mumakil::registry());
                plan.unwrap_or_else(|error| panic!("{}", fine(&error)));
                studies += 1;
            } else {
                let resolved = draft.resolve(&mumakil::registry());
                resolved.unwrap_or_else(|error| panic!("{}", fine(&error)));
                scenarios += 1;
            }
        }
    }
    assert!(5 < scenarios && 0 < studies, "{scenarios} scenarios, {studies} studies");
}

#[test]
fn the_format_of_the_guide_is_the_one_that_is_tested() {
    let program = fs::read_to_string(root().join("tests/it/own_format.rs")).unwrap();
    let text = mumakil::guide::chapter("extending").unwrap().text;
    let pieces = text.split("```rust,ignore\n").skip(1);
    let pieces: Vec<&str> = pieces.map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(1 < pieces.len(), "{pieces:?}");
    for piece in pieces {
        // The guide may leave out lines of the program that newcomers can do without.
        let mut lines = program.lines();
        for line in piece.lines() {
            assert!(lines.any(|other| other == line), "{line}\n{piece}");
        }
    }
}

#[test]
fn every_chapter_is_in_the_guide_and_in_the_readme() {
    let readme = fs::read_to_string(root().join(README)).unwrap();
    for name in names(&root().join("src/guide")) {
        let Some(name) = name.strip_suffix(".md") else { continue };
        assert!(name == "reference" || mumakil::guide::chapter(name).is_some(), "{name}");
    }
    let of_satellites = mumakil::satellites().into_iter().flat_map(|it| it.chapters);
    for chapter in CHAPTERS.iter().copied().chain(of_satellites) {
        assert!(readme.contains(&format!("`{}`", chapter.name)), "{}", chapter.name);
    }
}

/// People read it where there is no clone: on the page of a registry, or out of a wheel.
#[test]
fn the_readme_is_a_front_door() {
    let readme = fs::read_to_string(root().join(README)).unwrap();
    let lines = readme.lines().count();
    assert!(lines <= 150, "{lines} lines: move the rest into a chapter of the guide");
    for target in readme.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)) {
        assert!(target.starts_with("https://"), "{target}");
    }
}

/// Returns a text whose links to a repository lead to the one that `Cargo.toml` names: no other place
/// says where the project lives.
fn at_its_home(text: &str) -> String {
    let (owner, name) = env!("CARGO_PKG_REPOSITORY").rsplit_once('/').unwrap();
    let owner = owner.rsplit('/').next().unwrap();
    let mut parts = text.split("https://github.com/").flat_map(|part| {
        // One link may be of a picture, whose host has another name.
        let inner = part.split("https://raw.githubusercontent.com/").enumerate();
        inner.map(|(place, part)| (place == 0, part))
    });
    let mut made = parts.next().map(|(_, part)| part.to_owned()).unwrap_or_default();
    for (is_page, part) in parts {
        let host = if is_page { "github.com" } else { "raw.githubusercontent.com" };
        let rest = part.splitn(3, '/').nth(2).expect("a link leads into the repository");
        let _ = write!(made, "https://{host}/{owner}/{name}/{rest}");
    }
    made
}

#[test]
fn issues_are_filed_where_the_project_lives() {
    let path = ".github/ISSUE_TEMPLATE/config.yml";
    compare(path, &at_its_home(&fs::read_to_string(root().join(path)).unwrap()));
}

/// Each block of commands in the README is typed as it stands, one after the other, in one folder.
#[cfg(unix)]
#[test]
fn the_blocks_of_the_readme_run() {
    let text = fs::read_to_string(root().join(README)).unwrap();
    let needs = ["study ", "predict ", "policy "].iter().all(|name| text.contains(name));
    assert!(needs && text.matches("```sh\n").count() == 2, "what else should run?");
    // `tests/satellites/run` deletes a satellite, whose commands may be among them.
    if lacks_python() || std::env::var_os("MUMAKIL_WITHOUT").is_some() {
        return;
    }
    let room = Room::new();
    room.mumakil("show quickstart").assert().success();
    let shown = type_in(&room, "mumakil show quickstart > mine.yaml");
    assert!(shown.is_empty(), "{shown}");
    for block in text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        // A score takes a minute, and has tests of its own.
        let block = block.replace("mumakil policy score", "true").replace("seeds: 5", "seeds: 2");
        let block = block.replace("policy try mine.py", "policy try mine.py --runs 3");
        let printed = type_in(&room, &format!("set -e\n{block}\necho all done"));
        assert!(printed.ends_with("all done\n"), "{printed}");
    }
}

#[test]
fn links_lead_to_files() {
    for (path, text) in texts() {
        let folder = Path::new(&path).parent().unwrap();
        let inline = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
        let defined =
            text.lines().filter_map(|line| Some(line.strip_prefix('[')?.split_once("]: ")?.1));
        for target in inline.chain(defined).filter(|target| !target.starts_with("http")) {
            assert!(root().join(folder).join(target).exists(), "{path}: {target}");
        }
        // A link by name needs a definition. Without a definition, readers of the file see plain
        // text.
        for chapter in CHAPTERS {
            let (link, target) = (format!("[{}]", chapter.name), format!("[{}]: ", chapter.name));
            assert!(
                text.matches(&link).count() != 1 || !path.starts_with("src"),
                "{path}: {target}"
            );
        }
    }
}

#[test]
fn the_guide_names_files_that_exist() {
    let sources = files(&root().join("src"));
    let tour = mumakil::guide::chapter("tour").unwrap().text;
    for name in tour.split('`').skip(1).step_by(2).filter(|name| name.starts_with("src/")) {
        let found = sources.iter().any(|file| name.strip_prefix("src/") == Some(file));
        assert!(found || root().join(name).is_dir(), "{name}");
    }
}
