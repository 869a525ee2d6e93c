//! Templates for a policy of one's own: a file in Python or C++, or a small package in Rust. Each holds the
//! adapter, which speaks for the policy, and a policy to change. None needs packages of others.

/// A file in Python.
pub const PYTHON: &str = include_str!("../../../scenarios/policies/greedy.py");

/// A file in C++.
pub const CPP: &str = include_str!("../../../scenarios/policies/greedy.cpp");

/// The sources of a package in Rust, by name.
const RUST: [(&str, &str); 3] = [
    ("main.rs", include_str!("../../../scenarios/policies/greedy/main.rs")),
    ("adapter.rs", include_str!("../../../scenarios/policies/greedy/adapter.rs")),
    ("json.rs", include_str!("../../../scenarios/policies/greedy/json.rs")),
];

/// Returns the files of a package in Rust of this name, by their paths in its folder.
pub fn rust(name: &str) -> Vec<(String, String)> {
    // A workspace of its own, or cargo would look for one in the folders around it.
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n"
    );
    let sources = RUST.map(|(file, text)| (format!("src/{file}"), text.to_owned()));
    [("Cargo.toml".to_owned(), manifest)].into_iter().chain(sources).collect()
}
