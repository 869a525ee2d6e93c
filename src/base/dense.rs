//! Lists indexed by dense numbers, such as the numbers of jobs or trackers. A list grows when a new
//! number needs an entry.

/// Returns the entry of a list for a number; fills the list with defaults up to there.
#[inline]
pub fn grown<T: Default>(list: &mut Vec<T>, number: usize) -> &mut T {
    if list.len() <= number {
        list.resize_with(number + 1, T::default);
    }
    &mut list[number]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_grows_up_to_what_is_asked_for() {
        let mut list = vec![7];
        *grown(&mut list, 2) += 1;
        *grown(&mut list, 0) += 1;
        assert_eq!(list, [8, 0, 1]);
    }
}
