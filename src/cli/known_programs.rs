//! The programs of which users were warned: a file in the user's own folder for such things.
//!
//! A policy of one's own is run again and again, and a scenario from somebody else is new. So Mumakil
//! warns of a program when it first hears of it, and again if its command or the place of its files
//! is another.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};

use mumakil_core::trace::hex;
use mumakil_run::output::{AsideFile, OutputError, ReplacedFiles};

/// How many programs are remembered.
// Chosen: more than a person writes; without a limit, the file of a test machine would grow forever.
const MOST: usize = 1_000;

/// The programs that this process has remembered.
static KNOWN_HERE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Remembers a program. Returns whether it was known. `located` is its command, with absolute paths
/// for files.
pub fn remember(located: &[String]) -> bool {
    let id = hex(&Sha256::digest(located.join("\0")));
    // Where there is no folder for the file, warn at least once in each process.
    if !KNOWN_HERE.lock().insert(id.clone()) {
        return true;
    }
    let Some(file) = file() else { return false };
    let text = fs::read_to_string(&file).unwrap_or_default();
    let mut known: Vec<&str> = text.lines().collect();
    if known.contains(&&*id) {
        return true;
    }
    known.push(&id);
    let latest = known[known.len().saturating_sub(MOST)..].join("\n") + "\n";
    // Without such a folder, as in a container, the user is warned each time.
    let _ = AsideFile::create(&file, ReplacedFiles::Anything).and_then(|mut aside| {
        let wrote = aside.file().write_all(latest.as_bytes());
        wrote.map_err(|source| OutputError::Write { path: file.clone(), source })?;
        aside.put()
    });
    false
}

/// Returns the file with the known programs; `None` if the user has no folder for it.
fn file() -> Option<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let named = folder("XDG_STATE_HOME").or_else(|| folder("LOCALAPPDATA"));
    let state = named.or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("mumakil").join("programs"))
}
