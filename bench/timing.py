"""timing.py - samples of several launches that take turns, in two ways: one launch after a flush, and graphs of many.

In: a machine, a case, name → launch(i) (i: which set of the case's memory). Out: name → milliseconds, one a round, the
rounds the same for all. Method: in each round every launch has its turn, and the first turn moves on from round to
round.
"""
GRAPH_LAUNCHES = 8  # at least
GRAPH_BYTES = 3  # times the L2 that the launches of a graph move before memory comes round again


def take_turns(names, rounds):
    names = list(names)
    for r in range(rounds):
        first = r % max(1, len(names))
        yield from names[first:] + names[:first]


def sample_flushed(machine, case, launches, rounds):
    pairs = {name: [] for name in launches}
    for name in take_turns(launches, rounds):
        case.restore()
        pairs[name].append(machine.begin(lambda launch=launches[name]: launch(0)))
    machine.wait()
    return {name: [machine.elapsed(p) for p in own] for name, own in pairs.items()}


def capture_all(machine, case, launches, skipped):
    """name → a call that starts the peer's graph; and how many launches that is. Each set of memory is used once
    before: nothing is compiled or made ready while launches are recorded."""
    count = max(GRAPH_LAUNCHES, len(case.sets))
    graphs = {}
    for name, launch in launches.items():
        if not getattr(launch, "is_capturable", True):
            skipped[name] = "waits for the host, so no graph can hold it"
            continue
        try:
            for i in range(len(case.sets)):
                launch(i)
            graphs[name] = machine.capture([lambda launch=launch, i=i: launch(i % len(case.sets))
                                            for i in range(count)])
            graphs[name]()
            machine.wait()
        except Exception as why:  # a peer that cannot be captured
            graphs.pop(name, None)
            skipped[name] = f"{type(why).__name__}: {str(why)[:160]}"
    return graphs, count


def sample_graphs(machine, case, launches, rounds, skipped):
    case.rotate(GRAPH_BYTES * machine.l2)
    graphs, count = capture_all(machine, case, launches, skipped)
    pairs = {name: [] for name in graphs}
    for name in take_turns(graphs, rounds):
        pairs[name].append(machine.begin(graphs[name]))
    machine.wait()
    return {name: [machine.elapsed(p) / count for p in own] for name, own in pairs.items()}
