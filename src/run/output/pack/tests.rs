//! Packs that were cut off or damaged, or that another process fills, give only complete runs.

use std::fs;

use tempfile::TempDir;

use super::*;

const A: &str = "00000000000000aa";
const B: &str = "00000000000000bb";
const C: &str = "00000000000000cc";

/// Makes the folder of a run, with a table that deflates well and a table that does not.
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

fn runs(room: &Path) -> PathBuf {
    room.join("runs")
}

/// Packs these runs, each by a writer of its own; the last writer does not close its pack.
fn pack(room: &Path, ids: &[&str]) {
    for (place, id) in ids.iter().enumerate() {
        let mut packer = Packer::new(&runs(room), "part");
        assert!(packer.add(id, &run(room, id)).unwrap());
        if place + 1 < ids.len() {
            packer.close().unwrap();
        }
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn packs(room: &Path) -> Packs {
    let mut packs = Packs::default();
    packs.refresh(&runs(room), &names(&runs(room))).unwrap();
    packs
}

#[cfg(unix)]
#[test]
fn a_named_pipe_is_no_pack() {
    let room = TempDir::new().unwrap();
    fs::create_dir(runs(room.path())).unwrap();
    let pipe = runs(room.path()).join("x.zip");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let found = Packs::default().refresh(&runs(room.path()), &["x.zip".to_owned()]);
    let Err(OutputError::Read { source, .. }) = found else { panic!("{found:?}") };
    assert!(source.to_string().contains("not a regular file"), "{source}");
}

fn text(run: &PackedRun, name: &str) -> io::Result<String> {
    io::read_to_string(run.open(name)?)
}

/// Returns the ids of the packed runs; checks that each run is packed as it was made.
fn kept(room: &Path) -> Vec<&'static str> {
    let packs = packs(room);
    let mut found = Vec::new();
    for id in [A, B, C] {
        let Some(run) = packs.get(id) else { continue };
        for name in ["summary.json", "jobs.csv", "histograms/x.hgrm", RESOLVED] {
            let made = fs::read_to_string(room.join("made").join(id).join(name)).unwrap();
            assert_eq!(text(&run, name).unwrap(), made, "{id}/{name}");
        }
        assert!(!run.has("tasks.csv").unwrap());
        assert_eq!(text(&run, "tasks.csv").unwrap_err().kind(), io::ErrorKind::NotFound);
        found.push(id);
    }
    assert_eq!(packs.runs.len(), found.len());
    found
}

#[test]
fn runs_are_read_back_with_an_index_and_without() {
    let room = TempDir::new().unwrap();
    pack(room.path(), &[A, B]);
    assert_eq!(kept(room.path()), [A, B]);
    seal(&runs(room.path()), &names(&runs(room.path()))).unwrap();
    assert_eq!(kept(room.path()), [A, B]);
    pack(room.path(), &[C]);
    assert_eq!(kept(room.path()), [A, B, C]);
}

#[test]
fn who_looks_again_sees_what_has_been_added() {
    let room = TempDir::new().unwrap();
    let mut packer = Packer::new(&runs(room.path()), "part");
    packer.add(A, &run(room.path(), A)).unwrap();
    let mut packs = packs(room.path());
    packer.add(B, &run(room.path(), B)).unwrap();
    assert!(packs.get(B).is_none());
    let mut refresh = || packs.refresh(&runs(room.path()), &names(&runs(room.path()))).unwrap();
    refresh();
    packer.close().unwrap();
    refresh();
    assert_eq!(packs.runs.len(), 2);
    assert_eq!(text(&packs.get(B).unwrap(), RESOLVED).unwrap(), format!("name: {B}\n"));
}

/// A file of the run was removed before it was packed, or the pack was changed.
#[test]
fn a_run_without_its_first_or_last_file_is_not_kept() {
    let room = TempDir::new().unwrap();
    for lost in [SUMMARY, RESOLVED] {
        let folder = run(room.path(), B);
        fs::remove_file(folder.join(lost)).unwrap();
        let refused = Packer::new(&runs(room.path()), "part").add(B, &folder).unwrap_err();
        assert!(refused.to_string().ends_with(&format!("{B}/{lost}")), "{refused}");
    }
    pack(room.path(), &[A, B, C]);
    let path = runs(room.path()).join("part.zip");
    let named = format!("{B}/{SUMMARY}");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(named.len()).position(|name| name == named.as_bytes()).unwrap();
    bytes[at + named.len() - 1] = b'_';
    fs::write(&path, &bytes).unwrap();
    assert_eq!(kept(room.path()), [A, C]);
    // A run that comes later is kept.
    pack(room.path(), &[B]);
    assert_eq!(kept(room.path()), [A, B, C]);
}

/// A process is killed at any byte: complete runs are kept, and the next writer cuts off the rest.
#[test]
fn a_pack_that_ends_anywhere_has_its_whole_runs_and_goes_on() {
    let room = TempDir::new().unwrap();
    pack(room.path(), &[A, B, C]);
    let path = runs(room.path()).join("part.zip");
    // The third run overwrites the index of the first two runs; `seal` then writes the index of all
    // three.
    seal(&runs(room.path()), &names(&runs(room.path()))).unwrap();
    let whole = fs::read(&path).unwrap();
    let ends: Vec<usize> = packs(room.path()).runs.values().map(|spot| spot.to as usize).collect();
    for length in 0..=whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let left = ends.iter().filter(|end| **end <= length).count();
        assert_eq!(kept(room.path()), [A, B, C][..left], "{length} bytes");
        if length % 7 == 0 && left < 3 {
            pack(room.path(), &[A, B, C][left..]);
            assert_eq!(kept(room.path()), [A, B, C], "{length} bytes and more");
        }
    }
}

