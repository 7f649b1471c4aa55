"""What pems-graph pagerank finds, beside the definition that networkx has:
pagerank(MultiDiGraph) by power iteration, where nodes without edges give
their rank to all nodes. Called by tests/graph/files.sh, in a directory for it."""
import random
import subprocess
import sys

DAMPING = 0.85


def right_ranks(nodes, edges):
    degree = [0] * nodes
    for a, _ in edges:
        degree[a] += 1
    rank = [1 / nodes] * nodes
    for _ in range(400):
        idle = sum(r for r, n in zip(rank, degree) if n == 0)
        then = [(1 - DAMPING + DAMPING * idle) / nodes] * nodes
        for a, b in edges:
            then[b] += DAMPING * rank[a] / degree[a]
        rank = then
    return rank


def run(*command):
    done = subprocess.run(["pems-graph", *command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"ranks.py: {command}: {done.stderr}")


def make(nodes, edges):
    with open("ranks.gr", "w") as file:
        file.write(f"p sp {nodes} {len(edges)}\n")
        file.writelines(f"a {a + 1} {b + 1} {1 + (a + b) % 3}\n" for a, b in edges)
    run("convert", "ranks.gr", "ranks.csr")


def found_ranks(more):
    run("pagerank", "ranks.csr", "-o", "ranks", *more)
    with open("ranks") as file:
        return [float(line.split()[1]) for line in file]


def at_random(seed, nodes, count):
    draw = random.Random(seed)
    return [(draw.randrange(nodes), int(nodes * draw.random() ** 2)) for _ in range(count)]


def both_ways(edges):
    return edges + [(b, a) for a, b in edges if a != b]


graphs = {
    "one node": (1, []),
    "one loop": (1, [(0, 0)]),
    "no edges": (5, []),
    "dangling": (3, [(0, 1), (0, 2), (1, 2)]),
    "only loops": (3, [(0, 0), (1, 1), (1, 1), (2, 2)]),
    "loops and multi-edges": (5, [(0, 1), (0, 2), (0, 2), (1, 2), (4, 3), (3, 4), (3, 3)]),
    "a cycle": (7, [(v, (v + 1) % 7) for v in range(7)]),
    "a star": (9, both_ways([(0, v) for v in range(1, 9)])),
    "alone": (6, both_ways([(1, 4)])),
    "sparse": (300, at_random(1, 300, 200)),
    "directed": (200, at_random(2, 200, 2000)),
    "undirected": (200, both_ways(at_random(3, 200, 600))),
}
ways = [["--error", "1e-4"],
        ["--error", "1e-11", "--threads", "3"],
        ["--error", "1e-11", "--semi-external"]]
wrong = 0
for name, (nodes, edges) in graphs.items():
    right = right_ranks(nodes, edges)
    make(nodes, edges)
    for way in ways:
        found = found_ranks(way)
        error = sum(abs(a - b) for a, b in zip(right, found))
        if len(found) != nodes or error > float(way[1]):
            print(f"{name}, {' '.join(way)}: the ranks differ by {error:.3g}")
            wrong = 1
sys.exit(wrong)
