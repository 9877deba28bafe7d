package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_WRONLY;
import static io.penstock.filesystem.Mounted.assertErrno;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.objectstore.Call;
import io.penstock.testing.Content;
import io.penstock.testing.Gate;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The attribute {@code user.penstock.object}. */
@Timeout(60)
class ObjectFactsTest extends OverWritableMount {
    private String facts(long inode) throws ErrnoException {
        return new String(m.fs.getxattr(inode, "user.penstock.object"), StandardCharsets.UTF_8);
    }

    @Test
    void getxattr_ofAFile_tellsItsObjectForOneRequest() throws Exception {
        ObjectVersion version = m.bucket.put("d/a \"\n", "hello");
        long inode = m.lookup("d/a \"\n").inode();
        m.store.drain();

        String cold = facts(inode);

        assertThat(cold).isEqualTo("""
            {"bucket":"bucket","key":"d/a \\"\\n","state":"visible","size":5,\
            "etag":"\\"5d41402abc4b2a76b9719d911017c592\\"","modified":"%s",\
            "cached":{"nvme":0,"memory":0,"share":0.0},"pinned":false,"checksums":{"CRC32C":"mnG7TA=="}}\
            """.formatted(version.lastModified()));
        assertThat(m.cat("d/a \"\n")).isEqualTo("hello");
        assertThat(facts(inode)).contains("\"memory\":5,\"share\":1.0}", "\"CRC32C\":\"mnG7TA==\"");
        assertThat(m.store.only(Call.Checksums.class)).hasSize(1);
        assertThat(m.fs.listxattr(inode)).doesNotContain("user.penstock.object");
    }

    @Test
    void getxattrNow_asItMayTakeARequest_isNull() throws Exception {
        m.bucket.put("a", "hello");
        long inode = m.lookup("a").inode();
        m.store.drain();

        assertThat(m.fs.getxattrNow(inode, "user.penstock.object")).isNull();
        assertThat(m.store.only(Call.Checksums.class)).isEmpty();
    }

    /** As made by S3: the number of parts follows the MD5 of their MD5s. */
    private record InParts(Content bytes) implements Content {
        @Override
        public long size() {
            return bytes.size();
        }

        @Override
        public String etag() {
            return "\"0123456789abcdef0123456789abcdef-17\"";
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            bytes.read(offset, target);
        }
    }

    @Test
    void getxattr_ofAnObjectInParts_tellsTheirNumber() throws Exception {
        m.bucket.put("a", new InParts(Content.of(new byte[100])));

        assertThat(facts(m.lookup("a").inode())).contains("\"parts\":17,", "\"checksums\":{}");
    }

    @Test
    void getxattr_whileItIsWritten_tellsHowFarItHasCome() throws Exception {
        OpenFile file = m.create("a", O_WRONLY);
        long inode = m.lookup("a").inode();
        m.write(file, 0, "hello");
        assertThat(facts(inode)).isEqualTo("{\"bucket\":\"bucket\",\"key\":\"a\",\"state\":\"dirty\",\"size\":5}");

        m.fs.fsync(file.handle());
        assertThat(facts(inode)).contains("\"state\":\"staged\"");

        try (Gate sending = m.delays.hold(Call.Put.class::isInstance)) {
            Thread closing = Thread.ofVirtual().start(() -> flush(file));
            sending.awaitHeld(1);
            assertThat(facts(inode)).contains("\"state\":\"sent\"");
            sending.open();
            closing.join();
        }
        assertThat(facts(inode))
                .contains("\"state\":\"visible\"", "\"etag\":\"\\\"5d41402abc4b2a76b9719d911017c592\\\"\"");

        m.write(file, 5, " world");
        assertThat(facts(inode)).contains("\"state\":\"dirty\",\"size\":11}");

        m.unlink("a");
        assertThat(facts(inode)).contains("\"state\":\"removed\"");
        m.fs.release(file.handle());
        m.drain();
    }

    private void flush(OpenFile file) {
        try {
            m.fs.flush(file.handle());
        } catch (ErrnoException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void getxattr_storeDoesNotAnswer_leavesOutTheChecksums() throws Exception {
        m.bucket.put("a", "hello");
        long inode = m.lookup("a").inode();

        try (Gate silent = m.delays.hold(Call.Checksums.class::isInstance)) {
            assertThat(facts(inode)).contains("\"state\":\"visible\"").doesNotContain("checksums");
            silent.open();
        }
        assertThat(facts(inode)).contains("\"checksums\":{\"CRC32C\":");
    }

    @Test
    void getxattr_objectReplacedMeanwhile_leavesOutTheChecksums() throws Exception {
        m.bucket.put("a", "hello");
        long inode = m.lookup("a").inode();
        m.bucket.put("a", "other");

        assertThat(facts(inode)).contains("5d41402abc4b2a76b9719d911017c592").doesNotContain("checksums");
    }

    @Test
    void getxattr_ofADirectory_isEnodata() {
        assertErrno(Errno.ENODATA, () -> facts(FileSystem.ROOT));
    }
}
