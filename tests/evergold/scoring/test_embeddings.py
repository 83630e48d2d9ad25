"""Embeddings files: what is read, and that every bad file is refused before memory of the claimed size is taken."""

from __future__ import annotations

import io
import json
import pickle
import struct
import tracemalloc
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from evergold.scoring.errors import Problem, Problems
from evergold.scoring.probing.embeddings import EmbeddingLimits, is_embeddings, read_embeddings

ROWS = {"pt/nat/sent": 3, "pt/nat/nc": 3}
VECTORS = np.array([[1.0, 0.5], [-2.0, 0.25], [0.0, 4.0]])


def npz(**tensors: npt.NDArray[np.generic]) -> bytes:
    return npz_of({f"pt/nat/{name}": tensor for name, tensor in tensors.items()})


def npz_of(tensors: Mapping[str, npt.NDArray[np.generic]]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **tensors)  # type: ignore[arg-type]
    return file.getvalue()


def npz_raw(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"pt/nat/{name}.npy", content)
    return file.getvalue()


def npy(header: str, values: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values


def safetensors(header: object, values: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + values


def entry(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_a_small_array_may_be_compressed_as_well_as_it_can() -> None:
    """Ones are: a thousand bytes become two."""
    file = io.BytesIO()
    np.savez_compressed(file, **{name: np.ones((3, 16_384), np.float32) for name in ROWS})  # type: ignore[arg-type]
    found = {
        name: matrix.shape for name, matrix in read_embeddings(file.getvalue(), ROWS, Problems(), EmbeddingLimits())
    }
    assert found == dict.fromkeys(ROWS, (3, 16_384))


def problems_of(data: bytes, limits: EmbeddingLimits | None = None) -> tuple[Problem, ...]:
    problems = Problems()
    found = list(read_embeddings(data, ROWS, problems, limits or EmbeddingLimits()))
    assert problems.errors or found
    return tuple(problems.errors)


@contextmanager
def peak_below(limit_bytes: int) -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < limit_bytes
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz_is_read_in_every_float_type_and_order(dtype: str, order: str) -> None:
    problems = Problems()
    vectors = np.asarray(VECTORS, dtype=dtype, order="F" if order == "F" else "C")
    found = dict(read_embeddings(npz(sent=vectors), ROWS, problems))
    assert not problems.errors
    assert np.array_equal(found["pt/nat/sent"], VECTORS)


@pytest.mark.parametrize(("name", "dtype"), [("F16", "<f2"), ("F32", "<f4"), ("F64", "<f8")])
def test_safetensors_is_read_in_every_float_type(name: str, dtype: str) -> None:
    values = VECTORS.astype(dtype).tobytes()
    header = {"pt/nat/sent": entry(name, [3, 2], 0, len(values)), "__metadata__": {"model": "mine"}}
    problems = Problems()
    found = dict(read_embeddings(safetensors(header, values), ROWS, problems))
    assert not problems.errors
    assert np.array_equal(found["pt/nat/sent"], VECTORS)


def test_bfloat16_is_widened_to_float32() -> None:
    values = (VECTORS.astype("<f4").view("<u4") >> 16).astype("<u2").tobytes()  # these numbers need no more bits
    problems = Problems()
    data = safetensors({"pt/nat/sent": entry("BF16", [3, 2], 0, 12)}, values)
    assert np.array_equal(dict(read_embeddings(data, ROWS, problems))["pt/nat/sent"], VECTORS)


def test_two_tensors_side_by_side() -> None:
    values = VECTORS.astype("<f4").tobytes()
    header = {"pt/nat/sent": entry("F32", [3, 2], 24, 48), "pt/nat/nc": entry("F32", [3, 2], 0, 24)}
    problems = Problems()
    assert set(dict(read_embeddings(safetensors(header, values * 2), ROWS, problems))) == set(ROWS)


def test_files_are_recognised_by_content() -> None:
    assert is_embeddings(npz(sent=VECTORS))
    assert is_embeddings(safetensors({}))
    assert is_embeddings(pickle.dumps([1, 2, 3]))
    assert not is_embeddings(b"language,context,compound,probe,level,sim\n")
    assert not is_embeddings(b"")


def test_header_of_twenty_gigabytes_is_refused_without_memory() -> None:
    data = struct.pack("<Q", 20 * 1024**3) + b'{"pt/nat/sent"'
    assert is_embeddings(data)
    with peak_below(1_000_000):
        (problem,) = problems_of(data)
    assert (problem.code, "21,474,836,480 bytes" in problem.message) == ("header-too-large", True)


def test_npy_header_of_four_gigabytes_is_refused_without_memory() -> None:
    with peak_below(1_000_000):
        (problem,) = problems_of(npz_raw(sent=b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**32 - 1) + b"{"))
    assert problem.code == "header-too-large"


@pytest.mark.parametrize("dimensions", [16_385, 10**12])
def test_shape_of_terabytes_is_refused_without_memory(dimensions: int) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': (3, {dimensions}), }}"
    with peak_below(1_000_000):
        (problem,) = problems_of(npz_raw(sent=npy(header)))
        (other,) = problems_of(safetensors({"pt/nat/sent": entry("F64", [3, dimensions], 0, 24 * dimensions)}))
    assert problem.code == other.code == "wrong-shape"


def test_tensor_larger_than_the_limit_is_refused() -> None:
    (problem,) = problems_of(npz(sent=VECTORS), EmbeddingLimits(tensor_bytes=47))
    assert (problem.code, problem.message) == ("tensor-too-large", "48 bytes, at most 47")


def test_member_that_unpacks_to_more_than_its_shape_is_refused_without_memory() -> None:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
    data = npz_raw(sent=npy(header, bytes(50_000_000)))
    with peak_below(2_000_000):
        (problem,) = problems_of(data)
    assert (problem.code, problem.message) == ("wrong-length", "the shape asks for 24 bytes of values, there are more")


def test_object_array_in_npz_is_never_unpickled() -> None:
    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return pytest.fail, ("a pickle was loaded",)

    (problem,) = problems_of(npz(sent=np.array([[Bomb()] * 2] * 3, dtype=object)))
    assert problem.code == "wrong-dtype"
    assert "Python objects, which only a pickle can hold" in problem.message


def test_plain_pickle_and_single_array_are_named() -> None:
    array = io.BytesIO()
    np.save(array, VECTORS)
    assert [p.code for p in problems_of(pickle.dumps(VECTORS))] == ["pickle"]
    assert [p.code for p in problems_of(array.getvalue())] == ["wrong-format"]


def test_all_wrong_headers_are_said_at_once() -> None:
    data = npz_of(
        {
            "pt/nat/sent": VECTORS.astype(np.int64),
            "pt/nat/nc": VECTORS[:2],
            "pt/neut/sent": VECTORS,
            "flat": VECTORS.ravel(),
        }
    )
    found = {(problem.file, problem.code) for problem in problems_of(data)}
    assert found == {
        ("pt/nat/sent", "wrong-dtype"),
        ("pt/nat/nc", "wrong-shape"),
        ("pt/neut/sent", "unknown-tensor"),
        ("flat", "unknown-tensor"),
        ("flat", "wrong-shape"),
    }


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rows_with_nan_infinity_or_zeros_are_named(dtype: type[np.floating]) -> None:
    sent, nc = VECTORS.astype(dtype), VECTORS.astype(dtype)
    sent[0, 1], sent[2, 0] = np.nan, -np.inf
    nc[1] = 0
    found = {(problem.file, str(problem.message)) for problem in problems_of(npz(sent=sent, nc=nc))}
    assert found == {
        ("pt/nat/sent", "rows 1, 3: NaN or infinity"),
        ("pt/nat/nc", "row 2: only zeros, which have no direction"),
    }


def test_values_whose_squares_overflow_are_refused() -> None:
    (problem,) = problems_of(npz(sent=VECTORS * 1e200))
    assert problem.code == "not-plausible"


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, -2), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [3, 2], }",
        "{'descr': '<f4', 'fortran_order': False}",
        "__import__('os').abort()",
        "(" * 20_000,
        "[]",
    ],
)
def test_malformed_npy_header_is_refused(header: str) -> None:
    (problem,) = problems_of(npz_raw(sent=npy(header)))
    assert problem.code == "bad-header"


