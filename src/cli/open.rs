//! `--open`: the page that a command has written, in the viewer of the system.

use std::path::Path;
use std::process::{Command, Stdio};

use super::terminal;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[expect(missing_docs, reason = "clap would show them as those of the command")]
pub struct OpenOption {
    /// Show the page when it is written
    #[arg(long)]
    open: bool,
}

/// The programs that show a file in the viewer that the user has chosen for it.
const VIEWERS: [&str; 2] = ["xdg-open", "open"];

impl OpenOption {
    /// Shows a page, if the option is given. Without a viewer only a warning is printed: the results
    /// are written already.
    pub fn show(self, page: &Path) {
        if !self.open {
            return;
        }
        let opened = VIEWERS.iter().any(|viewer| {
            let mut command = Command::new(viewer);
            command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        });
        if !opened {
            let shown = page.display();
            terminal::warn(&format!("no program to show {shown}; open it in a browser"));
        }
    }
}
