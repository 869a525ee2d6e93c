//! The first few of many things, such as mistakes of a file, and how many there were.

/// The first few of many things of a kind, and how many there were.
#[derive(Clone, Debug)]
pub struct FirstFew<T> {
    /// How many there were.
    pub count: u64,
    /// The first of them, at most twenty.
    pub first: Vec<T>,
}

impl<T> Default for FirstFew<T> {
    fn default() -> Self {
        Self { count: 0, first: Vec::new() }
    }
}

impl<T> FirstFew<T> {
    // Chosen: a user mends a few mistakes and tries again, and memory stays bounded.
    const FEW: usize = 20;

    /// Adds one: it is kept while there are few, and counted always.
    pub fn add(&mut self, item: T) {
        self.count += 1;
        if self.first.len() < Self::FEW {
            self.first.push(item);
        }
    }

    /// Adds all of another.
    pub fn append(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(Self::FEW);
    }
}

impl FirstFew<String> {
    /// Counts a name; keeps it if it is a new one.
    pub(super) fn add_name(&mut self, name: String) {
        if self.first.contains(&name) {
            self.count += 1;
        } else {
            self.add(name);
        }
    }
}
