"""Makes calls that docs/SEMANTICS.md says are refused, and rarer ones that work, in the folder that it runs in.

usage: rare_calls.py BINDING
"""
import ctypes
import errno
import fcntl
import mmap
import os
import platform
import select
import socket
import struct
import subprocess
import sys

KERNEL = sys.argv[1] != 'jnr'
libc = ctypes.CDLL(None, use_errno=True)

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


def c(name, *arguments):
    """Calls a function of libc, which Python has no name for."""
    result = getattr(libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


# ---- refused

refused(errno.EOPNOTSUPP, lambda: os.open('.', os.O_TMPFILE | os.O_RDWR))
refused(errno.EOPNOTSUPP, lambda: fcntl.ioctl(g, 0x40049409, f))                      # FICLONE
refused(errno.EOPNOTSUPP, lambda: fcntl.ioctl(f, 0xC020660B, b'\0' * 88))             # FIEMAP
assert fcntl.ioctl(f, 1, b'\0' * 4) == b'\0' * 4                                     # FIBMAP: no block
refused(errno.ENOTTY, lambda: fcntl.ioctl(f, 0x80086601, b'\0' * 8))                  # FS_IOC_GETFLAGS
refused(errno.ENOTTY, lambda: fcntl.ioctl(f, 0x40086602, b'\0' * 8))                  # FS_IOC_SETFLAGS
refused(errno.EOPNOTSUPP, lambda: os.setxattr('f', 'trusted.x', b'1'))
refused(errno.EOPNOTSUPP, lambda: os.setxattr('f', 'security.capability', struct.pack('<5I', 0x2000001, 1, 0, 0, 0)))
refused(errno.EOPNOTSUPP, lambda: os.setxattr('f', 'system.posix_acl_access', struct.pack(
    '<I' + 'HHI' * 3, 2, 1, 6, 2**32 - 1, 4, 4, 2**32 - 1, 0x20, 4, 2**32 - 1)))
for flag in 2, 4:                                                                     # RENAME_EXCHANGE, RENAME_WHITEOUT
    refused(errno.EINVAL, lambda: c('renameat2', -100, b'f', -100, b'g', flag))
refused(errno.EEXIST, lambda: c('renameat2', -100, b'f', -100, b'g', 1))              # RENAME_NOREPLACE
open('old', 'w').close()
if KERNEL:
    c('renameat2', -100, b'old', -100, b'new', 1)
else:
    refused(errno.EINVAL, lambda: c('renameat2', -100, b'old', -100, b'new', 1))      # libfuse 2 knows no flags
refused(errno.EOPNOTSUPP, lambda: c('fallocate', g, 8, ctypes.c_long(0), ctypes.c_long(4096)))  # COLLAPSE_RANGE

# ---- devices, FIFOs, sockets

os.mknod('null', 0o20600, os.makedev(1, 3))
refused(errno.EACCES, lambda: os.open('null', os.O_RDONLY))                          # nodev
os.mkfifo('p')
os.close(os.open('p', os.O_RDWR))
listening, calling = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
listening.bind('s')
listening.listen()
calling.connect('s')

# ---- locks: another process is kept out, and a fork's child has none of its parent's

fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
refused(errno.EAGAIN, lambda: fcntl.flock(os.open('f', os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB))
fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 0)
LOCK = """
import fcntl
g = open('g', 'r+b')
fcntl.lockf(g, fcntl.LOCK_EX | fcntl.LOCK_NB, 5, 5)
try:
    fcntl.lockf(g, fcntl.LOCK_SH | fcntl.LOCK_NB, 5, 0)
except BlockingIOError:
    print('locked')
"""
assert subprocess.check_output([sys.executable, '-c', LOCK]) == b'locked\n'
of_file = struct.pack('hhqqi', fcntl.F_WRLCK, os.SEEK_SET, 100, 10, 0)
fcntl.fcntl(f, fcntl.F_OFD_SETLK, of_file)
refused(errno.EAGAIN, lambda: fcntl.fcntl(os.open('f', os.O_RDWR), fcntl.F_OFD_SETLK, of_file))

# ---- reading and writing

assert os.sendfile(g, f, 0, 100) == 100 and os.pread(g, 200, 0) == b'x' * 100
reader, writer = os.pipe()
assert os.splice(f, writer, 100, offset_src=0) == 100 and os.read(reader, 200) == b'x' * 100
two = [bytearray(3), bytearray(4)]
assert os.pwritev(g, [b'abc', b'defg'], 0) == 7 and os.preadv(g, two, 0) == 7 and two == [b'abc', b'defg']
os.lseek(g, 0, os.SEEK_SET)
assert os.writev(g, [b'AB', b'C']) == 3 and os.readv(g, two) == 7 and two == [b'def', b'gxxx']
assert os.preadv(g, two, 0, os.RWF_HIPRI) == 7 and two == [b'ABC', b'defg']
assert os.pwritev(g, [b'12'], 0, os.RWF_DSYNC) == 2 and os.pwritev(g, [b'3'], 2, os.RWF_SYNC) == 1
assert os.pwritev(g, [b'end'], 0, os.RWF_APPEND) == 3 and os.pread(g, 9, os.fstat(g).st_size - 3) == b'end'
refused(errno.EOPNOTSUPP, lambda: os.preadv(g, two, 0, os.RWF_NOWAIT))
for advice in os.POSIX_FADV_WILLNEED, os.POSIX_FADV_RANDOM, os.POSIX_FADV_SEQUENTIAL, os.POSIX_FADV_DONTNEED:
    os.posix_fadvise(f, 0, 0, advice)
assert os.pread(f, 5000, 0) == b'x' * 5000
os.posix_fallocate(g, 0, 9000)
assert os.fstat(g).st_size == 9000
os.fsync(f), os.fdatasync(f), os.sync(), c('syncfs', f), c('sync_file_range', f, ctypes.c_long(0), ctypes.c_long(0), 7)
ready = select.poll()
ready.register(f, select.POLLIN | select.POLLOUT)
assert ready.poll(0) == [(f, select.POLLIN | select.POLLOUT)]
with select.epoll() as epoll:
    epoll.register(f, select.EPOLLIN)
    assert epoll.poll(0) == [(f, select.EPOLLIN)]
if platform.machine() == 'x86_64':                                                    # the numbers of aio's calls
    context, events, found = ctypes.c_ulong(), ctypes.create_string_buffer(32), ctypes.create_string_buffer(10)
    read = ctypes.create_string_buffer(struct.pack('QIiHhIQQqQII', 0, 0, 0, 0, 0, f, ctypes.addressof(found), 10, *[0] * 4))
    c('syscall', 206, 1, ctypes.byref(context))
    assert c('syscall', 209, context, 1, ctypes.byref(ctypes.c_void_p(ctypes.addressof(read)))) == 1
    assert c('syscall', 208, context, 1, 1, events, None) == 1 and found.raw == b'x' * 10
    c('syscall', 207, context)

# ---- descriptors

path = os.open('f', os.O_PATH)
assert os.fstat(path).st_size == 5000
refused(errno.EBADF, lambda: os.read(path, 1))
assert os.read(os.open('f', os.O_RDONLY | os.O_NOATIME), 10) == b'x' * 10
assert os.read(os.open('/proc/self/fd/%d' % path, os.O_RDONLY), 10) == b'x' * 10
c('linkat', -100, b'/proc/self/fd/%d' % f, -100, b'linked', 0x400)                   # AT_SYMLINK_FOLLOW: an open file
assert open('linked', 'rb').read() == b'x' * 5000 and os.stat('linked').st_nlink == 2 # for ten seconds
handle, mount = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136), ctypes.c_int()
c('name_to_handle_at', -100, b'f', handle, ctypes.byref(mount), 0)
opened = c('open_by_handle_at', f, handle, os.O_RDONLY)
assert os.pread(opened, 10, 0) == b'x' * 10

