#!/usr/bin/env python3
# ---- The adapter: what Mumakil says, kept as objects. The policy begins below. ----
from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any

MAP, REDUCE = 0, 1  # of two numbers side by side the first is of maps, the second of reduces


@dataclass
class Job:
    job: int
    name: str
    user: str
    pool: str
    priority: int  # 0 is before all others, 2 is usual
    tasks: list[int]  # all its maps and all its reduces, from the first to the last
    arrived_us: int
    truth_us: list[list[int]] = field(default_factory=list)  # of each task, for who wants `truth`
    # Those of them that may be launched now: for reduces, only once enough maps are done.
    pending: list[int] = field(default_factory=lambda: [0, 0])
    running: list[int] = field(default_factory=lambda: [0, 0])  # attempts, second ones included
    done: list[int] = field(default_factory=lambda: [0, 0])  # so `tasks` - `done` are left
    homeless: bool = False  # whether a map may wait whose input is nowhere


class Offer:
    """A tracker's heartbeat: what can be launched there, and what is to be done."""

    def __init__(self, said: dict[str, Any]) -> None:
        self.now_us: int = said["now_us"]
        self.tracker: int | None = said.get("tracker")
        self.free: list[int] = said.get("free", [0, 0])
        self.near = {job: [node, rack] for job, node, rack in said.get("near", ())}
        self.not_here: list[list[int]] = said.get("not_here", [[], []])
        self.progress: list[Any] = said.get("progress", [])
        self.deeds: list[dict[str, Any]] = []

    def can(self, kind: int, job: Job, reach: str = "any") -> bool:
        """Whether a task of the job could be launched here, a map at most so far from its input."""
        if not self.free[kind] or not job.pending[kind] or job.job in self.not_here[kind]:
            return False
        node, rack = self.near.get(job.job, (0, 0))
        return bool({"node": node, "rack": rack}.get(reach, True))

    def launch(self, kind: int, job: Job, reach: str = "any", why: Any = None) -> str:
        """Launches the job's best task; returns how far the input of a map is."""
        self.free[kind] -= 1
        job.pending[kind] -= 1
        job.running[kind] += 1
        if kind == REDUCE:
            self.deeds.append({"reduce": {"job": job.job, "why": why}})
            return ""
        self.deeds.append({"map": {"job": job.job, "reach": reach, "why": why}})
        node, rack = self.near.get(job.job, (0, 0))
        self.near[job.job] = [max(0, node - 1), max(0, rack - 1)]
        return "node" if node else "rack" if rack else "off_rack"

    def order(self, what: str, attempt: list[Any], why: Any = None) -> None:
        """Orders `kill`, `suspend`, `resume` or `checkpoint` of an attempt."""
        self.deeds.append({what: {"attempt": attempt, "why": why}})


class Policy:
    """What there is to fill in."""

    wants: list[str] = []  # attempts, progress, all_offers, truth
    tick_us: int | None = None  # how often `tick` is to be called
    patience_us: int | None = None  # for how long it may put off what it could do at once

    def __init__(self, hello: dict[str, Any]) -> None:
        self.options: Any = hello["options"]
        self.trackers: list[list[int]] = hello["trackers"]  # rack, map slots, reduce slots
        self.cluster: dict[str, Any] = {}
        self.jobs: dict[int, Job] = {}

    def news(self, what: str, job: Job, said: dict[str, Any], at_us: int) -> None: ...
    def tick(self, offer: Offer) -> None: ...
    def offer(self, offer: Offer) -> None: ...

    def _hear(self, what: str, said: dict[str, Any], at_us: int) -> None:
        if what == "submitted":
            self.jobs[said["job"]] = Job(arrived_us=at_us, **said)
        job = self.jobs.get(said["job"])
        if job is None:  # an attempt may outlive its job
            return
        if what == "counts":
            job.__dict__.update(said)
        elif what == "ended":
            del self.jobs[job.job]
        self.news(what, job, said, at_us)


def serve(make: type[Policy]) -> None:
    policy, out = None, sys.stdout
    for line in sys.stdin:
        [(what, said)] = json.loads(line).items()
        if what == "end":
            return
        if what == "hello":
            policy = make(said)
            answer: Any = {"protocol": 1, "wants": policy.wants, "tick_us": policy.tick_us, "patience_us": policy.patience_us}
        elif what == "inherit":
            answer = False
        else:
            policy.cluster = said.get("cluster", policy.cluster)
            if "slots" in said:  # the tracker has restarted with other slots
                policy.trackers[said["tracker"]][1:] = said["slots"]
            for at_us, entry in said.get("news", ()):
                [(news, more)] = entry.items()
                policy._hear(news, more, at_us)
            offer = Offer(said)
            getattr(policy, what)(offer)
            what, answer = "answer", {"number": said["number"], "do": offer.deeds}
        out.write(json.dumps({what: answer}) + "\n")
        out.flush()


# ---- The policy. ----

class FairSkip(Policy):
    """Algorithm 2 of the paper on delay scheduling, as `fair-skip` has it: the job with the fewest running
    tasks first; one without input on the node is passed over a number of times."""

    def __init__(self, hello: dict[str, Any]) -> None:
        super().__init__(hello)
        self.skips = [24, 0] if self.options is None else self.options["skips"]  # D1, D2
        self.waits: dict[int, tuple[str, int, int | None]] = {}  # level, how often, since when

    def reach(self, job: Job) -> str:
        level, waited, _ = self.waits.get(job.job, ("node", 0, None))
        node, rack = self.skips
        if job.homeless:
            return "any"
        if level == "node" and waited < node:
            return "node"
        if (level == "node" and waited < node + rack) or (level == "rack" and waited < rack):
            return "rack"
        return "any"

    def offer(self, offer: Offer) -> None:
        for kind in (MAP, REDUCE):
            while offer.free[kind] and self.serve(kind, offer):
                pass

    def serve(self, kind: int, offer: Offer) -> bool:
        """Gives a slot to the first job that can use it; returns whether one can."""
        line = sorted((job.running[kind], job.arrived_us, job.job) for job in self.jobs.values() if job.pending[kind])
        for running, _, number in line:
            job = self.jobs[number]
            level, waited, since = self.waits.get(number, ("node", 0, None))
            reach = self.reach(job) if kind == MAP else "any"
            if offer.can(kind, job, reach):
                why = {"code": "share", "held": running}
                if kind == MAP and since is not None and any(self.skips):
                    why = {"code": "waited", "waited_us": offer.now_us - since}
                far = offer.launch(kind, job, reach, why)
                if kind == MAP:
                    self.waits[number] = (far, 0, None)
                return True
            if kind == MAP and number not in offer.not_here[MAP]:  # no patience is used up where nothing fits
                self.waits[number] = (level, waited + 1, offer.now_us if since is None else since)
        return False


if __name__ == "__main__":
    serve(FairSkip)
