"""Read embeddings as data: `.npz` (plain arrays, never pickle) and `.safetensors`, the two formats that hold no code.

Every header is checked, against the expectation and against limits, before any memory of the claimed size is allocated.
The task interprets the tensors.
"""

from __future__ import annotations

import ast
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from evergold.scoring.archives import RATIO_APPLIES_ABOVE_BYTES
from evergold.scoring.errors import Problems, shorten

Matrix = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class EmbeddingLimits:
    """Limits on what a file of embeddings may declare and contain.

    tensors, dimensions: counts per file and per row.
    header_bytes: size of a header's text.
    tensor_bytes: size of a tensor's values as they are stored.
    ratio: unpacked over packed size of an array in an .npz, checked only for large ones.
    magnitude: a row whose length is larger is not plausible, one whose length is smaller than the inverse counts as
    zero.
    """

    tensors: int = 64
    dimensions: int = 16_384
    header_bytes: int = 64 * 1024
    tensor_bytes: int = 512 * 1024 * 1024
    ratio: int = 50
    magnitude: float = 1e30


EMBEDDING_LIMITS = EmbeddingLimits()

_NPY_MAGIC = b"\x93NUMPY"
_NPY_FLOATS = {f"{order}f{size}": np.dtype(f"{order}f{size}") for order in "<>" for size in (2, 4, 8)}
_SAFE_FLOATS = {"F16": "<f2", "F32": "<f4", "F64": "<f8", "BF16": "<u2"}
_METADATA = "__metadata__"
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError)
# What `ast.literal_eval` and `_npy_fields` raise for a text that is not a literal, is nested too deep or lacks a field.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, LookupError, RecursionError, MemoryError)
# The grammar of a .npy header. For anything else Python's parser may print a warning per line.
_HEADER_TEXT = re.compile(
    r"""(?:'[^'\\\n]*'|"[^"\\\n]*"|(?:True|False|None|[0-9]+)(?![0-9A-Za-z_.])|[\s{}\[\](),:])*+"""
)


