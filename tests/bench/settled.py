"""What the tuner costs once its search is over, per chunk and per context."""

import hosts
from hdf5 import progress, table

KIB = 1024
CHUNKS = (64 * KIB, 512 * KIB, 4096 * KIB)
FIXED = [
    {"codec": "lz4", "clevel": 1, "filter": "bitshuffle", "split": "always"},
    {"codec": "zstd", "clevel": 1, "filter": "shuffle", "split": "always"},
]
ROUNDS = 300
# Bytes of a chunk that is compressed in no time.
TINY = 128


def measure(file):
    """Figures by parameters and chunk size, and of a context that compresses one tiny chunk."""
    of_chunks = []
    for parameters in FIXED:
        name = "{codec}-{clevel} {filter}".format(**parameters)
        for chunk in CHUNKS:
            progress(f"settled: {name}, {chunk // KIB} KiB")
            task = {"parameters": parameters, "chunk": chunk, "rounds": ROUNDS}
            answer = hosts.ask("btune", "overhead.py", task | {"file": str(file)})
            of_chunks.append({"parameters": name, "chunk": chunk} | answer)
    task = {"file": str(file), "chunk": TINY, "rounds": 10 * ROUNDS}
    return {"chunks": of_chunks, "context": hosts.ask("btune", "overhead.py", task)}


def show(figures):
    print(f"A tuner that searches no more: medians of {ROUNDS} chunks with and without it\n")
    head = ["parameters", "chunk", "without, us", "tuner adds, us", "%", "same result"]
    rows = [
        [
            *(f["parameters"], f"{f['chunk'] // KIB} KiB", f["without"], f["adds"]),
            *(100 * f["adds"] / f["without"], "yes" if f["alike"] else "no"),
        ]
        for f in figures["chunks"]
    ]
    table(head, rows)
    context = figures["context"]
    print(f"A context that is made, compresses {TINY} bytes and is freed (compress2):")
    print(f"{context['without']:.1f} us, to which the tuner adds {context['adds']:.1f} us\n")
