//! The sandbox: a policy computes and answers, and none of many cheats gets through.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Output};

use mumakil::external::sandbox::{LAUNCH, SandboxParts};

use crate::{Room, lacks_python};

/// The parts of the sandbox that this system has; `None` if a test of it is skipped.
pub(crate) fn parts() -> Option<SandboxParts> {
    let parts = SandboxParts::of_system(Path::new(env!("CARGO_BIN_EXE_mumakil")));
    (!lacks_python() && parts.seccomp).then_some(parts)
}

/// A program that tries one cheat of its arguments, and says whether it got through.
const TRY: &str = r#"
import ctypes, fcntl, mmap, os, platform, resource, signal, socket, subprocess, sys, threading
cheat, victim, room = sys.argv[1], int(sys.argv[2]), sys.argv[3]
own, other, secret = __file__, room + "/folder/other.py", room + "/secret"
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.syscall.restype = ctypes.c_long
NUMBERS = {  # on x86-64 and on ARM64, which most others follow
    "add_key": (248, 217), "keyctl": (250, 219), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "clone3": (435, 435), "io_uring_setup": (425, 425),
    "memfd_secret": (447, 447), "openat2": (437, 437), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
}
def call(name, *words):
    return done(libc.syscall(NUMBERS[name][platform.machine() != "x86_64"], *words))
def done(result):
    if result is None or result == -1 or result == 2**64 - 1:
        raise OSError(ctypes.get_errno(), "refused")
    return True
def memory(flags, protection, size=1 << 20):
    """Fills memory that the system's own limit does not count."""
    for _ in range((1 << 30) // size):
        at = libc.mmap(None, ctypes.c_size_t(size), 3, flags, -1, 0)
        done(at)
        ctypes.memset(at, 1, size)
        done(libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(size), protection))
    return True
print("tried", flush=True)
try:
    got = eval(cheat)
except Exception as error:
    print("failed", error)
else:
    print("GOT THROUGH" if got or got is None else "failed")
"#;

