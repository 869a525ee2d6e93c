//! The calls that a policy may make to the system: those with which a program of any language
//! computes, reads its files and answers. All others fail, or end the policy.
//!
//! ```text
//! allowed   compute, read, answer, threads                 arguments checked where they matter
//! absent    newer calls whose arguments no filter can see  ENOSYS: programs use older ones instead
//! deadly    another process, a file to write               the policy ends: it is wrong
//! others    what runtimes try, and do without: a network   EPERM
//! ```
//! A list of what is allowed stays right when a system gets further calls.

use std::io;

use seccompiler::{BpfProgram, TargetArch, apply_filter, compile_from_json};
use serde::Deserialize;
use serde_json::{Value, json};

/// The commands of `fcntl` that concern only the process itself: no locks, leases and signals.
const FCNTL: [i32; 6] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
];
/// The commands of `ioctl` that ask, or that concern only the process itself.
const IOCTL: [u64; 7] = [
    libc::TCGETS,
    // `TCGETS2` of newer C libraries.
    0x802c_542a,
    libc::TIOCGWINSZ,
    libc::FIONREAD,
    libc::FIONBIO,
    libc::FIOCLEX,
    libc::FIONCLEX,
];
/// The commands of `prctl` that ask, or that name a thread or its memory.
const PRCTL: [i32; 7] = [
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_VMA,
    libc::PR_GET_DUMPABLE,
    libc::PR_CAPBSET_READ,
    libc::PR_GET_TIMERSLACK,
    libc::PR_SET_THP_DISABLE,
];

/// The names of the calls whose arguments do not matter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallLists {
    allowed: Vec<String>,
    allowed_of_x86_64: Vec<String>,
    absent: Vec<String>,
    deadly: Vec<String>,
    deadly_of_x86_64: Vec<String>,
}

/// Leaves only the allowed calls to this thread. Returns `false` if the system or the processor has
/// no filters.
pub(super) fn filter() -> io::Result<bool> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(false);
    };
    for program in programs(arch).map_err(io::Error::other)? {
        if let Err(error) = apply_filter(&program) {
            // A system without filters, or one that hides them, lacks a part: the score says so.
            return match error {
                seccompiler::Error::Seccomp(_) | seccompiler::Error::Prctl(_) => Ok(false),
                error => Err(io::Error::other(error.to_string())),
            };
        }
    }
    Ok(true)
}

/// Returns the filters, in the order in which they are applied.
fn programs(arch: TargetArch) -> Result<[BpfProgram; 3], String> {
    let text = include_str!("calls.yaml");
    let mut lists: CallLists = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    let is_old = arch == TargetArch::x86_64;
    if is_old {
        lists.allowed.append(&mut lists.allowed_of_x86_64);
        lists.deadly.append(&mut lists.deadly_of_x86_64);
    }
    let (mut allowed, mut deadly) = (always(&lists.allowed), always(&lists.deadly));
    allowed.extend(allowed_for(is_old));
    deadly.extend(deadly_for(is_old));
    let no = |errno: i32| json!({ "errno": errno });
    // Of several filters the strictest counts. Apply the list of allowed calls last: it forbids to
    // apply another.
    let filters = [
        (always(&lists.absent), no(libc::ENOSYS), json!("allow")),
        (deadly, json!("kill_process"), json!("allow")),
        (allowed, json!("allow"), no(libc::EPERM)),
    ];
    let mut programs = [const { BpfProgram::new() }; 3];
    for (program, (calls, listed, others)) in programs.iter_mut().zip(filters) {
        let filter = json!({ "filter": calls, "match_action": listed, "mismatch_action": others });
        let text = json!({ "only": filter }).to_string();
        let compiled = compile_from_json(text.as_bytes(), arch);
        let mut compiled = compiled.map_err(|error| error.to_string())?;
        *program = compiled.remove("only").expect("it is the only filter");
    }
    Ok(programs)
}

