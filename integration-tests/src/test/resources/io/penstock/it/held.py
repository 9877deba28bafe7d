"""Reads from a file that stays open, until a read fails.

    python3 held.py FILE STARTED

Creates STARTED once the file is open. After the failure it closes the file and looks it up again.
"""
import os, sys

file = os.open(sys.argv[1], os.O_RDONLY)
open(sys.argv[2], 'w').close()
try:
    while True:
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.pread(file, 100_000, 0)
except OSError:
    os.close(file)
    os.path.exists(sys.argv[1])
