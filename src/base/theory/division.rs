//! Equal division of slots that nobody gets beyond what they want: max-min fairness.

use std::cmp::Ordering;
use std::ops::{Div, SubAssign};

/// Divides `capacity` equally; what one does not want goes to the others. Whole numbers that do not
/// divide evenly leave one more to those that want most.
pub fn equal_shares<N>(capacity: N, wanted: &[N]) -> Vec<N>
where
    N: Copy + PartialOrd + From<u32> + Div<Output = N> + SubAssign,
{
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    // Those that want least first: the others divide what these leave.
    order.sort_by(|a, b| wanted[*a].partial_cmp(&wanted[*b]).unwrap_or(Ordering::Equal));
    let mut shares = wanted.to_vec();
    let mut left = capacity;
    for (others, one) in (1..=wanted.len() as u32).rev().zip(order) {
        let share = left / N::from(others);
        if share < shares[one] {
            shares[one] = share;
        }
        left -= shares[one];
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_one_does_not_want_go_to_the_others() {
        assert_eq!(equal_shares(12_u32, &[100, 2, 100]), [5, 2, 5]);
        assert_eq!(equal_shares(9_u32, &[1, 2]), [1, 2]);
        assert_eq!(equal_shares(20.0, &[50.0, 2.0, 9.0]), [9.0, 2.0, 9.0]);
        assert_eq!(equal_shares(20.0, &[3.0, 0.0]), [3.0, 0.0]);
    }

    #[test]
    fn whole_slots_are_divided_to_the_last() {
        assert_eq!(equal_shares(10_u32, &[9, 9, 9]), [3, 3, 4]);
        assert_eq!(equal_shares(2_u32, &[9, 9, 9]), [0, 1, 1]);
        assert_eq!(equal_shares(11.0, &[9.0, 9.0]), [5.5, 5.5]);
    }
}
