package io.penstock.prefetch;

import static io.penstock.prefetch.FetcherFixture.MIB;
import static io.penstock.prefetch.FetcherFixture.readAndVerify;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Gate;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bytes that other nodes deliver, and reads on their behalf. */
@Timeout(60)
class PeerReaderTest {
    private static final ReadaheadConfig CONFIG = new ReadaheadConfig(8 * MIB, 8 * MIB, 8, MIB);

    @TempDir
    private Path folder;

    private FetcherFixture fixture;

    @BeforeEach
    void open() throws IOException {
        fixture = new FetcherFixture(folder, CONFIG, 64 * MIB, 16 * MIB);
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private void readForPeer(ObjectVersion version, long from, int length, Urgency urgency) throws Exception {
        try (PeerReader reader = fixture.fetcher.openForPeer(version)) {
            reader.prepare(from, from + length, urgency);
            ByteBuffer bytes = ByteBuffer.allocate(length);
            reader.read(from, bytes);
            TestData.of(version.key(), version.size()).verify(from, bytes.flip());
        }
    }

    @Test
    void read_whatIsCold_comesFromTheStoreOnce() throws Exception {
        ObjectVersion file = fixture.put("file", 20 * MIB + 3);
        for (Urgency urgency : Urgency.values()) {
            readForPeer(file, 8 * MIB, (int) (8 * MIB), urgency);
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(8 * MIB, 8 * MIB));
        FetcherFixture.await(
                "it has given up its memory", () -> fixture.cache.statistics().diskBytes() >= 8 * MIB);

        readForPeer(file, 16 * MIB + 5, (int) (4 * MIB - 2), Urgency.READAHEAD); // to the end
        assertThat(fixture.ranges()).hasSize(2);
        try (ObjectReader reader = fixture.fetcher.open(file)) {
            readAndVerify(reader, file, 8 * MIB, (int) MIB);
        }
        assertThat(fixture.ranges()).hasSize(2);
    }

    @Test
    void read_byManyAtOnce_isOneGet() throws Exception {
        ObjectVersion file = fixture.put("file", 4 * MIB);
        try (Gate gate = fixture.delays.hold(Call.Get.class::isInstance)) {
            CompletableFuture<?>[] readers = new CompletableFuture<?>[8];
            for (int i = 0; i < readers.length; i++) {
                Urgency urgency = i % 2 == 0 ? Urgency.DEMAND : Urgency.READAHEAD;
                readers[i] = CompletableFuture.runAsync(() -> {
                    try {
                        readForPeer(file, 0, (int) (4 * MIB), urgency);
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
            }
            gate.awaitHeld(1);
            gate.open();
            CompletableFuture.allOf(readers).join();
        }
        assertThat(fixture.store.gets()).hasSize(1);
    }

    @Test
    void read_asksNoOtherNode() throws Exception {
        ObjectVersion file = fixture.put("file", MIB);
        AtomicInteger asked = new AtomicInteger();
        fixture.fetcher.setPeers((version, range, urgency, sink) -> asked.incrementAndGet());
        for (Urgency urgency : Urgency.values()) {
            readForPeer(fixture.put("file" + urgency, MIB), 0, (int) MIB, urgency);
        }
        assertThat(asked).hasValue(0);
        try (ObjectReader reader = fixture.fetcher.open(file)) {
            readAndVerify(reader, file, 0, 10);
        }
        assertThat(asked).hasValue(1);
    }

    @Test
    void read_ofWhatTheDiskHasDamaged_givesNoneOfIt_andFetchesItAgain() throws Exception {
        ObjectVersion file = fixture.put("file", 30 * MIB);
        for (long from = 0; from < file.size(); from += 4 * MIB) { // memory has 16 pages, 8 may wait for the disk
            long to = Math.min(from + 4 * MIB, file.size());
            readForPeer(file, from, (int) (to - from), Urgency.DEMAND);
            FetcherFixture.await(
                    "it is on disk", () -> fixture.cache.statistics().diskBytes() >= to);
        }
        fixture.flipOnDisk(file, 3 * MIB + 5);
        int before = fixture.ranges().size();

        assertThatThrownBy(() -> readForPeer(file, 3 * MIB, 100_000, Urgency.DEMAND))
                .isInstanceOf(PeerReader.BusyException.class);
        readForPeer(file, 3 * MIB, 100_000, Urgency.DEMAND);

        assertThat(fixture.ranges()).hasSize(before + 1);
    }

    @Test
    void read_ofAVersionThatIsGone_throwsThat() throws Exception {
        ObjectVersion file = fixture.put("file", MIB);
        fixture.bucket.delete("file");
        assertThatThrownBy(() -> readForPeer(file, 0, 10, Urgency.DEMAND)).isInstanceOf(ObjectStoreException.class);
    }

    @Test
    void open_wherePeersBringAPart_hasTheRestFromTheStore() throws Exception {
        ObjectVersion file = fixture.put("file", 8 * MIB);
        int part = (int) (3 * MIB + 17);
        fixture.fetcher.setPeers((version, range, urgency, sink) -> bring(version, range.offset(), part, sink));
        try (ObjectReader reader = fixture.fetcher.open(file)) {
            readAndVerify(reader, file, 0, (int) (8 * MIB));
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(part, 8 * MIB - part));
    }

    /** Peers have every second range of 2 MiB. */
    private record Alternating() implements PeerSource {
        @Override
        public void get(ObjectVersion version, ByteRange range, Urgency urgency, Sink sink)
                throws InterruptedException {
            if (range.offset() / (2 * MIB) % 2 == 1) {
                long end = Math.min(range.end(), boundary(version, range.offset()));
                bring(version, range.offset(), end - range.offset(), sink);
            }
        }

        @Override
        public long boundary(ObjectVersion version, long position) {
            return (position / (2 * MIB) + 1) * (2 * MIB);
        }
    }

    @Test
    void read_peersHaveOtherPartsThanTheStore_requestsEachItsOwn() throws Exception {
        ObjectVersion file = fixture.put("file", 9 * MIB);
        fixture.fetcher.setPeers(new Alternating());
        try (ObjectReader reader = fixture.fetcher.open(file)) {
            readAndVerify(reader, file, 0, (int) (8 * MIB));
        }
        assertThat(fixture.ranges()).containsExactly(new ByteRange(0, 2 * MIB), new ByteRange(4 * MIB, 2 * MIB));
        assertThat(fixture.fetcher.statistics().bytesFetched()).isEqualTo(4 * MIB);
    }

    @Test
    void read_whileAllOwnGetsWaitForOtherNodes_goesOn() throws Exception {
        ObjectVersion file = fixture.put("for-a-peer", MIB);
        CountDownLatch waiting = new CountDownLatch(8);
        CountDownLatch over = new CountDownLatch(1);
        fixture.fetcher.setPeers((version, range, urgency, sink) -> {
            waiting.countDown();
            over.await();
        });
        List<Thread> readers = new ArrayList<>();
        for (int i = 0; i < 8; i++) { // one for each GET slot
            ObjectVersion own = fixture.put("own-" + i, MIB);
            readers.add(Thread.ofVirtual().start(() -> {
                try (ObjectReader reader = fixture.fetcher.open(own)) {
                    readAndVerify(reader, own, 0, (int) MIB);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }));
        }
        waiting.await();
        for (Urgency urgency : Urgency.values()) {
            readForPeer(urgency == Urgency.DEMAND ? file : fixture.put("ahead", MIB), 0, (int) MIB, urgency);
        }
        over.countDown();
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(fixture.store.gets()).hasSize(10);
    }

    @Test
    void open_wherePeersBringAll_asksNothingOfTheStore() throws Exception {
        ObjectVersion file = fixture.put("file", 8 * MIB);
        fixture.fetcher.setPeers(
                (version, range, urgency, sink) -> bring(version, range.offset(), range.length(), sink));
        try (ObjectReader reader = fixture.fetcher.open(file)) {
            readAndVerify(reader, file, 0, (int) (8 * MIB));
        }
        assertThat(fixture.store.gets()).isEmpty();
        assertThat(fixture.fetcher.statistics().allGets()).isZero();
        assertThat(fixture.fetcher.statistics().bytesFetched()).isZero();
    }

    private static void bring(ObjectVersion version, long offset, long length, BodySink sink)
            throws InterruptedException {
        TestData data = TestData.of(version.key(), version.size());
        for (long at = offset; at < offset + length; ) {
            ByteBuffer to = sink.buffer();
            int count = (int) Math.min(to.remaining(), offset + length - at);
            data.read(at, to.slice(to.position(), count));
            to.position(to.position() + count);
            sink.filled(count);
            at += count;
        }
    }
}
