package io.penstock.it;

import static io.penstock.it.WrittenBucket.sh;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.penstock.objectstore.StoredObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Modes, owners, times, links and other attributes set by programs: on a mount, the next one, and a local disk. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AttributesIT {
    /** Prints what a program would see of a tree, without the times of directories, which every entry changes. */
    private static final String SHOW = """
        show() {
            find . -mindepth 1 -type d -printf '%P %y %m\\n' -o -printf '%P %y %m %s %T@ %l\\n' | LC_ALL=C sort
        }
        """;

    /** Creates a tree with a bit of everything. */
    private static final String TREE = """
        mkdir -p src/d/empty && mkdir -m 700 src/private
        umask 077; echo key > src/private/key; umask 022
        for i in $(seq 40); do echo $i > src/d/$i; done
        chmod 755 src/d/1 && chmod 4711 src/d/2 && chmod 444 src/d/3 && chmod 0 src/d/4
        touch -d 2001-02-03T04:05:06.123456789Z src/d/5 && touch -d 1969-01-01 src/d/6
        ln -s 1 src/d/link && ln -s ../../nowhere "src/d/a link" && mkfifo -m 600 src/fifo
        : > src/empty && touch -d 2011-11-11 src/empty
        find src -type f -newermt 2020-01-01 -exec touch -d 2015-05-05 {} +
        touch -h -d 2016-06-06 src/d/link "src/d/a link" src/fifo
        """;

    private static final int PART = 32 << 20;
    private static final int READ = 100_000;

    @TempDir
    private static Path scratch;

    private WrittenBucket bucket;

    @BeforeAll
    void mount() throws Exception {
        bucket = new WrittenBucket(scratch, "-o", "allow-other");
    }

    @AfterAll
    void unmount() throws Exception {
        bucket.close();
    }

    /** The script's output is the same in the mount as on disk, and its final part is the same in the next mount. */
    private void assertSame(String folder, String script) throws Exception {
        String onDisk = sh(bucket.onDisk(folder), SHOW + script + "show");
        assertThat(sh(bucket.folder(folder), SHOW + script + "show")).isEqualTo(onDisk);
        bucket.remountWithAnEmptyCache();
        assertThat(sh(bucket.folder(folder), SHOW + "show")).isEqualTo(sh(bucket.onDisk(folder), SHOW + "show"));
    }

    @Test
    void tree_ofEverything_isShownAsOnDisk() throws Exception {
        assertSame("tree", TREE + "ls -R src\n");
    }

    @Test
    void cpAndTarAndRsync_ofATree_keepWhatTheyDoOnDisk() throws Exception {
        assertSame("copies", TREE + """
            cp -a src copied
            tar cf tree.tar src && touch -d 2012-12-12 tree.tar && mkdir tarred && tar xpf tree.tar -C tarred
            rsync -a src/ synced/
            [[ -z $(rsync -ai --omit-dir-times src/ synced/) ]] || { echo "rsync has more to do"; rsync -ai src/ synced/; }
            """);
    }

    @Test
    void write_byAnotherUser_takesTheSetIdBits() throws Exception {
        assertSame("set-id", """
            chmod 777 . && for f in a b c; do echo x > $f && chmod 6777 $f; done && echo x > d && chmod 6777 d && chown 7 d
            setpriv --reuid 65534 --regid 65534 --clear-groups sh -c 'echo y >> a; echo z > b; truncate -s 1 c'
            find . -type f -exec touch -d 2015-05-05 {} +
            """);
    }

    @Tag("long")
    @Test
    void mv_ofFilesAndLinks_keepsWhatTheyHave() throws Exception {
        assertSame("moved", TREE + """
            mkdir to && mv src/d/1 src/d/2 src/d/5 src/d/link src/fifo to
            mv to/5 to/five
            """);
    }

    @Test
    void venv_isMadeAndRuns() throws Exception {
        Path folder = bucket.folder("venv");

        sh(folder, "python3 -m venv --without-pip env");

        assertThat(sh(folder, "env/bin/python -c 'import sys; print(sys.prefix)'"))
                .isEqualTo(folder.resolve("env") + "\n");
    }

    /** Its ETag stays, so another node that has it open continues to read the same version. */
    @Test
    void chmod_ofAnObjectInParts_letsAnotherNodeReadOn() throws Exception {
        assumeThat(S3Server.shared().tellsParts()).isTrue();
        TestBucket objects = bucket.bucket();
        RepeatedData data = new RepeatedData("parts/data", (3 * PART) - 1, PART);
        try (S3Front front = new S3Front(S3Server.shared());
                MountedBucket writer = mounted(front.fronted(), "writer");
                MountedBucket reader = mounted(S3Server.shared(), "reader", "--read-only")) {
            objects.put(data);
            String etag = etag(data.name());
            try (FileChannel open = FileChannel.open(reader.path().resolve(data.name()))) {
                assertThat(read(open, 0)).isEqualTo(data.bytes(0, READ));
                front.drainRequests();

                sh(writer.path(), "chmod 640 $1 && chmod 600 $1", data.name());

                assertThat(front.drainRequests().stream().filter(request -> request.isPart() && !request.isUpload()))
                        .as("copies of parts")
                        .hasSize(6);
                assertThat(etag(data.name())).isEqualTo(etag);
                assertThat(read(open, data.size() - READ)).isEqualTo(data.bytes(data.size() - READ, READ));
            }
            assertThat(sh(writer.path(), "stat -c %a $1", data.name())).isEqualTo("600\n");
            assertThat(objects.unfinishedUploads(data.name())).isEmpty();
        }
    }

    private MountedBucket mounted(S3Server server, String name, String... options) throws Exception {
        Path folder = Files.createDirectory(scratch.resolve(name));
        return MountedBucket.mount(server, bucket.bucket().name(), folder, options);
    }

    private String etag(String key) {
        return bucket.bucket().objects().stream()
                .map(StoredObject::version)
                .filter(version -> version.key().equals(key))
                .findFirst()
                .orElseThrow()
                .etag();
    }

    private static byte[] read(FileChannel file, long position) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(READ);
        while (bytes.hasRemaining() && file.read(bytes, position + bytes.position()) >= 0) {}
        return bytes.array();
    }

    /** For another user, who is not root, the kept mode decides. */
    @Test
    void open_byAnotherUser_isJudgedByTheMode() throws Exception {
        Path folder = bucket.folder("users");

        String said = sh(folder, """
            echo secret > private && chmod 600 private && echo open > public
            become() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
            become cat public
            become cat private 2>&1 || true
            mkdir -m 1777 shared && become touch shared/theirs && stat -c %u shared/theirs
            """);

        assertThat(said)
                .contains("open\n")
                .contains("Permission denied")
                .doesNotContain("secret")
                .endsWith("65534\n");
    }
}
