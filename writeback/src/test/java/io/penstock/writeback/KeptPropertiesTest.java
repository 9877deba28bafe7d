package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.Content;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An object's properties after it is written over. */
@Timeout(60)
final class KeptPropertiesTest {
    private static final ObjectProperties PROPERTIES = new ObjectProperties(
            new TreeMap<>(Map.of(
                    "content-type", "text/html",
                    "content-encoding", "gzip",
                    "cache-control", "max-age=60",
                    "x-amz-meta-owner", "web",
                    "x-amz-storage-class", "STANDARD_IA",
                    "x-amz-server-side-encryption", "aws:kms")),
            Map.of("team", "a b"));

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final RecordingObjectStore store = new RecordingObjectStore(bucket);
    private final CrashingFiles files = new CrashingFiles();
    private final TestMount mount;

    KeptPropertiesTest() throws Exception {
        mount = new TestMount(store, files, TestConfig.withMemory(16)).start();
    }

    @AfterEach
    void leaksNothing() throws Exception {
        mount.assertNothingLeaks();
        mount.close();
        assertThat(bucket.openUploads()).isEmpty();
    }

    private ObjectVersion stored(String key, int size) {
        return bucket.put(key, Content.of(new byte[size]), PROPERTIES);
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    @Test
    void commit_appended_keepsAllAndAsksOnce() throws Exception {
        WrittenFile file = mount.writeback.open(stored("a", 10));
        file.append(text("one"));
        file.commit();
        file.append(text("two"));
        file.commit();
        file.release();

        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES);
        assertThat(store.only(Call.Properties.class)).containsExactly(new Call.Properties("a"));
    }

