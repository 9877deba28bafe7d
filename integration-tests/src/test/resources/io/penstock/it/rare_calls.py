"""Makes calls that docs/SEMANTICS.md says are refused, and rarer ones that work, in the folder that it runs in."""
import errno
import fcntl
import mmap
import os
import socket
import struct

open('f', 'wb').write(b'x' * 5000)
open('g', 'wb').write(b'y' * 10)
f, g = os.open('f', os.O_RDWR), os.open('g', os.O_RDWR)


def refused(code, call):
    try:
        call()
    except OSError as e:
        assert e.errno == code, (e, code)
    else:
        raise AssertionError(code)


refused(errno.EOPNOTSUPP, lambda: os.open('.', os.O_TMPFILE | os.O_RDWR))
refused(errno.EOPNOTSUPP, lambda: fcntl.ioctl(g, 0x40049409, f))                      # FICLONE
refused(errno.EOPNOTSUPP, lambda: fcntl.ioctl(f, 0xC020660B, b'\0' * 88))             # FIEMAP
refused(errno.ENOTTY, lambda: fcntl.ioctl(f, 0x80086601, b'\0' * 8))                  # FS_IOC_GETFLAGS
refused(errno.EOPNOTSUPP, lambda: os.setxattr('f', 'trusted.x', b'1'))
refused(errno.EOPNOTSUPP, lambda: os.setxattr('f', 'system.posix_acl_access', struct.pack(
    '<I' + 'HHI' * 3, 2, 1, 6, 2**32 - 1, 4, 4, 2**32 - 1, 0x20, 4, 2**32 - 1)))
os.mknod('null', 0o20600, os.makedev(1, 3))
refused(errno.EACCES, lambda: os.open('null', os.O_RDONLY))                          # nodev
fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
refused(errno.EAGAIN, lambda: fcntl.flock(os.open('f', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB))
fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
assert os.sendfile(g, f, 0, 100) == 100 and os.pread(g, 200, 0) == b'x' * 100
reader, writer = os.pipe()
assert os.splice(f, writer, 100, offset_src=0) == 100 and os.read(reader, 200) == b'x' * 100
os.posix_fadvise(f, 0, 0, os.POSIX_FADV_WILLNEED)
os.posix_fallocate(g, 0, 9000)
assert os.fstat(g).st_size == 9000
os.mkfifo('p')
os.close(os.open('p', os.O_RDWR))
socket.socket(socket.AF_UNIX).bind('s')
with open('script', 'w') as script:
    script.write('#!/bin/sh\necho ran\n')
os.chmod('script', 0o755)
assert os.popen('./script').read() == 'ran\n'
with mmap.mmap(f, 5000) as shared, mmap.mmap(f, 5000, mmap.MAP_PRIVATE) as private:
    private[0:2], shared[2:4] = b'pp', b'ss'
assert os.pread(f, 4, 0) == b'xxss'
assert os.statvfs('.').f_bavail > 0
