#!/usr/bin/python3
"""Simulates a fleet: many repositories on many nodes, with nodes that die, tasks that are killed and a scheduler that restarts.

    tools/fleet-simulate.py --repositories 100000 --nodes 100

It follows docs/fleet.md: tasks of a job array take chunks of the list; a repository is claimed before it is gathered and done when its
document is there; a claim is free again when the scheduler no longer has the task of its holder. --stale-age shows what a claim that
ends by age would cost. The same seed gives the same result.
"""
import argparse
import dataclasses
import heapq
import json
import math
import random
import sys

HOUR = 3600.0
# Of the shared directory, for a repository: the claim is made and removed, two look-ups, a temporary file, its sync and its name.
CALLS_EACH = 7
BEGIN, END, DIE, BOOT, REQUEUE = range(5)


@dataclasses.dataclass
class Task:
    """One task of the array: a chunk of repositories."""
    number: int
    left: list
    node: int = -1
    life: int = 0  # which of its lives: each has another claim
    repository: int = -1
    began: float = 0.0


class Fleet:
    """The state of all: an event is (time, order, kind, what, life)."""

    def __init__(self, given):
        self.given, self.random = given, random.Random(given.seed)
        self.now, self.order, self.events = 0.0, 0, []
        count, chunk = given.repositories, given.chunk
        self.tasks = [Task(number, list(range(first, min(first + chunk, count)))[::-1]) for number, first in enumerate(range(0, count, chunk))]
        self.waiting = list(range(len(self.tasks)))[::-1]
        self.free = [given.slots] * given.nodes
        self.up = [True] * given.nodes
        self.on_node = [set() for _ in range(given.nodes)]
        self.finished = [0] * count  # how often a document of it got its name
        self.begun = [0] * count
        self.aged = []  # repositories whose claims are held: (time at which they are too old, repository)
        self.stolen = {}
        self.counts = {"node_deaths": 0, "tasks_killed": 0, "requeued": 0}
        self.worked = self.lost = 0.0
        self.by_minute = {}

    def at(self, seconds, kind, what, life=0):
        self.order += 1
        heapq.heappush(self.events, (self.now + seconds, self.order, kind, what, life))

    def duration(self, repository):
        """The same repository takes the same time wherever it is gathered; a few take very long."""
        sigma = self.given.spread
        return random.Random(f"{self.given.seed} {repository}").lognormvariate(math.log(self.given.seconds) - sigma * sigma / 2, sigma)

    def start_tasks(self):
        """The scheduler fills free slots."""
        for node in range(self.given.nodes):
            while self.up[node] and self.free[node] > 0 and self.waiting:
                task = self.tasks[self.waiting.pop()]
                task.node, task.life = node, task.life + 1
                self.free[node] -= 1
                self.on_node[node].add(task.number)
                self.at(self.given.start_s, BEGIN, task.number, task.life)

    def next_repository(self, task):
        """From its chunk; then, if claims end by age, from what others hold for too long."""
        if task.left:
            return task.left.pop()
        while self.given.stale_age and self.aged and self.aged[0][0] <= self.now:
            _, repository = heapq.heappop(self.aged)
            if not self.finished[repository]:
                return repository
        return -1

    def begin(self, task):
        repository = self.next_repository(task)
        if repository < 0:
            self.leave(task)
            return
        self.begun[repository] += 1
        task.repository, task.began = repository, self.now
        if self.given.stale_age:
            heapq.heappush(self.aged, (self.now + self.given.stale_age, repository))
        seconds = self.duration(repository)
        killed = self.random.random() < self.given.kill
        self.at(seconds * self.random.random() if killed else seconds, REQUEUE if killed else END, task.number, task.life)

    def end(self, task):
        self.finished[task.repository] += 1
        self.worked += self.now - task.began
        minute = int(self.now // 60)
        self.by_minute[minute] = self.by_minute.get(minute, 0) + 1
        task.repository = -1
        self.begin(task)

    def leave(self, task):
        self.on_node[task.node].discard(task.number)
        if self.up[task.node]:
            self.free[task.node] += 1
        task.node = -1

    def lose(self, task):
        """Its process is gone. The scheduler knows, so the claim of this life is free when the task runs again."""
        if task.repository >= 0:
            self.lost += self.now - task.began
            if not self.finished[task.repository]:
                task.left.append(task.repository)
        task.repository = -1
        self.leave(task)
        task.life += 1  # what is on its way for the old life is void
        self.counts["requeued"] += 1
        self.waiting.insert(0, task.number)

    def die(self, node):
        self.counts["node_deaths"] += 1
        self.up[node] = False
        for number in sorted(self.on_node[node]):
            self.lose(self.tasks[number])
        self.at(self.given.repair_s, BOOT, node)

    def handle(self, kind, what, life):
        if kind == DIE:
            self.die(what)
        elif kind == BOOT:
            self.up[what], self.free[what] = True, self.given.slots
            self.plan_death(what)
        elif self.tasks[what].life == life:
            task = self.tasks[what]
            if kind == BEGIN:
                self.begin(task)
            elif kind == END:
                self.end(task)
            else:
                self.counts["tasks_killed"] += 1
                self.lose(task)

    def plan_death(self, node):
        if self.given.mtbf_hours > 0:
            self.at(self.random.expovariate(1 / (self.given.mtbf_hours * HOUR)), DIE, node)

    def run(self):
        for node in range(self.given.nodes):
            self.plan_death(node)
        self.start_tasks()
        held = self.given.restart_s
        while self.events and not all_done(self):
            self.now, _, kind, what, life = heapq.heappop(self.events)
            self.handle(kind, what, life)
            # A controller that is down starts nothing; what runs goes on.
            if not self.given.restarts or self.now % (HOUR * self.given.restarts) > held:
                self.start_tasks()
            elif not any(self.on_node):
                self.now += held
                self.start_tasks()
        return self.report()

    def report(self):
        given, slots = self.given, self.given.nodes * self.given.slots
        busiest = max(self.by_minute.values(), default=0) / 60
        done, minute = 0, 0
        while done < 0.99 * given.repositories and minute <= self.now // 60:
            done, minute = done + self.by_minute.get(minute, 0), minute + 1
        return {
            "repositories": given.repositories, "documents": sum(1 for count in self.finished if count), "done_twice": sum(1 for count in self.finished if count > 1),
            "gathered_again": sum(count - 1 for count in self.begun if count > 1), **self.counts, "hours": self.now / HOUR, "hours_to_99_percent": minute / 60,
            "useful": self.worked / (self.now * slots) if self.now else 0.0, "lost": self.lost / max(self.worked, 1e-9),
            "calls_per_second": given.repositories * CALLS_EACH / max(self.now, 1e-9), "busiest_calls_per_second": busiest * CALLS_EACH,
            "documents_gib": given.repositories * given.document_kib / 2**20, "bytes_per_second": given.repositories * given.document_kib * 1024 / max(self.now, 1e-9),
            "collect_hours": given.repositories * given.collect_ms / 1000 / HOUR, "database_gib": given.repositories * given.rows_kib / 2**20}


def all_done(fleet):
    """Asked after each event, so it counts only near the end."""
    return not fleet.waiting and not any(fleet.on_node)


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    numbers = [("repositories", 100000, "how many"), ("nodes", 100, "how many"), ("slots", 16, "tasks at once on a node"), ("chunk", 10, "repositories of a task"),
               ("seconds", 30.0, "mean time of a repository"), ("spread", 1.2, "of the logarithm of that time"), ("start-s", 5.0, "until a task begins"),
               ("mtbf-hours", 100.0, "of a node; 0: none dies"), ("repair-s", 900.0, "until a node is back"), ("kill", 0.0005, "share of repositories in which the task is killed"),
               ("restarts", 1.0, "hours between restarts of the controller; 0: none"), ("restart-s", 60.0, "how long it is away"), ("stale-age", 0.0, "seconds after which a claim ends; 0: never by age"),
               ("document-kib", 52.0, "of a document"), ("rows-kib", 33.0, "of a document in the database"), ("collect-ms", 15.0, "to collect one"), ("seed", 1, "of everything")]
    for name, default, text in numbers:
        parser.add_argument(f"--{name}", type=type(default), default=default, metavar="N", help=f"{text} (default: {default})")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser.parse_args()


def main():
    given = options()
    if min(given.repositories, given.nodes, given.slots, given.chunk) < 1 or given.seconds <= 0:
        print("fleet-simulate.py: repositories, nodes, slots, chunk and seconds must be positive", file=sys.stderr)
        return 2
    report = Fleet(given).run()
    if given.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:26} {value:.4g}" if isinstance(value, float) else f"{name:26} {value}")
    return 0 if report["documents"] == given.repositories and report["done_twice"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
