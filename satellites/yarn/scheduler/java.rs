//! Orders that come from Java's collections, where Hadoop's choices depend on them.

use std::cmp::Ordering;

/// Java's order of texts: by their 16-bit units.
pub(crate) fn compare_texts(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

/// Sorts as `Collections.sort` does with a short list: stably, the run at its beginning first, then
/// the rest one by one into it. The steps matter where a comparison contradicts itself, as with a
/// weight of 0. Java merges the runs of a list of more than 31; that is the same but for
/// contradictions.
pub(crate) fn sort<T: Copy>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if list.len() < 2 {
        return;
    }
    let is_falling = compare(&list[1], &list[0]).is_lt();
    let mut sorted = 2;
    while sorted < list.len() && compare(&list[sorted], &list[sorted - 1]).is_lt() == is_falling {
        sorted += 1;
    }
    if is_falling {
        list[..sorted].reverse();
    }
    for next in sorted..list.len() {
        let (mut left, mut right) = (0, next);
        while left < right {
            let middle = (left + right) / 2;
            if compare(&list[next], &list[middle]).is_lt() {
                right = middle;
            } else {
                left = middle + 1;
            }
        }
        list[left..=next].rotate_right(1);
    }
}

/// Returns texts in the order in which a `HashSet` lists them that they were added to.
pub(crate) fn in_hash_order(texts: Vec<String>) -> Vec<String> {
    let mut buckets = 16_usize;
    while buckets * 3 / 4 < texts.len() {
        buckets *= 2;
    }
    let mut ordered: Vec<(usize, String)> = texts
        .into_iter()
        .map(|text| {
            let hash = text
                .encode_utf16()
                .fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
            ((hash ^ (hash >> 16)) as usize & (buckets - 1), text)
        })
        .collect();
    ordered.sort_by_key(|(bucket, _)| *bucket);
    ordered.into_iter().map(|(_, text)| text).collect()
}

/// Java's `PriorityQueue` of entries with keys, the least first: which of several equal ones comes
/// first depends on its steps.
#[derive(Debug)]
pub(crate) struct JavaHeap<T>(Vec<(u64, T)>);

impl<T> JavaHeap<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn push(&mut self, key: u64, entry: T) {
        let mut place = self.0.len();
        self.0.push((key, entry));
        while 0 < place && key < self.0[(place - 1) / 2].0 {
            self.0.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<T> {
        let last = self.0.len().checked_sub(1)?;
        let (_, first) = self.0.swap_remove(0);
        let mut place = 0;
        while 2 * place + 1 < last {
            let mut child = 2 * place + 1;
            if child + 1 < last && self.0[child + 1].0 < self.0[child].0 {
                child += 1;
            }
            if self.0[place].0 <= self.0[child].0 {
                break;
            }
            self.0.swap(place, child);
            place = child;
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_in_a_hash_set_come_by_bucket() {
        let texts = ["root.a", "root.b", "root.c", "Aa", "BB"].map(str::to_owned).to_vec();
        // "Aa" and "BB" have the same hash, so they keep the order in which they were added.
        let order = in_hash_order(texts);
        let place = |text: &str| order.iter().position(|it| it == text).unwrap();
        assert_eq!(place("Aa") + 1, place("BB"));
        assert!(place("root.a") + 1 == place("root.b"), "{order:?}");
    }

    #[test]
    fn a_comparison_that_contradicts_itself_does_no_harm() {
        let mut list: Vec<u32> = (0..100).collect();
        sort(&mut list, |one, other| (one % 3).cmp(&(other % 2)));
        list.sort_unstable();
        assert_eq!(list, (0..100).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn sorting_is_stable(list in prop::collection::vec((0_u32..8, 0_u32..1_000), 0..200)) {
            let (mut ours, mut expected) = (list.clone(), list);
            sort(&mut ours, |one, other| one.0.cmp(&other.0));
            expected.sort_by_key(|it| it.0);
            prop_assert_eq!(ours, expected);
        }

        #[test]
        fn a_heap_gives_the_least_first(list in prop::collection::vec(0_u32..50, 0..50)) {
            let mut heap = JavaHeap::new();
            list.iter().for_each(|it| heap.push(u64::from(*it), *it));
            let popped: Vec<u32> = std::iter::from_fn(|| heap.pop()).collect();
            let mut sorted = list;
            sorted.sort_unstable();
            prop_assert_eq!(popped, sorted);
        }
    }
}
