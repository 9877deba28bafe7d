"""Programs on a mount whose server is killed again and again. No call may fail, and all bytes are compared.

    python3 survival.py MOUNT EXPECTED SUPERVISOR KILLS once|again|standby|upgrade=PENSTOCK PASSTHROUGH [WRITES]

EXPECTED is a folder with the files of the mount: big, mapped, through, small/* and listed/*. SUPERVISOR is the process id of the
server's parent. With "again" each successor is killed three times before it is ready, with "standby" the server once it
has a standby, which continues; with "upgrade" the program PENSTOCK replaces it. PASSTHROUGH: whether the kernel
can read the file through itself. With WRITES the programs are those of survival_writes.py, too. Prints what was wrong, or a line that begins with "ok".
"""
import fcntl, mmap, os, random, signal, subprocess, sys, time, traceback

mount, expected, supervisor, kills, how = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
passthrough = sys.argv[6] == 'true'
writes = len(sys.argv) > 7
names = os.listdir(os.path.join(expected, 'small'))
listed = sorted(os.listdir(os.path.join(expected, 'listed')))
PAGE = 4096
LIMIT = 120  # seconds until a call counts as hung
PAUSE = 0.005  # seconds between two operations of a program, which leave the processors to the successor

# Shared by all processes: the number of kills, whether to end, and three numbers for each program.
numbers = memoryview(mmap.mmap(-1, 1 << 16)).cast('Q')
KILLS, ENDED, PROGRAMS = 0, 1, 8
OPERATIONS, WAITS_FOR, LONGEST, SIZE = 0, 1, 2, 3


def mapped(path):
    with open(path, 'rb') as file:
        return mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def small(folder, name):
    return os.path.join(folder, 'small', name)


def check(is_right, what):
    if not is_right:
        raise AssertionError(what)


class Program:
    """A process that repeats an operation, each time with calls of the mount."""

    def __init__(self, number, operate):
        self.at = PROGRAMS + SIZE * number
        self.operate = operate
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self.run())

    def run(self):
        try:
            begin = time.monotonic()
            for _ in self.operate(self):
                numbers[self.at + LONGEST] = max(numbers[self.at + LONGEST], int(1000 * (time.monotonic() - begin)))
                numbers[self.at + OPERATIONS] += 1
                if numbers[ENDED]:
                    return 0
                time.sleep(PAUSE)
                begin = time.monotonic()
        except BaseException:
            os.write(1, ('%s: %s' % (self.operate.__name__, traceback.format_exc())).encode())
            return 1

    def await_kill(self):
        """Returns after the next kill."""
        before = numbers[KILLS]
        numbers[self.at + WAITS_FOR] = before + 1
        while numbers[KILLS] == before and not numbers[ENDED]:
            time.sleep(0.002)

    def operations(self):
        return numbers[self.at + OPERATIONS]

    def awaits_kill(self):
        return numbers[self.at + WAITS_FOR] == numbers[KILLS] + 1

    def state(self):
        try:
            with open('/proc/%d/stack' % self.pid) as stack:
                kernel = ' in the kernel: ' + ' '.join(line.split()[-1] for line in stack)
        except OSError:
            kernel = ''
        return '%s is in state %s%s' % (self.operate.__name__, state_of(self.pid), kernel)


def range_of(file):
    """A range that begins at a page."""
    return random.randrange(0, len(file), PAGE), random.choice((1, PAGE, 1 << 16, 300_000))


def forget(fd, offset, length):
    """Lets the next read reach the server, unless the file is passed through."""
    os.posix_fadvise(fd, offset, length, os.POSIX_FADV_DONTNEED)


def reads(fd, name):
    right = mapped(os.path.join(expected, name))
    while True:
        offset, length = range_of(right)
        forget(fd, offset, length)
        check(os.pread(fd, length, offset) == right[offset:offset + length], (name, offset, length))
        yield


def read_a_large_file(_):
    yield from reads(os.open(os.path.join(mount, 'big'), os.O_RDONLY), 'big')


def read_a_passed_through_file(_):
    yield from reads(through, 'through')


def read_a_mapped_file(_):
    fd = os.open(os.path.join(mount, 'mapped'), os.O_RDONLY)
    memory, right = mmap.mmap(fd, 0, prot=mmap.PROT_READ), mapped(os.path.join(expected, 'mapped'))
    while True:
        offset, length = range_of(right)
        memory.madvise(mmap.MADV_DONTNEED, offset, min(length, len(right) - offset))
        forget(fd, offset, length)
        check(memory[offset:offset + length] == right[offset:offset + length], ('mapped', offset, length))
        yield


