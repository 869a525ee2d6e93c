//! A run's digest: a hash of its result files.

use std::fmt;
use std::io::{self, BufRead};

use sha2::{Digest as _, Sha256};

use crate::record::in_micros;
use mumakil_base::files::HISTOGRAM;
use mumakil_core::trace::hex;

/// Sixteen consonants that are easy to distinguish on a bad telephone line, and five vowels: the
/// letters of proquints (Wilkerson, 2009), with one more vowel.
const CONSONANTS: &[u8; 16] = b"bdfghjklmnprstvz";
const VOWELS: &[u8; 5] = b"aeiou";

/// The SHA-256 of the names and bytes of all result files. The resolved scenario is left out, so a
/// run of a trace and a run of the same trace gzipped have the same digest.
///
/// Prints as four syllables, such as `jetaniro`. There are 41 million such words: enough to compare
/// two runs, too few to identify every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(pub(super) [u8; 32]);

impl Digest {
    /// Returns the whole hash as hexadecimal digits.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = self.0.first_chunk().expect("a hash has more than eight bytes");
        // The first eight bytes suffice: the word has 80 to the power of 4 values, about 25 bits.
        let mut rest = u64::from_be_bytes(*head);
        for letters in [&CONSONANTS[..], VOWELS].repeat(4) {
            let count = letters.len() as u64;
            write!(f, "{}", char::from(letters[(rest % count) as usize]))?;
            rest /= count;
        }
        Ok(())
    }
}

/// Reads a file of a run to its end and hashes its name and bytes. The length of each comes first, so
/// that different files never give the hash the same input.
pub(super) fn add(
    hash: &mut Sha256,
    name: &str,
    length: u64,
    bytes: &mut impl BufRead,
) -> io::Result<()> {
    // The unit of a table is no result.
    let is_table = name.ends_with(HISTOGRAM);
    let table = if is_table { in_micros(&io::read_to_string(&mut *bytes)?) } else { String::new() };
    let length = if is_table { table.len() as u64 } else { length };
    hash.update((name.len() as u64).to_be_bytes());
    hash.update(name);
    hash.update(length.to_be_bytes());
    hash.update(table);
    loop {
        let some = bytes.fill_buf()?;
        if some.is_empty() {
            return Ok(());
        }
        hash.update(some);
        let count = some.len();
        bytes.consume(count);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::RunChecksums;
    use super::*;

    fn digest(files: &[(&str, &str)]) -> Digest {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("histograms")).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        RunChecksums::of(folder.path(), None).unwrap().0
    }

    #[test]
    fn a_digest_is_eight_letters_to_be_read_aloud() {
        let digest = digest(&[("jobs.csv", "job\n0\n"), ("histograms/job_wait.hgrm", "1 2 3")]);
        assert_eq!(digest.to_string(), "jetaniro");
        assert_eq!(digest.hex().len(), 64);
    }

    #[test]
    fn every_name_and_every_byte_counts() {
        let one = digest(&[("a", "1"), ("b", "2")]);
        assert_eq!(one, digest(&[("b", "2"), ("a", "1")]));
        assert_ne!(one, digest(&[("a", "1"), ("b", "3")]));
        assert_ne!(one, digest(&[("a", "1"), ("c", "2")]));
        assert_ne!(one, digest(&[("a", "12"), ("b", "")]));
        assert_ne!(one, digest(&[("a", "1"), ("histograms/b", "2")]));
    }

    #[test]
    fn differences_between_machines_do_not_count() {
        let run = |wall| digest(&[("jobs.csv", "job\n"), ("perf.json", wall)]);
        assert_eq!(run("0.1 s"), run("0.2 s"));
    }

    #[test]
    fn how_results_are_shown_does_not_count() {
        let run = |report| digest(&[("jobs.csv", "job\n"), ("report.html", report)]);
        assert_eq!(run("<p>"), run("<b>"));
    }
}