    @Test
    void commit_shortened_keepsAll() throws Exception {
        WrittenFile file = mount.writeback.open(stored("a", 10));
        file.truncate(5);
        file.commit();
        file.release();

        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES);
    }

    @Test
    void commit_inParts_keepsAll() throws Exception {
        WrittenFile file = mount.writeback.open(stored("a", 10 * BLOCK_SIZE));
        file.write(BLOCK_SIZE, text("in place"));
        file.commit();
        file.release();

        assertThat(store.only(Call.Complete.class)).hasSize(1);
        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES);
        assertThat(store.only(Call.Properties.class)).hasSize(1);
    }

    @Test
    void commit_contentReplaced_keepsAllButItsEncoding() throws Exception {
        WrittenFile file = mount.writeback.create("a", stored("a", 10));
        file.write(0, text("new"));
        file.commit();
        file.append(text("er"));
        file.commit();
        file.release();

        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES.withoutEncoding());
    }

    @Test
    void commit_cutToNothingAndWrittenAnew_keepsAllButItsEncoding() throws Exception {
        WrittenFile file = mount.writeback.open(stored("a", 10));
        file.truncate(0);
        file.write(0, text("new"));
        file.commit();
        file.release();

        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES.withoutEncoding());
    }

    @Test
    void commit_cutToNothingDuringItsUpload_keepsAllButItsEncoding() throws Exception {
        WrittenFile file = mount.writeback.open(stored("a", 10));
        file.write(0, ByteBuffer.allocate(BLOCK_SIZE));
        file.truncate(0);
        file.write(0, text("new"));
        file.commit();
        file.release();

        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES.withoutEncoding());
    }

    @Test
    void commit_afterARenameFromATemporaryName_hasTheTypeOfItsName() throws Exception {
        WrittenFile file = mount.writeback.create("page.html.part", null);
        file.write(0, text("new"));
        ObjectVersion first = requireNonNull(file.commitAndHold());
        ObjectProperties renamed =
                bucket.properties("page.html.part").renamed("page.html"); // as a rename does for the copy
        file.moved(bucket.copy(first, "page.html", renamed, WriteCondition.ABSENT));
        file.resumeCommits();
        file.append(text("er"));
        file.commit();
        file.release();

        assertThat(bucket.properties("page.html")).isEqualTo(ObjectProperties.ofNew("page.html"));
    }

    /** The copies made by the rename of a directory keep all headers. */
    @Test
    void commit_afterARenameOfItsDirectory_keepsItsType() throws Exception {
        ObjectProperties ofNoType = ObjectProperties.ofNew("x");
        WrittenFile file = mount.writeback.open(bucket.put("d/page.html", Content.of(new byte[10]), ofNoType));
        file.append(text("new"));
        ObjectVersion first = requireNonNull(file.commitAndHold());
        file.moved(bucket.copy(first, "e/page.html", WriteCondition.ABSENT));
        file.resumeCommits();
        file.append(text("er"));
        file.commit();
        file.release();

        assertThat(bucket.properties("e/page.html")).isEqualTo(ofNoType);
    }

    @Test
    void commit_newFile_hasTheTypeOfItsNameAndAsksNobody() throws Exception {
        WrittenFile file = mount.writeback.create("a.html", null);
        file.write(0, text("new"));
        file.commit();
        file.append(text("er"));
        file.commit();
        file.release();

        assertThat(bucket.properties("a.html")).isEqualTo(ObjectProperties.ofNew("a.html"));
        assertThat(bucket.properties("a.html").headers()).containsEntry("content-type", "text/html");
        assertThat(store.only(Call.Properties.class)).isEmpty();
    }

    @Test
    void commit_replacedObjectGoneMeanwhile_isAConflictAsEver() throws Exception {
        WrittenFile file = mount.writeback.create("a", stored("a", 10));
        bucket.delete("a");
        file.write(0, text("new"));

        assertThat(catchThrowable(file::commit)).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
        file.unlink();
        file.release();
    }

    @Test
    void commit_afterTheCopyThatGivesHeadersHasFailed_givesThem() throws Exception {
        FaultyObjectStore faults = new FaultyObjectStore(store);
        faults.next(Call.Copy.class::isInstance, Fault.fail(ObjectStoreException.Unavailable::new));
        try (TestMount other = new TestMount(faults, new CrashingFiles(), TestConfig.withMemory(16)).start()) {
            WrittenFile file = other.writeback.create("a", null);
            file.write(0, ByteBuffer.allocate(5 * BLOCK_SIZE));
            while (other.uploads.uploadedBytes() == 0) {
                Thread.onSpinWait();
            }
            file.setHeaders(new TreeMap<>(Map.of("x-amz-meta-mode", "33188")));
            assertThat(catchThrowable(file::commit)).isInstanceOf(ObjectStoreException.Unavailable.class);
            file.release();
            other.assertNothingLeaks();
        }
        assertThat(bucket.properties("a").headers()).containsEntry("x-amz-meta-mode", "33188");
        assertThat(store.only(Call.Complete.class)).hasSize(1);
    }

    @Test
    void commit_copyOfAWholeObject_hasTheSourcesProperties() throws Exception {
        ObjectVersion source = stored("source", 10);
        WrittenFile file = mount.writeback.create("copy.txt", null);
        assertThat(file.copyFrom(source, new ByteRange(0, 10), false)).isTrue();
        assertThat(bucket.properties("copy.txt")).isEqualTo(PROPERTIES);
        file.append(text("more"));
        file.commit();
        file.release();

        assertThat(bucket.properties("copy.txt")).isEqualTo(PROPERTIES);
    }

    @Test
    void resume_afterAKill_keepsAll() throws Exception {
        ObjectVersion base = stored("a", 10);
        byte[] content = new byte[5 * BLOCK_SIZE];
        WrittenFile file = mount.writeback.open(base);
        file.write(0, ByteBuffer.wrap(content));
        file.fsync();
        CrashingFiles left = files.crash(Seeded.random(1));
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(16)).start()) {
            second.assertNothingLeaks();
        }
        file.unlink(); // nothing is left of the killed process
        file.release();

        assertThat(bucket.head("a").version().size()).isEqualTo(content.length);
        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES);
    }

    @Test
    void resume_uploadBegunBeforeAllWasCutOff_keepsAllButItsEncoding() throws Exception {
        resume(false);
        assertThat(store.only(Call.Copy.class)).hasSize(1);
    }

    @Test
    void resume_ofAnUploadThatHadBegunAfterAllWasCutOff_copiesNothing() throws Exception {
        resume(true);
        assertThat(store.only(Call.Copy.class)).isEmpty();
    }

    /** Replaces the content of an object with an encoding, and ends with the upload of a crashed run. */
    private void resume(boolean hadBegunAfterTheCut) throws Exception {
        FaultyObjectStore faults = new FaultyObjectStore(store);
        CrashingFiles disk = new CrashingFiles();
        CrashingFiles left;
        byte[] content = new byte[5 * BLOCK_SIZE];
        ObjectVersion base = stored("a", 10);
        try (TestMount first = new TestMount(faults, disk, TestConfig.withMemory(16)).start()) {
            WrittenFile file = first.writeback.open(base);
            if (hadBegunAfterTheCut) {
                file.truncate(0);
            }
            file.write(0, ByteBuffer.wrap(content));
            while (first.uploads.uploadedBytes() == 0) {
                Thread.onSpinWait();
            }
            faults.always(_ -> true, Fault.fail(ObjectStoreException.Unavailable::new)); // prevents aborts
            if (!hadBegunAfterTheCut) {
                file.truncate(0);
                file.write(0, ByteBuffer.wrap(content));
            }
            file.fsync();
            left = disk.crash(Seeded.random(2));
        }
        assertThat(bucket.openUploads()).hasSize(1);
        try (TestMount second = new TestMount(store, left, TestConfig.withMemory(16)).start()) {
            second.assertNothingLeaks();
        }

        assertThat(store.only(Call.CreateUpload.class)).hasSize(1);
        assertThat(bucket.head("a").version().size()).isEqualTo(content.length);
        assertThat(bucket.properties("a")).isEqualTo(PROPERTIES.withoutEncoding());
    }
}
