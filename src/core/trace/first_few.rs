//! The first few of many items, such as mistakes in a file, and their number.

/// The first few of many items, and the number of all.
#[derive(Clone, Debug)]
pub struct FirstFew<T> {
    /// The number of all items.
    pub count: u64,
    /// The first items, at most twenty.
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

    /// Counts an item, and keeps it if it is among the first twenty.
    pub fn add(&mut self, item: T) {
        self.count += 1;
        if self.first.len() < Self::FEW {
            self.first.push(item);
        }
    }

    /// Returns a list of what `of` makes of the items.
    pub fn map<U>(self, of: impl FnMut(T) -> U) -> FirstFew<U> {
        FirstFew { count: self.count, first: self.first.into_iter().map(of).collect() }
    }

    /// Adds the items of another list.
    pub fn append(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(Self::FEW);
    }
}

impl FirstFew<String> {
    /// Counts a name, and keeps it if it is new and there is room.
    pub(super) fn add_name(&mut self, name: String) {
        if self.first.contains(&name) {
            self.count += 1;
        } else {
            self.add(name);
        }
    }
}
