"""Two processes take locks and deliver mail, each in its own folder, which are one folder, or those of two mounts.

    python3 locks.py TEST WAY FOLDER FOLDER TIMES

Prints what was wrong. TIMES is 250 at most.
"""
import errno, mailbox, mmap, os, sys, time, traceback

test, way, folders, times = sys.argv[1], sys.argv[2], sys.argv[3:5], int(sys.argv[5])
shared = mmap.mmap(-1, 1 << 16)


def together(*bodies):
    """Runs each in a process of its own."""
    children = []
    for body in bodies:
        child = os.fork()
        if child == 0:
            try:
                body()
                os._exit(0)
            except BaseException:
                traceback.print_exc(file=sys.stdout)
                sys.stdout.flush()
                os._exit(1)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


def make(name):
    """Makes a file that must not exist."""
    file = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    try:
        os.write(file, b'held\n')
    finally:
        os.close(file)


def excl(name):
    make(name)


def directory(name):
    os.mkdir(name)


def link(name):
    """As lockfile_create(3) does it: the count of links tells, whatever link(2) has returned."""
    own = '%s.%d' % (name, os.getpid())
    make(own)
    try:
        try:
            os.link(own, name)
        except FileExistsError:
            pass
        if os.stat(own).st_nlink != 2:
            raise FileExistsError(name)
    finally:
        os.unlink(own)


def taken(name):
    try:
        {'EXCL': excl, 'DIRECTORY': directory, 'LINK': link}[way](name)
        return True
    except FileExistsError:
        return False
    except OSError as e:
        if e.errno == errno.ESTALE:  # of a close: another node was faster
            return False
        raise


def free(name):
    os.rmdir(name) if way == 'DIRECTORY' else os.unlink(name)


def race():
    """Both take each name at the same moment: one has it then."""
    def racer(which):
        try:
            for i in range(times):
                shared[which] = i + 1
                while shared[1 - which] < i + 1:
                    os.sched_yield()
                shared[1000 + 2 * i + which] = taken(os.path.join(folders[which], '%s-%d' % (way, i)))
        finally:
            shared[which] = 255

    together(lambda: racer(0), lambda: racer(1))
    for i in range(times):
        winners = sum(shared[1000 + 2 * i:1002 + 2 * i])
        if winners != 1:
            print('%s-%d: %d winners' % (way, i, winners))


def count():
    """Both read a number and write the next one, under a lock: none is lost."""
    def counter(which):
        lock, file = (os.path.join(folders[which], name) for name in ('count.lock', 'count'))
        for _ in range(times):
            while not taken(lock):
                time.sleep(0.01)
            if shared[0] != 0:
                print('two hold the lock')
            shared[0] = 1
            number = os.open(file, os.O_RDWR)
            value = int(os.read(number, 20))
            os.pwrite(number, b'%d' % (value + 1), 0)
            os.close(number)
            shared[0] = 0
            free(lock)

    with open(os.path.join(folders[0], 'count'), 'w') as file:
        file.write('1000')
    together(lambda: counter(0), lambda: counter(1))
    with open(os.path.join(folders[0], 'count'), 'rb+') as file:
        value = int(file.read())
        if value != 1000 + 2 * times:
            print('counted to %d' % value)


def text(which, i):
    return 'Subject: %d-%d\n\n%sthe end\n' % (which, i, 'line\n' * (i * 37 % 900))


def mbox():
    """Both append to one file, which mailbox locks by lockf and a link."""
    def deliver(which):
        for i in range(times):
            box = mailbox.mbox(os.path.join(folders[which], 'mbox'))
            while True:
                try:
                    box.lock()
                    break
                except mailbox.ExternalClashError:
                    time.sleep(0.01)
            box.add(text(which, i))
            box.flush()
            box.unlock()
            box.close()

    together(lambda: deliver(0), lambda: deliver(1))
    check(mailbox.mbox(os.path.join(folders[0], 'mbox'), create=False))
    left(name for name in os.listdir(folders[0]) if name.startswith('mbox.'))


def maildir():
    """Two deliver while another process reads what has come, and files it as seen."""
    paths = [os.path.join(folder, 'Maildir') for folder in folders]
    mailbox.Maildir(paths[0]).lock()

    def deliver(which):
        box = mailbox.Maildir(paths[which])
        for i in range(times):
            box.lock()
            box.add(text(which, i))
            box.unlock()

    def see():
        new, cur = (os.path.join(paths[0], folder) for folder in ('new', 'cur'))
        seen, deadline = 0, time.monotonic() + 120
        while seen < 2 * times:
            for name in os.listdir(new):
                try:
                    with open(os.path.join(new, name)) as file:
                        message = file.read()
                except OSError as e:
                    if e.errno != errno.ESTALE:  # another version than was listed: the next look has it
                        raise
                    continue
                if not message.endswith('\nthe end\n'):
                    print('a message that ends in %r' % message[-20:])
                os.rename(os.path.join(new, name), os.path.join(cur, name + ':2,S'))
                seen += 1
            if time.monotonic() > deadline:
                print('%d messages have come' % seen)
                break

    together(lambda: deliver(0), lambda: deliver(1), see)
    check(mailbox.Maildir(paths[0], create=False))
    for folder in 'tmp', 'new':
        left(os.listdir(os.path.join(paths[0], folder)))


def left(names):
    for name in names:
        print('%s is left' % name)


def check(box):
    got = sorted(message.as_string() for message in box)
    sent = sorted(text(which, i) for which in (0, 1) for i in range(times))
    if got != sent:
        print('%d messages are there, and %d as they were sent' % (len(got), len(set(got) & set(sent))))


{'race': race, 'count': count, 'mbox': mbox, 'maildir': maildir}[test]()
