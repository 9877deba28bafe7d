"""Does the same random calls in a folder of a local disk and in one of a mount, and compares each result.

usage: differential.py LOCAL MOUNT SEED STEPS BINDING
       differential.py LOCAL MOUNT

With a seed both folders must be empty. Without one only what is in them is compared. Prints the calls up to the first that
differs, and exits with 1; prints "same" otherwise.
What is left out differs on purpose, as docs/SEMANTICS.md has it: link counts, sizes and times of directories, hard links,
ctime, atime, and reads of a removed file that are not cached. Of an mtime only what utimens has set is compared, and that
nothing has set one.
"""
import errno
import mmap
import os
import random
import stat
import sys

NAMES = ["a", "b", "c d", "%+", "\u00e9", "e\u0301", "new\nline", ".hid", "dot."]
MOST_OPEN = 4
PAGE = 4096
SET_TIMES = [0, 1, 1_600_000_000_123_456_789]


class Side:
    """One of the two folders, and what is open in it."""

    def __init__(self, root):
        self.root = root
        self.open = {}

    def at(self, path):
        return os.path.join(self.root, path) if path else self.root


def tried(call):
    """The result of a call, or its errno."""
    try:
        return ("ok", call())
    except OSError as e:
        return ("error", errno.errorcode.get(e.errno, e.errno))
    except ValueError as e:
        return ("value", str(e))


# ---- what is compared

def set_time(s):
    """The mtime that utimens has set, if nothing was written since."""
    return s.st_mtime_ns if s.st_mtime_ns in SET_TIMES else "of a write"


def seen(path):
    """What a program sees of a name."""
    s = os.lstat(path)
    kind = stat.S_IFMT(s.st_mode)
    if stat.S_ISLNK(kind):
        return {"link": os.readlink(path), "uid": s.st_uid, "gid": s.st_gid, "mtime": set_time(s)}
    found = {"mode": oct(s.st_mode), "uid": s.st_uid, "gid": s.st_gid}
    found["xattrs"] = {
        name: os.getxattr(path, name) for name in os.listxattr(path)
        if name.startswith("user.") and not name.startswith("user.penstock.")
    }
    if stat.S_ISREG(kind):
        found["size"] = s.st_size
        found["mtime"] = set_time(s)
        with open(path, "rb") as f:
            found["content"] = f.read()
    return found


def tree(side, at=""):
    """All names below the folder, with what is seen of them."""
    found = {}
    for name in sorted(os.listdir(side.at(at))):
        path = os.path.join(at, name)
        found[path] = seen(side.at(path))
        if os.path.isdir(side.at(path)) and not os.path.islink(side.at(path)):
            found.update(tree(side, path))
    return found


# ---- the calls; each draws its arguments once, and returns what is done on one side

def a_path(r):
    return "/".join(r.choice(NAMES) for _ in range(r.choice([1, 1, 1, 2, 2, 3])))


def data(r):
    return r.randbytes(r.choice([1, 10, 1000, 5000, 70000]))


def offset(r):
    return r.choice([0, 1, 100, PAGE, 60000, 200000])


def open_file(r, slot):
    path = a_path(r)
    flags = r.choice([os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR, os.O_RDWR | os.O_CREAT, os.O_WRONLY | os.O_CREAT,
                      os.O_RDWR | os.O_CREAT | os.O_EXCL, os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
                      os.O_RDWR | os.O_APPEND | os.O_CREAT, os.O_RDONLY | os.O_NOFOLLOW, os.O_RDONLY | os.O_DIRECTORY])
    mode = r.choice([0o644, 0o600, 0o777, 0o444])

    def call(side):
        if slot in side.open:
            os.close(side.open.pop(slot))
        side.open[slot] = os.open(side.at(path), flags, mode)
    return f"open({slot}, {path!r}, {oct(flags)}, {oct(mode)})", call


def close_file(r, slot):
    def call(side):
        if slot in side.open:
            os.close(side.open.pop(slot))
    return f"close({slot})", call


def of_handle(name, r, slot, act):
    def call(side):
        return act(side.open[slot]) if slot in side.open else None
    call.slot = slot
    return f"{name}({slot})", call


def pwrite(r, slot):
    bytes_, at = data(r), offset(r)
    return of_handle(f"pwrite {len(bytes_)}@{at}", r, slot, lambda fd: os.pwrite(fd, bytes_, at))


def write(r, slot):
    bytes_ = data(r)
    return of_handle(f"write {len(bytes_)}", r, slot, lambda fd: os.write(fd, bytes_))


def pread(r, slot):
    length, at = r.choice([1, 100, 10000, 100000]), offset(r)
    return of_handle(f"pread {length}@{at}", r, slot, lambda fd: os.pread(fd, length, at))


def ftruncate(r, slot):
    size = offset(r)
    return of_handle(f"ftruncate {size}", r, slot, lambda fd: os.ftruncate(fd, size))


def fsync(r, slot):
    return of_handle("fsync", r, slot, os.fsync)


def fstat(r, slot):
    def act(fd):
        s = os.fstat(fd)
        if stat.S_ISDIR(s.st_mode):
            return "directory"  # that has lost its attributes if it was removed
        return oct(s.st_mode), s.st_uid, s.st_gid, s.st_size
    return of_handle("fstat", r, slot, act)


def fchmod(r, slot):
    mode = r.choice([0o644, 0o600, 0o751])
    return of_handle(f"fchmod {oct(mode)}", r, slot, lambda fd: os.fchmod(fd, mode))


