//! `mumakil reference`: what a key of a scenario or study takes, and what it means.

use super::failure::Failure;
use super::{markdown, pager, terminal};
use crate::scenario::{Reference, Registry};
use crate::study;

/// So many likely keys are named at most: `w1` alone is one of a dozen policies.
const FEW: usize = 3;

/// Look up a key of scenarios and studies: what it takes, its default, what it means
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil reference cluster.hdfs
  mumakil reference workload.jobs
  mumakil reference scheduler.fair")]
pub(super) struct Arguments {
    /// The key, with all keys inside it; without, all there are
    key: Option<String>,
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        // The schema of studies has the keys of scenarios, too.
        let all = Reference::of(&study::schema(registry));
        let part = match &self.key {
            None => all.clone(),
            // A study calls an axis by the path of its field.
            Some(key) => match (all.part(key), key.strip_prefix("sweep.")) {
                (Ok(part), _) => part,
                (Err(like), None) => return Err(unknown(key, &like)),
                (Err(_), Some(field)) => all.part(field).map_err(|like| unknown(field, &like))?,
            },
        };
        Ok(pager::print(&markdown::shown(&part.markdown(), terminal::width()))?)
    }
}

fn unknown(key: &str, like: &[&str]) -> Failure {
    let like: Vec<String> = like.iter().take(FEW).map(|key| format!("`{key}`")).collect();
    let hint = match like.split_last() {
        Some((last, [])) => format!("did you mean {last}?"),
        Some((last, others)) => format!("did you mean {} or {last}?", others.join(", ")),
        None => "`mumakil reference` lists all keys".to_owned(),
    };
    Failure::input(format!("unknown key `{key}`\n   = {hint}"))
}
