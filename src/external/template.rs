//! Templates for a policy of your own: one file in Python or C++, or a small package in Rust. Each
//! contains the adapter, which speaks the protocol, and a policy to change. Each needs only the
//! standard library.

use mumakil_bundled::text;

/// The template in Python, one file.
pub const PYTHON: &str = text("policies/greedy.py");

/// The template in C++, one file.
pub const CPP: &str = text("policies/greedy.cpp");

/// The source files of the Rust package, each with its name and its content.
const RUST: [(&str, &str); 3] = [
    ("main.rs", text("policies/greedy/main.rs")),
    ("adapter.rs", text("policies/greedy/adapter.rs")),
    ("json.rs", text("policies/greedy/json.rs")),
];

/// Returns the files of a Rust package with this name: the path in the package's folder, and the
/// text.
pub fn rust(name: &str) -> Vec<(String, String)> {
    // The package is a workspace of its own, so that it may lie inside another workspace.
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n"
    );
    let sources = RUST.map(|(file, text)| (format!("src/{file}"), text.to_owned()));
    [("Cargo.toml".to_owned(), manifest)].into_iter().chain(sources).collect()
}
