//! Dominant resource fairness, exact: users who ask for several resources share them by progressive
//! filling (Ghodsi et al., NSDI 2011).
//!
//! A user's dominant share is the largest of its shares of the resources. All dominant shares grow
//! together, each in proportion to the user's weight. A user whose resource is used up stops; the
//! others go on.

use num_traits::Zero;

use super::DomainError;
use super::fluid::Rational;

/// A user of shared resources, who has endless tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillingUser {
    /// The amount of each resource that a task takes.
    pub task: Vec<u64>,
    /// The weight: dominant shares are in proportion to the weights.
    pub weight: u64,
}

/// Resources, and the users who share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    /// How much there is of each resource.
    pub capacity: Vec<u64>,
    /// The users.
    pub users: Vec<FillingUser>,
}

impl Filling {
    /// Returns the tasks of each user if tasks can be divided at will.
    ///
    /// # Errors
    /// If a resource or a weight is zero, or a user asks for nothing.
    pub fn fluid(&self) -> Result<Vec<Rational>, DomainError> {
        self.check()?;
        let dominant = self.dominant_shares();
        let mut tasks = vec![Rational::zero(); self.users.len()];
        let mut left: Vec<Rational> = self.capacity.iter().map(|all| ratio(*all, 1)).collect();
        let mut grows = vec![true; self.users.len()];
        while grows.contains(&true) {
            // How fast each user's tasks grow while its dominant share grows at its weight.
            let pace = |user: usize| match grows[user] {
                true => ratio(self.users[user].weight, 1) / &dominant[user],
                false => Rational::zero(),
            };
            let paces: Vec<Rational> = (0..self.users.len()).map(pace).collect();
            let drains: Vec<Rational> = (0..left.len()).map(|of| self.sum(of, &paces)).collect();
            let ends = left.iter().zip(&drains).filter(|(_, drain)| !drain.is_zero());
            let Some(until) = ends.map(|(left, drain)| left / drain).min() else { break };
            tasks.iter_mut().zip(&paces).for_each(|(tasks, pace)| *tasks += pace * &until);
            left.iter_mut().zip(&drains).for_each(|(left, drain)| *left -= drain * &until);
            for (user, grows) in self.users.iter().zip(&mut grows) {
                *grows &=
                    user.task.iter().zip(&left).all(|(asks, left)| *asks == 0 || !left.is_zero());
            }
        }
        Ok(tasks)
    }

    /// Returns the tasks of each user if tasks start one after another, each for the user with the
    /// lowest dominant share whose task still fits; among equal users, for the first.
    ///
    /// # Errors
    /// As [`Self::fluid`].
    pub fn whole(&self) -> Result<Vec<u64>, DomainError> {
        self.check()?;
        let dominant = self.dominant_shares();
        let weighed = |user: usize| &dominant[user] / ratio(self.users[user].weight, 1);
        let each: Vec<Rational> = (0..self.users.len()).map(weighed).collect();
        let mut tasks = vec![0; self.users.len()];
        let mut left = self.capacity.clone();
        let fits = |user: &usize, left: &[u64]| {
            self.users[*user].task.iter().zip(left).all(|(asks, left)| asks <= left)
        };
        while let Some(next) = (0..tasks.len())
            .filter(|user| fits(user, &left))
            .min_by_key(|user| &each[*user] * ratio(tasks[*user], 1))
        {
            tasks[next] += 1;
            left.iter_mut().zip(&self.users[next].task).for_each(|(left, asks)| *left -= asks);
        }
        Ok(tasks)
    }

    /// Returns the dominant share that one task of each user is.
    pub fn dominant_shares(&self) -> Vec<Rational> {
        let share = |user: &FillingUser| {
            let shares = user.task.iter().zip(&self.capacity).map(|(asks, all)| ratio(*asks, *all));
            shares.max().unwrap_or_else(Rational::zero)
        };
        self.users.iter().map(share).collect()
    }

    /// Returns how much of a resource these tasks of all users take.
    fn sum(&self, resource: usize, tasks: &[Rational]) -> Rational {
        let each = self.users.iter().zip(tasks);
        each.map(|(user, tasks)| ratio(user.task[resource], 1) * tasks).sum()
    }

    fn check(&self) -> Result<(), DomainError> {
        let error = |name, value: u64, allowed| DomainError { name, value: value as f64, allowed };
        if self.capacity.contains(&0) {
            return Err(error("capacity", 0, "above zero for each resource"));
        }
        for FillingUser { task, weight } in &self.users {
            if task.len() != self.capacity.len() {
                let asked = task.len() as u64;
                return Err(error("task", asked, "one amount for each resource"));
            }
            if task.iter().all(|asks| *asks == 0) {
                return Err(error("task", 0, "above zero for one resource at least"));
            }
            if *weight == 0 {
                return Err(error("weight", 0, "above zero"));
            }
        }
        Ok(())
    }
}

