//! The gallery's pictures say what is true, and the page maker knows all of them.
//!
//! Each study is done with one seed here; `tests/outsiders/run` makes the pages, with all seeds.

use std::fs;

use crate::{Room, files, root};

#[test]
fn every_picture_has_a_question_and_what_is_expected_holds() {
    let maker = fs::read_to_string(root().join("scenarios/gallery/pages.py")).unwrap();
    let folder = root().join("scenarios/gallery");
    for file in files(&folder).iter().filter(|file| file.ends_with(".yaml")) {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let (question, rest) = text.split_once("\n#\n").unwrap();
        assert!(question.starts_with("# ") && question.ends_with('?'), "{file}: {question}");
        assert!(rest.contains("\nexpect:\n"), "{file}");
        let name = file.strip_suffix(".yaml").unwrap();
        assert!(text.contains(&format!("\nname: {name}\n")), "{file}");
        assert!(maker.contains(&format!("\"{name}\"")), "pages.py leaves out {file}");
        let command = if text.contains("\nsweep:") { "study --set sweep.seeds=1" } else { "run" };
        let room = Room::new();
        room.mumakil(command).arg("--out=out").arg(path).assert().success();
    }
}
