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

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{self, Eq, MaskedEq, Ne};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
    apply_filter,
};

/// The calls that are allowed whatever their arguments are.
const ALLOWED: [c_long; 98] = [
    // Read, and answer.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_eventfd2,
    libc::SYS_fadvise64,
    libc::SYS_readahead,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    // Files: Landlock says which.
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_umask,
    // The program takes the launcher's place.
    libc::SYS_execve,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    // Memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_membarrier,
    // Threads and signals.
    libc::SYS_futex,
    libc::SYS_futex_waitv,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_gettid,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getcpu,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_getitimer,
    // The process and its system.
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_getpgid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_capget,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_getrandom,
    // Absent, see below.
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_pkey_alloc,
    libc::SYS_pidfd_open,
    // Without effect: a policy has one process.
    libc::SYS_waitid,
    libc::SYS_getpriority,
    libc::SYS_setitimer,
];

/// Those of x86-64 that newer systems do without.
#[cfg(target_arch = "x86_64")]
const ALLOWED_OLD: [c_long; 24] = [
    libc::SYS_arch_prctl,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_getdents,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_pipe,
    libc::SYS_dup2,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_pause,
    libc::SYS_alarm,
    libc::SYS_time,
    libc::SYS_get_thread_area,
    libc::SYS_set_thread_area,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_epoll_ctl_old,
    libc::SYS_epoll_wait_old,
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_OLD: [c_long; 0] = [];

/// The calls that this system seems not to have. Their arguments lie in memory, where no filter can
/// look.
const ABSENT: [c_long; 5] = [
    libc::SYS_clone3,
    libc::SYS_openat2,
    libc::SYS_io_uring_setup,
    libc::SYS_pkey_alloc,
    libc::SYS_pidfd_open,
];

/// The calls with which a policy ends: no program needs them to compute, and some would leave
/// something behind even if they failed half-way.
const DEADLY: [c_long; 53] = [
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_tkill,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_perf_event_open,
    // Memory that outlives the process, or that other processes see.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Files and what is known of them.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_mknodat,
    libc::SYS_unlinkat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_open_by_handle_at,
    // The system.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_execveat,
];

/// Those of x86-64 that newer systems do without. A Java machine tries `mkdir`, and does without.
#[cfg(target_arch = "x86_64")]
const DEADLY_OLD: [c_long; 14] = [
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_creat,
    libc::SYS_mknod,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
];
#[cfg(not(target_arch = "x86_64"))]
const DEADLY_OLD: [c_long; 0] = [];

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

type Calls = BTreeMap<c_long, Vec<SeccompRule>>;

/// Leaves only the allowed calls to this thread. Returns `false` if the system or the processor has
/// no filters.
pub(super) fn filter() -> io::Result<bool> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(false);
    };
    let failed = |error: &dyn Display| io::Error::other(error.to_string());
    let no = |errno: i32| SeccompAction::Errno(errno.cast_unsigned());
    // Of several filters the strictest counts. Apply the list of allowed calls last: it forbids to
    // apply another.
    for (calls, listed, others) in [
        (always(&[&ABSENT]), no(libc::ENOSYS), SeccompAction::Allow),
        (deadly(), SeccompAction::KillProcess, SeccompAction::Allow),
        (allowed(), SeccompAction::Allow, no(libc::EPERM)),
    ] {
        let filter = SeccompFilter::new(calls, others, listed, arch);
        let filter = filter.map_err(|error| failed(&error))?;
        let program = BpfProgram::try_from(filter).map_err(|error| failed(&error))?;
        if let Err(error) = apply_filter(&program) {
            // A system without filters, or one that hides them, lacks a part: the score says so.
            return match error {
                seccompiler::Error::Seccomp(_) | seccompiler::Error::Prctl(_) => Ok(false),
                error => Err(failed(&error)),
            };
        }
    }
    Ok(true)
}

