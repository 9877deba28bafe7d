package io.penstock.writeback;

import static io.penstock.writeback.content.Block.BLOCK_SIZE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.bytes.BlockMemory;
import io.penstock.writeback.bytes.Snapshot;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A written file as its handles see it, and its effects in the store. */
@Timeout(60)
final class WrittenFileTest {
    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final TestMount mount;
    private final Writeback writeback;
    private final BlockMemory memory;

    WrittenFileTest() throws IOException {
        mount = new TestMount(store, null, TestConfig.withMemory(16)).start();
        writeback = mount.writeback;
        memory = mount.context.resources().memory();
    }

    @AfterEach
    void leaksNothing() throws InterruptedException {
        writeback.drain();
        assertThat(writeback.files().all()).as("files").isEmpty();
        assertThat(memory.usedBytes()).as("memory").isZero();
        assertThat(mount.base.readers()).as("readers").hasValue(0);
        writeback.close();
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(WrittenFile file) throws Exception {
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(file.size()) + 10);
        assertThat(file.read(0, to)).isEqualTo((int) file.size());
        return StandardCharsets.UTF_8.decode(to.flip()).toString();
    }

    private String stored(String key) throws Exception {
        ObjectVersion version = store.head(key).version();
        if (version.size() == 0) {
            return "";
        }
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
        try (BaseContent.Reader reader = mount.base.open(version)) {
            reader.read(0, to);
        }
        return StandardCharsets.UTF_8.decode(to.flip()).toString();
    }

    @Test
    void writeNow_memoryForHalfOfIt_isToBeWrittenAgain() throws Exception {
        List<ByteBuffer> taken = new ArrayList<>();
        for (int blocks = 1; blocks < 16; blocks++) {
            taken.add(Objects.requireNonNull(memory.acquireNow()));
        }
        WrittenFile file = writeback.create("file", null);

        assertThat(file.writeNow(BLOCK_SIZE - 1, bytes("ab"))).isFalse();
        taken.forEach(memory::release);
        file.write(BLOCK_SIZE - 1, bytes("ab"));
        assertThat(file.writeNow(BLOCK_SIZE, bytes("c"))).isTrue();

        ByteBuffer to = ByteBuffer.allocate(3);
        assertThat(file.read(BLOCK_SIZE - 2, to)).isEqualTo(3);
        assertThat(to.array()).containsExactly(0, 'a', 'c');
        file.commit();
        file.release();
    }

    @Test
    void write_toANewFile_isReadAtOnceAndCommitted() throws Exception {
        WrittenFile file = writeback.create("a", null);
        file.write(0, bytes("hello"));
        file.append(bytes(" world"));
        assertThat(text(file)).isEqualTo("hello world");
        assertThat(file.committed()).isNull();
        assertThat(file.isDirty()).isTrue();

        file.commit();

        assertThat(stored("a")).isEqualTo("hello world");
        assertThat(text(file)).isEqualTo("hello world");
        assertThat(file.isDirty()).isFalse();
        assertThat(mount.told).containsExactly("committed a 11");
        file.release();
    }

    @Test
    void release_ofAnEmptyNewFile_commitsIt() throws Exception {
        writeback.create("empty", null).release();
        writeback.drain();
        assertThat(stored("empty")).isEmpty();
    }

    @Test
    void write_withinAnObject_keepsTheRest() throws Exception {
        WrittenFile file = writeback.open(store.put("a", "hello world"));
        assertThat(file.isDirty()).isFalse();
        file.write(6, bytes("W"));
        assertThat(text(file)).isEqualTo("hello World");
        file.commit();
        assertThat(stored("a")).isEqualTo("hello World");
        file.release();
    }

    @Test
    void truncate_downAndUp_readsZeros() throws Exception {
        WrittenFile file = writeback.open(store.put("a", "hello world"));
        file.write(8, bytes("XX"));
        file.truncate(5);
        file.truncate(9);
        assertThat(text(file)).isEqualTo("hello\0\0\0\0");
        file.commit();
        file.truncate(11);
        assertThat(text(file)).isEqualTo("hello\0\0\0\0\0\0");
        file.commit();
        assertThat(stored("a")).isEqualTo("hello\0\0\0\0\0\0");
        file.release();
    }

