"""What a tuner costs that searches no more: `overhead.py TASK`, a process of python-blosc2.

The task and the answer, on stdout, are JSON.
"""

import json
import statistics
import sys

import blosc2
import blosc2_btune
import schunks
import support


def never_search():
    """Contexts from now on keep the parameters that they are given."""
    blosc2_btune.set_params_defaults(
        perf_mode=blosc2_btune.PerformanceMode.COMP,
        cparams_hint=True,
        use_inference=0,
        nsofts=0,
        nhards=0,
        repeat_mode=blosc2_btune.RepeatMode.STOP,
    )


def by_turns(rounds, plain, tuned):
    """Pairs of what the two functions return, who take turns at being first."""
    pairs = []
    for i in range(rounds):
        if i % 2 == 0:
            first = plain()
            pairs.append((first, tuned()))
        else:
            first = tuned()
            pairs.append((plain(), first))
    return pairs


def extra(pairs):
    """Medians in microseconds: without the tuner, and what it adds."""
    without = statistics.median(plain for plain, _ in pairs)
    adds = statistics.median(tuned - plain for plain, tuned in pairs)
    return {"without": without * 1e6, "adds": adds * 1e6}


def settled(array, nbytes, parameters, rounds):
    """What the tuner adds to append_data of a chunk."""
    [chunk] = schunks.sequence(array, 1, nbytes)
    options = schunks.cparams(parameters, array.itemsize)
    kinds = {"plain": options, "tuned": options | schunks.TUNED}
    held = {name: schunks.empty_schunk(nbytes, kind) for name, kind in kinds.items()}

    def appended(name):
        seconds = schunks.append(held[name], chunk)
        made = held[name].get_chunk(0)
        held[name].delete_chunk(0)
        # But for its six places for filters: the tuner uses others than python-blosc2.
        return seconds, made[:16] + made[22:]

    pairs = by_turns(rounds, lambda: appended("plain"), lambda: appended("tuned"))
    alike = all(plain == tuned for (_, plain), (_, tuned) in pairs)
    return extra([(plain, tuned) for (plain, _), (tuned, _) in pairs]) | {"alike": alike}


def contexts(array, nbytes, rounds):
    """What the tuner adds to the making, using once and freeing of a context."""
    [chunk] = schunks.sequence(array, 1, nbytes)
    options = {"typesize": array.itemsize, "nthreads": 1}

    def timed(**more):
        start = schunks.clock()
        blosc2.compress2(chunk, **options, **more)
        return schunks.clock() - start

    return extra(by_turns(rounds, timed, lambda: timed(**schunks.TUNED)))


def main():
    task = json.loads(sys.argv[1])
    array = support.load(task["file"])
    never_search()
    if parameters := task.get("parameters"):
        answer = settled(array, task["chunk"], parameters, task["rounds"])
    else:
        answer = contexts(array, task["chunk"], task["rounds"])
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