/// Returns the rules by which arguments decide that a call is allowed; with the old calls of x86-64,
/// if they are there.
fn allowed_for(is_old: bool) -> Vec<Value> {
    let own = u64::from(std::process::id());
    let writing = masked(writing());
    let mut rules = vec![rule("openat", &[(2, writing.clone(), 0)])];
    if is_old {
        rules.push(rule("open", &[(1, writing, 0)]));
    }
    // Memory that is shared and has no file is not counted as the process's own, and neither is a
    // stack that grows.
    let kind = masked((libc::MAP_TYPE | libc::MAP_GROWSDOWN) as u64);
    let is_of_file = masked((libc::MAP_ANONYMOUS | libc::MAP_GROWSDOWN) as u64);
    rules.push(rule("mmap", &[(3, kind, libc::MAP_PRIVATE as u64)]));
    rules.push(rule("mmap", &[(3, is_of_file, 0)]));
    // A Java machine needs a pair of sockets to read files; a pair leads nowhere.
    rules.push(rule("socketpair", &[(0, json!("eq"), libc::AF_UNIX as u64)]));
    let thread = libc::CLONE_THREAD as u64;
    rules.push(rule("clone", &[(0, masked(thread), thread)]));
    rules.extend(["kill", "tgkill"].map(|signal| rule(signal, &[(0, json!("eq"), own)])));
    // Ask for its own limits, and set none.
    for process in [0, own] {
        let mut asks = rule("prlimit64", &[(0, json!("eq"), process), (2, json!("eq"), 0)]);
        // The last argument is an address.
        asks["args"][1]["type"] = json!("qword");
        rules.push(asks);
    }
    let number = |value: i32| u64::from(value.cast_unsigned());
    rules.extend(IOCTL.map(|command| rule("ioctl", &[(1, json!("eq"), command)])));
    rules.extend(FCNTL.map(|command| rule("fcntl", &[(1, json!("eq"), number(command))])));
    rules.extend(PRCTL.map(|command| rule("prctl", &[(0, json!("eq"), number(command))])));
    rules
}

/// Returns the rules by which arguments decide that a call is deadly; with the old calls of x86-64,
/// if they are there.
fn deadly_for(is_old: bool) -> Vec<Value> {
    let own = u64::from(std::process::id());
    let mut rules = vec![
        rule("clone", &[(0, masked(libc::CLONE_THREAD as u64), 0)]),
        rule("kill", &[(0, json!("ne"), own)]),
        rule("prlimit64", &[(0, json!("ne"), own), (0, json!("ne"), 0)]),
    ];
    // A shell opens its terminal for writing when it begins: only a new or emptied file is deadly.
    for bit in [libc::O_CREAT, libc::O_TRUNC].map(|bit| bit as u64) {
        rules.push(rule("openat", &[(2, masked(bit), bit)]));
        if is_old {
            rules.push(rule("open", &[(1, masked(bit), bit)]));
        }
    }
    rules
}

/// The bits of the flags of `open` with which a file may be written.
fn writing() -> u64 {
    (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64
}

/// Returns the comparison of some bits of an argument.
fn masked(bits: u64) -> Value {
    json!({ "masked_eq": bits })
}

fn always(calls: &[String]) -> Vec<Value> {
    calls.iter().map(|call| json!({ "syscall": call })).collect()
}

/// Returns the rule of a call whose arguments, given by their places, are all such.
fn rule(call: &str, conditions: &[(u8, Value, u64)]) -> Value {
    let all = conditions.iter().map(
        |(place, compare, is)| json!({ "index": place, "type": "dword", "op": compare, "val": is }),
    );
    json!({ "syscall": call, "args": all.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_processor_has_the_listed_calls() {
        for arch in [TargetArch::x86_64, TargetArch::aarch64, TargetArch::riscv64] {
            let programs = programs(arch).unwrap();
            assert!(programs.iter().all(|program| !program.is_empty()), "{arch:?}");
        }
    }
}