@pytest.mark.parametrize(
    ("header", "values", "code"),
    [
        (b"{", b"", "bad-header"),
        (b"[]", b"", "bad-header"),
        (b"\xff{}", b"", "bad-header"),
        (b"{}", b"", "empty-file"),
        (b'{"a": ' * 20_000, b"", "header-too-large"),
        (b'{"pt/nat/sent": {}, "pt/nat/sent": {}}', b"", "bad-header"),
        ({"pt/nat/sent": entry("F32", [3, -2], 0, 24)}, bytes(24), "bad-header"),
        ({"pt/nat/sent": entry("F32", [3, 2], 24, 0)}, bytes(24), "bad-header"),
        ({"pt/nat/sent": {**entry("F32", [3, 2], 0, 24), "data_offsets": [0, 1.5]}}, bytes(24), "bad-header"),
        ({"pt/nat/sent": entry("I64", [3, 2], 0, 48)}, bytes(48), "wrong-dtype"),
        ({"pt/nat/sent": entry("F32", [3, 2], 0, 20)}, bytes(20), "wrong-length"),
        ({"pt/nat/sent": entry("F32", [3, 2], 0, 24)}, bytes(20), "bad-offsets"),
        ({"pt/nat/sent": entry("F32", [3, 2], 0, 24)}, bytes(25), "bad-offsets"),
        ({"pt/nat/sent": entry("F32", [3, 2], 8, 32)}, bytes(32), "bad-offsets"),
    ],
)
def test_malformed_safetensors_is_refused(header: object, values: bytes, code: str) -> None:
    assert [problem.code for problem in problems_of(safetensors(header, values))] == [code]


