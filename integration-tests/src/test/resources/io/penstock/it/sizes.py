"""One process changes a file's size in every way, and others read it meanwhile.

    python3 sizes.py FOLDER SEED STEPS LARGEST

Each byte that a read returns must be one that the file had there at some moment of the read: a zero only where the file
had one, as in a hole, and nothing behind the end of all states. Prints how often this was not so, and the first cases.
At a few moments reads may see zeros, or what the last write has replaced, while the size is being changed, as
docs/SEMANTICS.md says.
"""
import mmap, os, random, sys

folder, seed, steps, largest = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
name = os.path.join(folder, 'sizes-%d' % seed)
READERS, MOST_READ, SHOWN, MOST_LATE = 2, 128 << 10, 5, 5


def pattern(number, length):
    """Bytes of which none is zero."""
    return (bytes(1 + (number * 37 + i) % 255 for i in range(257)) * (length // 257 + 1))[:length]


def planned():
    """The calls, each with the file's content after it."""
    chance = random.Random(seed)
    content = pattern(0, largest)
    plan = [(('write', 'new', 0, content), content)]

    def add(call, after):
        nonlocal content
        content = after
        plan.append((call, after))

    def cut(to, how):
        add((how, to), content[:to] + bytes(max(0, to - len(content))))

    while len(plan) < steps:
        how = chance.choice(['truncate', 'ftruncate'])
        data = pattern(len(plan), chance.randrange(1, largest))
        kind = chance.randrange(6)
        if kind == 0:
            cut(chance.choice([0, chance.randrange(len(content) + 1)]), how)
        elif kind == 1:
            cut(chance.randrange(len(content), largest + 1), how)
        elif kind == 2:
            add(('open', 'rewrite'), b'')
            half = len(data) // 2
            add(('write', 'rewrite', 0, data[:half]), data[:half])
            add(('write', 'rewrite', half, data[half:]), data)
            add(('close', 'rewrite'), content)
        elif kind == 3:
            cut(chance.randrange(len(content) + 1), how)
            data = data[:largest - len(content)]
            add(('append', data), content + data)
        elif kind == 4 and content:
            at = chance.randrange(len(content))
            data = data[:len(content) - at]
            add(('write', 'kept', at, data), content[:at] + data + content[at + len(data):])
        else:
            add((chance.choice(['fsync', 'reopen']), ), content)
    return plan


plan = planned()
open(name, 'x').close()
# The call that has begun last, the call that has ended last. struct.pack_into would write zeros first.
counts = memoryview(mmap.mmap(-1, 16)).cast('q')


def write():
    files = {'kept': os.open(name, os.O_RDWR)}
    files['new'] = files['kept']
    for number, (call, _) in enumerate(plan, 1):
        counts[0] = number
        match call:
            case 'write', file, at, data:
                assert os.pwrite(files[file], data, at) == len(data)
            case 'truncate', size:
                os.truncate(name, size)
            case 'ftruncate', size:
                os.ftruncate(files['kept'], size)
            case 'open', file:
                files[file] = os.open(name, os.O_WRONLY | os.O_TRUNC)
            case 'close', file:
                os.close(files.pop(file))
            case 'append', data:
                file = os.open(name, os.O_WRONLY | os.O_APPEND)
                assert os.write(file, data) == len(data)
                files['appended'] = file
            case 'fsync', :
                os.fsync(files['kept'])
            case 'reopen', :
                os.close(files['kept'])
                files['kept'] = os.open(name, os.O_RDWR)
        counts[1] = number
        if 'appended' in files:
            os.close(files.pop('appended'))
    os.close(files['kept'])
    counts[0] = -1


def objection(at, wanted, got, states):
    """What is wrong with a read, if anything."""
    if any(got == state[at:at + wanted] for state in states):
        return None
    ends = [min(max(len(state) - at, 0), wanted) for state in states]
    if not min(ends) <= len(got) <= max(ends):
        return '%d bytes, not %d to %d' % (len(got), min(ends), max(ends))
    for i, byte in enumerate(got):
        if not any(at + i < len(state) and state[at + i] == byte for state in states):
            return 'of %d bytes that at %d is %d' % (len(got), at + i, byte)
    return None


def read(reader):
    """Reads until the writer has ended; prints what was wrong."""
    chance = random.Random('%d-%d' % (seed, reader))
    states = [b''] + [after for _, after in plan]
    kept = os.open(name, os.O_RDONLY)
    reads, late, wrong = 0, set(), []
    while counts[0] >= 0:
        file = kept if chance.randrange(2) else os.open(name, os.O_RDONLY)
        at = chance.choice([0, chance.randrange(largest)])
        first = counts[1]
        got = os.pread(file, MOST_READ, at)
        last = counts[0]
        size = os.fstat(file).st_size
        latest = counts[0]
        if file != kept:
            os.close(file)
        if min(last, latest) < 0:
            break
        reads += 1
        found = objection(at, MOST_READ, got, states[first:last + 1])
        sizes = list(map(len, states[first:latest + 1]))
        if found is not None and any(after != before for before, after in zip(sizes, sizes[1:])):
            zeros = [bytes(largest)]
            if objection(at, MOST_READ, got, states[max(first - 1, 0):last + 1] + zeros) is None:
                late.add(first)
                found = None
        if found is None and not min(sizes) <= size <= max(sizes):
            found = 'a size of %d, not %d to %d' % (size, min(sizes), max(sizes))
        if found is not None:
            calls = [(call[0], len(after)) for call, after in plan[max(first - 1, 0):latest]]
            wrong.append('at %d: %s, during %s' % (at, found, calls))
    for each in wrong[:SHOWN]:
        print(each)
    if wrong or len(late) > MOST_LATE:
        print('%d of %d reads were wrong, and some at %d moments were late' % (len(wrong), reads, len(late)), flush=True)


children = []
for reader in range(READERS):
    child = os.fork()
    if child == 0:
        read(reader)
        os._exit(0)
    children.append(child)
write()
for child in children:
    assert os.waitpid(child, 0)[1] == 0
with open(name, 'rb') as file:
    assert file.read() == plan[-1][1]
