//! `mumakil trace cluster`: the cluster that the log of its jobs shows.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::cluster::{LogReading, LoggedCluster};
use mumakil_base::shell::quoted_path;
use mumakil_base::units::tell::counted;
use mumakil_cli::failure::Failure;
use mumakil_cli::lines::TerminalLines;
use mumakil_cli::table::{Align, table};
use mumakil_cli::{Program, file, terminal};
use mumakil_core::trace::Strictness;

/// Infer a cluster from the log of its jobs: nodes, slots, heartbeats, times, policy
///
/// The log is a job history of Hadoop (a file, or a folder of them) or a job trace of Rumen. Each
/// setting tells how sure it is: `said` in the jobs' configurations, `measured`, measured but `at
/// least` so much, or `assumed`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil trace cluster history/done
  mumakil trace cluster jobs.json.gz -o cluster.yaml && mumakil run cluster.yaml")]
pub(super) struct TraceClusterArguments {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Also write a scenario that replays the log on the cluster, and its topology beside it
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the files if they exist
    #[arg(long)]
    force: bool,
    /// Leave broken jobs out instead of stopping at the first
    #[arg(long)]
    lenient: bool,
}

impl TraceClusterArguments {
    pub(super) fn run(self, _: &Program) -> Result<(), Failure> {
        let reading = LogReading::read(&self.log, 1.0, Strictness::of(self.lenient))?;
        let mut lines = summary_lines(&self.log, &reading.cluster);
        if let Some(out) = &self.out {
            let topology =
                write_cluster(out, &self.log, &reading.cluster, self.lenient, self.force)?;
            lines.line(format!(
                "wrote {} and {} (run it: mumakil run {})",
                out.display(),
                topology.display(),
                quoted_path(out)
            ));
        }
        Ok(terminal::print(&lines)?)
    }
}

fn summary_lines(log: &Path, cluster: &LoggedCluster) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let about = format!("   inferred from {}", counted(cluster.jobs as u64, "job"));
    lines.bold(log.display().to_string(), about);
    let settings = cluster.settings.iter().map(|setting| {
        let (path, value) = (setting.path.to_owned(), setting.value.clone());
        vec![path, value, setting.sure.word().to_owned(), setting.reason.clone()]
    });
    let rows: Vec<Vec<String>> = settings.collect();
    lines += table(&rows, &[Align::Left; 4]);
    for missing in &cluster.missing {
        lines.line(format!("  not in the log: {}", missing.text));
    }
    lines
}

/// Writes a scenario that replays a log on its cluster, `lenient` or not, and the topology beside it;
/// with `force` over other files. Returns the path of the topology.
pub(super) fn write_cluster(
    out: &Path,
    log: &Path,
    cluster: &LoggedCluster,
    lenient: bool,
    force: bool,
) -> Result<PathBuf, Failure> {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let topology = PathBuf::from(format!("{stem}-topology.json"));
    let beside = out.with_file_name(&topology);
    // The scenario's paths begin at its folder.
    let is_here = out.parent().is_none_or(|folder| folder == Path::new(""));
    let log = match is_here {
        true => log.to_owned(),
        false => std::path::absolute(log).map_err(|error| file::cannot(out, error))?,
    };
    if let Some(there) = [out, &beside].into_iter().find(|path| !force && path.exists()) {
        return Err(file::exists(there));
    }
    file::write(&beside, force, |to| cluster.topology.write_to(to))?;
    let text = cluster.scenario(&stem, &log, &topology, lenient);
    file::write(out, force, |to| to.write_all(text.as_bytes()))?;
    Ok(beside)
}
