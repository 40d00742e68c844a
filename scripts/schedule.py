"""A simulation of the schedule of a solve on a cluster: task by task, with stragglers, nodes that die, and a driver
that dies.

A phase begins when the one before it has ended, because each of its tasks needs something of all tasks of that one.
Task times are log-normal about what the plan says; some take much longer. A node that dies takes its running tasks
along, and what its tasks of this phase have returned; all of that is done again, and a new node is there after a while.
If the driver dies the tier's pass is begun anew.
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from solver.estimate.planning import Cluster, Phase, Plan, turn_of

NEVER = 20.0  # times what the plan says: where nodes die faster than tiers are done it would not end


class Trouble(NamedTuple):
    """The faults of a run: the spread of the logarithm of task times, the share of stragglers and how many times longer
    these take, seconds between two deaths of a node, on average, and until a new one is there."""

    spread: float = 0.25
    stragglers: float = 0.001
    longer: float = 5.0
    between: float = 30 * 86_400.0
    replaced: float = 600.0


class Run(NamedTuple):
    """A simulated solve: its seconds, the share of those of both passes in which workers had nothing to do, tasks done
    again, nodes that died, and how often the driver did."""

    seconds: float
    idle: float
    again: int
    deaths: int
    drivers: int


class Schedule:
    """One run of a plan, by a seed."""

    def __init__(self, plan: Plan, cluster: Cluster, trouble: Trouble, seed: int) -> None:
        self.plan, self.cluster, self.trouble = plan, cluster, trouble
        self.chance = random.Random(seed)
        self.now = self.busy = 0.0
        self.again = self.deaths = self.drivers = 0
        self.lives = [0] * cluster.nodes  # how often each node died
        self.back = [0.0] * cluster.nodes  # when it is there again
        self.next_death = self._wait(trouble.between / cluster.nodes)
        self.next_driver = self._wait(trouble.between)

    def run(self) -> Run:
        """Both passes, and the book, which is begun anew if the driver dies."""
        for tier in self.plan.tiers:
            self._pass(tier.phases[: turn_of(tier.phases)])
        for tier in reversed(self.plan.tiers):
            self._pass(tier.phases[turn_of(tier.phases) :])
        passed = self.now
        while self.next_driver < self.now + self.plan.book_seconds and self.now < NEVER * self.plan.seconds:
            self._driver_dies()
        self.now += self.plan.book_seconds
        workers = self.cluster.nodes * self.cluster.cores
        return Run(self.now, 1 - self.busy / workers / passed, self.again, self.deaths, self.drivers)

    def _pass(self, phases: Sequence[Phase]) -> None:
        """A tier of a pass, until its commit."""
        while True:
            for phase in phases:
                begun = self.now
                self._tasks(phase.tasks, phase.work / phase.tasks)
                self.now = max(self.now, begun + phase.seconds)  # what is not the cores takes as long as it takes
            if self.now < self.next_driver or self.now > NEVER * self.plan.seconds:
                return
            self.again += sum(phase.tasks for phase in phases)
            self._driver_dies()

    def _tasks(self, count: int, mean: float) -> None:
        """So many tasks on all workers, until they are done."""
        cores, nodes = self.cluster.cores, self.cluster.nodes
        idle = [worker for worker in range(nodes * cores) if self.back[worker // cores] <= self.now]
        self.chance.shuffle(idle)
        # the end of a task, or of a worker's absence: when, whose, in which life of its node, and how long it took
        events = [
            (self.back[node], worker, self.lives[node], 0.0)
            for node in range(nodes)
            if self.back[node] > self.now
            for worker in range(node * cores, (node + 1) * cores)
        ]
        heapq.heapify(events)
        running, done, waiting = [0] * nodes, [0] * nodes, count
        while waiting or any(running):
            while waiting and idle:
                worker, takes = idle.pop(), self._time(mean)
                waiting, node = waiting - 1, worker // cores
                running[node] += 1
                heapq.heappush(events, (self.now + takes, worker, self.lives[node], takes))
            if self.next_death < events[0][0] and self.now < NEVER * self.plan.seconds:
                node = self._node_dies()
                waiting += running[node] + done[node]
                self.again += running[node] + done[node]
                running[node] = done[node] = 0
                idle = [worker for worker in idle if worker // cores != node]
                for worker in range(node * cores, (node + 1) * cores):
                    heapq.heappush(events, (self.back[node], worker, self.lives[node], 0.0))
                continue
            end, worker, life, took = heapq.heappop(events)
            node = worker // cores
            if life == self.lives[node]:
                self.now = max(self.now, end)
                self.busy += took
                running[node] -= took > 0
                done[node] += took > 0
                idle.append(worker)

    def _time(self, mean: float) -> float:
        """The time of a task."""
        spread = self.trouble.spread
        takes = mean * math.exp(self.chance.gauss(-spread * spread / 2, spread))
        return takes * (self.trouble.longer if self.chance.random() < self.trouble.stragglers else 1.0)

    def _wait(self, mean: float) -> float:
        return self.now + self.chance.expovariate(1 / mean)

    def _node_dies(self) -> int:
        """A node that is there dies; which."""
        self.now = max(self.now, self.next_death)
        node = self.chance.randrange(self.cluster.nodes)
        self.lives[node] += 1
        self.back[node] = self.now + self.trouble.replaced
        self.next_death = self._wait(self.trouble.between / self.cluster.nodes)
        self.deaths += 1
        return node

    def _driver_dies(self) -> None:
        """It is there again after a while, and goes on behind the last commit."""
        self.now = self.next_driver + self.trouble.replaced
        self.next_driver = self._wait(self.trouble.between)
        self.drivers += 1
