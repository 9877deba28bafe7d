"""A process under penstock-supervisor: what tests put before each script. Its arguments: a log, and the script's own."""
import _socket, os, signal, struct, sys, time

RESTARTS = int(os.environ['PENSTOCK_RESTARTS'])
LAST_END = os.environ.get('PENSTOCK_LAST_END')  # a standby has none


def say(text):
    with open(sys.argv[1], 'a') as log:
        print(text, file=log)


def said(beginning):
    """The lines said so far that begin so."""
    try:
        with open(sys.argv[1]) as log:
            return [line[:-1] for line in log if line.startswith(beginning) and line.endswith('\n')]
    except FileNotFoundError:
        return []


def await_said(line):
    while line not in said(line):
        time.sleep(0.01)


def is_standby():
    return 'PENSTOCK_STANDBY' in os.environ


def turn():
    """Waits for the end of the process. Returns its time in milliseconds, and how it ended."""
    with open(int(os.environ['PENSTOCK_STANDBY'])) as pipe:
        line = pipe.readline()
    if not line:
        say('not needed')
        os._exit(0)
    millis, how = line[:-1].split(' ', 1)
    return int(millis), how


def notify(text, *descriptors):
    s = _socket.socket(_socket.AF_UNIX, _socket.SOCK_DGRAM)
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack('%di' % len(descriptors), *descriptors))
    s.sendmsg([text.encode()], [rights] if descriptors else [], 0, '\0' + os.environ['NOTIFY_SOCKET'][1:])
    s.close()


def store(name, *descriptors):
    notify('FDSTORE=1\nFDNAME=' + name, *descriptors)


def stored():
    """The descriptors passed on, by name."""
    if 'LISTEN_FDS' not in os.environ:
        return {}
    assert os.environ['LISTEN_PID'] == str(os.getpid())
    names = os.environ['LISTEN_FDNAMES'].split(':')
    assert len(names) == int(os.environ['LISTEN_FDS'])
    return {name: 3 + i for i, name in enumerate(names)}


def is_open(descriptor):
    try:
        os.fstat(descriptor)
        return True
    except OSError:
        return False


def await_close(pipe):
    """Returns once all others have closed the other end."""
    assert os.read(pipe, 1) == b''


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def end(status):
    notify('STOPPING=1')
    os._exit(status)


def trace(kind, value, where):
    say('%s: %s' % (kind.__name__, value))
    sys.__excepthook__(kind, value, where)


sys.excepthook = trace
