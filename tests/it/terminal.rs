//! Names with control characters do not control the terminal, whichever command prints them, and
//! whichever file they come from.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};

use crate::Room;

/// A name that inverts colours, sets the window's title, begins a line, reverses the direction of
/// letters, and uses the second set of control characters.
const NAME: &str =
    "a\u{1b}[7mb\u{1b}]0;c\u{7}\nFORGED\rd\u{2028}e\u{202e}f\u{9b}7mg\u{2066}h\t\u{8}i";

/// Returns a name quoted for YAML and JSON.
fn quoted(name: &str) -> String {
    let mut text = String::from('"');
    for c in name.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => {
                write!(text, "\\u{:04x}", u32::from(c)).unwrap()
            }
            c => text.push(c),
        }
    }
    text + "\""
}

/// Returns a folder of files with dangerous names and contents.
fn room() -> Room {
    let room = Room::new();
    let name = quoted(NAME);
    let jobs = format!(
        "cluster: {{nodes: 2}}\nclasses: {{{name}: maps <= 3, other: true}}\nworkload:\n  jobs:\n    \
         - {{name: {name}, user: {name}, pool: {name}, maps: 2, map_time: 5s}}\n"
    );
    let scenario = format!("name: fine\n{jobs}");
    room.write("fine.yaml", &scenario);
    room.write(&format!("{NAME}.yaml"), &scenario);
    room.write("named.yaml", &format!("name: {name}\n{jobs}"));
    room.write("kill.yaml", &format!("{scenario}faults: [{{at: 1s, kill: {name}}}]\n"));
    room.write(
        "no-such.yaml",
        &format!("{scenario}faults: [{{at: 1s, kill: {}}}]\n", quoted("x\u{1b}[7m\nFORGED")),
    );
    room.write("unknown.yaml", &format!("{scenario}{name}: 1\nscheduler: {name}\n"));
    let expect = quoted("makespan > 0s \n or max(sojourn, class=\"other\") > 0s");
    room.write(
        "expect.yaml",
        &format!("{scenario}expect: [{{that: {expect}, what: {name}, published: {name}}}]\n"),
    );
    let unknown = quoted("max(sojourn, user=\"x\") > 0s");
    room.write("no-user.yaml", &format!("{scenario}expect: [{unknown}]\n"));
    room.write("pools.yaml", &format!("{scenario}scheduler: {{fair: {{allocations: {{pools: {{{name}: {{weight: 2}}, {}: {{}}}}}}}}}}\n", quoted("q\u{1b}[7m\nFORGED")));
    room.write(
        "study.yaml",
        &format!(
            "base: fine.yaml\nname: study\ndescription: {name}\nsweep:\n  scheduler: [{{as: line, fifo: {{}}}}, fair]\n\
             metrics: [makespan]\nexpect: [{{that: makespan > 0s, what: {name}}}]\n"
        ),
    );
    room.write("axis.yaml", &format!("base: fine.yaml\nname: study\nsweep: {{scheduler: [{{as: {name}, fifo: {{}}}}, fair]}}\n"));
    room.write("list.csv", &format!("name,maps\n\"{}\",3\nb,x\n", NAME.replace(['\r', '\n'], "")));
    room.write("good.csv", &format!("name,maps\n\"{}\",3\n", NAME.replace(['\r', '\n'], "")));
    let trace = |id: &str| {
        format!(
            "{{\"jobID\": {id}, \"jobName\": {name}, \"user\": {name}, \"queue\": {name}, \"submitTime\": 1000, \"mapTasks\": [\
             {{\"taskID\": \"t\", \"taskType\": \"MAP\", \"taskStatus\": \"SUCCESS\", \"attempts\": [{{\"attemptID\": \"a\", \
             \"result\": \"SUCCESS\", \"startTime\": 1000, \"finishTime\": 900, \"hostName\": {name}}}]}}]}}\n"
        )
    };
    room.write("rumen.json", &trace(&name));
    room.write("broken.json", &(trace(&name) + "{\"jobID\": 3}\n"));
    room
}

/// The control sequences of colours and of the progress bar.
const OURS: [&str; 10] = ["[0m", "[1m", "[4m", "[31m", "[32m", "[33m", "[36m", "[2K", "[1A", "[1B"];