def read_small_files(_):
    while True:
        name = random.choice(names)
        check(content(small(mount, name)) == content(small(expected, name)), name)
        yield


def hold_a_small_file(program):
    """Opened and read before a kill, and read to its end and closed after it."""
    while True:
        name = random.choice(names)
        with open(small(mount, name), 'rb', buffering=0) as file:
            got = file.read(1000)
            program.await_kill()
            forget(file.fileno(), 0, 0)
            check(got + file.read() == content(small(expected, name)), name)
        yield


def check_names(got):
    missing = [name[:4] for name in listed if name not in got]
    check(sorted(got) == listed, '%d of %d names; missing: %s' % (len(got), len(listed), missing))


def list_names(_):
    while True:
        fd = os.open(os.path.join(mount, 'listed'), os.O_RDONLY)
        forget(fd, 0, 0)
        check_names(os.listdir(fd))
        os.close(fd)
        yield


def list_names_over_a_kill(program):
    """Only a part of the names is read before it."""
    while True:
        with os.scandir(os.path.join(mount, 'listed')) as entries:
            got = [next(entries).name for _ in range(random.randrange(len(listed)))]
            program.await_kill()
            got += [entry.name for entry in entries]
        check_names(got)
        yield


def stat_files(_):
    while True:
        name = random.choice(names)
        check(os.stat(small(mount, name)).st_size == os.stat(small(expected, name)).st_size, name)
        # While its directory is listed: a lookup must not change which names follow.
        name = os.path.join('listed', random.choice(listed))
        check(os.stat(os.path.join(mount, name)).st_size == os.stat(os.path.join(expected, name)).st_size, name)
        missing = small(mount, 'missing%d' % random.randrange(1 << 30))
        try:
            os.stat(missing)
        except FileNotFoundError:
            yield
        else:
            check(False, missing)


def hold_a_lock(program):
    with open(small(mount, names[0])) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        while True:
            program.await_kill()
            yield


def is_locked():
    with open(small(mount, names[0])) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def lock_what_is_locked(_):
    while True:
        check(is_locked() or numbers[ENDED], 'two hold the lock')
        yield


def stat_of(pid):
    """The state of a process and its parent's id."""
    try:
        with open('/proc/%d/stat' % pid) as stat:
            state, parent = stat.read().rpartition(')')[2].split()[:2]
            return state, int(parent)
    except OSError:
        return 'gone', 0


def state_of(pid):
    return stat_of(pid)[0]


def started(pid):
    """When it was started, in ticks."""
    try:
        with open('/proc/%d/stat' % pid) as stat:
            return int(stat.read().rsplit(')', 1)[1].split()[19])
    except OSError:
        return 0


def living(former=0):
    """The process ids of the server and of its standby, which is younger."""
    found = []
    for pid in (int(name) for name in os.listdir('/proc') if name.isdigit()):
        state, parent = stat_of(pid)
        if parent == supervisor and state not in 'ZX' and pid != former:
            found.append(pid)
    return sorted(found, key=lambda pid: (started(pid), pid))


