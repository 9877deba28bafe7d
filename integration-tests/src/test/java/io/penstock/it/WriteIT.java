package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.TestData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Programs write the same files through a mount as to a disk, and the files stay. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class WriteIT {
    private static final int MIB = 1 << 20;
    private static final int[] SIZES = {0, 1, 4095, 4096, MIB - 1, MIB + 1, 5 * MIB, 9 * MIB + 17, 21 * MIB + 3};

    @TempDir
    private static Path scratch;

    private Path source;
    private WrittenBucket bucket;

    @BeforeAll
    void mount() throws Exception {
        source = Files.createDirectories(scratch.resolve("source"));
        Path deeper = Files.createDirectories(source.resolve("tree/a/b c"));
        for (int size : SIZES) {
            Files.write(
                    source.resolve(size + ".bin"), TestData.of("" + size, size).bytes());
        }
        for (int i = 0; i < 60; i++) {
            Path folder = i % 2 == 0 ? deeper : source.resolve("tree/a");
            Files.write(
                    folder.resolve("ü %02d".formatted(i)),
                    TestData.of("tree" + i, i * 997L).bytes());
        }
        bucket = new WrittenBucket(scratch);
    }

    @AfterAll
    void mountAgainAndUnmount() throws Exception {
        try (WrittenBucket last = bucket) {
            last.assertSameWithAnEmptyCache();
        }
    }

    @Tag("long")
    @Test
    void dd_withEachConversionAndSize_writesItsInput() throws Exception {
        bucket.assertSameAsOnDisk(
                "dd",
                """
                for size in %s; do
                    dd if="$1/$size.bin" of=$size bs=64k conv=fsync status=none
                done
                dd if="$1/9437201.bin" of=fdatasync bs=1M conv=fdatasync status=none
                dd if="$1/9437201.bin" of=odd bs=4099 status=none
                dd if="$1/9437201.bin" of=sync bs=1M oflag=sync status=none
                dd if="$1/9437201.bin" of=dsync bs=1M oflag=dsync status=none
                dd if="$1/5242880.bin" of=direct bs=256k oflag=direct status=none
                dd if="$1/5242880.bin" of=append bs=1M status=none
                dd if="$1/4095.bin" of=append oflag=append conv=notrunc,fsync status=none
                dd if="$1/5242880.bin" of=inside bs=1M status=none
                dd if="$1/4095.bin" of=inside bs=1 seek=1234567 conv=notrunc status=none
                dd if="$1/1.bin" of=sparse bs=1 seek=10M status=none
                """.formatted(String.join(
                        " ", IntStream.of(SIZES).mapToObj(Integer::toString).toList())),
                source);
    }

    @Tag("long")
    @Test
    void cp_ofFilesAndOverThem_copiesAll() throws Exception {
        bucket.assertSameAsOnDisk("cp", """
            cp -r "$1/tree" .
            cp "$1"/*.bin .
            cp "$1/1048577.bin" 22020099.bin
            cp "$1/22020099.bin" 1048577.bin
            cp 22020099.bin copied
            cp --reflink=auto 1048577.bin cloned
            cp --sparse=always 9437201.bin sparse
            cp -p cloned preserved
            install -m 755 9437201.bin installed
            cmp cloned "$1/22020099.bin"
            """, source);
    }

    /** Larger than one request can copy. */
    @Tag("long")
    @Test
    void mv_ofALargeFile_isCopiedByTheStoreInParts() throws Exception {
        try (S3Front front = new S3Front(S3Server.shared());
                WrittenBucket fronted =
                        new WrittenBucket(front.fronted(), Files.createDirectory(scratch.resolve("fronted")))) {
            Path folder = fronted.folder("large");
            String before = sh(folder, """
                head -c 300M /dev/urandom > old && chmod 640 old && touch -d 2015-05-05 old
                sha256sum < old && stat -c '%a %s %Y' old
                """);
            front.drainRequests();

            sh(folder, "mv old new");

            List<S3Front.Request> requests = front.drainRequests();
            assertThat(requests.stream().mapToLong(S3Front.Request::length).sum())
                    .as("%s", requests)
                    .isLessThan(MIB);
            assertThat(requests.stream().filter(S3Front.Request::isPart)).hasSize(2);
            fronted.remountWithAnEmptyCache();
            assertThat(sh(folder, "ls && sha256sum < new && stat -c '%a %s %Y' new"))
                    .isEqualTo("new\n" + before);
        }
    }

    @Test
    void install_ofAPrivateFile_isPrivate() throws Exception {
        String mode = WrittenBucket.sh(bucket.folder("private"), "echo key > k; install -m 600 k out; stat -c %a out");
        assertThat(mode).isEqualTo("600\n");
    }

    @Test
    void shell_redirectionsAndFilters_leaveWhatTheyDoOnDisk() throws Exception {
        bucket.assertSameAsOnDisk("shell", """
            for i in $(seq 200); do echo "line $i" >> log; done
            (echo a; echo b; echo c) > letters
            sed -i s/b/B/ letters
            tac letters > backwards
            sort -o letters -r letters
            tee -a letters copy <<< d > /dev/null
            : > empty
            : >> empty
            echo short > letters.new && mv letters.new replaced
            echo longer > replaced
            mkdir -p d/e/f && echo x > d/e/f/x && mv d/e/f/x d/y && rmdir d/e/f d/e
            gzip -nk log && gunzip -c log.gz | cmp - log
            split -b 500 log part-
            cat part-* | cmp - log
            truncate -s 3 copy
            rm part-*
            wc -l log
            cat letters replaced d/y
            stat -c '%s %n' empty copy log
            """);
    }

    /** A shell and its children close their shared descriptors while other processes continue to write. */
    @Test
    void descriptors_duplicatedAndInherited_areWrittenToTheLast() throws Exception {
        bucket.assertSameAsOnDisk("descriptors", """
            exec 3> f 4>&3
            echo 1 >&3
            exec 4>&-
            (echo 2 >&3)
            (exec 3>&-; true)
            echo 3 >&3
            bash -c 'echo 4 >&3; exec 3>&-'
            echo 5 >&3
            cat f
            exec 3>&-
            python3 -c '
            import os
            f = os.open("g", os.O_CREAT | os.O_WRONLY)
            child = os.fork()
            if child == 0:
                os.close(f)
                os._exit(0)
            os.waitpid(child, 0)
            os.write(f, b"parent ")
            again = os.dup(f)
            os.close(f)
            child = os.fork()
            if child == 0:
                os.write(again, b"child ")
                os._exit(0)
            os.waitpid(child, 0)
            os.write(again, b"parent again")
            os.close(again)
            '
            """);
    }

    /** Each child's close would commit the content so far again. */
    @Test
    @DisabledIfSystemProperty(
            named = "penstock.test.binding",
            matches = "jnr",
            disabledReason = "only the kernel's protocol tells which process closes")
    void descriptors_ofAShellsChildren_leaveTheCommitToTheShell() throws Exception {
        Path folder = bucket.folder("children");
        Process shell =
                new ProcessBuilder("bash", "-c", """
                    exec 3> f
                    for i in 1 2 3; do head -c 1000000 /dev/zero >&3; done
                    echo written
                    read
                    """).directory(folder.toFile()).start();
        try {
            assertThat(shell.inputReader().readLine()).isEqualTo("written");
            assertThat(bucket.bucket().find("children/f").map(content -> content.length))
                    .as("the shell has it open")
                    .isNotEqualTo(Optional.of(3_000_000));

            shell.outputWriter().close();
            assertThat(shell.waitFor()).isNotNegative();
            bucket.assertHolds("children", "f", new byte[3_000_000]);
        } finally {
            shell.destroyForcibly();
        }
    }

    @Test
    void rsync_ofATreeThatChanges_makesItTheSame() throws Exception {
        Path tree = scratch.resolve("rsynced");
        sh(scratch, "cp -r \"$1\" \"$2\" && cp source/*.bin \"$2\"", source.resolve("tree"), tree);
        Path copy = bucket.folder("rsync");
        sh(copy, "rsync -a \"$1\"/ .", tree);
        bucket.assertHolds("rsync", tree);

        sh(tree, """
            echo new > new
            echo longer >> 1048577.bin
            truncate -s 100 5242880.bin
            printf changed | dd of=22020099.bin bs=1 seek=8M conv=notrunc status=none
            rm 4095.bin 'a/ü 01'
            """);
        sh(copy, "rsync -a --delete --exclude 22020099.bin \"$1\"/ .", tree);
        sh(copy, "rsync -a --inplace --no-whole-file \"$1\"/ .", tree);
        bucket.assertHolds("rsync", tree);
        assertThat(sh(copy, "rsync -rn --checksum --itemize-changes --delete \"$1\"/ .", tree))
                .as("what rsync still finds different")
                .isEmpty();
    }

    @Test
    void tar_createdAndExtracted_holdsTheTree() throws Exception {
        bucket.assertSameAsOnDisk("tar", """
            tar -C "$1" --sort=name -cf tree.tar .
            mkdir tree && tar -xf tree.tar -C tree
            diff -r "$1" tree
            tar -rf tree.tar -C "$1" tree
            tar -czf tree.tar.gz --sort=name --mtime=@0 -C "$1" .
            tar -df tree.tar -C "$1"
            tar -tf tree.tar | wc -l
            """, source);
    }

    @Tag("long")
    @Test
    void git_initAddCommitAndRepack_passesFsck() throws Exception {
        Path folder = bucket.folder("git");
        assertThat(sh(folder, """
            git init -q
            git config user.email a@b.c && git config user.name n
            cp -r "$1/tree" .
            for i in 1 2 3; do echo $i > f$i; git add .; git commit -qm "c$i"; done
            git checkout -q -b other HEAD~1 && git checkout -q -
            git repack -adq && git gc -q --prune=now
            git fsck --strict 2>&1
            git log --format=%s
            git status --porcelain
            """, source)).endsWith("c3\nc2\nc1\n");

        bucket.assertStored("git");
        assertThat(sh(scratch, "git clone -q \"$1\" cloned && diff -r -x .git \"$1\" cloned", folder))
                .isEmpty();
    }

    @Test
    void sqlite_severalTransactionsInEachJournalMode_keepsItsIntegrity() throws Exception {
        String script = """
            import os, sqlite3, sys
            for mode in 'delete', 'truncate', 'persist', 'memory':
                db = sqlite3.connect(mode + '.db', isolation_level=None)
                db.execute('pragma page_size = 4096')
                assert db.execute('pragma journal_mode = ' + mode).fetchone()[0] == mode
                db.execute('create table t (k integer primary key, v blob)')
                for transaction in range(8):
                    db.execute('begin')
                    for i in range(100):
                        k = transaction * 100 + i
                        db.execute('insert into t values (?, ?)', (k, bytes([k % 251]) * (k * 13 % 5000)))
                    db.execute('delete from t where k % 7 = ?', (transaction % 7,))
                    db.execute('rollback' if transaction % 4 == 3 else 'commit')
                    other = sqlite3.connect(mode + '.db')
                    print(mode, transaction, other.execute('select count(*), sum(length(v)) from t').fetchone())
                    other.close()
                db.execute('vacuum')
                print(db.execute('pragma integrity_check').fetchone())
                db.close()
                if mode in ('truncate', 'persist'):
                    os.remove(mode + '.db-journal')             # what is left in it is random
            """;
        bucket.assertSameAsOnDisk("sqlite", "python3 -c \"$1\"", script);
    }

    @Test
    void sqlite_withAWriteAheadLog_keepsItsIntegrity() throws Exception {
        String script = """
            import sqlite3
            db = sqlite3.connect('wal.db', isolation_level=None)
            assert db.execute('pragma journal_mode = wal').fetchone()[0] == 'wal'
            db.execute('create table t (k integer primary key, v text)')
            for transaction in range(20):
                db.execute('begin')
                db.executemany('insert into t (v) values (?)', [('x' * i,) for i in range(200)])
                db.execute('commit')
            print(db.execute('pragma integrity_check').fetchone(), db.execute('select count(*) from t').fetchone())
            db.execute('pragma wal_checkpoint(truncate)')
            db.close()
            """;
        assertThat(sh(bucket.folder("wal"), "python3 -c \"$1\"", script)).isEqualTo("('ok',) (4000,)\n");
        bucket.assertStored("wal");
    }

    @Test
    void mmap_sharedAndWritten_goesUp() throws Exception {
        String script = """
            import mmap, os
            SIZE = 6 * 2**20 + 123
            with open('new', 'w+b') as f:
                f.truncate(SIZE)
                with mmap.mmap(f.fileno(), 0) as m:
                    for at in range(0, SIZE - 8, 99991):
                        m[at:at + 8] = b'%08d' % at
                    m.flush()
                    assert os.pread(f.fileno(), 8, 99991) == b'00099991'
                    m[-3:] = b'end'
            with open('old', 'wb') as f:
                f.write(bytes(range(256)) * 20000)
            f = os.open('old', os.O_RDWR)
            m = mmap.mmap(f, 4096 * 3, offset=4096 * 1000)
            os.close(f)
            m[5000:5005] = b'hello'     # the mapping outlives the descriptor
            m.flush(4096, 4096)
            m[:3] = b'abc'
            m.close()
            with open('grown', 'w+b') as f:
                f.write(b'12345')
                f.flush()
                with mmap.mmap(f.fileno(), 5) as m:
                    m[1:2] = b'X'
                f.seek(0, 2)
                f.write(b'67890')
            """;
        bucket.assertSameAsOnDisk("mmap", "python3 -c \"$1\" && tail -c 3 new", script);
    }

    /**
     * A zip file written with seeks back into its written part, next to the old file, which it replaces once it is
     * durable.
     */
    @Tag("long")
    @Test
    void checkpoint_savedAsTorchSaves_replacesTheOldOne() throws Exception {
        String script = """
            import os, random, zipfile
            def save(path, seed):
                tensors = random.Random(seed)
                tmp = path + '.tmp'
                with open(tmp, 'wb') as f:
                    with zipfile.ZipFile(f, 'w', zipfile.ZIP_STORED) as z:
                        for i in range(4):
                            entry = zipfile.ZipInfo('archive/data/%d' % i, (1980, 1, 1, 0, 0, 0))
                            with z.open(entry, 'w', force_zip64=True) as e:
                                for _ in range(5):
                                    e.write(tensors.randbytes(1000003))
                    f.flush()
                    os.fsync(f.fileno())
                os.replace(tmp, path)
                folder = os.open('.', os.O_DIRECTORY)
                os.fsync(folder)
                os.close(folder)
                with zipfile.ZipFile(path) as z:
                    assert z.testzip() is None
            for epoch in range(3):
                save('checkpoint.pt', epoch)
                save('epoch-%d.pt' % epoch, epoch)
            """;
        bucket.assertSameAsOnDisk("checkpoint", "python3 -c \"$1\" && ls", script);
    }

    @Test
    void writers_twoProcessesInRegionsOfTheirOwn_loseNothing() throws Exception {
        String script = """
            import os, sys
            SIZE, STEP = 12 * 2**20, 10007
            def write(parity):
                f = os.open('shared', os.O_WRONLY)
                for i in range(parity, SIZE // STEP, 2):
                    os.pwrite(f, b'%07d' % i * (STEP // 7), i * STEP)
                    if i % 301 == 0:
                        os.fsync(f)
                os.close(f)
            open('shared', 'wb').close()
            child = os.fork()
            if child == 0:
                write(1)
                os._exit(0)
            write(0)
            assert os.waitpid(child, 0)[1] == 0
            """;
        bucket.assertSameAsOnDisk("writers", "python3 -c \"$1\"", script);
    }

    @Test
    void writers_twoProcessesThatAppend_loseNothing() throws Exception {
        Path folder = bucket.folder("appenders");
        String script = """
            import os
            def append(who):
                f = os.open('log', os.O_WRONLY | os.O_APPEND | os.O_CREAT)
                for i in range(1000):
                    os.write(f, ('%s %04d ' % (who, i)).encode() + b'x' * (i % 3000) + b'\\n')
                os.close(f)
            child = os.fork()
            if child == 0:
                append('child')
                os._exit(0)
            append('parent')
            assert os.waitpid(child, 0)[1] == 0
            """;
        sh(folder, "python3 -c \"$1\"", script);

        for (String who : new String[] {"child", "parent"}) {
            assertThat(sh(folder, "grep \"^$1 \" log | awk '{ print $2, length($3) }'", who)
                            .lines())
                    .containsExactlyElementsOf(IntStream.range(0, 1000)
                            .mapToObj(i -> "%04d %d".formatted(i, i % 3000))
                            .toList());
        }
        bucket.assertStored("appenders");
    }
}