# ---- maps

with mmap.mmap(f, 5000) as shared, mmap.mmap(f, 5000, mmap.MAP_PRIVATE) as private:
    private[0:2], shared[2:4] = b'pp', b'ss'
    shared.flush()
    shared.madvise(mmap.MADV_RANDOM), shared.madvise(mmap.MADV_WILLNEED), shared.madvise(mmap.MADV_DONTNEED)
    at = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(shared)))
    here = (ctypes.c_ubyte * 2)()
    for name, *more in ('mlock',), ('mincore', here), ('munlock',):
        c(name, at, ctypes.c_size_t(5000), *more)
    assert list(here) == [1, 1] and shared[0:5] == b'xxssx' and private[0:5] == b'ppxxx'
assert os.pread(f, 4, 0) == b'xxss'
with mmap.mmap(f, 4096) as grown:
    grown.resize(8192)                                                                # mremap, and ftruncate
    grown[8191] = 7
assert os.fstat(f).st_size == 8192 and os.pread(f, 1, 8191) == b'\7'

# ---- programs and users

with open('script', 'w') as script:
    script.write('#!/bin/sh\necho ran\n')
os.chmod('script', 0o755)
assert os.popen('./script').read() == 'ran\n'
mounted = os.stat('.').st_dev
line = next(line for line in open('/proc/self/mountinfo') if line.split()[2] == '%d:%d' % (
    os.major(mounted), os.minor(mounted)))
options = line.split()[5].split(',')
assert 'nosuid' in options and 'nodev' in options, line
if os.getuid() == 0:
    subprocess.check_call(['cp', '/usr/bin/id', 'id'])
    os.chmod('id', 0o4755)
    os.chmod('.', 0o755)
    assert subprocess.check_output(['./id', '-u'], user=65534, group=65534, extra_groups=[]) == b'65534\n'

# ---- what is told of files

STATX_BTIME, buffer = 0x800, ctypes.create_string_buffer(256)
c('statx', -100, b'f', 0, 0xfff, buffer)
assert struct.unpack_from('I', buffer)[0] & STATX_BTIME == 0
figures = os.statvfs('.')
assert figures.f_bavail > 0 and figures.f_files == 0 and figures.f_namemax == 255
watch = c('inotify_init1', os.O_NONBLOCK)
c('inotify_add_watch', watch, b'.', 0x100 | 0x200 | 0xc0 | 0x8)                       # made, removed, moved, written
open('watched', 'w').close()
os.rename('watched', 'moved')
os.unlink('moved')
told = os.read(watch, 4096)
assert told.count(b'watched\0') == 3 and told.count(b'moved\0') == 2, told            # a close after writing, too
os.mkdir('deep')
here = os.getcwd()
os.chdir('deep')
assert os.getcwd() == here + '/deep' and os.listdir('..') != []
os.chdir(here)
