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

class Sharing:
    """The same jobs on the same slots, as if all shared them: who would end first?"""

    def __init__(self) -> None:
        self.slots, self.clock = 0, 0.0
        self.left, self.ended = dict[int, list[float]](), dict[int, float]()  # slots, work; when

    def run(self, left: dict[int, list[float]], clock: float, until: float) -> dict[int, float]:
        """Lets time pass; returns who ends when."""
        ends = {}
        while left and self.slots and clock < until:
            share, spare, rest = {}, float(self.slots), len(left)
            for job, (tasks, _) in sorted(left.items(), key=lambda item: item[1][0]):
                share[job] = min(tasks, spare / rest)
                spare, rest = spare - share[job], rest - 1
            step = min([until - clock] + [work / share[job] for job, (_, work) in left.items()])
            clock += step
            for job, each in list(left.items()):
                each[1] -= step * share[job]
                if each[1] <= 1e-9:
                    ends[job] = clock
                    del left[job]
        return ends

    def age(self, now: float) -> None:
        self.ended |= self.run(self.left, self.clock, now)
        self.clock = now

    def finishes(self) -> dict[int, float]:
        copy = {job: list(each) for job, each in self.left.items()}
        return self.ended | self.run(copy, self.clock, float("inf"))


class Fsp(Policy):
    """The fair sojourn protocol, as `fsp` has it: jobs in the order in which sharing would end them, by true sizes."""

    wants = ["truth", "attempts"]
    patience_us = 0

    def __init__(self, hello: dict[str, Any]) -> None:
        super().__init__(hello)
        self.shared, self.rank = [Sharing(), Sharing()], [dict[int, float](), dict[int, float]()]
        self.mapped: dict[int, set[int]] = {}  # the maps that are done

    def news(self, what: str, job: Job, said: dict[str, Any], at_us: int) -> None:
        mapped = self.mapped.setdefault(job.job, set())
        if what == "attempt" and [said["attempt"][1], said["state"]] == ["map", "succeeded"]:
            mapped.add(said["attempt"][2])
        for kind, shared in enumerate(self.shared):  # its reduces arrive when its maps are done
            is_here = what == "running" if kind == MAP else len(mapped) == job.tasks[MAP]
            is_new = job.job not in shared.left and job.job not in shared.ended
            if what in ("running", "attempt") and is_here and is_new and job.tasks[kind]:
                shared.age(at_us / 1e6)
                shared.left[job.job] = [job.tasks[kind], sum(job.truth_us[kind]) / 1e6]
                self.rank[kind] = {}

    def offer(self, offer: Offer) -> None:
        for kind, shared in enumerate(self.shared):
            if shared.slots != self.cluster["slots"][kind] or not self.rank[kind]:
                shared.age(offer.now_us / 1e6)
                shared.slots = self.cluster["slots"][kind]
                self.rank[kind] = shared.finishes()
            line = sorted((self.rank[kind].get(job.job, float("inf")), job.job) for job in self.jobs.values() if job.pending[kind])
            for _, number in line:
                while offer.can(kind, self.jobs[number]):
                    offer.launch(kind, self.jobs[number], why={"code": "ends-first"})


if __name__ == "__main__":
    serve(Fsp)
