package io.penstock.fuse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.filesystem.FileSystem;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * System calls of programs on a writable mount, on every binding: with java.nio, and with the programs themselves where
 * they are installed.
 */
@Timeout(120)
abstract class WritingContract {
    private static final int MIB = 1 << 20;

    @TempDir
    private Path folder;

    private WritableBucket b;

    abstract Mount mount(FileSystem fileSystem, MountOptions options) throws MountException, InterruptedException;

    /** Whether the kernel collects written bytes. */
    boolean writebackCache() {
        return false;
    }

    @BeforeEach
    void mount() throws Exception {
        b = new WritableBucket(this::mount, folder, new InMemoryObjectStore(), writebackCache());
    }

    @AfterEach
    void unmount() {
        if (b != null) {
            b.close();
        }
    }

    WritableBucket mounted() {
        return b;
    }

    void remount() throws Exception {
        b.close();
        b = new WritableBucket(this::mount, folder, b.bucket, writebackCache());
    }

    Path path(String name) {
        return b.mountPoint.resolve(name);
    }

    @Test
    void write_anySize_isVisibleAtClose() throws Exception {
        for (int size : new int[] {1, 4096, MIB, MIB + 1, 9 * MIB + 17}) {
            byte[] bytes = new TestData("x", size, 0).bytes();

            Files.write(path("file"), bytes);

            assertThat(b.stored("file")).isEqualTo(bytes);
            assertThat(Files.readAllBytes(path("file"))).isEqualTo(bytes);
            assertThat(Files.size(path("file"))).isEqualTo(size);
        }
    }

    /** The kernel considers the name absent, without a permission check. On ESTALE it looks again, and opens it. */
    @Test
    void openToCreate_existsUnknownToTheKernel_opensIt() throws Exception {
        b.sh("! test -e file && ! test -e other");
        b.makeUnseen("file", "theirs ");
        b.makeUnseen("other", "theirs ");

        b.sh("echo mine >> file && echo mine > other"); // with O_APPEND, and with O_TRUNC

        assertThat(b.storedText("file")).isEqualTo("theirs mine\n");
        assertThat(b.storedText("other")).isEqualTo("mine\n");
    }

    @Test
    void write_inPlaceAndAppended_keepsTheRest() throws Exception {
        byte[] bytes = new TestData("x", 5 * MIB, 0).bytes();
        b.bucket.put("file", bytes);

        try (FileChannel file = FileChannel.open(path("file"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {1, 2, 3}), 4 * MIB - 1);
            ByteBuffer read = ByteBuffer.allocate(5);
            file.read(read, 4 * MIB - 2);
            assertThat(read.array()).containsExactly(bytes[4 * MIB - 2], 1, 2, 3, bytes[4 * MIB + 2]);
            file.truncate(5 * MIB - 3);
        }
        Files.write(path("file"), new byte[] {9}, StandardOpenOption.APPEND);

        byte[] stored = b.stored("file");
        assertThat(stored).hasSize(5 * MIB - 2).startsWith(bytes[0], bytes[1]).endsWith((byte) 9);
        assertThat(stored[4 * MIB]).isEqualTo((byte) 2);
    }

