"""Exit statuses of this server's processes, for their supervisor."""

#: The tables are of another revision, so that an immediate restart is useless; EX_CONFIG of sysexits.h.
OTHER_REVISION = 78