@dataclass(frozen=True, slots=True)
class _Header:
    """The properties that a tensor's header declares; `stored` is None for a dtype that is not a float."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: np.dtype[Any] | None
    fortran_order: bool = False


def is_embeddings(data: bytes) -> bool:
    """Return whether the bytes are meant as embeddings: a zip, a .npy, a pickle, or the start of a .safetensors."""
    return data.startswith((b"PK\x03\x04", _NPY_MAGIC)) or _is_pickle(data) or data[8:9] == b"{" and b"\0" in data[:8]


def read_embeddings(
    data: bytes, rows: Mapping[str, int], problems: Problems, limits: EmbeddingLimits = EMBEDDING_LIMITS
) -> Iterator[tuple[str, Matrix]]:
    """Yield each tensor in `data` by name, rows × dimensions, finite, no row all zeros; faults are added to `problems`.

    data: the bytes of an `.npz` or a `.safetensors`; rows: the required number of rows for every name that may occur (a
    tensor may be absent). Values are read only if all headers are right, and one tensor after the other, so that a
    caller who keeps none needs the memory of one. Stored as float16, bfloat16, float32 or float64; bfloat16 is returned
    as float32. Raises nothing.
    """
    if data.startswith(_NPY_MAGIC):
        problems.add("wrong-format", "this is a single array (.npy): name every tensor with numpy.savez (.npz)")
    elif _is_pickle(data):
        problems.add("pickle", "this is a pickle (as torch.save writes); send .safetensors or .npz, which hold no code")
    elif data.startswith(b"PK"):
        yield from _read_npz(data, rows, problems, limits)
    else:
        yield from _read_safetensors(data, rows, problems, limits)


def _is_pickle(data: bytes) -> bool:
    return data[:1] == b"\x80" and data[1:2] in b"\x02\x03\x04\x05" and len(data) > 2 and data[8:9] != b"{"


# .npz


def _read_npz(
    data: bytes, rows: Mapping[str, int], problems: Problems, limits: EmbeddingLimits
) -> Iterator[tuple[str, Matrix]]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            headers = _npz_headers(archive, members, rows, problems, limits)
            for member, header in zip(members, headers, strict=False):
                matrix = _npz_values(archive, member, header, problems, limits)
                if matrix is not None:
                    yield header.name, matrix
    except _DAMAGED as fault:
        problems.add("damaged-archive", f"the .npz is damaged or incomplete: {shorten(str(fault))}")


def _npz_headers(
    archive: zipfile.ZipFile,
    members: Sequence[zipfile.ZipInfo],
    rows: Mapping[str, int],
    problems: Problems,
    limits: EmbeddingLimits,
) -> list[_Header]:
    """Return the header of every member, in order; an empty list unless all are right."""
    if not _is_bearable(len(members), problems, limits):
        return []
    headers: list[_Header] = []
    for member in members:
        name = member.filename.removesuffix(".npy")
        if name == member.filename:
            problems.add("wrong-format", "every array of an .npz ends in .npy", file=shorten(name))
            continue
        with archive.open(member) as stream:
            header = _npy_header(name, stream, problems, limits)
        if header is None or not _check_header(header, rows, problems, limits):
            continue
        if name in (other.name for other in headers):
            problems.add("duplicate-tensor", "the tensor occurs twice", file=shorten(name))
        if _value_bytes(header) > max(RATIO_APPLIES_ABOVE_BYTES, limits.ratio * member.compress_size):
            message = f"it unpacks to more than {limits.ratio} times its size, which is impossible for embeddings"
            problems.add("zip-bomb", message, file=shorten(name))
        headers.append(header)
    return headers if len(headers) == len(members) and not problems.errors else []


def _npz_values(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, header: _Header, problems: Problems, limits: EmbeddingLimits
) -> Matrix | None:
    with archive.open(member) as stream:
        _npy_header(header.name, stream, problems, limits)  # moves to the start of the values
        values = stream.read(_value_bytes(header) + 1)
    return _matrix(header, values, problems, limits) if _check_length(header, len(values), problems) else None


def _npy_header(name: str, stream: IO[bytes], problems: Problems, limits: EmbeddingLimits) -> _Header | None:
    """Read the header of a .npy by hand, because its length field may claim 4 GiB."""
    magic = stream.read(8)
    if not magic.startswith(_NPY_MAGIC) or len(magic) < 8 or magic[6] not in (1, 2):
        problems.add("bad-header", "this is not an array that numpy.savez wrote", file=shorten(name))
        return None
    size_format = "<H" if magic[6] == 1 else "<I"
    size_field = stream.read(struct.calcsize(size_format)).ljust(4, b"\0")
    length = int.from_bytes(size_field, "little")
    if length > limits.header_bytes:
        problems.add(
            "header-too-large",
            f"the array's header claims {length:,} bytes, at most {limits.header_bytes:,} are read",
            file=shorten(name),
        )
        return None
    try:
        text = stream.read(length).decode("latin-1").strip()
        if not _HEADER_TEXT.fullmatch(text):
            raise ValueError("no header")
        return _npy_fields(name, ast.literal_eval(text))
    except _NO_LITERAL:
        problems.add("bad-header", "the array's header cannot be read", file=shorten(name))
        return None


def _npy_fields(name: str, fields: Any) -> _Header:
    descr, shape, fortran = fields["descr"], fields["shape"], fields["fortran_order"]
    if not isinstance(shape, tuple) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("shape")
    dtype = descr if isinstance(descr, str) else "structured"
    return _Header(name, shape, dtype, _NPY_FLOATS.get(dtype), bool(fortran))


# .safetensors: eight bytes length, a JSON header, then the values without gaps


def _read_safetensors(
    data: bytes, rows: Mapping[str, int], problems: Problems, limits: EmbeddingLimits
) -> Iterator[tuple[str, Matrix]]:
    length = int.from_bytes(data[:8], "little")
    if length > limits.header_bytes:
        message = f"the header claims {length:,} bytes, at most {limits.header_bytes:,} are read"
        problems.add("header-too-large", message)
        return
    document = _json_header(data[8 : 8 + length], problems)
    if document is None or not _is_bearable(len(document), problems, limits):
        return
    places: dict[str, tuple[int, int]] = {}
    headers: list[_Header] = []
    for name, entry in document.items():
        header = _safe_header(name, entry)
        if header is None:
            problems.add("bad-header", "the tensor's entry in the header is malformed", file=shorten(name))
        elif _check_header(header, rows, problems, limits):
            begin, end = entry["data_offsets"]
            places[name] = begin, end
            headers.append(header)
            _check_length(header, end - begin, problems)
    if problems.errors or not _are_without_gaps(sorted(places.values()), len(data) - 8 - length, problems):
        return
    values = memoryview(data)[8 + length :]
    for header in headers:
        begin, end = places[header.name]
        matrix = _matrix(header, values[begin:end], problems, limits)
        if matrix is not None:
            yield header.name, matrix


def _json_header(text: bytes, problems: Problems) -> dict[str, Any] | None:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise ValueError("a name occurs twice")
        return dict(pairs)

    try:
        document = json.loads(text.decode("utf-8"), object_pairs_hook=once)
    except (ValueError, RecursionError) as fault:
        problems.add("bad-header", f"the header of the .safetensors cannot be read: {shorten(str(fault))}")
        return None
    if not isinstance(document, dict):
        problems.add("bad-header", "the header of the .safetensors is not an object")
        return None
    document.pop(_METADATA, None)
    return document


def _safe_header(name: str, entry: Any) -> _Header | None:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        return None
    shape, offsets = entry["shape"], entry["data_offsets"]
    for numbers in (shape, offsets):
        if not isinstance(numbers, list) or not all(type(n) is int and n >= 0 for n in numbers):
            return None
    if len(offsets) != 2 or offsets[0] > offsets[1] or not isinstance(entry["dtype"], str):
        return None
    stored = _SAFE_FLOATS.get(entry["dtype"])
    return _Header(name, tuple(shape), entry["dtype"], None if stored is None else np.dtype(stored))


def _are_without_gaps(places: list[tuple[int, int]], size: int, problems: Problems) -> bool:
    """Return whether the values are contiguous and fill the file, as the format demands; add a problem if not."""
    edge = 0
    for begin, end in places:
        if begin != edge:
            break
        edge = end
    else:
        if edge == size:
            return True
    problems.add("bad-offsets", "the tensors do not fill the .safetensors exactly: is the file complete?")
    return False


# both


def _is_bearable(tensors: int, problems: Problems, limits: EmbeddingLimits) -> bool:
    if tensors == 0:
        problems.add("empty-file", "the file contains no tensor")
    if tensors > limits.tensors:
        problems.add("too-many-tensors", f"{tensors} tensors, at most {limits.tensors} are allowed")
    return 0 < tensors <= limits.tensors


def _check_header(header: _Header, rows: Mapping[str, int], problems: Problems, limits: EmbeddingLimits) -> bool:
    """Return whether name, dtype, shape and size are as required; otherwise report every fault."""
    faults: list[tuple[str, str]] = []
    wanted = rows.get(header.name)
    shape = " × ".join(map(str, header.shape)) or "a single number"
    if wanted is None:
        faults.append(("unknown-tensor", f"this tensor is not expected; the names are {', '.join(rows)}"))
    if header.stored is None:
        kind = "Python objects, which only a pickle can hold" if header.dtype in ("|O", "O") else header.dtype
        faults.append(("wrong-dtype", f"the values are {shorten(kind)}; float16, float32 or float64 are read"))
    if len(header.shape) != 2:
        faults.append(("wrong-shape", f"the shape is {shape}; it must be rows × dimensions"))
    elif wanted is not None and header.shape[0] != wanted:
        faults.append(("wrong-shape", f"{header.shape[0]:,} rows; one for each of the {wanted:,} rows of the items"))
    elif not 1 <= header.shape[1] <= limits.dimensions:
        faults.append(("wrong-shape", f"{header.shape[1]:,} dimensions; between 1 and {limits.dimensions:,} are read"))
    elif header.stored is not None and _value_bytes(header) > limits.tensor_bytes:
        faults.append(("tensor-too-large", f"{_value_bytes(header):,} bytes, at most {limits.tensor_bytes:,}"))
    for code, message in faults:
        problems.add(code, message, file=shorten(header.name))
    return not faults


def _value_bytes(header: _Header) -> int:
    size = header.stored.itemsize if header.stored else 0
    for length in header.shape:
        size *= length
    return size


def _check_length(header: _Header, found_bytes: int, problems: Problems) -> bool:
    wanted_bytes = _value_bytes(header)
    if found_bytes == wanted_bytes:
        return True
    more = "more" if found_bytes > wanted_bytes else "fewer"
    message = f"the shape asks for {wanted_bytes:,} bytes of values, there are {more}"
    problems.add("wrong-length", message, file=shorten(header.name))
    return False


def _matrix(header: _Header, values: bytes | memoryview, problems: Problems, limits: EmbeddingLimits) -> Matrix | None:
    """Return the values in their shape; None if a row is not an embedding: NaN, infinity, or zeros only."""
    flat = np.frombuffer(values, dtype=header.stored)
    if header.dtype == "BF16":  # the upper half of a float32
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    matrix: Matrix = flat.reshape(header.shape, order="F" if header.fortran_order else "C")
    highest, lowest = matrix.max(axis=1, initial=0), matrix.min(axis=1, initial=0)
    sizes = np.maximum(highest.astype(np.float64), -lowest.astype(np.float64))
    faults = (
        (~np.isfinite(sizes), "not-finite", "NaN or infinity"),
        (np.isfinite(sizes) & (sizes > limits.magnitude), "not-plausible", "a value beyond any embedding's"),
        (sizes < 1 / limits.magnitude, "zero-vector", "only zeros, which have no direction"),
    )
    for wrong, code, message in faults:
        if wrong.any():
            problems.add(code, f"{_listed(np.flatnonzero(wrong))}: {message}", file=shorten(header.name))
    return None if any(wrong.any() for wrong, _, _ in faults) else matrix


def _listed(rows: npt.NDArray[np.intp]) -> str:
    shown = ", ".join(str(row + 1) for row in rows[:5])
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more}"
