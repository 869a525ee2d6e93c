//! The README is kept true: its transcripts are typed again, its reference is made again.
//!
//! `make transcripts` writes what there is now.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use mumakil::scenario::{self, Draft, Registry};
use mumakil::study::{Plan, Study};

use crate::{Room, root};

const BEGIN: &str = "<!-- reference: made by the tests -->\n";
const END: &str = "<!-- reference: end -->\n";

fn file() -> PathBuf {
    root().join("README.md")
}

/// Compares the README, or writes it if that is asked for.
fn compare(written: &str, made: &str, what: &str) {
    if std::env::var_os("MUMAKIL_UPDATE").is_some() {
        fs::write(file(), made).unwrap();
    } else {
        let lines = || written.lines().zip(made.lines()).enumerate();
        let first = lines().find(|(_, (written, made))| written != made);
        assert!(
            written == made,
            "the README's {what} has changed: `make transcripts` writes it. {first:?}"
        );
    }
}

#[test]
fn the_readme_is_true() {
    let written = fs::read_to_string(file()).unwrap();
    let (before, rest) = written.split_once(BEGIN).expect("the README has a reference");
    let (_, after) = rest.split_once(END).expect("the README's reference ends");
    let reference = scenario::reference(&Registry::builtin());
    let made = format!("{before}{BEGIN}\n{}\n{END}{after}", reference.trim_end());
    compare(&written, &made, "reference");
    #[cfg(unix)]
    compare(&made, &typed_again(&made), "transcript");
}

/// Returns a text in which every command of a `console` block is followed by what it prints now.
///
/// All are typed into one shell after the other, in one folder, which has the repository's scenarios. What a run took on this machine is
/// left as it stands.
#[cfg(unix)]
fn typed_again(text: &str) -> String {
    let room = Room::new();
    std::os::unix::fs::symlink(root().join("scenarios"), room.path("scenarios")).unwrap();
    let mut made = String::new();
    let mut blocks = text.split("```console\n");
    made.push_str(blocks.next().unwrap());
    for block in blocks {
        let (block, rest) = block.split_once("```").expect("a block ends");
        made.push_str("```console\n");
        for entry in block.split_inclusive('\n').collect::<String>().split("$ ").skip(1) {
            let (command, printed) = entry.split_once('\n').unwrap();
            let now = type_in(&room, command);
            let is_same = without_wall_clock(&now) == without_wall_clock(printed);
            let _ = write!(made, "$ {command}\n{}", if is_same { printed } else { &now });
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
    let blind = |line: &str| match line.split_once(" of cluster time in ") {
        Some((before, _)) => before.to_owned(),
        None => line.to_owned(),
    };
    printed.lines().map(blind).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_scenario_and_study_of_the_readme_is_in_order() {
    let text = fs::read_to_string(file()).unwrap();
    let blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    // What names files is for readers who have them.
    let has_files = |block: &&str| block.contains(".gz") || block.contains(".csv");
    let mut studies = 0;
    for block in blocks.filter(|block| !has_files(block)) {
        let draft = Draft::of("README.md", block).unwrap();
        if draft.is_study() {
            let study = Study::of(draft).unwrap_or_else(|error| panic!("error: {error}"));
            Plan::new(&study, &Registry::builtin()).unwrap_or_else(|error| panic!("{error}"));
            studies += 1;
        } else {
            draft.resolve(&Registry::builtin()).unwrap_or_else(|error| panic!("error: {error}"));
        }
    }
    assert_eq!(studies, 1);
}

#[test]
fn the_table_of_experiments_has_all_of_them() {
    let text = fs::read_to_string(file()).unwrap();
    let table = text.split("<!-- papers: made by make papers -->").nth(1).unwrap();
    let table = table.split("<!-- papers: end -->").next().unwrap();
    let ids = table.lines().skip(3).filter_map(|line| line.split('|').nth(1)).map(str::trim);
    let listed = mumakil::study::papers::LIST.iter().map(|listed| listed.id);
    assert_eq!(ids.collect::<Vec<_>>(), listed.collect::<Vec<_>>());
}