def test_overlapping_tensors_are_refused() -> None:
    header = {"pt/nat/sent": entry("F32", [3, 2], 0, 24), "pt/nat/nc": entry("F32", [3, 2], 12, 36)}
    assert [p.code for p in problems_of(safetensors(header, bytes(36)))] == ["bad-offsets"]


def test_array_that_unpacks_enormously_is_refused_without_memory() -> None:
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1000000), }"
    data = npz_raw(sent=npy(header, bytes(12_000_000)))
    with peak_below(1_000_000):
        (problem,) = problems_of(data, EmbeddingLimits(dimensions=1_000_000))
    assert problem.code == "zip-bomb"


def test_truncated_npz_is_refused() -> None:
    data = npz(sent=VECTORS)
    assert [p.code for p in problems_of(data[: len(data) // 2])] == ["damaged-archive"]


def test_too_many_tensors_are_refused() -> None:
    (problem,) = problems_of(npz_of({f"t{n}": VECTORS for n in range(4)}), EmbeddingLimits(tensors=3))
    assert (problem.code, problem.message) == ("too-many-tensors", "4 tensors, at most 3 are allowed")


def test_same_tensor_twice_is_refused() -> None:
    file, array = io.BytesIO(), io.BytesIO()
    np.save(array, VECTORS)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("pt/nat/sent.npy", array.getvalue())
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("pt/nat/sent.npy", array.getvalue())
    assert "duplicate-tensor" in [problem.code for problem in problems_of(file.getvalue())]


@given(st.data())
def test_damage_anywhere_is_a_problem_and_never_an_exception(data: st.DataObject) -> None:
    values = VECTORS.astype("<f4").tobytes()
    whole = data.draw(
        st.sampled_from([npz(sent=VECTORS), safetensors({"pt/nat/sent": entry("F32", [3, 2], 0, 24)}, values)])
    )
    damaged = bytearray(whole[: data.draw(st.integers(9, len(whole)))])
    for _ in range(data.draw(st.integers(0, 4))):
        damaged[data.draw(st.integers(8, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    problems = Problems()
    for _, matrix in read_embeddings(bytes(damaged), ROWS, problems):
        assert np.isfinite(matrix).all()


@pytest.mark.parametrize(
    "header",
    ["[" + "1or\n" * 3000 + "1]", "'" + "\\d\\\n" * 3000 + "'", "0x1for\n" * 3000, "1_000if 1else\n" * 3000],
    ids=["number and word", "escapes", "hexadecimal", "underscores"],
)
def test_a_header_that_the_parser_would_warn_of_line_by_line_is_refused_in_silence(header: str) -> None:
    """Check that no warning is printed: a thousand of them would make megabytes out of a file of kilobytes."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        problems = problems_of(npz_raw(**{"sent": npy(header), "nc": npy(header)}))
    assert warned == []
    assert {problem.code for problem in problems} == {"bad-header"}


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }",
        '{"shape":(3,2),"fortran_order":False,"descr":"<f8"}\n',
    ],
)
def test_headers_as_other_programs_write_them_are_read(header: str) -> None:
    problems = Problems()
    found = dict(read_embeddings(npz_raw(sent=npy(header, VECTORS.tobytes())), ROWS, problems))
    assert not problems.errors
    np.testing.assert_array_equal(found["pt/nat/sent"], VECTORS)
