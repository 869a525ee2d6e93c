//! `mumakil py`: a Python module that loads what Mumakil leaves.
//!
//! A file and not a package: it belongs beside the notebook that imports it, and to the version that
//! wrote the results.

use std::io::Write as _;
use std::path::PathBuf;

use super::failure::Failure;
use super::lines::Lines;
use super::{file, terminal};

const MODULE: &str = include_str!("py/mumakil.py");

/// Write a Python module that loads results into pandas or polars, and draws them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mumakil run quickstart && mumakil py
  python3 -c 'import mumakil; print(mumakil.load_run(\"out/quickstart-42\").jobs)'
  python3 mumakil.py out/quickstart-42 pictures")]
pub(super) struct Arguments {
    /// Where to write it; `-` prints it
    #[arg(short, long, value_name = "FILE", default_value = "mumakil.py")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.out.as_os_str() == "-" {
            return Ok(terminal::print_file(MODULE)?);
        }
        file::write(&self.out, self.force, |to| to.write_all(MODULE.as_bytes()))?;
        let wrote = format!("wrote {}", self.out.display());
        Ok(terminal::print(&Lines::of(wrote))?)
    }
}
