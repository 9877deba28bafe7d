package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** The effect of each system call that changes a file through a mount, flag by flag and mode by mode. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class WriteCallsIT {
    private static final int MIB = 1 << 20;

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;

    @BeforeAll
    void mount() throws Exception {
        bucket = new WrittenBucket(scratch);
    }

    @AfterAll
    void mountAgainAndUnmount() throws Exception {
        try (WrittenBucket last = bucket) {
            last.assertSameWithAnEmptyCache();
        }
    }

    /** Runs Python in the folder; a failed assertion or any exception fails the test. */
    private static String python(Path dir, String script, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = "import errno, mmap, os, sys\n" + script;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return sh(dir, "python3 -c \"$@\"", all);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    @Test
    void openDirect_alignedAndNot_writesPastTheKernelsPages() throws Exception {
        python(bucket.folder("direct"), """
            def aligned(data):
                m = mmap.mmap(-1, len(data))
                m.write(data)
                return m
            f = os.open('f', os.O_CREAT | os.O_RDWR | os.O_DIRECT)
            assert os.write(f, aligned(b'a' * 2**20)) == 2**20
            assert os.pwrite(f, aligned(b'b' * 4096), 8192) == 4096
            cached = os.open('f', os.O_RDWR)
            assert os.pread(cached, 8192, 4096) == b'a' * 4096 + b'b' * 4096
            os.pwrite(cached, b'c' * 100, 12288)                   # what the pages have and what passes them agree
            buffer = mmap.mmap(-1, 4096)
            assert os.preadv(f, [buffer], 12288) == 4096 and buffer[:101] == b'c' * 100 + b'a'
            os.pwrite(f, aligned(b'd' * 4096), 12288)
            assert os.pread(cached, 4096, 12288) == b'd' * 4096
            os.close(cached)
            os.close(f)
            """);

        byte[] expected = new byte[MIB];
        Arrays.fill(expected, (byte) 'a');
        Arrays.fill(expected, 8192, 12288, (byte) 'b');
        Arrays.fill(expected, 12288, 16384, (byte) 'd');
        bucket.assertHolds("direct", "f", expected);
    }

    @Test
    void openAppend_fromTwoHandles_writesAtTheEndWhoeverMadeIt() throws Exception {
        python(bucket.folder("append"), """
            one = os.open('f', os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            two = os.open('f', os.O_WRONLY | os.O_APPEND)
            three = os.open('f', os.O_RDWR)
            os.write(one, b'1')
            os.write(two, b'22')
            os.pwrite(three, b'333', 3)
            os.lseek(one, 0, os.SEEK_SET)
            os.write(one, b'1')
            os.ftruncate(three, 5)
            os.write(two, b'22')
            assert os.pread(three, 100, 0) == b'1223322', os.pread(three, 100, 0)
            os.close(one)
            os.close(three)
            os.write(two, b'!')
            os.close(two)
            """);

        bucket.assertHolds("append", "f", bytes("1223322!"));
    }

    @Test
    void fcntl_ofAppend_holdsForTheNextWrite() throws Exception {
        python(bucket.folder("fcntl"), """
            import fcntl
            f = os.open('f', os.O_CREAT | os.O_RDWR | os.O_APPEND)
            os.write(f, b'0123456789')
            fcntl.fcntl(f, fcntl.F_SETFL, 0)
            os.pwrite(f, b'X', 1)
            assert os.pread(f, 100, 0) == b'0X23456789', os.pread(f, 100, 0)
            fcntl.fcntl(f, fcntl.F_SETFL, os.O_APPEND)
            os.write(f, b'Y')
            assert os.pread(f, 100, 0) == b'0X23456789Y', os.pread(f, 100, 0)
            os.close(f)
            """);

        bucket.assertHolds("fcntl", "f", bytes("0X23456789Y"));
    }

    @Test
    void openExclusive_whereThereIsOne_isEexist() throws Exception {
        python(bucket.folder("exclusive"), """
            f = os.open('f', os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            for attempt in range(2):
                try:
                    os.open('f', os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                    assert False
                except FileExistsError:
                    pass
                if attempt == 0:
                    os.write(f, b'mine')
                    os.close(f)
            """);

        bucket.assertHolds("exclusive", "f", bytes("mine"));
    }

    /** As flock(1) creates its file. */
    @Test
    void openCreatingToBeReadOnly_lockFile_opensAgainAndCanBeWritten() throws Exception {
        python(bucket.folder("lock"), """
            f = os.open('f', os.O_CREAT | os.O_RDONLY)
            try:
                os.write(f, b'no')
                assert False
            except OSError as e:
                assert e.errno == errno.EBADF, e
            os.close(f)
            again = os.open('f', os.O_CREAT | os.O_RDONLY)
            writer = os.open('f', os.O_WRONLY)
            os.write(writer, b'1234')
            os.close(writer)
            assert os.pread(again, 10, 0) == b'1234'
            os.close(again)
            os.close(os.open('f', os.O_RDONLY | os.O_TRUNC))
            assert os.stat('f').st_size == 0
            with open('f', 'wb') as last:
                last.write(b'56')
            """);

        bucket.assertHolds("lock", "f", bytes("56"));
    }

    @Test
    void openTruncating_whatIsOpenAndWhatIsNot_beginsAnew() throws Exception {
        python(bucket.folder("truncating"), """
            open('f', 'wb').write(b'x' * 9000000)
            writer = os.open('f', os.O_WRONLY)
            reader = os.open('f', os.O_RDONLY)
            f = os.open('f', os.O_WRONLY | os.O_TRUNC)
            assert os.fstat(reader).st_size == 0 and os.pread(reader, 10, 0) == b''
            os.write(f, b'new')
            os.pwrite(writer, b'old', 5)
            assert os.pread(reader, 100, 0) == b'new\\0\\0old'
            for each in f, writer, reader:
                os.close(each)
            os.close(os.open('f', os.O_RDWR | os.O_TRUNC))
            assert os.stat('f').st_size == 0
            f = os.open('f', os.O_WRONLY)
            os.write(f, b'again')
            os.close(f)
            """);

        bucket.assertHolds("truncating", "f", bytes("again"));
    }

    /** The kernel may read a file directly if it was not being written when opened: that handle keeps its version. */
    @Test
    void write_whatOthersHaveOpen_isReadByAllButPassedThroughHandles() throws Exception {
        python(bucket.folder("open"), """
            with open('f', 'wb') as f:
                f.write(b'old' * 1000000)
            reader = os.open('f', os.O_RDONLY)
            assert os.pread(reader, 6, 0) == b'oldold'
            writer = os.open('f', os.O_RDWR)
            os.pwrite(writer, b'NEW', 0)
            other = os.open('f', os.O_RDONLY)
            assert os.pread(writer, 6, 0) == os.pread(other, 6, 0) == b'NEWold'
            assert os.pread(reader, 6, 0) in (b'NEWold', b'oldold')
            os.close(writer)
            assert os.pread(other, 6, 0) == b'NEWold'
            assert os.pread(reader, 6, 0) in (b'NEWold', b'oldold')
            os.close(other)
            os.close(reader)
            """);

        bucket.assertHolds("open", "f", bytes("NEW" + "old".repeat(999_999)));
    }

    /** The written bytes are in the journal when the call returns; WriteCrashIT proves that by a kill. */
    @Test
    void openSynchronous_eachWrite_isReadAtOnceByOthers() throws Exception {
        python(bucket.folder("synchronous"), """
            for flag, name in (os.O_SYNC, 'sync'), (os.O_DSYNC, 'dsync'), (os.O_SYNC | os.O_DIRECT, 'direct'):
                f = os.open('f', os.O_CREAT | os.O_WRONLY | os.O_APPEND | (flag & ~os.O_DIRECT))
                for i in range(10):
                    os.write(f, b'%d' % i)
                    other = os.open('f', os.O_RDONLY)
                    assert os.pread(other, 100, os.fstat(other).st_size - 1) == b'%d' % i
                    os.close(other)
                os.close(f)
            """);

        bucket.assertHolds("synchronous", "f", bytes("0123456789".repeat(3)));
    }

    @Test
    void truncate_upAndDownByPathAndByHandle_cutsAndAddsZeros() throws Exception {
        TestData data = TestData.of("truncate", 11L * MIB);
        Path source = Files.write(scratch.resolve("to-truncate"), data.bytes());
        python(bucket.folder("truncate"), """
            import shutil
            data = open(sys.argv[1], 'rb').read()
            MIB = 2**20
            def check(name, content):
                assert os.stat(name).st_size == len(content), (name, os.stat(name).st_size, len(content))
                assert open(name, 'rb').read() == content, name
            for name in 'down', 'up', 'none', 'both', 'open':
                shutil.copyfile(sys.argv[1], name)
            os.truncate('down', 4 * MIB + 1)
            check('down', data[:4 * MIB + 1])
            os.truncate('up', 12 * MIB + 5)
            check('up', data + bytes(MIB + 5))
            os.truncate('none', 0)
            check('none', b'')
            os.truncate('both', 5 * MIB + 10)
            os.truncate('both', 9 * MIB)
            check('both', data[:5 * MIB + 10] + bytes(4 * MIB - 10))
            with open('open', 'r+b') as f:
                f.truncate(MIB + 1)
                f.seek(2 * MIB)
                f.write(b'behind the end')
                f.flush()
                check('open', data[:MIB + 1] + bytes(MIB - 1) + b'behind the end')
                f.truncate(0)
                f.truncate(10)
                f.seek(20)
                f.write(b'x')
            check('open', bytes(20) + b'x')
            """, source);

        bucket.assertStored("truncate");
    }

    @Test
    void fallocate_eachMode_isWhatTheManualSays() throws Exception {
        String output = sh(bucket.folder("fallocate"), """
            printf 1234567890 > f
            fallocate -l 12 f && stat -c %s f
            fallocate -n -o 5 -l 100 f && stat -c %s f
            fallocate -p -o 2 -l 3 f && stat -c %s f
            fallocate -z -n -o 11 -l 50 f && stat -c %s f
            fallocate -z -o 8 -l 6 f && stat -c %s f
            fallocate -p -o 13 -l 1000000 f && stat -c %s f
            fallocate -c -o 0 -l 4096 f 2>&1 || true
            head -c 9M /dev/zero | tr '\\0' x > big
            fallocate -p -o 1M -l 7M big
            fallocate -z -o 8388600 -l 4M big
            stat -c %s big
            """);

        assertThat(output)
                .startsWith("12\n12\n12\n12\n14\n14\n")
                .contains("Operation not supported")
                .endsWith("12582904\n");
        Path expected = Files.createDirectories(scratch.resolve("fallocated"));
        Files.write(expected.resolve("f"), bytes("12\0\0\000678\0\0\0\0\0\0"));
        byte[] big = new byte[12_582_904];
        Arrays.fill(big, 0, MIB, (byte) 'x');
        Arrays.fill(big, 8 * MIB, 8_388_600 < 8 * MIB ? 8 * MIB : 8_388_600, (byte) 'x');
        Files.write(expected.resolve("big"), big);
        bucket.assertHolds("fallocate", expected);
    }

    /** libfuse 2 does not pass on lseek: everything is data there. */
    @Test
    void lseek_forDataAndHoles_knowsWhatIsNotCommitted() throws Exception {
        python(bucket.folder("seek"), """
            MIB = 2**20
            f = os.open('f', os.O_CREAT | os.O_RDWR)
            os.ftruncate(f, 20 * MIB)
            os.pwrite(f, b'x' * MIB, 8 * MIB)
            assert os.lseek(f, 8 * MIB + 5, os.SEEK_DATA) == 8 * MIB + 5
            nothing = [(20 * MIB, os.SEEK_DATA), (20 * MIB, os.SEEK_HOLE)]
            if sys.argv[1] == 'kernel':
                assert os.lseek(f, 0, os.SEEK_DATA) == 8 * MIB
                assert os.lseek(f, 0, os.SEEK_HOLE) == 0
                assert os.lseek(f, 8 * MIB + 5, os.SEEK_HOLE) == 9 * MIB
                nothing.append((9 * MIB, os.SEEK_DATA))
            for at, whence in nothing:
                try:
                    os.lseek(f, at, whence)
                    assert False, (at, whence)
                except OSError as e:
                    assert e.errno == errno.ENXIO, e
            os.close(f)
            f = os.open('f', os.O_RDONLY)                           # committed: all of it is data
            assert os.lseek(f, 0, os.SEEK_DATA) == 0
            assert os.lseek(f, 0, os.SEEK_HOLE) == 20 * MIB
            os.close(f)
            """, MountedBucket.BINDING);

        byte[] expected = new byte[20 * MIB];
        Arrays.fill(expected, 8 * MIB, 9 * MIB, (byte) 'x');
        bucket.assertHolds("seek", "f", expected);
    }

    @Test
    void copyFileRange_withinAFileAndBetweenTwo_copies() throws Exception {
        TestData data = TestData.of("copy", 23L * MIB + 7);
        Path source = Files.write(scratch.resolve("to-copy"), data.bytes());
        bucket.assertSameAsOnDisk("copy", """
            cp "$1" a
            cp --reflink=auto a b
            cmp a b
            python3 -c '
            import os
            MIB = 2**20
            def copy(source, target, length, at, to):
                while length > 0:
                    n = os.copy_file_range(source, target, length, at, to)
                    assert n > 0
                    length, at, to = length - n, at + n, to + n
            a, b = os.open("a", os.O_RDWR), os.open("b", os.O_RDWR)
            c = os.open("c", os.O_CREAT | os.O_RDWR)
            copy(a, c, 11 * MIB, 3 * MIB, 0)
            copy(a, b, 5 * MIB, 17 * MIB + 3, 2 * MIB)
            copy(b, b, 100000, 0, 9 * MIB + 1)
            os.pwrite(a, b"changed, and copied before it is committed", 10 * MIB)
            copy(a, c, 2 * MIB, 10 * MIB - 100, 30 * MIB)
            assert os.copy_file_range(a, c, MIB, 24 * MIB, 0) == 0
            os.close(a)
            os.close(b)
            os.close(c)
            '
            """, source);
    }

    @Test
    void unlink_ofAnOpenFile_leavesItReadableAndWritable() throws Exception {
        Path folder = bucket.folder("unlink");
        python(folder, """
            open('stored', 'wb').write(b'12345' * 2000000)
            for name in 'stored', 'new':
                f = os.open(name, os.O_CREAT | os.O_RDWR)
                os.pwrite(f, b'abc', 3)
                os.unlink(name)
                assert not os.path.exists(name)
                assert name not in os.listdir('.')
                os.pwrite(f, b'de', 6)
                assert os.pread(f, 8, 0)[3:] == b'abcde'
                if name == 'stored':
                    assert os.pread(f, 5, 9000000) == b'12345'
                os.ftruncate(f, 4)
                assert os.pread(f, 8, 0)[3:] == b'a'
                os.fsync(f)
                again = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                os.write(again, b'another of that name')
                os.close(again)
                assert os.pread(f, 8, 0)[3:] == b'a'
                os.close(f)
                assert open(name, 'rb').read() == b'another of that name'
                os.rename(name, 'kept-' + name)
            """);

        assertThat(sh(folder, "ls")).isEqualTo("kept-new\nkept-stored\n");
        bucket.assertStored("unlink");
    }

    @Test
    void rename_overWhatIsOpen_leavesTheOldReadable() throws Exception {
        python(bucket.folder("rename"), """
            open('old', 'wb').write(b'old' * 10)
            open('new', 'wb').write(b'new' * 10)
            f = os.open('old', os.O_RDWR)
            w = os.open('new', os.O_WRONLY)
            os.pwrite(w, b'N', 0)
            os.rename('new', 'old')
            os.pwrite(w, b'W', 2)
            assert os.pread(f, 3, 0) == b'old'
            os.pwrite(f, b'lost', 0)
            assert open('old', 'rb').read() == b'NeW' + b'new' * 9
            os.close(f)
            os.close(w)
            """);

        bucket.assertHolds("rename", "old", bytes("NeW" + "new".repeat(9)));
    }
}