    @Test
    void extend_toLessThanThereIs_changesNothing() throws Exception {
        WrittenFile file = writeback.open(store.put("a", "hello"));
        file.extend(3);
        assertThat(file.isDirty()).isFalse();
        file.extend(7);
        assertThat(text(file)).isEqualTo("hello\0\0");
        file.commit();
        assertThat(stored("a")).isEqualTo("hello\0\0");
        file.release();
    }

    @Test
    void truncate_toATebibyte_costsNothing() throws Exception {
        WrittenFile file = writeback.create("sparse", null);
        file.truncate(1L << 40);
        file.write((1L << 39) + 5, bytes("x"));
        assertThat(memory.usedBytes()).isEqualTo(BLOCK_SIZE);
        assertThat(file.seek(0, false)).isEqualTo((1L << 39) + 5);
        assertThat(file.seek((1L << 39) + 6, false)).isEqualTo(-1);
        assertThat(file.seek(0, true)).isZero();
        assertThat(file.seek((1L << 39) + 5, true)).isEqualTo((1L << 39) + 6);
        file.zero(0, 1L << 40);
        assertThat(file.seek(0, false)).isEqualTo(-1);
        assertThat(memory.usedBytes()).isZero();
        file.unlink();
        file.release();
        assertThat(mount.told).isEmpty();
    }

    @Test
    void zero_withinAnObject_isAHole() throws Exception {
        WrittenFile file = writeback.open(store.put("a", "hello world"));
        file.zero(2, 3);
        file.zero(9, 100);
        assertThat(text(file)).isEqualTo("he\0\0\0 wor\0\0");
        assertThat(file.seek(0, true)).isEqualTo(2);
        assertThat(file.seek(2, false)).isEqualTo(5);
        file.write(3, bytes("x"));
        file.commit();
        assertThat(stored("a")).isEqualTo("he\0x\0 wor\0\0");
        file.release();
    }

    @Test
    void commit_ofAnObjectChangedMeanwhile_failsOnceAndKeepsContent() throws Exception {
        WrittenFile file = writeback.open(store.put("a", "one"));
        file.write(0, bytes("ONE"));
        store.put("a", "two");
        assertThatThrownBy(file::commit).isInstanceOf(ObjectStoreException.PreconditionFailed.class);
        assertThat(text(file)).isEqualTo("ONE");
        file.release();
        writeback.drain();
        assertThat(stored("a")).isEqualTo("two");
        assertThat(mount.told).containsExactly("given up a");
    }

    @Test
    void write_overBlocks_isReadInPieces() throws Exception {
        byte[] all = new byte[2 * BLOCK_SIZE + 1000];
        new java.util.Random(5).nextBytes(all);
        WrittenFile file = writeback.create("big", null);
        file.write(0, ByteBuffer.wrap(all));
        file.commit();
        ByteBuffer to = ByteBuffer.allocate(all.length);
        assertThat(file.read(0, to)).isEqualTo(all.length);
        assertThat(to.array()).isEqualTo(all);
        assertThat(memory.usedBytes()).isZero();
        file.write(BLOCK_SIZE - 1, ByteBuffer.wrap(new byte[2]));
        all[BLOCK_SIZE - 1] = 0;
        all[BLOCK_SIZE] = 0;
        file.read(0, to.clear());
        assertThat(to.array()).isEqualTo(all);
        file.release();
    }

    @Test
    void body_writtenToMeanwhile_isStill() throws Exception {
        WrittenFile file = writeback.create("a", null);
        file.write(0, ByteBuffer.allocate(BLOCK_SIZE));
        long others = memory.usedBytes() - BLOCK_SIZE;
        try (Snapshot body = file.bytes().hold(new ByteRange(0, BLOCK_SIZE)).summed()) {
            int sum = body.crc32c().orElseThrow();
            file.write(100, bytes("new"));
            file.zero(0, 10);
            file.truncate(200);
            ByteBuffer read = ByteBuffer.allocate(BLOCK_SIZE);
            body.read(0, read);
            assertThat(read.array()).isEqualTo(new byte[BLOCK_SIZE]);
            assertThat(body.summed().crc32c()).hasValue(sum);
            assertThat(text(file)).startsWith("\0\0").contains("new").hasSize(200);
            assertThat(memory.usedBytes() - others).isEqualTo(2L * BLOCK_SIZE);
        }
        assertThat(memory.usedBytes() - others).isEqualTo(BLOCK_SIZE);
        file.unlink();
        file.release();
    }
}
