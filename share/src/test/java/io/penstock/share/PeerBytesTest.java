package io.penstock.share;

import static io.penstock.share.TestNode.MIB;
import static io.penstock.share.TestNode.await;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.prefetch.Pace;
import io.penstock.prefetch.PageFetcher;
import io.penstock.prefetch.PeerSource;
import io.penstock.prefetch.Warmup;
import io.penstock.share.ShareStatistics.Fallback;
import io.penstock.testing.Gate;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestData;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Bytes between nodes, and reads whose owner is gone, slow or wrong. */
@Timeout(120)
class PeerBytesTest {
    @TempDir
    private Path folder;

    private FakeGroup group;

    @BeforeEach
    void open() {
        group = new FakeGroup(folder, null);
    }

    @AfterEach
    void close() {
        group.close();
    }

    private void join(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            group.join("node-" + i);
        }
    }

    @FunctionalInterface
    private interface Read {
        void run() throws Exception;
    }

    private static Future<Void> start(ExecutorService threads, Read read) {
        return threads.submit(() -> {
            read.run();
            return null;
        });
    }

    private static void all(List<Read> reads) throws Exception {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Void>> running =
                    reads.stream().map(read -> start(threads, read)).toList();
            for (Future<Void> read : running) {
                read.get();
            }
        }
    }

    private FakeGroup.Member member(int index) {
        return group.members.get(index);
    }

    private static long fallbacks(FakeGroup.Member member, Fallback cause) {
        return member.counters.fallbacks().getOrDefault(cause, 0L);
    }

    /** A file whose first slab belongs to the fake node. */
    private ObjectVersion ownedBy(GroupMember owner, FakeGroup.Member reader, long size) {
        for (int i = 0; ; i++) {
            ObjectVersion version = group.bucket.putTestData("file-" + i, size);
            if (new Owners(reader.node, List.of(reader.node, owner))
                    .of(OwnedSlabs.of(version, 0))
                    .equals(owner)) {
                return version;
            }
        }
    }

    @Test
    void read_byAllNodesInLockstep_fetchesEachPageOnce() throws Exception {
        join(4);
        ObjectVersion file = group.bucket.putTestData("file", 20 * MIB + 3);
        all(group.members.stream()
                .map(member -> (Read) () -> member.local.readAll(file))
                .toList());
        group.assertFetchedOnce(file.size());
        long had = group.members.stream()
                .mapToLong(member -> member.counters.bytesHad.sum())
                .sum();
        assertThat(had).isBetween(3 * file.size() - group.late() * OwnedSlabs.SIZE, 3 * file.size());
        assertThat(group.members.stream()
                        .mapToLong(member -> member.counters.bytesServed.sum())
                        .sum())
                .isBetween(had, 3 * file.size());
    }

    @Test
    void read_ofAColdPageByAllNodesAtOnce_isOneGet() throws Exception {
        join(4);
        ObjectVersion file = group.bucket.putTestData("file", 7 * MIB);
        FakeGroup.Member owner = group.members.stream()
                .filter(member -> group.owner(file, 0).equals(member.node))
                .findFirst()
                .orElseThrow();
        try (Gate gate = owner.local.delays.hold(Call.Get.class::isInstance);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Void>> reads = group.members.stream()
                    .map(member -> start(threads, () -> member.local.read(file, 3 * MIB, 1_000)))
                    .toList();
            gate.awaitHeld(1);
            gate.open();
            for (Future<Void> read : reads) {
                read.get();
            }
        }
        assertThat((long) group.gets()).isBetween(1L, 1 + group.late()).isLessThan(4);
    }

    @Test
    void read_shuffledByAllNodes_hasRightBytesAndFewGets() throws Exception {
        join(3);
        List<ObjectVersion> files = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            files.add(group.bucket.putTestData("small/" + i, 30_000 + i * 11_003L));
        }
        List<Read> reads = new ArrayList<>();
        for (FakeGroup.Member member : group.members) {
            List<ObjectVersion> order = new ArrayList<>(files);
            Collections.shuffle(order, new Random(member.node.hash()));
            reads.add(() -> {
                for (ObjectVersion file : order) {
                    member.local.readAll(file);
                }
            });
        }
        all(reads);
        assertThat((long) group.gets()).isBetween(60L, 60 + group.late()).isLessThan(3 * 60);
        assertThat(group.proof.asked.get()).isLessThanOrEqualTo(3); // all share one address
    }

    @Test
    void read_fromTheMiddleOfASlab_fetchesEachPageOnce() throws Exception {
        join(3);
        ObjectVersion file = group.bucket.putTestData("file", 43 * MIB);
        for (FakeGroup.Member member : group.members) {
            member.local.read(file, 5 * MIB, 38 * MIB);
        }
        group.assertFetchedOnce(38 * MIB);
    }

    @Test
    void read_atUnalignedPlaces_hasRightBytes() throws Exception {
        join(2);
        ObjectVersion file = group.bucket.putTestData("file", 17 * MIB + 12_345);
        Random random = new Random(1);
        for (int i = 0; i < 40; i++) {
            long at = random.nextLong(file.size() - 1);
            member(i % 2).local.read(file, at, 1 + random.nextInt(300_000));
        }
    }

    @Test
    void read_whereTheOwnerIsGone_comesFromTheStore() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), MIB);
        member(1).server.close();
        member(0).local.readAll(file);
        assertThat(member(0).local.gets()).isEqualTo(1);
        assertThat(fallbacks(member(0), Fallback.UNREACHABLE)).isEqualTo(1);
    }

    @Test
    void ask_whereTheOwnerIsGone_saysSoAndCountsNothing() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), MIB);
        member(1).server.close();
        assertThat(member(0).requester.ask(file, new ByteRange(0, MIB), Urgency.READAHEAD, new Sink(MIB)))
                .isEqualTo(Fallback.UNREACHABLE);
        assertThat(member(0).counters.fallbacks().values()).containsOnly(0L);
    }

    @Test
    void read_whereTheOwnerIsStoppedMeanwhile_comesFromTheStore() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), MIB);
        try (Gate gate = member(1).local.delays.hold(Call.Get.class::isInstance);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Void> read = start(threads, () -> member(0).local.readAll(file));
            gate.awaitHeld(1);
            member(1).server.close();
            read.get();
        }
        assertThat(fallbacks(member(0), Fallback.UNREACHABLE)).isEqualTo(1);
    }

    @Test
    void close_whileRequestsRun_endsThemAndTheReads() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), MIB);
        try (Gate gate = member(1).local.delays.hold(Call.Get.class::isInstance);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<Void> read = start(threads, () -> member(0).local.readAll(file));
            gate.awaitHeld(1);
            member(0).requester.close();
            read.get();
        }
        assertThat(member(0).local.gets()).isEqualTo(1);
    }

    @Test
    void read_thatIsInterrupted_endsAtOnceAndLeavesNoClaim() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), MIB);
        try (Gate gate = member(1).local.delays.hold(Call.Get.class::isInstance)) {
            Sink sink = new Sink(MIB);
            Thread reader = Thread.ofVirtual().start(() -> {
                try {
                    member(0).requester.get(file, new ByteRange(0, MIB), Urgency.DEMAND, sink);
                } catch (InterruptedException e) {
                    sink.interrupted = true;
                }
            });
            gate.awaitHeld(1);
            reader.interrupt();
            reader.join();
            assertThat(sink.interrupted).isTrue();
        }
        assertThat(fallbacks(member(0), Fallback.UNREACHABLE)).isZero();
    }

    @Test
    void read_whereTheOwnersStoreHasAnotherVersion_isTheStoresMatter() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), 100_000);
        group.bucket.put(file.key(), "something else");
        Sink sink = new Sink(100_000);
        member(0).requester.get(file, new ByteRange(0, 100_000), Urgency.DEMAND, sink);
        assertThat(sink.filled).isZero();
        assertThat(fallbacks(member(0), Fallback.CHANGED)).isEqualTo(1);
    }

    @Test
    void read_ofAnotherBucketsNode_givesNothing() throws Exception {
        FakeGroup.Member reader = group.join("node-0");
        FakeGroup.Member other = group.join("node-1", "memory/other", 0);
        ObjectVersion file = ownedBy(other.node, reader, 100_000);
        reader.local.readAll(file);
        assertThat(fallbacks(reader, Fallback.FOREIGN)).isEqualTo(1);
        assertThat(other.local.gets()).isZero();
        assertThat(other.counters.refusals()).containsEntry(PeerRequest.OTHER_BUCKET, 1L);
    }

    @Test
    void read_withoutAProof_givesNothing() throws Exception {
        join(2);
        ObjectVersion file = ownedBy(member(1).node, member(0), 100_000);
        group.proof.text = "wrong";
        member(0).local.readAll(file);
        assertThat(fallbacks(member(0), Fallback.FORBIDDEN)).isEqualTo(1);
        assertThat(member(1).local.gets()).isZero();
        assertThat(member(1).counters.refusals()).containsEntry(PeerRequest.FORBIDDEN, 1L);

        group.proof.text = "right"; // new credentials are used immediately
        member(0).local.readAll(ownedBy(member(1).node, member(0), 100_001));
        assertThat(member(1).local.gets()).isEqualTo(1);
    }

    @Test
    void read_overTheBandwidth_comesFromTheStore() throws Exception {
        FakeGroup.Member reader = group.join("node-0");
        FakeGroup.Member owner = group.join("node-1", TestNode.NAMESPACE, 1_000);
        reader.local.readAll(ownedBy(owner.node, reader, 100_000));
        reader.local.readAll(ownedBy(owner.node, reader, 100_001));
        assertThat(fallbacks(reader, Fallback.BUSY)).isEqualTo(1);
        assertThat(reader.counters.bytesHad.sum()).isEqualTo(100_000);
    }

    @Test
    void request_ofAnotherVersionOfTheProtocol_isAnsweredWithUnknown() throws Exception {
        join(1);
        URI other = URI.create("http://" + member(0).node.address() + "/penstock/share/2?namespace=x");
        try (HttpClient client = HttpClient.newHttpClient()) {
            int status = client.send(HttpRequest.newBuilder(other).build(), BodyHandlers.discarding())
                    .statusCode();
            assertThat(status).isEqualTo(PeerRequest.UNKNOWN);
        }
        assertThat(member(0).counters.refusals()).containsEntry(PeerRequest.UNKNOWN, 1L);
        assertThat(PeerRequest.PATH).isEqualTo("/penstock/share/1");
    }

    private FakeGroup.Member readerBeside(ScriptedServer server) throws Exception {
        FakeGroup.Member reader = group.join("node-0");
        group.joined(new GroupMember("scripted", GroupMember.address(server.address())));
        return reader;
    }

    private ObjectVersion scripted(ScriptedServer server, FakeGroup.Member reader, long size) {
        return ownedBy(new GroupMember("scripted", GroupMember.address(server.address())), reader, size);
    }

    private void readOnce(ScriptedServer.Script script, Fallback cause) throws Exception {
        try (ScriptedServer server = new ScriptedServer(script)) {
            FakeGroup.Member reader = readerBeside(server);
            reader.local.readAll(scripted(server, reader, 200_000));
            assertThat(server.requests).hasValue(1);
            assertThat(fallbacks(reader, cause)).isEqualTo(1);
            assertThat(reader.local.gets()).isEqualTo(1);
        }
    }

    @Test
    void read_ofAScriptedOwner_hasItsBytes() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, to) -> to.write(ScriptedServer.right(request)))) {
            FakeGroup.Member reader = readerBeside(server);
            for (int i = 0; i < 5; i++) {
                reader.local.readAll(scripted(server, reader, 200_000 + i));
                // The connection is returned after the last bytes have woken the reader.
                int answers = i + 1;
                await("the end of the exchange", () -> reader.counters.answersHad.sum() == answers);
            }
            assertThat(reader.local.gets()).isZero();
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void readahead_fromAnOwnerThatIsBusyAtFirst_asksNothingOfTheStore() throws Exception {
        AtomicInteger busy = new AtomicInteger(2);
        ScriptedServer.Script script = (request, to) ->
                to.write(busy.getAndDecrement() > 0 ? ScriptedServer.busy() : ScriptedServer.right(request));
        try (ScriptedServer server = new ScriptedServer(script)) {
            FakeGroup.Member reader = readerBeside(server);
            ObjectVersion file = scripted(server, reader, 200_000);
            readAhead(reader, file);
            reader.local.readAll(file);
            assertThat(server.requests).hasValue(3);
            assertThat(reader.local.gets()).isZero();
            assertThat(fallbacks(reader, Fallback.BUSY)).isZero();
        }
    }

    @Test
    void readahead_ownerStaysBusy_comesFromTheStoreOnceAwaited() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        ScriptedServer.Script script = (request, to) -> {
            asked.countDown();
            to.write(ScriptedServer.busy());
        };
        try (ScriptedServer server = new ScriptedServer(script);
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            FakeGroup.Member reader = readerBeside(server);
            ObjectVersion file = scripted(server, reader, 200_000);
            Future<Void> ahead = start(threads, () -> readAhead(reader, file));
            asked.await();
            reader.local.readAll(file);
            ahead.get();
            assertThat(reader.local.gets()).isEqualTo(1);
            assertThat(fallbacks(reader, Fallback.BUSY)).isEqualTo(1);
        }
    }

    private static void readAhead(FakeGroup.Member member, ObjectVersion file) throws InterruptedException {
        PageFetcher fetcher = member.local.fetcher;
        try (Warmup warmup = new Warmup(fetcher, new Pace(0, System::nanoTime), (version, outcome, why) -> {})) {
            warmup.bring(file);
            warmup.finish();
        }
    }

    @Test
    void read_whereTheOwnerHangs_comesFromTheStore() throws Exception {
        readOnce((request, to) -> {}, Fallback.TIMEOUT);
    }

    @Test
    void read_whereTheOwnerHangsWithinABody_comesFromTheStore() throws Exception {
        readOnce((request, to) -> to.write(ScriptedServer.right(request), 0, 150_000), Fallback.TIMEOUT);
    }

    @Test
    void read_ofAFlippedBit_comesFromTheStore() throws Exception {
        readOnce(
                (request, to) -> {
                    byte[] bytes = ScriptedServer.right(request);
                    bytes[150_000] ^= 4;
                    to.write(bytes);
                },
                Fallback.CORRUPT);
    }

    @Test
    void read_ofAnotherVersionWithRightChecksums_comesFromTheStore() throws Exception {
        readOnce(
                (request, to) -> {
                    ObjectVersion asked = request.version();
                    String etag = "\"" + "0".repeat(32) + "\"";
                    to.write(ScriptedServer.response(
                            request, new ObjectVersion(asked.key(), etag, asked.size(), asked.lastModified())));
                },
                Fallback.CORRUPT);
    }

    @Test
    void read_ofAnotherProtocol_comesFromTheStore() throws Exception {
        readOnce(
                (request, to) -> to.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".getBytes(US_ASCII)),
                Fallback.FOREIGN);
    }

    @Test
    void read_ofBrokenResponses_isNeverWrong() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, to) -> {})) {
            FakeGroup.Member reader = readerBeside(server);
            GroupMember node = new GroupMember("scripted", GroupMember.address(server.address()));
            ObjectVersion file = scripted(server, reader, 300_000);
            AtomicInteger runs = new AtomicInteger();
            Seeded.check(200, random -> {
                runs.incrementAndGet();
                server.script = (request, to) -> {
                    to.write(broken(ScriptedServer.right(request), random));
                    throw new IOException("the end");
                };
                group.changed(List.of(reader.node)); // resets its breaker
                group.changed(List.of(reader.node, node));
                Sink sink = new Sink((int) file.size());
                reader.requester.get(file, new ByteRange(0, file.size()), Urgency.DEMAND, sink);
                sink.verify(file);
            });
            assertThat(server.requests).hasValue(runs.get());
        }
    }

    /** Truncated, with a wrong byte, with surplus bytes, or no HTTP at all. */
    private static byte[] broken(byte[] right, RandomGenerator random) {
        switch (random.nextInt(4)) {
            case 0 -> {
                return Arrays.copyOf(right, random.nextInt(right.length));
            }
            case 1 -> right[random.nextInt(right.length)] ^= (byte) (1 + random.nextInt(255));
            case 2 -> {
                int at = random.nextInt(right.length);
                System.arraycopy(right, at, right, at / 2, right.length - at);
            }
            default -> random.nextBytes(right);
        }
        return right;
    }

    @Test
    void breaker_opensAfterFailuresInARow_andClosesAgain() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, to) -> {
            throw new IOException("closes the connection");
        })) {
            FakeGroup.Member reader = readerBeside(server);
            for (int i = 0; i < Breaker.FAILURES + 2; i++) {
                reader.local.readAll(scripted(server, reader, 100_000 + i));
            }
            assertThat(server.requests).hasValue(Breaker.FAILURES);
            assertThat(fallbacks(reader, Fallback.SKIPPED)).isEqualTo(2);
            GroupMember node = new GroupMember("scripted", GroupMember.address(server.address()));
            assertThat(reader.requester.isSkipped(node)).isTrue();

            server.script = (request, to) -> to.write(ScriptedServer.right(request));
            for (int i = 0; reader.counters.answersHad.sum() == 0; i++) {
                Thread.sleep(100);
                reader.local.readAll(scripted(server, reader, 200_000 + i));
            }
            assertThat(reader.requester.isSkipped(node)).isFalse();
        }
    }

    /** The owner's store may have failed. */
    @Test
    void breaker_ofResponsesThatBreakOffAfterRightBytes_staysClosed() throws Exception {
        int reads = Breaker.FAILURES + 2;
        try (ScriptedServer server = new ScriptedServer((request, to) -> {
            to.write(ScriptedServer.right(request), 0, 150_000);
            throw new IOException("breaks it off");
        })) {
            FakeGroup.Member reader = readerBeside(server);
            for (int i = 0; i < reads; i++) {
                reader.local.readAll(scripted(server, reader, 200_000 + i));
            }
            assertThat(server.requests).hasValue(reads);
            assertThat(fallbacks(reader, Fallback.UNREACHABLE)).isEqualTo(reads);
            assertThat(reader.counters.bytesHad.sum()).isEqualTo(2L * reads * Chunks.SIZE);
        }
    }

    @Test
    void close_endsAllConnections() throws Exception {
        try (ScriptedServer server = new ScriptedServer((request, to) -> to.write(ScriptedServer.right(request)))) {
            FakeGroup.Member reader = readerBeside(server);
            reader.local.readAll(scripted(server, reader, 200_000));
            assertThat(server.connections()).isEqualTo(1);
            reader.requester.close();
            await("the connection is closed", () -> server.connections() == 0);
        }
    }

    /** Accepts all bytes of an object. */
    private static final class Sink implements PeerSource.Sink {
        private final ByteBuffer buffer;
        int filled;
        volatile boolean interrupted;

        Sink(int size) {
            buffer = ByteBuffer.allocate(size);
        }

        @Override
        public boolean isAwaited() {
            return true;
        }

        @Override
        public ByteBuffer buffer() {
            return buffer;
        }

        @Override
        public void filled(int bytes) {
            filled += bytes;
            assertThat(buffer.position()).isEqualTo(filled);
        }

        void verify(ObjectVersion version) {
            TestData.of(version.key(), version.size())
                    .verify(0, buffer.duplicate().flip());
        }
    }
}
