//! Packs are read back as their runs were, and damaged or foreign files give no runs.

use std::fs;

use tempfile::TempDir;

use super::*;

const A: &str = "00000000000000aa";
const B: &str = "00000000000000bb";
const FILES: [&str; 4] = ["summary.json", "jobs.csv", "histograms/x.hgrm", RESOLVED];

/// Makes the folder of a run, with a table that deflates well and a table that is empty.
fn run(room: &Path, id: &str) -> PathBuf {
    let folder = room.join("made").join(id);
    fs::create_dir_all(folder.join("histograms")).unwrap();
    for (name, text) in [
        ("summary.json", format!("{{\"run\": \"{id}\"}}\n")),
        ("jobs.csv", "job,name\n".to_owned() + &"0,a\n".repeat(1_000)),
        ("histograms/x.hgrm", String::new()),
        (RESOLVED, format!("name: {id}\n")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    folder
}

/// Packs these runs, and returns the folder of the packs.
fn packed(room: &Path, ids: &[&str]) -> PathBuf {
    let folder = room.join("runs");
    fs::create_dir_all(&folder).unwrap();
    for id in ids {
        pack(id, &RunPlace::Folder(run(room, id)), &folder).unwrap();
    }
    folder
}

fn packs(folder: &Path) -> Packs {
    let mut packs = Packs::default();
    packs.refresh(folder, &names(folder)).unwrap();
    packs
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn text(run: &PackedRun, name: &str) -> io::Result<String> {
    io::read_to_string(run.open(name)?)
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_no_pack() {
    let room = TempDir::new().unwrap();
    let pipe = room.path().join("x.zip");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let found = Packs::default().refresh(room.path(), &["x.zip".to_owned()]);
    let Err(OutputError::Read { source, .. }) = found else { panic!("{found:?}") };
    assert!(source.to_string().contains("not a regular file"), "{source}");
}

#[test]
fn runs_are_read_back_as_they_were() {
    let room = TempDir::new().unwrap();
    let packs = packs(&packed(room.path(), &[A, B]));
    for id in [A, B] {
        let run = packs.get(id).unwrap();
        for name in FILES {
            let made = fs::read_to_string(room.path().join("made").join(id).join(name)).unwrap();
            assert_eq!(text(&run, name).unwrap(), made, "{id}/{name}");
        }
        assert!(!run.has("tasks.csv").unwrap());
        assert_eq!(text(&run, "tasks.csv").unwrap_err().kind(), io::ErrorKind::NotFound);
    }
    assert!(packs.get("00000000000000cc").is_none());
}

#[test]
fn a_run_goes_from_pack_to_pack_and_back_to_a_folder() {
    let room = TempDir::new().unwrap();
    let folder = packed(room.path(), &[A]);
    let other = room.path().join("other");
    fs::create_dir(&other).unwrap();
    pack(A, &RunPlace::Packed(packs(&folder).get(A).unwrap()), &other).unwrap();
    let bytes = |folder: &Path| fs::read(folder.join(format!("{A}.zip"))).unwrap();
    assert_eq!(bytes(&folder), bytes(&other), "the same run is the same bytes");
    let unpacked = room.path().join("unpacked");
    RunPlace::Packed(packs(&other).get(A).unwrap()).copy_into(&unpacked).unwrap();
    for name in FILES {
        let made = room.path().join("made").join(A).join(name);
        assert_eq!(fs::read(unpacked.join(name)).unwrap(), fs::read(made).unwrap(), "{name}");
    }
}

#[test]
fn packs_of_many_runs_are_read() {
    let room = TempDir::new().unwrap();
    let mut zip = ZipWriter::new(File::create(room.path().join("whole.zip")).unwrap());
    for id in [A, B] {
        let (run, files) =
            (RunPlace::Folder(run(room.path(), id)), FILES.map(|name| (name.to_owned(), 0)));
        add_all(&mut zip, (id, &run), &files).unwrap();
    }
    zip.finish().unwrap();
    let packs = packs(room.path());
    for id in [A, B] {
        let run = packs.get(id).unwrap();
        assert_eq!(text(&run, RESOLVED).unwrap(), format!("name: {id}\n"));
        assert_eq!(run.files().unwrap().len(), FILES.len());
    }
}

/// A file of the run was removed before it was packed.
#[test]
fn a_run_without_its_summary_or_scenario_is_not_packed() {
    let room = TempDir::new().unwrap();
    for lost in [SUMMARY, RESOLVED] {
        let folder = run(room.path(), B);
        fs::remove_file(folder.join(lost)).unwrap();
        let refused = pack(B, &RunPlace::Folder(folder), room.path()).unwrap_err();
        assert!(refused.to_string().ends_with(&format!("{B}/{lost}")), "{refused}");
    }
}

#[test]
fn a_damaged_file_is_an_error() {
    let room = TempDir::new().unwrap();
    let folder = packed(room.path(), &[A]);
    let path = folder.join(format!("{A}.zip"));
    let whole = fs::read(&path).unwrap();
    let at = |of: &[u8]| whole.windows(of.len()).position(|bytes| bytes == of).unwrap();
    // The content begins after the name of the file.
    let middle = at(b"jobs.csv") + "jobs.csv".len() + 4;
    let mut bytes = whole.clone();
    bytes[middle..middle + 4].fill(0);
    fs::write(&path, bytes).unwrap();
    let error = text(&packs(&folder).get(A).unwrap(), "jobs.csv").unwrap_err();
    assert!(
        matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput),
        "{error}"
    );
}

#[test]
fn a_file_that_would_leave_its_folder_is_refused() {
    let room = TempDir::new().unwrap();
    let mut zip = ZipWriter::new(File::create(room.path().join("x.zip")).unwrap());
    for name in [format!("{A}/../../x"), format!("{A}/{RESOLVED}")] {
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
    }
    zip.finish().unwrap();
    let run = RunPlace::Packed(packs(room.path()).get(A).unwrap());
    let refused = run.copy_into(&room.path().join("to")).unwrap_err();
    assert!(matches!(refused, OutputError::Read { .. }), "{refused}");
    assert!(!room.path().join("to").exists());
}

#[test]
fn files_that_are_no_packs_are_passed_over() {
    let room = TempDir::new().unwrap();
    let whole = fs::read(packed(room.path(), &[A]).join(format!("{A}.zip"))).unwrap();
    let folder = room.path().join("wild");
    fs::create_dir(&folder).unwrap();
    let mut end = b"PK\x05\x06".to_vec();
    for (name, bytes) in [
        ("empty.zip", &b""[..]),
        ("text.zip", b"not a pack"),
        ("end.zip", b"PK\x05\x06"),
        ("half.zip", &whole[..whole.len() / 2]),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    // The end of an index of many files, at an offset far behind the file.
    end.extend([0, 0, 0, 0, 9, 0, 9, 0]);
    end.extend([0xff; 8]);
    end.extend([0, 0]);
    fs::write(folder.join("wild.zip"), end).unwrap();
    assert!(packs(&folder).is_empty());
}
