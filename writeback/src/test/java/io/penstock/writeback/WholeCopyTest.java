package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.bytes.BaseContent;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies from one object to another, and the bytes that pass through for them. */
@Timeout(60)
final class WholeCopyTest {
    private static final int MIB = 1 << 20;

    private final InMemoryObjectStore bucket = new InMemoryObjectStore();
    private final FaultyObjectStore faults = new FaultyObjectStore(bucket);
    private final RecordingObjectStore store = new RecordingObjectStore(faults);
    private final byte[] bytes = new byte[40 * MIB];
    private ObjectVersion source;
    private TestMount mount;
    private WrittenFile file;

    @BeforeEach
    void createFile() throws Exception {
        Seeded.random(1).nextBytes(bytes);
        source = bucket.put("source", bytes);
        mount = new TestMount(store, new CrashingFiles(), TestConfig.withMemory(4)).start();
        file = mount.writeback.create("target", null);
    }

    @AfterEach
    void leaksNothing() throws Exception {
        file.release();
        mount.assertNothingLeaks();
        mount.close();
    }

    private static byte[] read(WrittenFile from) throws Exception {
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(from.size()));
        from.read(0, to);
        return to.array();
    }

    private byte[] stored(String key) throws Exception {
        ObjectVersion version = bucket.head(key).version();
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
        try (BaseContent.Reader reader = mount.base.open(version)) {
            reader.read(0, to);
        }
        return to.array();
    }

    @Test
    void copyFrom_aWholeObject_isOneCopyByTheStore() throws Exception {
        assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), false)).isTrue();

        assertThat(file.isDirty()).isFalse();
        assertThat(store.only(Call.Copy.class)).hasSize(1);
        assertThat(store.uploadedBytes()).isZero();
        assertThat(store.gets()).isEmpty();
        assertThat(mount.told).containsExactly("committed target " + bytes.length);
        assertThat(read(file)).isEqualTo(bytes);
        file.commit();
        assertThat(store.only(Call.Copy.class)).hasSize(1);
    }

    @Test
    void copyFrom_aSmallObject_isOneCopyByTheStore() throws Exception {
        ObjectVersion small = bucket.put("small", "hello");

        assertThat(file.copyFrom(small, new ByteRange(0, 5), false)).isTrue();

        assertThat(store.uploadedBytes()).isZero();
        assertThat(stored("target")).asString().isEqualTo("hello");
    }

    @Test
    void copyFrom_goesOn_commitsOnceItIsDone() throws Exception {
        int half = 17 * MIB + 5;
        assertThat(file.copyFrom(source, new ByteRange(0, half), true)).isTrue();
        assertThat(file.size()).isEqualTo(half);
        assertThat(read(file)).isEqualTo(Arrays.copyOf(bytes, half));
        assertThat(store.writes()).isEmpty();

        assertThat(file.copyFrom(source, new ByteRange(half, bytes.length - half), false))
                .isTrue();

        assertThat(store.uploadedBytes()).isZero();
        assertThat(stored("target")).isEqualTo(bytes);
    }

    @Test
    void fsync_whileItGoesOn_commits() throws Exception {
        file.copyFrom(source, new ByteRange(0, 20 * MIB), true);

        file.fsync();

        assertThat(stored("target")).isEqualTo(Arrays.copyOf(bytes, 20 * MIB));
        assertThat(file.isDirty()).isFalse();
    }

    @Test
    void write_whileItGoesOn_isOverTheCopy() throws Exception {
        file.copyFrom(source, new ByteRange(0, 24 * MIB), true);
        byte[] expected = Arrays.copyOf(bytes, 24 * MIB);
        file.write(9 * MIB, ByteBuffer.wrap(new byte[] {1, 2, 3}));
        expected[9 * MIB] = 1;
        expected[9 * MIB + 1] = 2;
        expected[9 * MIB + 2] = 3;
        file.zero(21 * MIB, MIB);
        Arrays.fill(expected, 21 * MIB, 22 * MIB, (byte) 0);
        file.truncate(23 * MIB);
        file.truncate(24 * MIB);
        Arrays.fill(expected, 23 * MIB, 24 * MIB, (byte) 0);
        assertThat(read(file)).isEqualTo(expected);

        file.commit();

        assertThat(stored("target")).isEqualTo(expected);
        assertThat(read(file)).isEqualTo(expected);
    }

    @Test
    void copyFrom_storeCannotCopy_readsAndWrites() throws Exception {
        faults.always(call -> call instanceof Call.Copy, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), false)).isTrue();

        assertThat(read(file)).isEqualTo(bytes);
        file.commit();
        assertThat(stored("target")).isEqualTo(bytes);
        assertThat(store.uploadedBytes()).isEqualTo(bytes.length);
    }

    @Test
    void copyFrom_targetChangedMeanwhile_writesAndFailsAtTheCommit() throws Exception {
        bucket.put("target", "of somebody else");

        assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), false)).isTrue();

        assertThat(read(file)).isEqualTo(bytes);
        assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
        assertThat(stored("target")).asString().isEqualTo("of somebody else");
        file.unlink();
    }

    @Test
    void copyFrom_sourceChangedMeanwhile_failsAndCopiesNothing() throws Exception {
        bucket.put("source", "new");

        assertThatThrownBy(() -> file.copyFrom(source, new ByteRange(0, bytes.length), false))
                .isInstanceOf(ObjectStoreException.PreconditionFailed.class);

        assertThat(file.size()).isZero();
        file.write(0, ByteBuffer.wrap(new byte[] {7}));
        file.commit();
        assertThat(stored("target")).containsExactly(7);
    }

    @Test
    void copyFrom_notAllOfIt_isReadAndWritten() throws Exception {
        assertThat(file.copyFrom(source, new ByteRange(0, 20 * MIB), false)).isFalse();
        assertThat(file.copyFrom(source, new ByteRange(4 * MIB, 20 * MIB), true))
                .isFalse();

        file.write(0, ByteBuffer.wrap(new byte[] {7}));

        assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), false)).isFalse();
        file.commit();
        assertThat(stored("target")).containsExactly(7);
    }

    @Test
    void copyFrom_storeCannotCopyTheLastOfSeveral_readsAndWritesAll() throws Exception {
        int half = 16 * MIB;
        file.copyFrom(source, new ByteRange(0, half), true);
        faults.always(call -> call instanceof Call.Copy, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThat(file.copyFrom(source, new ByteRange(half, bytes.length - half), false))
                .isTrue();

        assertThat(read(file)).isEqualTo(bytes);
        file.truncate(MIB);
        assertThat(file.copyFrom(source, new ByteRange(MIB, MIB), true))
                .as("its bytes are the file's own by now")
                .isFalse();
        file.commit();
        assertThat(stored("target")).isEqualTo(Arrays.copyOf(bytes, MIB));
    }

    /** The copy replaces the object made by a commit whose response was lost, and is not based on it. */
    @Test
    void copyFrom_overACommitWhoseResponseWasLost_isOfTheSource() throws Exception {
        file.write(0, ByteBuffer.wrap(new byte[45 * MIB]));
        faults.next(call -> call instanceof Call.Complete, Fault.failAfterwards(ObjectStoreException.Unavailable::new));
        assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.Unavailable.class);
        file.truncate(0);

        assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), false)).isTrue();

        assertThat(stored("target")).isEqualTo(bytes);
        assertThat(read(file)).isEqualTo(bytes);
    }

    @Test
    void copyFrom_toAFileWithoutAName_isNotForTheStore() throws Exception {
        file.unlink();

        assertThat(file.copyFrom(source, new ByteRange(0, bytes.length), false)).isFalse();
    }
}
