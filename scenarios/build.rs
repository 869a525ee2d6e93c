//! Lists all files of this folder, so that a new one needs no line anywhere else.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says it"));
    let mut files = Vec::new();
    list(&root, &mut files);
    // The order of a folder differs between machines.
    files.sort();
    let [mut texts, mut others] = [String::new(), String::new()];
    for file in files {
        let name = file.strip_prefix(&root).expect("it is below").display().to_string();
        let name = name.replace('\\', "/");
        let (list, include) = match file.extension().is_some_and(|end| end == "gz") {
            true => (&mut others, "include_bytes"),
            false => (&mut texts, "include_str"),
        };
        list.push_str(&format!("({name:?}, {include}!({file:?})),\n"));
    }
    let lists = format!(
        "/// The texts, by their paths, in the order of these.\n\
         pub const TEXTS: &[(&str, &str)] = &[{texts}];\n\
         /// The files that are no texts, by their paths.\n\
         pub const OTHERS: &[(&str, &[u8])] = &[{others}];\n"
    );
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says it"));
    fs::write(out.join("files.rs"), lists).expect("cargo has made the folder");
    println!("cargo::rerun-if-changed=.");
}

/// The files that make this folder a crate, packed or not.
const OF_CRATE: [&str; 5] = ["Cargo.toml", "Cargo.toml.orig", "Cargo.lock", "build.rs", "lib.rs"];

fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the crate can be read") {
        let path = entry.expect("the crate can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            list(&path, files);
        } else if !name.starts_with('.') && !OF_CRATE.contains(&&*name) {
            files.push(path);
        }
    }
}