    @Test
    void read_whileItIsWritten_seesItAtOnce() throws Exception {
        try (FileChannel writer =
                FileChannel.open(path("file"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            writer.write(ByteBuffer.wrap("hello".getBytes(java.nio.charset.StandardCharsets.UTF_8)));

            assertThat(path("file")).hasContent("hello");
            assertThat(Files.size(path("file"))).isEqualTo(5);
            assertThat(b.sh("cat file; ls")).isEqualTo("hellofile\n");
            writer.write(ByteBuffer.wrap("!".getBytes(java.nio.charset.StandardCharsets.UTF_8)));
            assertThat(path("file")).hasContent("hello!");
        }
        assertThat(path("file")).hasContent("hello!");
    }

    @Test
    void names_madeMovedAndRemoved_areAsOnDisk() throws Exception {
        Files.createDirectories(path("d/e"));
        Files.writeString(path("d/e/a"), "1");
        assertThatThrownBy(() -> Files.delete(path("d/e"))).isInstanceOf(DirectoryNotEmptyException.class);

        Files.move(path("d/e/a"), path("d/b"));
        Files.writeString(path("d/c"), "2");
        Files.move(path("d/c"), path("d/b"), StandardCopyOption.REPLACE_EXISTING);

        assertThat(path("d/b")).hasContent("2");
        assertThat(names(path("d"))).containsExactly("b", "e");
        Files.delete(path("d/b"));
        Files.delete(path("d/e"));
        Files.delete(path("d"));
        assertThat(names(b.mountPoint)).isEmpty();
    }

    @Test
    void create_exclusively_isRefusedWhereThereIsOne() throws Exception {
        b.bucket.put("file", "1");

        assertThatThrownBy(() -> Files.createFile(path("file")))
                .isInstanceOf(java.nio.file.FileAlreadyExistsException.class);
    }

    @Test
    void unlink_whileOpen_staysReadableAndWritable() throws Exception {
        b.bucket.put("file", "12345");
        try (FileChannel file = FileChannel.open(path("file"), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            file.read(ByteBuffer.allocate(10), 0); // cached bytes stay readable
            Files.delete(path("file"));
            assertThat(names(b.mountPoint)).isEmpty();
            file.write(ByteBuffer.wrap(new byte[] {'x'}), 1);
            ByteBuffer read = ByteBuffer.allocate(10);
            file.read(read, 0);
            assertThat(new String(read.array(), 0, read.position(), java.nio.charset.StandardCharsets.UTF_8))
                    .isEqualTo("1x345");
        }
        awaitAbsent("file");
    }

    @Test
    void utimes_setByAProgram_areShown() throws Exception {
        Files.writeString(path("file"), "1");
        FileTime time = FileTime.from(Instant.parse("2001-02-03T04:05:06Z"));

        Files.setLastModifiedTime(path("file"), time);

        assertThat(Files.getLastModifiedTime(path("file"))).isEqualTo(time);
    }

    @Test
    void shell_redirections_doWhatTheyDo() throws Exception {
        String output = b.sh("""
            (echo a; echo b) > f
            echo c >> f
            : > empty
            sed -i s/b/B/ f
            cp -p f g
            mv g h
            touch t
            truncate -s 3 t
            cat f h
            stat -c %s t empty
            """);

        assertThat(output).isEqualTo("a\nB\nc\na\nB\nc\n3\n0\n");
        b.drain();
        assertThat(b.storedText("f")).isEqualTo("a\nB\nc\n");
        assertThat(b.storedText("h")).isEqualTo("a\nB\nc\n");
        assertThat(b.storedText("t")).isEqualTo("\0\0\0");
        assertThat(b.storedText("empty")).isEmpty();
        assertThat(names(b.mountPoint)).containsExactly("empty", "f", "h", "t");
    }

    @Test
    void dd_eachKindOfWrite_isRight() throws Exception {
        Path source = folder.resolve("source");
        Files.write(source, new TestData("x", 9 * MIB, 0).bytes());

        for (String how : List.of(
                "bs=1M conv=fsync", "bs=64k oflag=direct", "bs=1M oflag=sync", "bs=1M oflag=dsync", "bs=4099")) {
            b.sh("dd if=" + source + " of=file " + how + " 2>&1 && cmp " + source + " file");
            assertThat(b.stored("file")).as(how).isEqualTo(Files.readAllBytes(source));
        }
    }

    @Test
    void fallocate_eachMode_isAsOnDisk() throws Exception {
        b.sh("""
            printf 1234567890 > f
            fallocate -l 12 f
            fallocate -p -o 2 -l 3 f
            fallocate -z -o 7 -l 1 f
            """);

        assertThat(b.storedText("f")).isEqualTo("12\0\0\00067\000" + "90\0\0");
    }

    @Test
    void mmap_shared_goesUp() throws Exception {
        assumeTrue(installed("python3"));
        b.bucket.put("f", new byte[100_000]);

        b.sh("""
            python3 - <<'END'
            import mmap
            with open("f", "r+b") as f:
                m = mmap.mmap(f.fileno(), 0)
                m[5:10] = b"hello"
                m.flush()
                m[90000:90005] = b"world"
                m.close()
            END
            """);

        byte[] stored = b.stored("f");
        assertThat(stored).hasSize(100_000);
        assertThat(new String(stored, 5, 5, java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("hello");
        assertThat(new String(stored, 90_000, 5, java.nio.charset.StandardCharsets.UTF_8))
                .isEqualTo("world");
    }

    @Test
    void appends_fromTwoProcesses_loseNothing() throws Exception {
        b.sh("""
            for p in 1 2; do
              (for i in $(seq 50); do echo $p $i; done >> log) &
            done
            wait
            test $(sort -u log | wc -l) = 100
            """);
    }

    @Test
    void tarAndRsync_ofATree_areTheSame() throws Exception {
        assumeTrue(installed("rsync"));
        Path tree = folder.resolve("tree");
        Files.createDirectories(tree.resolve("a/b"));
        for (int i = 0; i < 30; i++) {
            Files.write(tree.resolve(i % 2 == 0 ? "a/" + i : "a/b/" + i), new TestData("x", i * 1000L, 0).bytes());
        }

        b.sh("tar -C " + tree + " -cf - . | tar -xf - && diff -r " + tree + " .");
        b.sh("mkdir copy && rsync -a " + tree + "/ copy/ && diff -r " + tree + " copy");
        assertThat(b.sh("rsync -ain " + tree + "/ copy/ | grep '^>' || true"))
                .as("differs still")
                .isEmpty();
        b.sh("rm -r a copy");
        assertThat(names(b.mountPoint)).isEmpty();
    }

    @Test
    void git_commit_succeeds() throws Exception {
        assumeTrue(installed("git"));

        String log = b.sh("""
            git init -q repo && cd repo
            git config user.email a@b.c && git config user.name n
            for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm "c$i"; done
            git fsck 2>&1
            git log --format=%s
            git status --porcelain
            """);

        assertThat(log).endsWith("c3\nc2\nc1\n");
    }

    @Test
    void chmod_thatGivesOthersLess_isRefusedAndProgramsThatAskForNoLessSucceed() throws Exception {
        b.sh("echo 1 > file && chmod 644 file && chmod +x file && chmod 444 file && install -m 755 file installed");
        b.sh("cp -p file copy && tar cf - file | (mkdir tarred && tar xf - -C tarred) && cmp file tarred/file");
        b.sh("! chmod 600 file 2> chmod.err && grep -q 'Operation not permitted' chmod.err");
        b.sh("! chmod 700 tarred 2> /dev/null && mktemp -p . > /dev/null && mktemp -d -p . > /dev/null");
        b.sh("! mkdir -m 700 made 2> /dev/null && test -d made"); // it compares the resulting mode
    }

    static boolean installed(String program) {
        return Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    private static List<String> names(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.map(entry -> entry.getFileName().toString()).sorted().toList();
        }
    }

    /** The kernel releases a file after close(2) has returned. */
    private void awaitAbsent(String key) throws Exception {
        while (b.stored(key) != null) {
            Thread.sleep(1);
        }
    }
}
