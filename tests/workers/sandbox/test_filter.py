"""The compiled filter of system calls, run on paper: of machines of the other kind, too, and without a sandbox."""

from __future__ import annotations

import errno
import struct

import pytest

from workers.sandbox.filter import REFUSED, compile_filter

#: Of linux/seccomp.h and linux/audit.h.
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
#: openat, clone, clone3, ioctl, socket and personality, from the kernel's tables of system calls.
OPENAT, CLONE, CLONE3, IOCTL, SOCKET, PERSONALITY = (257, 56), (56, 220), (435, 435), (16, 29), (41, 198), (135, 92)
AF_NETLINK = 16
NEW_USER, SIGCHLD, TIOCSTI = 0x10000000, 17, 0x5412


def answer(program: bytes, architecture: int, number: int, first: int = 0, second: int = 0) -> int:
    """Return what the kernel's machine returns for a call: struct seccomp_data is read by 32-bit words."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, first, second, 0, 0, 0, 0)
    lines = list(struct.iter_unpack("=HBBI", program))
    loaded, at = 0, 0
    while True:
        code, if_true, if_false, value = lines[at]
        at += 1
        if code == 0x06:  # BPF_RET | BPF_K
            result: int = value
            return result
        if code == 0x20:  # BPF_LD | BPF_W | BPF_ABS
            (loaded,) = struct.unpack_from("=I", data, value)
        else:
            jumps = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}  # JEQ, JGE, JSET
            at += if_true if jumps[code] else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_each_call_of_the_table_is_refused_and_ordinary_ones_are_not(machine: str) -> None:
    architecture, place = MACHINES[machine]
    program = compile_filter(machine)
    for name, numbers in REFUSED.items():
        if (number := numbers[place]) is not None:
            assert answer(program, architecture, number) == ERRNO | errno.EPERM, name
    assert answer(program, architecture, OPENAT[place]) == ALLOW
    assert answer(program, architecture, CLONE3[place]) == ERRNO | errno.ENOSYS
    assert answer(program, 0x40000003, OPENAT[place]) == KILL, "calls of another architecture"


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_with_flags_are_refused_by_their_flags(machine: str) -> None:
    architecture, place = MACHINES[machine]

    def asked(numbers: tuple[int, int], first: int = 0, second: int = 0) -> int:
        return answer(compile_filter(machine), architecture, numbers[place], first, second)

    assert [asked(CLONE, flags) for flags in (SIGCHLD, NEW_USER | SIGCHLD)] == [ALLOW, ERRNO | errno.EPERM]
    assert [asked(IOCTL, 1, code) for code in (0x5401, TIOCSTI)] == [ALLOW, ERRNO | errno.EPERM]
    assert asked(SOCKET, AF_NETLINK) == ERRNO | errno.EAFNOSUPPORT
    assert [asked(PERSONALITY, value) for value in (0xFFFFFFFF, 0x40000, 0x4)] == [ALLOW, ALLOW, ERRNO | errno.EPERM]


def test_calls_of_x32_are_refused() -> None:
    program = compile_filter("x86_64")
    assert answer(program, MACHINES["x86_64"][0], 0x40000000 | OPENAT[0]) == ERRNO | errno.ENOSYS


def test_there_is_no_filter_of_another_machine() -> None:
    with pytest.raises(LookupError, match="riscv64"):
        compile_filter("riscv64")
