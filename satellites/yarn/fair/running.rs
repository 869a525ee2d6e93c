//! How many applications of a queue or a user may run at once.
//!
//! An application that comes when its user, its queue or a queue above is at the limit waits: it
//! gets nothing, but counts in the demand. When one that ran leaves, those become candidates that
//! waited for the highest queue that was exactly at its limit, and those of the user if he was.

use std::collections::BTreeMap;

use super::YarnFair;
use super::queues::FairQueues;
use super::settings::FairSettings;
use crate::message::AppId;
use crate::scheduler::books::ClusterBooks;
use crate::scheduler::java::JavaHeap;
use crate::scheduler::tree::YarnQueueId;

/// The applications of each user.
#[derive(Debug, Default)]
pub(super) struct RunningApps {
    running: BTreeMap<String, i32>,
    waiting: BTreeMap<String, Vec<AppId>>,
}

impl RunningApps {
    pub(super) fn may_run(
        &self,
        settings: &FairSettings,
        queues: &FairQueues,
        queue: YarnQueueId,
        user: &str,
    ) -> bool {
        self.of_user(user) < user_limit(settings, user)
            && queues
                .upwards(queue)
                .all(|id| queues.get(id).running < queues.get(id).set.max_running)
    }

    fn of_user(&self, user: &str) -> i32 {
        self.running.get(user).copied().unwrap_or(0)
    }

    pub(super) fn began(&mut self, queues: &mut FairQueues, queue: YarnQueueId, user: &str) {
        queues.change_upwards(queue, |queue| queue.running += 1);
        *self.running.entry(user.to_owned()).or_default() += 1;
    }

    pub(super) fn ended(&mut self, queues: &mut FairQueues, queue: YarnQueueId, user: &str) {
        queues.change_upwards(queue, |queue| queue.running -= 1);
        *self.running.entry(user.to_owned()).or_default() -= 1;
    }

    pub(super) fn waits(&mut self, app: AppId, user: &str) {
        self.waiting.entry(user.to_owned()).or_default().push(app);
    }

    pub(super) fn waits_no_more(&mut self, app: AppId, user: &str) {
        if let Some(waiting) = self.waiting.get_mut(user) {
            waiting.retain(|it| *it != app);
        }
    }
}

fn user_limit(settings: &FairSettings, user: &str) -> i32 {
    *settings.user_max_running.get(user).unwrap_or(&settings.user_max_running_default)
}

impl YarnFair {
    /// Lets waiting applications run after one of this queue and user has left.
    pub(super) fn let_others_run(
        &mut self,
        books: &mut ClusterBooks,
        queue: YarnQueueId,
        user: &str,
    ) {
        let mut lists = Vec::new();
        let were_full = self.queues.upwards(queue).filter(|id| {
            let queue = self.queues.get(*id);
            queue.running == queue.set.max_running.wrapping_sub(1)
        });
        if let Some(highest) = were_full.last() {
            self.gather_waiting(highest, &mut lists);
        }
        if self.running.of_user(user) == user_limit(&self.settings, user).wrapping_sub(1) {
            lists.push(self.running.waiting.get(user).cloned().unwrap_or_default());
        }
        let most = lists.len();
        let mut previous = None;
        let mut let_go = Vec::new();
        for app in self.by_start(&lists) {
            if previous == Some(app) {
                continue;
            }
            let queue = self.app(app).queue;
            let user = &books.app(app).user;
            if self.running.may_run(&self.settings, &self.queues, queue, user) {
                self.running.began(&mut self.queues, queue, user);
                self.queues.get_mut(queue).runnable.push(app);
                let_go.push(app);
                if most <= let_go.len() {
                    break;
                }
            }
            previous = Some(app);
        }
        for app in let_go {
            let queue = self.app(app).queue;
            self.app_mut(app).is_runnable = true;
            self.queues.get_mut(queue).waiting.retain(|it| *it != app);
            self.running.waits_no_more(app, &books.app(app).user);
            books.hold(app, false);
        }
    }

    /// Adds the waiting applications of each leaf that is below its limit.
    fn gather_waiting(&self, id: YarnQueueId, lists: &mut Vec<Vec<AppId>>) {
        let queue = self.queues.get(id);
        if queue.set.max_running <= queue.running {
            return;
        }
        if queue.is_leaf {
            lists.push(queue.waiting.clone());
        } else {
            queue.children.iter().for_each(|child| self.gather_waiting(*child, lists));
        }
    }

    /// Merges lists by the start of their applications.
    fn by_start(&self, lists: &[Vec<AppId>]) -> Vec<AppId> {
        let mut rests = JavaHeap::new();
        let mut merged = Vec::new();
        lists.iter().for_each(|list| rests.push(self.start(list), &list[..]));
        while let Some([first, rest @ ..]) = rests.pop() {
            merged.push(*first);
            rests.push(self.start(rest), rest);
        }
        merged
    }

    /// Returns when the first application of a list came; a list that is used up comes last.
    fn start(&self, list: &[AppId]) -> u64 {
        list.first().map_or(u64::MAX, |app| self.app(*app).start)
    }
}
