//! Settings that somebody has written and that change nothing as the others are.
//!
//! What presets bring is nobody's word, so of that nothing is told.

use super::{Checked, Warning, options_of};
use crate::fault::Fault;
use crate::scenario::{Scenario, SchedulerChoice};
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::NetworkModel;
use mumakil_core::mapred::{Auto, CommitPending};
use mumakil_yaml::Path;

/// Why settings change nothing.
struct Cause {
    /// The settings; `[]` stands for each entry of a list.
    settings: &'static [&'static str],
    /// Whether it is so.
    holds: fn(&Scenario) -> bool,
    /// The cause in words.
    why: &'static str,
    /// What would let them matter.
    cure: &'static str,
}

/// All that is known to leave settings without effect.
const CAUSES: [Cause; 10] = [
    Cause {
        settings: &["cluster.network.fabric", "cluster.page_cache", "cluster.disk.count"],
        holds: |scenario| !shares_transfers(scenario),
        why: "transfers share nothing",
        cure: "set cluster.network.model to `shared`",
    },
    Cause {
        settings: &["cluster.network.pods"],
        // Messages may take longer between pods whatever transfers do.
        holds: |scenario| {
            let pods = scenario.cluster.network.pods.as_ref();
            !shares_transfers(scenario) && pods.is_some_and(|pods| pods.latency.is_none())
        },
        why: "transfers share nothing",
        cure: "set cluster.network.model to `shared`",
    },
    Cause {
        settings: &["cluster.network.rack", "cluster.network.off_rack"],
        holds: shares_transfers,
        why: "transfers share what disks, NICs and uplinks carry",
        cure: "set cluster.network.model to `fixed`",
    },
    Cause {
        settings: &["cluster.cores", "cluster.groups[].cores"],
        holds: |scenario| !scenario.cluster.contention,
        why: "each attempt has a core of its own",
        cure: "set cluster.contention to `true`",
    },
    Cause {
        settings: &["hadoop.heartbeat_growth", "hadoop.heartbeats_per_second"],
        holds: |scenario| scenario.hadoop.heartbeat != Auto::Auto,
        why: "the interval of heartbeats is constant",
        cure: "set hadoop.heartbeat to `auto`",
    },
    Cause {
        settings: &["hadoop.heartbeat_floor"],
        // In 1.x trackers that come back wait so long.
        holds: |scenario| {
            let hadoop = &scenario.hadoop;
            hadoop.heartbeat != Auto::Auto && hadoop.first_wait() == SimSpan::ZERO
        },
        why: "the interval of heartbeats is constant",
        cure: "set hadoop.heartbeat to `auto`",
    },
    Cause {
        settings: &["hadoop.rpc_timeout"],
        holds: |scenario| !scenario.faults.iter().any(Fault::disturbs_messages),
        why: "no message is ever lost, late or doubled",
        cure: "add such a fault",
    },
    Cause {
        settings: &["hadoop.setup_time"],
        holds: |scenario| !scenario.hadoop.setup_cleanup,
        why: "jobs have no setup",
        cure: "set hadoop.setup_cleanup to `true`",
    },
    Cause {
        settings: &["hadoop.cleanup_time"],
        holds: |scenario| !scenario.hadoop.setup_cleanup && !scenario.hadoop.task_cleanup,
        why: "neither jobs nor attempts are cleaned up",
        cure: "set hadoop.setup_cleanup to `true`",
    },
    Cause {
        settings: &["hadoop.commit_time"],
        holds: |scenario| scenario.hadoop.commit_pending == CommitPending::None,
        why: "no attempt waits for its commit",
        cure: "choose another hadoop.commit_pending",
    },
];

fn shares_transfers(scenario: &Scenario) -> bool {
    scenario.cluster.network.model == NetworkModel::Shared
}

/// Returns the settings that may change nothing.
pub(in crate::scenario) fn settings() -> impl Iterator<Item = &'static str> {
    CAUSES.iter().flat_map(|cause| cause.settings).copied()
}

/// Returns whether a setting is written; `wrote` knows of each path.
pub(in crate::scenario) fn is_written(setting: &str, wrote: impl Fn(&Path) -> bool) -> bool {
    match setting.split_once("[]") {
        None => wrote(&Path::of(setting)),
        Some((list, field)) => {
            let entry = |number| Path::of(&format!("{list}[{number}]"));
            let mut entries = (0..).map(entry).take_while(|entry| wrote(entry));
            entries.any(|entry| wrote(&entry.join(&Path::of(&field[1..]).0)))
        }
    }
}

/// Warns of what was written in a section and changes nothing.
pub(super) fn check(
    section: &str,
    scenario: &Scenario,
    wrote: &impl Fn(&Path) -> bool,
    found: &mut Checked,
) {
    for Cause { settings, holds, why, cure } in &CAUSES {
        let of_section = settings.iter().filter(|setting| setting.starts_with(section));
        let idle = of_section.filter(|setting| holds(scenario) && is_written(setting, wrote));
        let warning = |setting: &&str| Warning::Idle {
            setting: (*setting).to_owned(),
            why,
            cure: (*cure).to_owned(),
        };
        found.warnings.extend(idle.map(warning));
    }
}

/// Warns of what was written in the options of sources and changes nothing.
pub(super) fn check_sources(
    scenario: &Scenario,
    wrote: &impl Fn(&Path) -> bool,
    found: &mut Checked,
) {
    let heeds_bytes = heeds_bytes(scenario);
    for source in &scenario.workload.sources {
        let at = options_of(&**source);
        for (path, why, cure) in source.idle_options(heeds_bytes) {
            let path = at.join(&path.0);
            if wrote(&path) {
                let (setting, cure) = (path.to_string(), cure.to_owned());
                found.warnings.push(Warning::Idle { setting, why, cure });
            }
        }
    }
}

/// Returns whether a policy may go by the bytes that reduces fetch, also where it is said how long that
/// takes: to tell how large jobs are, or which reduces would wait. What a policy of somebody's own does
/// is not known.
pub(super) fn heeds_bytes(scenario: &Scenario) -> bool {
    const HEEDLESS: [&str; 11] = [
        "fifo",
        "naive-fair",
        "fair-skip",
        "fair",
        "fair-deficit",
        "modified-fair",
        "capacity",
        "ps",
        "fsp",
        "srpt",
        "external",
    ];
    let heeds = |choice: &SchedulerChoice| {
        let fetches = choice.options.get("srt").and_then(|srt| srt.get("shuffle_rate"));
        fetches.is_some() || !HEEDLESS.contains(&&*choice.name)
    };
    scenario.policies().any(heeds)
}