/// The cheats, each as an expression of Python, by the part of the sandbox that keeps them back.
/// One that has a value that is no yes has failed.
const CHEATS: [(&str, &[&str]); 5] = [
    (
        "seccomp",
        &[
            // State that outlives the process.
            "done(libc.shmget(0x6d756d, 4096, 0o1600))",
            "done(libc.msgget(0x6d756d, 0o1600))",
            "done(libc.semget(0x6d756d, 1, 0o1600))",
            "done(libc.mq_open(b'/mumakil', 66, 0o600, None))",
            "call('add_key', b'user', b'mumakil', b'x', 1, -4)",
            "call('keyctl', 0, -4, 1)",
            // Files, and what is known of them.
            "os.chmod(own, 0o777)",
            "os.fchmod(os.open(own, os.O_RDONLY), 0o777)",
            "os.chown(own, os.getuid(), os.getgid())",
            "os.utime(own)",
            "os.setxattr(own, 'user.mumakil', b'x')",
            "os.truncate(own, 1)",
            "os.open(own, os.O_RDONLY | os.O_TRUNC)",
            "open(own, 'r+')",
            "open('new', 'w')",
            "os.open('.', os.O_TMPFILE | os.O_RDWR)",
            "os.mkdir('new')",
            "os.mkfifo('new')",
            "os.symlink('a', 'new')",
            "os.link(own, 'new')",
            "os.rename(own, 'new')",
            "os.unlink(own)",
            "fcntl.flock(os.open(own, os.O_RDONLY), fcntl.LOCK_EX)",
            "fcntl.fcntl(os.open(own, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
            "fcntl.fcntl(os.open('.', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_MODIFY)",
            "fcntl.ioctl(os.open(own, os.O_RDONLY), 0x40086602, b'\\0' * 8)",
            "done(libc.inotify_init())",
            "call('openat2', -100, own.encode(), ctypes.byref((ctypes.c_uint64 * 3)(66, 0o600)), 24)",
            // Other processes.
            "os.fork()",
            "os.posix_spawn('/bin/true', ['true'], {})",
            "subprocess.run(['true'])",
            "call('clone3', ctypes.byref((ctypes.c_uint64 * 8)(0, 0, 0, 0, 17)), 64)",
            "os.kill(victim, 0)",
            "os.kill(-1, 0)",
            "os.kill(os.getppid(), 0)",
            "signal.pidfd_send_signal(os.pidfd_open(victim), 0)",
            "resource.prlimit(victim, resource.RLIMIT_NOFILE, (3, 3))",
            "os.setpriority(os.PRIO_PROCESS, victim, 10)",
            "os.sched_setaffinity(victim, {0})",
            "os.sched_setaffinity(os.getppid(), {0})",
            "os.sched_setscheduler(victim, os.SCHED_BATCH, os.sched_param(0))",
            "done(libc.ptrace(16, victim, 0, 0))",
            "done(libc.process_vm_readv(victim, None, 0, None, 0, 0))",
            "call('pidfd_getfd', os.pidfd_open(victim), 0, 0)",
            "call('kcmp', os.getpid(), victim, 2, 0, 0) >= 0",
            "os.setsid()",
            "os.setpgid(0, 0)",
            // A network, and ways out.
            "socket.socket()",
            "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
            "socket.socket(socket.AF_UNIX).connect(room + '/way-out')",
            "socket.socket(socket.AF_UNIX).connect('\\0mumakil')",
            // Memory that nobody counts.
            "mmap.mmap(-1, 1 << 20)",
            "os.memfd_create('mumakil')",
            "call('memfd_secret', 0)",
            "memory(0x122, 3)",
            // The system, and its own limits.
            "done(libc.unshare(0x10000000))",
            "done(libc.setns(0, 0))",
            "done(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
            "os.chroot('/usr')",
            "call('bpf', 0, ctypes.byref((ctypes.c_uint32 * 16)(2, 4, 4, 1)), 64)",
            "call('perf_event_open', ctypes.byref((ctypes.c_uint32 * 32)(1, 128)), 0, -1, -1, 0)",
            "call('userfaultfd', 1)",
            "call('io_uring_setup', 4, ctypes.byref((ctypes.c_uint32 * 30)()))",
            "resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))",
            "os.nice(1)",
        ],
    ),
    (
        "landlock",
        &[
            "open(secret)",
            "open(other)",
            "__import__('other')",
            "open('/etc/passwd')",
            "open('/etc/hostname')",
            "open(f'/proc/{victim}/cmdline')",
            "open('/proc/self/net/unix')",
            "open('/proc/self/environ')",
            "open('/proc/kallsyms')",
            "os.listdir(room)",
            "os.listdir('/etc')",
            "os.listdir('/proc')",
        ],
    ),
    (
        "view",
        &[
            "os.stat(secret)",
            "os.stat(other)",
            "os.stat('/etc/passwd')",
            "os.stat(f'/proc/{victim}')",
        ],
    ),
    ("processes", &["os.getpid() != 1", "os.getppid() != 0"]),
    (
        "limits",
        &[
            "bytearray(1 << 30)",
            "memory(0x22, 1)",
            "[os.open(own, os.O_RDONLY) for _ in range(300)]",
            "[x for x in iter(int, 1)]",
        ],
    ),
];

/// A folder with a secret, a policy of somebody else, a socket, and a process to do harm to.
struct Prey {
    room: Room,
    victim: Child,
    _way_out: UnixListener,
}

impl Prey {
    fn new() -> Self {
        let room = Room::new();
        fs::create_dir(room.path("folder")).unwrap();
        room.write("secret", "a secret").write("folder/other.py", "").write("folder/try.py", TRY);
        let way_out = UnixListener::bind(room.path("way-out")).unwrap();
        let victim = Command::new("sleep").arg("600").spawn().unwrap();
        Self { room, victim, _way_out: way_out }
    }

    /// Tries a cheat, in the sandbox or outside.
    fn try_one(&self, cheat: &str, is_boxed: bool) -> String {
        // The name itself may be a script that chooses a version, and starts another process.
        let asked =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
        let python = String::from_utf8(asked.unwrap().stdout).unwrap().trim().to_owned();
        let folder = self.room.path("folder");
        let script = folder.join("try.py").to_string_lossy().into_owned();
        let room = self.room.path("").to_string_lossy().trim_end_matches('/').to_owned();
        let victim = self.victim.id().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mumakil"));
        // 128 MiB, and a second.
        command.args([LAUNCH, "134217728", "1", "--", &python]);
        if !is_boxed {
            command = Command::new(python);
        }
        command.args(["-B", &script, cheat, &victim, &room]).current_dir(folder);
        let Output { stdout, stderr, status } = command.output().unwrap();
        let text = String::from_utf8_lossy(&stdout).into_owned();
        let why = String::from_utf8_lossy(&stderr);
        // Otherwise nothing was tried, and nothing is shown.
        assert!(text.starts_with("tried\n"), "{cheat}: {status} {text}{why}");
        text
    }

