"""What the tuned datasets of an HDF5 file were compressed with."""

from pathlib import Path

from blosc2_btune._header import read_header
from blosc2_btune._library import read_record
from blosc2_btune._runs import SPECIAL, STORED, UNKNOWN, describe, run_lengths

from ._slot import FILTER_ID, unpack

_FRAME_MAGIC = b"\x9e\xa8b2frame\0"
_FLETCHER32 = 3


def inspect(path):
    """Lists the datasets of an HDF5 file that have filter 32026, each as a dictionary.

    Its `records` are runs of chunks that were compressed alike, in the order of the chunks;
    `tradeoff` and `perf_mode` are what the dataset is tuned for, or None.
    """
    import h5py  # Here, since the package can be imported without it.

    with _open(h5py, path) as file:
        found = []

        def visit(_, node):
            if isinstance(node, h5py.Dataset) and FILTER_ID in _filters(node):
                found.append(_describe(node))

        file.visititems(visit)
        return found


def _open(h5py, path):
    with Path(path).open("rb") as file:
        start = file.read(3)
    if start == b"CDF":
        raise ValueError(f"{path} is a classic NetCDF file: `nccopy -4` makes an HDF5 file of it")
    if not h5py.is_hdf5(path):
        raise ValueError(f"{path} is not an HDF5 file")
    return h5py.File(path, "r")


def _filters(dataset):
    """The filters of a dataset in the order of writing, by their numbers, with their values."""
    created = dataset.id.get_create_plist()
    filters = map(created.get_filter, range(created.get_nfilters()))
    return {number: values for number, _, values, _ in filters}


def _describe(dataset):
    filters = _filters(dataset)
    tradeoff, perf_mode = unpack((filters[FILTER_ID] or (0,))[0])
    order = list(filters)
    position = order.index(FILTER_ID)
    chunks = _chunk_infos(dataset)
    return {
        "name": dataset.name,
        "shape": dataset.shape,
        "dtype": str(dataset.dtype),
        "chunks": len(chunks),
        "nbytes": dataset.nbytes,
        "cbytes": sum(chunk.size for chunk in chunks),
        "tradeoff": tradeoff,
        "perf_mode": perf_mode,
        "records": run_lengths(_chunk(dataset, c, position, order[position + 1 :]) for c in chunks),
    }


def _chunk_infos(dataset):
    infos = []
    # It goes on until something other than None is returned, as append does.
    dataset.id.chunk_iter(infos.append)
    return infos


def _chunk(dataset, info, position, later):
    """What one chunk was compressed with; `later` filters saw it after ours did."""
    if info.filter_mask >> position & 1:
        return STORED
    _, frame = dataset.id.read_direct_chunk(info.chunk_offset)
    applied = [f for i, f in enumerate(later, position + 1) if not info.filter_mask >> i & 1]
    if applied == [_FLETCHER32]:
        frame = frame[:-4]
    elif applied:
        return UNKNOWN
    found = read_record(frame)
    if found is None:
        return UNKNOWN
    record, tuned = found
    return describe(record, tuned) if tuned or not _is_special(frame) else SPECIAL


def _is_special(frame):
    """Whether a valid frame or chunk is of one repeated value."""
    if not frame.startswith(_FRAME_MAGIC):
        return read_header(frame) is None
    head, compressed = frame[11:15], frame[39:47]
    # A frame keeps most such values in its index, and no chunk.
    return not any(compressed) or read_header(frame[int.from_bytes(head, "big") :]) is None