#[test]
fn what_a_loss_of_power_has_spoiled_is_told_and_not_kept_by_who_goes_on() {
    let room = TempDir::new().unwrap();
    pack(room.path(), &[A, B]);
    let path = runs(room.path()).join("part.zip");
    // The index is cut off, as if the pack were never closed.
    let mut bytes = fs::read(&path).unwrap();
    let middle = (packs(room.path()).get(B).unwrap().from + 60) as usize;
    bytes[middle..middle + 4].fill(0);
    fs::write(&path, bytes).unwrap();
    let error = text(&packs(room.path()).get(B).unwrap(), "summary.json").unwrap_err();
    assert!(
        matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput),
        "{error}"
    );
    pack(room.path(), &[C]);
    assert_eq!(kept(room.path()), [A, C]);
}

#[test]
fn a_pack_in_which_somebody_writes_is_left_to_him() {
    let room = TempDir::new().unwrap();
    let [mut one, mut other] = [(); 2].map(|()| Packer::new(&runs(room.path()), "part"));
    one.add(A, &run(room.path(), A)).unwrap();
    other.add(B, &run(room.path(), B)).unwrap();
    let mut both = names(&runs(room.path()));
    both.sort_unstable();
    assert_eq!(both, ["part-2.zip", "part.zip"]);
    // `seal` does not close a pack that another process fills.
    let before = fs::read(runs(room.path()).join("part.zip")).unwrap();
    seal(&runs(room.path()), &both).unwrap();
    assert_eq!(fs::read(runs(room.path()).join("part.zip")).unwrap(), before);
    assert_eq!(kept(room.path()), [A, B]);
}

#[test]
fn runs_go_from_pack_to_pack_and_back_to_folders() {
    let room = TempDir::new().unwrap();
    pack(room.path(), &[A, B]);
    let other = TempDir::new().unwrap();
    let mut packer = Packer::new(&runs(other.path()), "merged");
    packer.take(&packs(room.path()).get(A).unwrap()).unwrap();
    packer.close().unwrap();
    run(other.path(), A);
    assert_eq!(kept(other.path()), [A]);
    let folder = other.path().join("unpacked");
    packs(other.path()).get(A).unwrap().unpack(&folder).unwrap();
    let all = |folder: &Path| {
        let mut all = Vec::new();
        for name in ["summary.json", "jobs.csv", "histograms/x.hgrm", RESOLVED] {
            all.push(fs::read(folder.join(name)).unwrap());
        }
        all
    };
    assert_eq!(all(&folder), all(&other.path().join("made").join(A)));
}

#[test]
fn what_is_no_pack_of_ours_is_passed_over() {
    let room = TempDir::new().unwrap();
    fs::create_dir(runs(room.path())).unwrap();
    for (name, bytes) in
        [("empty.zip", &b""[..]), ("text.zip", b"not a pack"), ("end.zip", b"PK\x05\x06")]
    {
        fs::write(runs(room.path()).join(name), bytes).unwrap();
    }
    fs::write(runs(room.path()).join("none.zip"), zip::end(0, 0, 0)).unwrap();
    fs::write(runs(room.path()).join("wild.zip"), zip::end(9, u32::MAX, u32::MAX)).unwrap();
    assert!(packs(room.path()).runs.is_empty());
}
