//! The names of runs: hashes of everything that decides their results.

use indexmap::IndexMap;
use serde_yaml::{Mapping, Value};
use sha2::{Digest, Sha256};

use mumakil_core::trace::hex;
use mumakil_run::MODEL;

/// The hash that names a cell's runs, computed up to the seed. The hash leaves out the study's name
/// and description, which change no result.
pub(super) struct Identity {
    /// The hash of everything before the seed.
    before: Sha256,
    /// The YAML text after the seed.
    behind: String,
}

/// For each key of a scenario, its latest value and the YAML text of that value. The next cell
/// mostly has the same value, and its text need not be made again.
#[derive(Default)]
pub(super) struct KeyTexts(IndexMap<Value, (Value, String)>);

impl KeyTexts {
    /// Returns a key with its value as YAML.
    pub(super) fn of(&mut self, key: &Value, value: &Value) -> &str {
        if self.0.get(key).is_none_or(|(known, _)| known != value) {
            let entry = Mapping::from_iter([(key.clone(), value.clone())]);
            let text = serde_yaml::to_string(&entry).expect("a tree can be written as YAML");
            self.0.insert(key.clone(), (value.clone(), text));
        }
        &self.0[key].1
    }
}

impl Identity {
    /// Returns the hash for the runs of a scenario; `written` is its YAML.
    pub(super) fn of(written: &Mapping, program: Option<&str>, texts: &mut KeyTexts) -> Self {
        // The hashed YAML of every scenario begins with these bytes. They are fixed, so all runs of
        // a cell can share the hash of everything before the seed.
        const BEFORE: &str = "name: run\ndescription: ''\nseed: ";
        let mut behind = "\n".to_owned();
        for (key, value) in written {
            if !["name", "description", "seed"].iter().any(|before| key == before) {
                behind += texts.of(key, value);
            }
        }
        let mut before = Sha256::new();
        let model = MODEL.to_string();
        for part in [env!("CARGO_PKG_VERSION"), &*model, program.unwrap_or_default()] {
            before.update(part);
            // Put a zero byte between the parts: `1.0` + `x` must not get the hash of `1.` + `0x`.
            before.update([0]);
        }
        before.update(BEFORE);
        Self { before, behind }
    }

    /// Returns the name of the run with a seed.
    pub(super) fn with(&self, seed: u64) -> String {
        let mut hash = self.before.clone();
        hash.update(seed.to_string());
        hash.update(&self.behind);
        hash.update([0]);
        // With 64 bits, the chance that two of a million runs share a name is one in 37 million.
        hex(&hash.finalize()[..8])
    }
}