fn ratio(above: u64, below: u64) -> Rational {
    Rational::new(above.into(), below.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_traits::One;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn filling<const N: usize>(capacity: [u64; 2], tasks: [[u64; 2]; N]) -> Filling {
        let user = |task: [u64; 2]| FillingUser { task: task.to_vec(), weight: 1 };
        Filling { capacity: capacity.to_vec(), users: tasks.map(user).into() }
    }

    #[test]
    fn the_published_examples_come_out() {
        // Ghodsi et al., section 4.1.
        let paper = filling([9, 18], [[1, 4], [3, 1]]);
        assert_eq!(paper.fluid().unwrap(), [ratio(3, 1), ratio(2, 1)]);
        assert_eq!(paper.whole().unwrap(), [3, 2]);
        // The example of books on YARN: 100 cores and 10 TB.
        let yarn = filling([100, 10_000], [[2, 300], [6, 100]]);
        assert_eq!(yarn.fluid().unwrap(), [ratio(20, 1), ratio(10, 1)]);
        assert_eq!(yarn.whole().unwrap(), [20, 10]);
    }

    #[test]
    fn a_weight_of_two_has_twice_the_dominant_share() {
        let mut paper = filling([90, 180], [[1, 4], [3, 1]]);
        paper.users[0].weight = 2;
        let tasks = paper.fluid().unwrap();
        let dominant = paper.dominant_shares();
        assert_eq!(&tasks[0] * &dominant[0], &tasks[1] * &dominant[1] * ratio(2, 1));
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let says = |filling: Filling| filling.fluid().unwrap_err().to_string();
        assert_eq!(
            says(filling([9, 0], [[1, 1]])),
            "`capacity` is 0; it must be above zero for each resource"
        );
        assert!(says(filling([9, 9], [[0, 0]])).starts_with("`task` is 0"));
        let mut weightless = filling([9, 9], [[1, 0]]);
        weightless.users[0].weight = 0;
        assert_eq!(says(weightless), "`weight` is 0; it must be above zero");
    }

    /// Returns up to five users with random tasks of three resources.
    fn any_filling() -> impl Strategy<Value = Filling> {
        let user = vec(0_u64..20, 3)
            .prop_filter("a task asks for something", |task| task.iter().any(|asks| 0 < *asks))
            .prop_map(|task| FillingUser { task, weight: 1 });
        (vec(1_u64..500, 3), vec(user, 1..6))
            .prop_map(|(capacity, users)| Filling { capacity, users })
    }

    /// Returns how many tasks a user can run with these amounts.
    fn tasks_with(user: &FillingUser, amounts: &[Rational]) -> Rational {
        let needed = user.task.iter().zip(amounts).filter(|(asks, _)| 0 < **asks);
        needed.map(|(asks, amount)| amount / ratio(*asks, 1)).min().unwrap()
    }

    /// Returns the amounts of a user with so many tasks.
    fn amounts(user: &FillingUser, tasks: &Rational) -> Vec<Rational> {
        user.task.iter().map(|asks| ratio(*asks, 1) * tasks).collect()
    }

    // The four properties of the paper's section 3.
    proptest! {
        #[test]
        fn no_user_has_less_than_an_equal_part_of_everything(filling in any_filling()) {
            let tasks = filling.fluid().unwrap();
            let users = filling.users.len() as u64;
            let part: Vec<Rational> = filling.capacity.iter().map(|all| ratio(*all, users)).collect();
            for (user, tasks) in filling.users.iter().zip(&tasks) {
                prop_assert!(tasks_with(user, &part) <= *tasks);
            }
        }

        #[test]
        fn no_user_gains_by_asking_for_something_else(
            filling in any_filling(),
            lie in vec(0_u64..20, 3),
            who in 0_usize..6,
        ) {
            let liar = who % filling.users.len();
            prop_assume!(lie.iter().any(|asks| 0 < *asks));
            let honest = &filling.fluid().unwrap()[liar];
            let mut lied = filling.clone();
            lied.users[liar].task = lie;
            let got = amounts(&lied.users[liar], &lied.fluid().unwrap()[liar]);
            prop_assert!(tasks_with(&filling.users[liar], &got) <= *honest);
        }

        #[test]
        fn no_user_would_rather_have_what_another_has(filling in any_filling()) {
            let tasks = filling.fluid().unwrap();
            for (user, own) in filling.users.iter().zip(&tasks) {
                for (other, of_other) in filling.users.iter().zip(&tasks) {
                    prop_assert!(tasks_with(user, &amounts(other, of_other)) <= *own);
                }
            }
        }

        #[test]
        fn no_user_can_have_more_unless_another_has_less(filling in any_filling()) {
            let tasks = filling.fluid().unwrap();
            let is_used_up =
                |of: usize| filling.sum(of, &tasks) == ratio(filling.capacity[of], 1);
            for user in &filling.users {
                let mut needed = (0..3).filter(|of| 0 < user.task[*of]);
                prop_assert!(needed.any(is_used_up));
            }
        }

        #[test]
        fn whole_tasks_fit_and_leave_no_room_for_another(filling in any_filling()) {
            let tasks = filling.whole().unwrap();
            let left = |of: usize| {
                let used = filling.users.iter().zip(&tasks).map(|(user, tasks)| user.task[of] * tasks);
                filling.capacity[of].checked_sub(used.sum::<u64>())
            };
            prop_assert!((0..3).all(|of| left(of).is_some()));
            for user in &filling.users {
                prop_assert!((0..3).any(|of| left(of).unwrap() < user.task[of]));
            }
        }

    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn many_small_tasks_come_near_to_the_fluid(filling in any_filling()) {
            // A task takes a hundredth of a resource at most.
            let large = Filling {
                capacity: filling.capacity.iter().map(|all| 2_000 + all).collect(),
                users: filling.users.clone(),
            };
            let dominant = large.dominant_shares();
            let (whole, fluid) = (large.whole().unwrap(), large.fluid().unwrap());
            for ((whole, fluid), share) in whole.iter().zip(&fluid).zip(&dominant) {
                let apart = (ratio(*whole, 1) - fluid) * share;
                prop_assert!(apart < ratio(1, 10) && -Rational::one() / ratio(10, 1) < apart);
            }
        }
    }
}