    /// Returns what a cheat may have changed: of each file its contents, mode, owner and time.
    fn state(&self) -> Vec<String> {
        let of = |path: String| {
            let path = self.room.path(&path);
            let meta = path.metadata().unwrap();
            let text = fs::read_to_string(&path).unwrap_or_default();
            format!("{path:?} {} {} {} {text}", meta.mode(), meta.uid(), meta.mtime_nsec())
        };
        crate::files(&self.room.path("")).into_iter().map(of).collect()
    }
}

impl Drop for Prey {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

#[test]
fn no_cheat_gets_through_but_where_its_part_of_the_sandbox_is_named_as_missing() {
    let Some(parts) = parts() else { return };
    let prey = Prey::new();
    let before = prey.state();
    let has = serde_json::to_value(parts).unwrap();
    let is_there = |part: &str| part == "limits" || has[part] == true;
    let tried = CHEATS.iter().filter(|(part, _)| is_there(part));
    let cheats: Vec<&str> = tried.flat_map(|(_, cheats)| cheats.iter().copied()).collect();
    assert!(40 <= cheats.len());
    // Each starts Python twice, so that the processors are worth sharing.
    std::thread::scope(|scope| {
        for part in cheats.chunks(cheats.len().div_ceil(4)) {
            let prey = &prey;
            scope.spawn(move || {
                for cheat in part {
                    let told = prey.try_one(cheat, true);
                    assert!(!told.contains("GOT THROUGH"), "{cheat}: {told}");
                }
            });
        }
    });
    assert_eq!(prey.state(), before);
}

#[test]
fn the_same_cheats_get_through_without_the_sandbox() {
    if parts().is_none() {
        return;
    }
    let prey = Prey::new();
    for cheat in [
        "os.chmod(own, 0o777)",
        "os.utime(own)",
        "os.mkdir('new')",
        "fcntl.flock(os.open(own, os.O_RDONLY), fcntl.LOCK_EX)",
        "os.kill(victim, 0)",
        "resource.prlimit(victim, resource.RLIMIT_NOFILE, (3, 3))",
        "os.sched_setaffinity(victim, {0})",
        "subprocess.run(['true'])",
        "socket.socket(socket.AF_UNIX).connect(room + '/way-out')",
        "mmap.mmap(-1, 1 << 20)",
        "os.memfd_create('mumakil')",
        "memory(0x22, 1)",
        "__import__('other')",
        "os.stat(secret)",
        "os.getpid() != 1",
    ] {
        assert!(
            CHEATS.iter().any(|(_, cheats)| cheats.contains(&cheat)),
            "{cheat} is tried inside"
        );
        assert!(prey.try_one(cheat, false).contains("GOT THROUGH"), "{cheat}");
    }
}

#[test]
fn a_policy_in_the_sandbox_computes_reads_its_own_files_and_has_threads() {
    if parts().is_none() {
        return;
    }
    let prey = Prey::new();
    for deed in [
        "sum(range(1000)) == 499500",
        "'tried' in open(own).read()",
        "threading.Thread(target=print).start()",
        "__import__('random').random() < 1",
        "len(bytearray(50 << 20)) > 0",
        "__import__('json').loads('[1]') == [1]",
        "__import__('decimal').Decimal(1) == 1",
        "os.cpu_count() >= 1",
        "os.getcwd() == os.path.dirname(own)",
    ] {
        let told = prey.try_one(deed, true);
        assert!(told.contains("GOT THROUGH"), "{deed}: {told}");
    }
}

#[test]
fn the_score_names_each_part_of_the_sandbox_that_is_missing() {
    let all =
        SandboxParts { processes: true, view: true, landlock: true, scope: true, seccomp: true };
    assert!(!all.words().contains("this system"), "{}", all.words());
    for (missing, said) in [
        (SandboxParts { processes: false, ..all }, "no processes of its own"),
        (SandboxParts { view: false, ..all }, "hides no files"),
        (SandboxParts { landlock: false, scope: false, ..all }, "no Landlock"),
        (SandboxParts { scope: false, ..all }, "before Linux 6.12"),
        (SandboxParts { seccomp: false, ..all }, "no seccomp"),
    ] {
        assert!(missing.words().contains(said), "{}", missing.words());
        assert_eq!(missing.words().matches("this system").count(), 1, "{}", missing.words());
    }
}