def server(former=0):
    """The process id of the one that serves."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        found = living(former)
        if found:
            return found[0]
        check(state_of(supervisor) not in ('gone', 'Z'), 'the supervisor has ended')
        time.sleep(0.001)
    check(False, 'no successor')


def kill(pid):
    os.kill(pid, signal.SIGKILL)
    numbers[KILLS] += 1


def has(pid, file, text):
    """False if it has ended."""
    try:
        with open('/proc/%d/%s' % (pid, file)) as lines:
            return text in lines.read()
    except OSError:
        return False


def await_standby():
    """One that is warm and only waits."""
    deadline = time.monotonic() + LIMIT
    while not any(has(pid, 'comm', 'java') and has(pid, 'environ', 'PENSTOCK_STANDBY') and is_idle(pid)
                  for pid in living()[1:]):
        check(time.monotonic() < deadline, 'no standby')


def is_idle(pid):
    def used():
        with open('/proc/%d/stat' % pid) as stat:
            return stat.read().rsplit(')', 1)[1].split()[11:13]
    before = used()
    time.sleep(0.5)
    return has(pid, 'comm', 'java') and used() == before


def kill_successors(former):
    """The first as soon as it exists, another as a JVM, and one that has read what was left to it."""
    for file, text in ('stat', ''), ('comm', 'java'), ('maps', '.table'):
        pid = server(former)
        while not has(pid, file, text):
            check(state_of(pid) not in ('gone', 'Z'), 'the successor has ended')
            time.sleep(0.001)
        os.kill(pid, signal.SIGKILL)
        former = pid


def open_passed_through():
    """Opens the file until the kernel reads it itself, which it does while the server is stopped."""
    right = content(os.path.join(expected, 'through'))
    while True:
        fd = os.open(os.path.join(mount, 'through'), os.O_RDONLY)
        check(os.pread(fd, len(right), 0) == right, 'through')
        pid = server()
        os.kill(pid, signal.SIGSTOP)
        forget(fd, 0, 0)
        reader = os.fork()
        if reader == 0:
            os._exit(0 if os.pread(fd, len(right), 0) == right else 1)
        deadline, ended, status = time.monotonic() + 0.5, 0, 0
        while ended == 0 and time.monotonic() < deadline:
            ended, status = os.waitpid(reader, os.WNOHANG)
            time.sleep(0.01)
        os.kill(pid, signal.SIGCONT)
        if ended == 0:
            _, status = os.waitpid(reader, 0)
        check(status == 0, 'through')
        if ended != 0:
            return fd
        os.close(fd)


def is_ready(program, before):
    """Whether it has passed a load since the last kill, and waits for the next one if it does so."""
    if numbers[program.at + WAITS_FOR] > 0:
        return program.awaits_kill()
    return program.operations() >= before + 2


def await_all(programs, condition, what):
    deadline = time.monotonic() + LIMIT
    waiting = list(programs)
    while waiting:
        waiting = [program for program in waiting if not condition(program)]
        for program in programs:
            check(numbers[ENDED] or os.waitpid(program.pid, os.WNOHANG)[0] == 0, 'a program has failed')
        check(time.monotonic() < deadline, '%s: %s' % (what, ', '.join(program.state() for program in waiting)))
        time.sleep(0.005)


def has_ended(program):
    pid, status = os.waitpid(program.pid, os.WNOHANG)
    check(status == 0, 'a program has failed')
    return pid != 0


bodies = [read_a_large_file, read_a_large_file, read_a_mapped_file, read_small_files, read_small_files,
          hold_a_small_file, hold_a_small_file, list_names, list_names_over_a_kill, list_names_over_a_kill,
          stat_files, hold_a_lock]
if passthrough:
    through = open_passed_through()
    bodies.append(read_a_passed_through_file)
if writes:
    import survival_writes
    bodies += survival_writes.bodies(mount, check)
programs = []
try:
    programs = [Program(i, body) for i, body in enumerate(bodies)]
    await_all(programs, lambda program: is_ready(program, 0), 'before the first kill')
    programs.append(Program(len(bodies), lock_what_is_locked))
    for _ in range(kills):
        before = {program: program.operations() for program in programs}
        if how == 'standby':
            await_standby()
        pid = server()
        if how.startswith('upgrade='):
            done = subprocess.run([how.split('=', 1)[1], 'upgrade', mount], capture_output=True, text=True)
            check(done.returncode == 0, done.stderr + done.stdout)
            numbers[KILLS] += 1
            check(server() != pid, 'not upgraded')
        else:
            kill(pid)
        if how == 'again':
            kill_successors(pid)
        await_all(programs, lambda program: is_ready(program, before[program]), 'kill %d' % numbers[KILLS])
    check(is_locked(), 'the lock is lost')
    numbers[ENDED] = 1
    await_all(programs, has_ended, 'the end')
    check(not is_locked(), 'the lock is still held')
    deadline = time.monotonic() + LIMIT
    while 'D' in (state_of(supervisor), state_of(server())):
        check(time.monotonic() < deadline, 'in state D')
        time.sleep(0.01)
    longest = max(numbers[program.at + LONGEST] for program in programs
                  if numbers[program.at + WAITS_FOR] == 0)
    print('ok: %d kills, %d operations, the longest took %d ms'
          % (kills, sum(program.operations() for program in programs), longest))
except BaseException:
    traceback.print_exc(file=sys.stdout)
    for program in programs:
        try:
            os.kill(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    sys.exit(1)