def map_write(r, slot):
    at, bytes_ = r.choice([0, 100, PAGE]), r.randbytes(10)

    def act(fd):
        size = os.fstat(fd).st_size
        if size < at + 10 or not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with mmap.mmap(fd, size) as m:
            if os.fstat(fd).st_nlink == 0:
                os.pread(fd, PAGE, at - at % PAGE)  # what is not cached is an error here, and a signal there
            m[at:at + 10] = bytes_
            m.flush()
            return m[at:at + 10]
    return of_handle(f"mmap@{at}", r, slot, act)


def of_path(name, act, *paths):
    return f"{name}({', '.join(map(repr, paths))})", lambda side: act(*(side.at(path) for path in paths))


def stat_path(r, slot):
    return of_path("stat", seen, a_path(r))


def mkdir(r, slot):
    mode = r.choice([0o755, 0o700, 0o2775, 0o1777])
    return of_path(f"mkdir {oct(mode)}", lambda p: os.mkdir(p, mode), a_path(r))


def rmdir(r, slot):
    return of_path("rmdir", os.rmdir, a_path(r))


def unlink(r, slot):
    return of_path("unlink", os.unlink, a_path(r))


def rename(r, slot):
    return of_path("rename", os.rename, a_path(r), a_path(r))


def truncate(r, slot):
    size = offset(r)
    return of_path(f"truncate {size}", lambda p: os.truncate(p, size), a_path(r))


def symlink(r, slot):
    target = r.choice(["a", "c d/../b", "/nowhere/at all", "x" * 200])
    return of_path(f"symlink {target}", lambda p: os.symlink(target, p), a_path(r))


def chmod(r, slot):
    mode = r.choice([0o644, 0o600, 0o4755, 0o1777, 0o000])
    return of_path(f"chmod {oct(mode)}", lambda p: os.chmod(p, mode), a_path(r))


def chown(r, slot):
    uid, gid = r.choice([(0, 0), (1000, 100), (-1, 7)])
    return of_path(f"chown {uid}:{gid}", lambda p: os.lchown(p, uid, gid), a_path(r))


def utimens(r, slot):
    at = r.choice(SET_TIMES)

    def act(path):
        os.utime(path, ns=(at, at), follow_symlinks=False)
        return os.lstat(path).st_mtime_ns
    return of_path(f"utimens {at}", act, a_path(r))


def setxattr(r, slot):
    name, value = r.choice(["user.x", "user.y z"]), r.randbytes(r.choice([0, 1, 50]))
    flags = r.choice([0, 0, os.XATTR_CREATE, os.XATTR_REPLACE])
    return of_path(f"setxattr {name} {flags}", lambda p: os.setxattr(p, name, value, flags), a_path(r))


def removexattr(r, slot):
    name = r.choice(["user.x", "user.y z"])
    return of_path(f"removexattr {name}", lambda p: os.removexattr(p, name), a_path(r))


def listdir(r, slot):
    return of_path("listdir", lambda p: sorted(os.listdir(p)), r.choice(["", a_path(r)]))


def list_while_changing(r, slot):
    """Names that stay are seen once, whatever comes and goes meanwhile."""
    at, comes = r.choice(["", a_path(r)]), "comes"

    def act(path):
        first = sorted(os.listdir(path))
        with os.scandir(path) as entries:
            names = [next(entries).name] if first else []
            try:
                open(os.path.join(path, comes), "x").close()
                names += [entry.name for entry in entries]
            finally:
                os.unlink(os.path.join(path, comes))
        return sorted(name for name in names if name != comes) == first, sorted(os.listdir(path))
    return of_path("listdir and change", act, at)


CALLS = [open_file] * 8 + [close_file] * 4 + [pwrite] * 6 + [write] * 3 + [pread] * 4 + [ftruncate] * 2 + [
    fsync, fstat, fstat, fchmod, map_write, map_write, stat_path, stat_path, stat_path, mkdir, mkdir, mkdir, mkdir, rmdir,
    rmdir, unlink, unlink, unlink, rename, rename, rename, rename, rename, rename, truncate, symlink, symlink, chmod, chmod,
    chown, utimens, utimens, setxattr, setxattr, removexattr, listdir, listdir, list_while_changing]


def main():
    sides = [Side(sys.argv[1]), Side(sys.argv[2])]
    if len(sys.argv) == 3:
        compare(sides, [])
        print("same")
        return
    r = random.Random(int(sys.argv[3]))
    os.umask(0o022)
    done = []
    for step in range(int(sys.argv[4])):
        what, call = r.choice(CALLS)(r, r.randrange(MOST_OPEN))
        results = [tried(lambda: call(side)) for side in sides]
        done.append(f"{what} = {str(results[0])[:100]}")
        if results[0] != results[1] and not is_of_removed(sides[0], call, results[1]):
            differs(done, results)
        if step % 20 == 19:
            compare(sides, done)
    for side in sides:
        for fd in side.open.values():
            os.close(fd)
    compare(sides, done + ["all closed"])
    print("same")


def compare(sides, done):
    trees = [tried(lambda: tree(side)) for side in sides]
    if trees[0] != trees[1]:
        differs(done, [difference(trees[0][1], trees[1][1]), difference(trees[1][1], trees[0][1])])


def is_of_removed(local, call, result):
    """Whether it reads what is not cached of a file that was removed while it was open, or libfuse 2 lacks its path."""
    slot = getattr(call, "slot", None)
    allowed = [("error", "ESTALE")] + [("error", "ENOENT")] * (sys.argv[5] == "jnr")
    return slot is not None and result in allowed and os.fstat(local.open[slot]).st_nlink == 0


def difference(one, other):
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one
    return {path: entry for path, entry in one.items() if other.get(path) != entry}


def differs(done, results):
    print("\n".join(done))
    print(f"local: {str(results[0])[:1000]}\nmount: {str(results[1])[:1000]}")
    sys.exit(1)


main()
