//! `mumakil trace anonymise`: a log without names, so that it can be shared.
//!
//! ```text
//! user ann, host /rack-1/node7.corp      --key "our secret"   user-5f0c…, /rack-93aa…/host-17be…
//! the same name, key and kind            in any log           the same pseudonym
//! ```
//! Times, sizes and outcomes stay, and the ids of jobs, which have the JobTracker's start in them. Of
//! configurations only numbers and Hadoop's own classes stay: other values may be names or paths.

use std::io;
use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

use crate::format::LOGS;
use mumakil_cli::failure::Failure;
use mumakil_cli::{Program, TraceOutput};
use mumakil_core::trace::{Records, Strictness, hex};
use mumakil_traces::rumen::LoggedJob;

/// Take the names out of a log: of jobs, users, queues, racks and hosts
///
/// A name becomes a pseudonym by a key, the same one in every log with this key, so that pools and
/// hosts can still be told apart. Nobody can find a name by trial without the key: do not share it.
/// Times, sizes and outcomes stay, and the ids of jobs. The result is a job trace of Rumen, of which
/// predictions are made as of the log.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace anonymise history/done --key 'nobody knows' -o shared.json.gz
  mumakil predict shared.json.gz")]
pub(super) struct TraceAnonymiseArguments {
    /// A job history of Hadoop (a file, or a folder of them), or a job trace of Rumen
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// The secret text that decides the pseudonyms
    #[arg(long, value_name = "TEXT")]
    key: String,
    /// Leave broken jobs out instead of stopping at the first
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    output: TraceOutput,
}

/// The pseudonyms of a key.
struct Pseudonyms<'k> {
    key: &'k str,
}

impl TraceAnonymiseArguments {
    pub(super) fn run(self, _: &Program) -> Result<(), Failure> {
        if self.key.is_empty() {
            return Err(Failure::input("--key is empty: anybody could find the names by trial"));
        }
        let strictness = Strictness::of(self.lenient);
        let mut records = Records::<LoggedJob>::open_with(&self.log, strictness, Some(&LOGS))?;
        records.forget_hash();
        records.allow_unordered();
        records.allow_repeated_ids();
        let pseudonyms = Pseudonyms { key: &self.key };
        let mut broken = None;
        let written = self.output.write(|to| {
            for read in records {
                let mut job = read.map_err(|error| {
                    let text = error.to_string();
                    broken = Some(error);
                    io::Error::other(text)
                })?;
                pseudonyms.put_into(&mut job);
                serde_json::to_writer(&mut *to, &job)?;
                writeln!(to)?;
            }
            Ok(())
        });
        // A broken job is told with its place, and not as a file that cannot be written.
        broken.map_or(written, |error| Err(error.into()))
    }
}

impl Pseudonyms<'_> {
    fn of(&self, kind: &str, name: &str) -> String {
        let Self { key } = self;
        let hash = Sha256::digest(format!("{}\0{key}\0{kind}\0{name}", key.len()));
        format!("{kind}-{}", &hex(&hash)[..12])
    }

    fn put_into(&self, job: &mut LoggedJob) {
        let names =
            [("job", &mut job.job_name), ("user", &mut job.user), ("queue", &mut job.queue)];
        for (kind, name) in names {
            *name = name.as_deref().map(|name| self.of(kind, name));
        }
        job.job_properties.retain(|_, value| {
            value.parse::<f64>().is_ok()
                || ["true", "false"].contains(&&**value)
                || value.starts_with("org.apache.hadoop.")
        });
        let tasks = job.map_tasks.iter_mut().chain(&mut job.reduce_tasks);
        for task in tasks.chain(&mut job.other_tasks) {
            let attempts = task.attempts.iter_mut();
            let locations = attempts.filter_map(|attempt| {
                attempt.host_name = attempt.host_name.as_deref().map(|host| self.place(host));
                attempt.location.as_mut()
            });
            for location in locations.chain(&mut task.preferred_locations) {
                let layers = location.layers.iter_mut().zip(["rack", "host", "host"]);
                layers.for_each(|(layer, kind)| *layer = self.of(kind, &plain(layer)));
            }
        }
    }

    /// Returns the pseudonym of a host with the racks before it, such as `/rack-1/node7`.
    fn place(&self, host: &str) -> String {
        let host = plain(host);
        match host.rsplit_once('/') {
            Some((racks, host)) => {
                let racks = racks.split('/').map(|rack| match rack {
                    "" => String::new(),
                    rack => self.of("rack", rack),
                });
                format!("{}/{}", racks.collect::<Vec<_>>().join("/"), self.of("host", host))
            }
            None => self.of("host", &host),
        }
    }
}

/// Returns a name without the backslashes that some traces put before points and slashes.
fn plain(name: &str) -> String {
    name.replace('\\', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_pseudonym_of_each_key_and_kind() {
        let [one, other] = ["a", "b"].map(|key| Pseudonyms { key });
        assert_eq!(one.of("user", "ann"), one.of("user", "ann"));
        assert_ne!(one.of("user", "ann"), one.of("user", "bob"));
        assert_ne!(one.of("user", "ann"), other.of("user", "ann"));
        let host = one.of("host", "h1.example");
        assert_eq!(one.place("/r1/h1\\.example"), format!("/{}/{host}", one.of("rack", "r1")));
        assert_eq!(one.place("h1.example"), host);
    }
}