/// Checks the output of a call.
fn check(printed: &str, call: &str) {
    for line in printed.split(['\n', '\r']) {
        assert!(!line.starts_with("FORGED"), "{call}: {printed:?}");
    }
    let mut rest = printed;
    while let Some(at) = rest.find(|c: char| {
        let turns =
            ('\u{2028}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
        turns || c.is_control() && !['\n', '\r'].contains(&c)
    }) {
        let is_ours = |own: &&&str| {
            rest[at..].strip_prefix('\u{1b}').is_some_and(|code| code.starts_with(**own))
        };
        let own = OURS.iter().find(is_ours);
        let own = own.unwrap_or_else(|| panic!("{call}: {:?} in {printed:?}", &rest[at..]));
        rest = &rest[at + 1 + own.len()..];
    }
    assert!(!printed.replace("\r\n", "").replace("\r\u{1b}[", "").contains("\rd"), "{call}");
}

/// Calls a command on a terminal; returns its exit code and its whole output.
#[cfg(target_os = "linux")]
fn on_terminal(mut command: Command) -> (Option<i32>, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let user = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&user).unwrap();
    unlockpt(&user).unwrap();
    let name = ptsname(&user, Vec::new()).unwrap();
    let open = || File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    command.stdin(Stdio::null()).stdout(open()).stderr(open());
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut printed = Vec::new();
    // Reading a terminal whose other side is closed ends with an error.
    let _ = File::from(user).read_to_end(&mut printed);
    (child.wait().unwrap().code(), String::from_utf8(printed).unwrap())
}

fn in_pipe(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}

/// Commands, each with its exit code. The flag says whether the command prints a file: then a pipe
/// gets the file's exact bytes. `@` stands for the name.
const CALLS: [(&str, i32, bool); 32] = [
    ("check fine.yaml", 0, false),
    ("check @.yaml", 0, false),
    ("check named.yaml", 2, false),
    ("check unknown.yaml", 2, false),
    ("check no-such.yaml", 2, false),
    ("check @", 2, false),
    ("@", 2, false),
    ("run --@", 2, false),
    ("show @", 2, false),
    ("show @ @", 2, false),
    ("help @", 2, false),
    ("run fine.yaml --out @ --seed 1", 0, false),
    ("run fine.yaml --out @/@", 0, false),
    ("run fine.yaml --out @", 2, false),
    ("run fine.yaml --set @=1", 2, false),
    ("run fine.yaml --set name=@", 2, false),
    ("run kill.yaml --out killed", 0, false),
    ("run expect.yaml --out expected", 0, false),
    ("check no-user.yaml", 2, false),
    ("run pools.yaml --out pools", 0, false),
    ("run fine.yaml --out second --seed 2 --perfetto @.json", 0, false),
    ("compare @ second", 0, false),
    ("compare @ nowhere", 2, false),
    ("study study.yaml --out @-study", 0, false),
    ("check axis.yaml", 2, false),
    ("study plan study.yaml", 0, false),
    ("trace inspect list.csv", 2, false),
    ("trace inspect good.csv", 0, false),
    ("trace inspect rumen.json", 0, false),
    ("trace inspect broken.json --lenient", 0, false),
    ("trace inspect broken.json", 2, false),
    ("trace convert good.csv --to yaml", 0, true),
];

#[cfg(target_os = "linux")]
#[test]
fn no_name_steers_a_terminal_or_forges_a_line() {
    for is_terminal in [true, false] {
        let room = room();
        for (call, code, is_file) in CALLS {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mumakil"));
            command.current_dir(room.path(""));
            command.args(call.split(' ').map(|word| word.replace('@', NAME)));
            let (found, printed) = match is_terminal {
                true => on_terminal(command),
                false => in_pipe(command),
            };
            assert_eq!(found, Some(code), "{call}: {printed}");
            if is_terminal || !is_file {
                check(&printed, call);
            }
        }
    }
}

#[test]
fn a_file_in_a_pipe_is_exact() {
    let room = room();
    let printed = |words: &str| room.mumakil(words).output().unwrap().stdout;
    room.mumakil("trace convert good.csv --to csv -o own.csv").assert().success();
    let file = fs::read(room.path("own.csv")).unwrap();
    assert_eq!(printed("trace convert good.csv --to csv"), file);
    assert!(String::from_utf8(file).unwrap().contains('\u{9b}'));
}
