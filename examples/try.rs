#![allow(missing_docs)]
use mumakil::{
    emulation::*,
    scenario::{self, Registry},
};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let registry = Registry::builtin();
    let loaded = match scenario::load(
        std::path::Path::new(&args[1]),
        &args[3..].to_vec(),
        None,
        None,
        &registry,
    ) {
        Ok(l) => l,
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(2)
        }
    };
    let folder = (args[2] != "-").then(|| std::path::PathBuf::from(&args[2]));
    if let Some(f) = &folder {
        let _ = std::fs::remove_dir_all(f);
        std::fs::create_dir_all(f).unwrap();
    }
    let start = std::time::Instant::now();
    let done = emulate(
        &loaded.scenario,
        &registry,
        Options { folder, progress: None, verify: std::env::var("VERIFY").is_ok() },
    )
    .unwrap();
    let took = start.elapsed().as_secs_f64();
    println!("{:#?}", done.summary);
    println!(
        "{:?} {took:.3} s, {:.2} M msg/s, decision mean {} ns",
        done.stop,
        done.summary.messages as f64 / took / 1e6,
        done.decision_time.mean()
    );
    if let Some(v) = done.verifier {
        for x in v.violations().iter().take(10) {
            println!("{x:?}");
        }
        println!("{} violations", v.violations().len());
    }
}
