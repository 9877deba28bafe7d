"""A process under penstock-supervisor: what tests put before each script. Its arguments: a log, and the script's own."""
import _socket, os, signal, struct, sys, time

RESTARTS = int(os.environ['PENSTOCK_RESTARTS'])
LAST_END = os.environ['PENSTOCK_LAST_END']


def say(text):
    with open(sys.argv[1], 'a') as log:
        print(text, file=log)


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
