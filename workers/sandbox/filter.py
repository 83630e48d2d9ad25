"""The seccomp filter of a sandbox: a table of system calls, compiled to the bytes that bubblewrap's `--seccomp` takes.

It is compiled here because no maintained package on PyPI does so: libseccomp's binding exists only for Debian's Python.
The language is the kernel's classic BPF, eight bytes per instruction (linux/filter.h, linux/seccomp.h).

Refused calls return EPERM, as if a right were missing, so that programs that only try them continue. `clone3` hides its
flags behind a pointer: it returns ENOSYS, and the C library falls back to `clone`, whose flags can be checked.
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

#: Values of linux/audit.h that select the numbering of system calls.
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
#: Calls of x32 on x86_64 have this bit: the same calls by other numbers.
_X32 = 0x40000000

_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
#: Offsets in struct seccomp_data; arguments are 64 bits, of which the lower half lies first.
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16

#: CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NEW_NAMESPACES = 0x80 | 0x20000 | 0x2000000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000 | 0x40000000
#: ioctl TIOCSTI and TIOCLINUX, which insert input into another terminal.
_TYPING = (0x5412, 0x541C)
#: Sockets of these families alone (linux/socket.h): AF_UNIX, AF_INET, AF_INET6; the last two find no network.
_FAMILIES = (1, 2, 10)

#: Number of each system call on x86_64 and aarch64; None if it does not exist there.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Other namespaces, mounts, roots.
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_tree_attr": (467, 467),
    "statmount": (457, 457),
    "listmount": (458, 458),
    "fanotify_init": (300, 262),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    # Other processes' memory.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    # Large attack surfaces of the kernel.
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "modify_ldt": (154, None),
    "iopl": (172, None),
    "ioperm": (173, None),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "syslog": (103, 116),
    "lookup_dcookie": (212, 18),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "vhangup": (153, 58),
    "uselib": (134, None),
    "nfsservctl": (180, 42),
    "vmsplice": (278, 75),
    # Memory that belongs to no process while nobody looks: it would not be counted.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    # Addresses of the kernel, and of memory on the machine.
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
}
_CLONE, _CLONE3, _IOCTL, _SOCKET, _PERSONALITY = (56, 220), (435, 435), (16, 29), (41, 198), (135, 92)
#: personality(2) may be asked (0xFFFFFFFF), and set to Linux, without or with fixed addresses (as debuggers do).
_PERSONALITIES = (0x0, 0x40000, 0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class _Machine:
    """A kind of processor. place: its position in the table; architecture: its id in the kernel."""

    place: int
    architecture: int


def compile_filter(machine: str = "") -> bytes:
    """Return the filter for this kind of machine (`x86_64`, `aarch64`), by default for this one.

    Raises LookupError for another kind.
    """
    name = machine or platform.machine()
    if name not in _ARCHITECTURES:
        raise LookupError(f"no filter of system calls for machines of the kind {name}")
    kind = _Machine(list(_ARCHITECTURES).index(name), _ARCHITECTURES[name])
    refused = sorted({number for numbers in REFUSED.values() if (number := numbers[kind.place]) is not None})
    lines = [
        _line(_LOAD, _ARCHITECTURE),
        _line(_JUMP_EQUAL, kind.architecture, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER),
    ]
    if kind.place == 0:
        lines += [_line(_JUMP_AT_LEAST, _X32, 0, 1), _refuse(errno.ENOSYS)]
    for number in refused:
        lines += [_line(_JUMP_EQUAL, number, 0, 1), _refuse(errno.EPERM)]
    lines += [_line(_JUMP_EQUAL, _CLONE3[kind.place], 0, 1), _refuse(errno.ENOSYS)]
    lines += _when(_CLONE[kind.place], 0, [_line(_JUMP_ANY_BIT, _NEW_NAMESPACES, 0, 1), _refuse(errno.EPERM)])
    lines += _when(
        _IOCTL[kind.place],
        1,
        [line for code in _TYPING for line in (_line(_JUMP_EQUAL, code, 0, 1), _refuse(errno.EPERM))],
    )
    lines += _when(_SOCKET[kind.place], 0, _unless(_FAMILIES, errno.EAFNOSUPPORT))
    lines += _when(_PERSONALITY[kind.place], 0, _unless(_PERSONALITIES, errno.EPERM))
    return b"".join([*lines, _line(_RETURN, _ALLOW)])


def _when(number: int, argument: int, then: list[bytes]) -> list[bytes]:
    """Return instructions that check the lower half of an argument of this call; calls that `then` does not refuse are
    allowed.
    """
    body = [_line(_LOAD, _ARGUMENTS + 8 * argument), *then, _line(_RETURN, _ALLOW)]
    return [_line(_JUMP_EQUAL, number, 0, len(body)), *body]


def _unless(values: tuple[int, ...], error: int) -> list[bytes]:
    """Return instructions that refuse the call unless the argument is one of these values."""
    jumps = [_line(_JUMP_EQUAL, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [*jumps, _refuse(error)]


def _refuse(error: int) -> bytes:
    return _line(_RETURN, _ERRNO | error)


def _line(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one instruction, encoded as struct sock_filter."""
    return struct.pack("=HBBI", code, if_true, if_false, value)