fn allowed() -> Calls {
    let own = u64::from(std::process::id());
    let mut calls = always(&[&ALLOWED, &ALLOWED_OLD]);
    let opens = |flags| vec![rule(&[(flags, MaskedEq(writing()), 0)])];
    calls.insert(libc::SYS_openat, opens(2));
    #[cfg(target_arch = "x86_64")]
    calls.insert(libc::SYS_open, opens(1));
    // Memory that is shared and has no file is not counted as the process's own, and neither is a
    // stack that grows.
    let kind = MaskedEq((libc::MAP_TYPE | libc::MAP_GROWSDOWN) as u64);
    let is_of_file = MaskedEq((libc::MAP_ANONYMOUS | libc::MAP_GROWSDOWN) as u64);
    let maps = [(kind, libc::MAP_PRIVATE as u64), (is_of_file, 0)];
    calls.insert(libc::SYS_mmap, maps.map(|(compare, is)| rule(&[(3, compare, is)])).into());
    // A Java machine needs a pair of sockets to read files; a pair leads nowhere.
    calls.insert(libc::SYS_socketpair, vec![rule(&[(0, Eq, libc::AF_UNIX as u64)])]);
    let thread = libc::CLONE_THREAD as u64;
    calls.insert(libc::SYS_clone, vec![rule(&[(0, MaskedEq(thread), thread)])]);
    for signal in [libc::SYS_kill, libc::SYS_tgkill] {
        calls.insert(signal, vec![rule(&[(0, Eq, own)])]);
    }
    // Ask for its own limits, and set none.
    let asks = |process| SeccompRule::new(vec![condition(0, Eq, process), null(2)]);
    calls.insert(libc::SYS_prlimit64, [0, own].map(|own| asks(own).expect("it is a rule")).into());
    let any = |argument, values: &mut dyn Iterator<Item = u64>| -> Vec<SeccompRule> {
        values.map(|value| rule(&[(argument, Eq, value)])).collect()
    };
    calls.insert(libc::SYS_ioctl, any(1, &mut IOCTL.into_iter()));
    let number = |value: i32| u64::from(value.cast_unsigned());
    calls.insert(libc::SYS_fcntl, any(1, &mut FCNTL.into_iter().map(number)));
    calls.insert(libc::SYS_prctl, any(0, &mut PRCTL.into_iter().map(number)));
    calls
}

fn deadly() -> Calls {
    let own = u64::from(std::process::id());
    let mut calls = always(&[&DEADLY, &DEADLY_OLD]);
    let thread = libc::CLONE_THREAD as u64;
    calls.insert(libc::SYS_clone, vec![rule(&[(0, MaskedEq(thread), 0)])]);
    calls.insert(libc::SYS_kill, vec![rule(&[(0, Ne, own)])]);
    let others = [(0, Ne, own), (0, Ne, 0)];
    calls.insert(libc::SYS_prlimit64, vec![rule(&others)]);
    // A shell opens its terminal for writing when it begins: only a new or emptied file is deadly.
    let creates = |flags| {
        let bits = [libc::O_CREAT, libc::O_TRUNC].map(|bit| bit as u64);
        bits.map(|bit| rule(&[(flags, MaskedEq(bit), bit)])).to_vec()
    };
    calls.insert(libc::SYS_openat, creates(2));
    #[cfg(target_arch = "x86_64")]
    calls.insert(libc::SYS_open, creates(1));
    calls
}

/// The bits of the flags of `open` with which a file may be written.
fn writing() -> u64 {
    (libc::O_ACCMODE | libc::O_CREAT | libc::O_TRUNC) as u64
}

fn always(lists: &[&[c_long]]) -> Calls {
    lists.iter().flat_map(|list| list.iter()).map(|call| (*call, Vec::new())).collect()
}

/// Returns the rule of calls whose arguments, given by their places, are all such.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> SeccompRule {
    let all = conditions.iter().map(|(place, compare, is)| condition(*place, compare.clone(), *is));
    SeccompRule::new(all.collect()).expect("it is a rule")
}

fn condition(argument: u8, compare: SeccompCmpOp, value: u64) -> SeccompCondition {
    SeccompCondition::new(argument, Dword, compare, value).expect("it is a condition")
}

/// Returns the condition that an argument is no address.
fn null(argument: u8) -> SeccompCondition {
    SeccompCondition::new(argument, Qword, Eq, 0).expect("it is a condition")
}
