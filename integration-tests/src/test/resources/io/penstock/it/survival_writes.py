"""Programs for survival.py that write. No call may fail, and each reads back what it wrote."""
import os, random


def bodies(mount, check):
    """Each has its own folder. None of them syncs, but where it says so."""
    def folder(name):
        path = os.path.join(mount, name)
        os.mkdir(path)
        return path

    def write(path, content, step=1 << 20):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for at in range(0, len(content), step):
            piece = content[at:at + step]
            check(os.write(fd, piece) == len(piece), ('short', path, at))
        os.close(fd)

    def expect(path, content):
        with open(path, 'rb') as file:
            check(file.read() == content, path)

    def write_files(_):
        here = folder('files')
        while True:
            path = os.path.join(here, str(random.randrange(30)))
            content = random.randbytes(random.choice((0, 10, 5_000, 200_000, 5_000_000)))
            write(path, content, random.choice((4096, 100_001, 1 << 20)))
            expect(path, content)
            yield

    def append_lines(_):
        path = os.path.join(folder('appended'), 'lines')
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        lines = 0
        while True:
            for _ in range(20):
                line = b'%08d %s\n' % (lines, b'x' * (lines % 300))
                check(os.write(fd, line) == len(line), 'short')
                lines += 1
            if random.random() < 0.05:
                with open(path, 'rb') as file:
                    numbers = [int(line[:8]) for line in file]
                check(numbers == list(range(lines)), '%d lines are not as written' % lines)
            yield

    def change_an_open_file(_):
        model = bytearray(20 << 20)
        fd = os.open(os.path.join(folder('open'), 'file'), os.O_RDWR | os.O_CREAT)
        os.ftruncate(fd, len(model))
        while True:
            at, piece = random.randrange(len(model) - 60_000), random.randbytes(random.choice((1, 4096, 60_000)))
            check(os.pwrite(fd, piece, at) == len(piece), 'short')
            model[at:at + len(piece)] = piece
            at = random.randrange(len(model))
            check(os.pread(fd, 200_000, at) == model[at:at + 200_000], ('open', at))
            if random.random() < 0.02:
                os.fsync(fd)
            if random.random() < 0.02:
                cut = random.randrange(len(model))
                os.ftruncate(fd, cut)
                os.ftruncate(fd, len(model))
                model[cut:] = bytes(len(model) - cut)
            yield

    def hold_a_written_file(program):
        here, number = folder('held'), 0
        while True:
            path, content = os.path.join(here, str(number)), random.randbytes(300_000)
            with open(path, 'w+b', buffering=0) as file:
                check(file.write(content) == len(content), 'short')
                program.await_kill()
                file.seek(0)
                check(file.read() == content, path)
            expect(path, content)
            number += 1
            yield

    def hold_an_unlinked_file(program):
        path = os.path.join(folder('unlinked'), 'file')
        while True:
            content = random.randbytes(300_000)
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            check(os.write(fd, content) == len(content), 'short')
            os.unlink(path)
            program.await_kill()
            check(os.pwrite(fd, b'more', len(content)) == 4, 'short')
            check(os.pread(fd, 400_000, 0) == content + b'more', 'unlinked')
            os.close(fd)
            yield

    def change_names(_):
        parent, number = folder('names'), 0
        while True:
            here = os.path.join(parent, str(number))
            os.mkdir(here)
            for name in 'abcdefghij':
                write(os.path.join(here, name), name.encode())
            os.symlink('a', os.path.join(here, 'link'))
            check(os.readlink(os.path.join(here, 'link')) == 'a', 'link')
            os.chmod(os.path.join(here, 'b'), 0o600)
            check(os.stat(os.path.join(here, 'b')).st_mode & 0o777 == 0o600, 'mode')
            os.rename(os.path.join(here, 'c'), os.path.join(here, 'd'))
            expect(os.path.join(here, 'd'), b'c')
            os.rename(os.path.join(here, 'e'), os.path.join(here, 'new'))
            left = ['a', 'b', 'd', 'f', 'g', 'h', 'i', 'j', 'link', 'new']
            check(sorted(os.listdir(here)) == left, os.listdir(here))
            for name in left:
                os.unlink(os.path.join(here, name))
            os.rmdir(here)
            check(not os.path.exists(here), here)
            number += 1
            yield

    def replace_by_rename(_):
        """The way of checkpoints."""
        path = os.path.join(folder('replaced'), 'file')
        while True:
            content = random.randbytes(random.choice((100, 2_500_000)))
            with open(path + '.tmp', 'wb') as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.rename(path + '.tmp', path)
            expect(path, content)
            yield

    def take_a_lock_file(_):
        path, number = os.path.join(folder('lock'), 'file'), 0
        while True:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            os.write(fd, b'%d' % number)
            os.close(fd)
            expect(path, b'%d' % number)
            os.unlink(path)
            number += 1
            yield

    return [write_files, append_lines, change_an_open_file, hold_a_written_file, hold_an_unlinked_file, change_names,
            replace_by_rename, take_a_lock_file]
