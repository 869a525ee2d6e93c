//! `mumakil py`: the module that it writes, with the released pandas, polars and matplotlib.
//!
//! `tests/outsiders/frames.py` holds the checks in Python; `tests/outsiders/install` installs the
//! packages. `tests/outsiders/run` executes the notebook.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::{Room, root};

/// A scenario with odd names, an attempt that hangs, a slow machine, and known locality: all blocks
/// lie on both nodes.
const SCENARIO: &str = "
name: small
hadoop: {task_timeout: 1min}
cluster: {nodes: 2, racks: 1, hdfs: {replication: 2}}
workload:
  jobs:
    - {name: NA, pool: '007', maps: 1, map_time: 5s}
    - {name: 'a, b', pool: '12', maps: 3, map_time: 5s, reduces: 1, reduce_time: 5s}
record: {alone: true, waste: true, decisions: true}
faults:
  - {hangs: {share: 40 %, kind: map}}
  - {slow: {nodes: node-1, cpu: 0.5}}
";

const STUDY: &str = "
name: sizes
base: small.yaml
sweep: {cluster.nodes: [2, 4], scheduler: [fifo, fair], seeds: 2}
compare: scheduler
metrics: [mean(sojourn), locality.node]
record: {tasks: true}
";

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn the_module_replaces_a_file_only_by_force() {
    let room = Room::new();
    room.mumakil("py").assert().success();
    let module = fs::read(room.path("mumakil.py")).unwrap();
    room.write("mumakil.py", "mine");
    let output = room.mumakil("py").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("mumakil.py exists already"), "{}", stderr(&output));
    room.mumakil("py --force").assert().success();
    assert_eq!(fs::read(room.path("mumakil.py")).unwrap(), module);
    let printed = room.mumakil("py -o -").output().unwrap();
    assert_eq!(printed.stdout, module);
}

#[test]
fn the_module_loads_and_draws_runs_and_studies() {
    let installed = root().join("target/outsiders/venv/bin/python");
    let python = if installed.exists() { installed } else { PathBuf::from("python3") };
    let packages = ["-c", "import pandas, polars, matplotlib"];
    if !Command::new(&python).args(packages).output().is_ok_and(|found| found.status.success()) {
        eprintln!("skipped: {} has not pandas, polars and matplotlib", python.display());
        return;
    }
    let room = Room::new();
    room.write("small.yaml", SCENARIO);
    room.write("study.yaml", STUDY);
    room.mumakil("py").assert().success();
    room.mumakil("run small.yaml --out run --quiet").assert().success();
    room.mumakil("study study.yaml --out study --quiet").assert().success();
    room.mumakil("study study.yaml --out packed --keep packed --quiet").assert().success();
    let checks = root().join("tests/outsiders/frames.py");
    let mut command = Command::new(python);
    command.current_dir(room.path("")).arg(checks).args(["run", "study", "packed"]);
    let output =
        command.env("PYTHONPATH", ".").env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

/// The calls of a notebook: a run and a study by their names, and a mistake.
const CALLS: &str = r#"
import mumakil

run = mumakil.run("small.yaml", {"cluster.nodes": 3}, seed=7)
assert (run.summary["seed"], run.summary["jobs"]) == (7, 2), run.summary
jobs = {"jobs": [{"name": "a", "maps": 1, "map_time": "5s"}]}
mine = mumakil.run({"name": "mine", "workload": jobs}, {"scheduler": {"fair": {}}}, out="mine")
assert mine.summary["jobs"] == 1 and mine.summary["policy"] == "fair" and mine.folder.name == "mine"
again = mumakil.run({"name": "mine", "workload": jobs}, out="mine")
assert again.summary["policy"] == "fifo", again.summary
study = mumakil.study("study.yaml", {"sweep.seeds": 1}, out="study", jobs=1)
assert study.axes == ["cluster.nodes", "scheduler"], study.axes
try:
    mumakil.run("small.yaml", {"cluster.nodez": 3})
except RuntimeError as error:
    assert "did you mean `nodes`" in str(error), error
else:
    raise AssertionError("a mistake must be told")
"#;

#[test]
fn the_module_runs_scenarios_and_studies() {
    if crate::lacks_python() {
        return;
    }
    let room = Room::new();
    room.write("small.yaml", SCENARIO);
    room.write("study.yaml", STUDY);
    run_python(&room, CALLS);
}

/// Asks for tables and pictures where a finder of modules says that nothing is installed.
const BARE: &str = r#"
import importlib.util
import mumakil

importlib.util.find_spec = lambda name: None
run = mumakil.run("small.yaml")
assert run.summary["jobs"] == 2, "a summary needs no package"
for ask, package in [
    (lambda: run.jobs, "pandas"),
    (lambda: mumakil.load_run(run.folder, frames="polars").jobs, "polars"),
    (lambda: mumakil.gantt(run), "matplotlib"),
]:
    try:
        ask()
    except ModuleNotFoundError as error:
        assert str(error).endswith(f"but {package} is not installed: pip install {package}"), error
    else:
        raise AssertionError(f"{package} must be asked for")
"#;

#[test]
fn a_package_that_is_not_there_is_named_with_the_way_to_install_it() {
    if !crate::lacks_python() {
        let room = Room::new();
        room.write("small.yaml", SCENARIO);
        run_python(&room, BARE);
    }
}

/// Runs a program beside the module `mumakil`, with the command on the path.
fn run_python(room: &Room, program: &str) {
    room.mumakil("py").assert().success();
    let folder = PathBuf::from(env!("CARGO_BIN_EXE_mumakil"));
    let mut path = folder.parent().unwrap().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("python3");
    command.current_dir(room.path("")).args(["-c", program]).env("PATH", path);
    let temporary = tempfile::tempdir().unwrap();
    command.env("TMPDIR", temporary.path());
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(crate::names(temporary.path()), [""; 0], "results are left when Python has ended");
}

/// Reads the notebook: its cells are Python, nothing that they printed is kept, and what they name
/// is there.
const NOTEBOOK: &str = r#"
import ast, json, pathlib, sys
import mumakil

def text(node):
    return node.value if isinstance(node, ast.Constant) else None

scenarios, named = pathlib.Path(sys.argv[1]), set()
notebook = json.loads((scenarios / "notebook.ipynb").read_text(encoding="utf-8"))
for cell in notebook["cells"]:
    if cell["cell_type"] != "code":
        continue
    assert not cell["outputs"] and cell["execution_count"] is None, cell
    for node in ast.walk(ast.parse("".join(cell["source"]))):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "mumakil":
            assert hasattr(mumakil, node.attr), node.attr
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "mumakil.run":
            named.add(text(node.args[0]))
        if isinstance(node, ast.Dict):
            named |= {text(value) for key, value in zip(node.keys, node.values) if text(key) == "base"}
assert named and all((scenarios / f"{name}.yaml").exists() for name in named), named
"#;

#[test]
fn the_notebook_is_python_and_names_what_is_there() {
    if crate::lacks_python() {
        return;
    }
    let room = Room::new();
    room.mumakil("py").assert().success();
    let mut command = Command::new("python3");
    command.current_dir(room.path("")).args(["-c", NOTEBOOK]).arg(root().join("scenarios"));
    let output = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}
