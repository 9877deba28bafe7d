package io.penstock.metadata.attributes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.metadata.Directory;
import io.penstock.metadata.MetadataConfig;
import io.penstock.metadata.PreloadConfig;
import io.penstock.metadata.PreloadState;
import io.penstock.metadata.Tree;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.testing.Content;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.ManualClock;
import io.penstock.testing.RecordingObjectStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When directories are marked, and how long an answer about a marker is valid. */
@Timeout(60)
class DirectoryMarkersTest {
    private static final Duration TTL = Duration.ofSeconds(60);
    private static final Directory D = new Directory("d/");

    private final ManualClock clock = new ManualClock();
    private final InMemoryObjectStore bucket = new InMemoryObjectStore("bucket", clock, InMemoryObjectStore.Order.UTF8);
    private final DelayingObjectStore delays = new DelayingObjectStore(bucket);
    private final FaultyObjectStore faults = new FaultyObjectStore(delays);
    private final RecordingObjectStore store = new RecordingObjectStore(faults);
    private final Tree tree = new Tree(store, "", new MetadataConfig(TTL, TTL, 8000), clock::nanoTime);
    private final DirectoryMarkers markers = new DirectoryMarkers(store, tree, clock::nanoTime);

    @AfterEach
    void close() {
        markers.close();
        tree.close();
    }

    /** A call of a program, which a signal can interrupt. */
    private record Program<T>(Thread thread, FutureTask<T> call) {
        interface Work<T> {
            T run() throws Exception;
        }

        static <T> Program<T> start(Work<T> work) {
            FutureTask<T> call = new FutureTask<>(work::run);
            return new Program<>(Thread.ofPlatform().start(call), call);
        }

        void awaitWaitingOrEnded() {
            while (thread.getState() == Thread.State.NEW || thread.getState() == Thread.State.RUNNABLE) {
                Thread.onSpinWait();
            }
        }
    }

    private Program<Boolean> markBelow(Directory directory) {
        return Program.start(() -> {
            mark(directory);
            return true;
        });
    }

    private void mark(Directory directory) throws ObjectStoreException, InterruptedException {
        store.retries().forWriting().<Boolean, ObjectStoreException>callUnlessWithin(() -> {
            markers.markBelow(directory);
            return true;
        });
    }

    private static boolean isPut(Call call) {
        return call instanceof Call.Put;
    }

    @Test
    void markBelow_whileAnotherWaitsForTheStore_canBeInterrupted() throws Exception {
        try (Gate gate = delays.hold(DirectoryMarkersTest::isPut)) {
            Program<Boolean> first = markBelow(D);
            gate.awaitHeld(1);
            Program<Boolean> second = markBelow(D);
            second.awaitWaitingOrEnded();

            second.thread().interrupt();

            assertThatThrownBy(second.call()::get).hasCauseInstanceOf(InterruptedException.class);
            gate.open();
            assertThat(first.call().get()).isTrue();
        }
    }

    @Test
    void markBelow_whileAnotherDirectoryWaitsForTheStore_doesNotWait() throws Exception {
        try (Gate gate =
                delays.hold(call -> call instanceof Call.Put put && put.key().equals("d/"))) {
            Program<Boolean> first = markBelow(D);
            gate.awaitHeld(1);

            for (int i = 0; i < 1_000; i++) {
                mark(new Directory("d" + i + "/"));
            }

            gate.open();
            assertThat(first.call().get()).isTrue();
        }
    }

    @Test
    void markBelow_byManyAtOnce_asksOnce() throws Exception {
        List<Program<Boolean>> all = new ArrayList<>();
        try (Gate gate = delays.hold(DirectoryMarkersTest::isPut)) {
            all.add(markBelow(D));
            gate.awaitHeld(1);
            for (int i = 0; i < 8; i++) {
                all.add(markBelow(D));
                all.getLast().awaitWaitingOrEnded();
            }
        }
        for (Program<Boolean> each : all) {
            assertThat(each.call().get()).isTrue();
        }
        assertThat(store.drain()).hasSize(2); // a HEAD and a PUT
    }

    @Test
    void markBelow_whileAnotherWaitsForTheStore_endsByItsDeadline() throws Exception {
        Deadline deadline = new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(1)).forWriting();
        try (Gate gate = delays.hold(DirectoryMarkersTest::isPut)) {
            Program<Boolean> first = markBelow(D);
            gate.awaitHeld(1);

            assertThatThrownBy(() -> deadline.call(() -> {
                        mark(D);
                        return true;
                    }))
                    .isInstanceOf(ObjectStoreException.Unavailable.class)
                    .hasMessageContaining("'d/'")
                    .hasMessageContaining("write.retry-deadline");

            gate.open();
            assertThat(first.call().get()).isTrue();
        }
    }

    @Test
    void markBelow_refused_isTriedAgainAfterTheTtl() throws Exception {
        bucket.put("d/", Content.of(new byte[0]), properties("d/", ObjectAttributes.NONE.withPermissions(0700)));
        faults.always(Call.Copy.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertThatThrownBy(() -> mark(D)).isInstanceOf(ObjectStoreException.AccessDenied.class);
        store.drain();

        mark(D);

        assertThat(store.drain()).isEmpty();
        assertThat(markers.of(D).attributes().permissions()).isEqualTo(0700);
        clock.advance(TTL);
        assertThatThrownBy(() -> mark(D)).isInstanceOf(ObjectStoreException.AccessDenied.class);
    }

    /** As with expired credentials. */
    @Test
    void markBelow_theLookIsDeniedToo_leavesWhatIsKnown() throws Exception {
        bucket.put("d/", Content.of(new byte[0]), properties("d/", ObjectAttributes.NONE.withPermissions(0700)));
        assertThat(markers.of(D).attributes().permissions()).isEqualTo(0700);
        clock.advance(TTL);
        faults.always(_ -> true, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThatThrownBy(() -> mark(D)).isInstanceOf(ObjectStoreException.AccessDenied.class);

        assertThat(markers.of(D).isBelow()).isTrue();
        assertThat(markers.of(D).attributes().permissions()).isEqualTo(0700);
    }

    @Test
    void of_deniedAndNeverKnown_failsUnlessTheDirectoryCanBeListed() throws Exception {
        bucket.put("d/", Content.of(new byte[0]), properties("d/", ObjectAttributes.NONE.withPermissions(0700)));
        faults.always(_ -> true, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThatThrownBy(() -> markers.of(D)).isInstanceOf(ObjectStoreException.AccessDenied.class);
        assertThatThrownBy(() -> mark(D)).isInstanceOf(ObjectStoreException.AccessDenied.class);
        assertThatThrownBy(() -> markers.of(D)).isInstanceOf(ObjectStoreException.AccessDenied.class);

        faults.heal();
        assertThat(markers.of(D).attributes().permissions()).isEqualTo(0700);
    }

    /** As with expired credentials. */
    @Test
    void of_deniedLater_isWhatItWas() throws Exception {
        mark(D);
        clock.advance(TTL);
        faults.always(Call.Describe.class::isInstance, Fault.fail(ObjectStoreException.AccessDenied::new));

        assertThat(markers.of(D).isBelow()).isTrue();
        assertThat(markers.of(new Directory("other/")).isBelow()).isFalse();
    }

    @Test
    void of_anotherCallEndsThatWasAskedBefore_isStillShared() throws Exception {
        Gate first = delays.hold(Call.Describe.class::isInstance);
        Program<?> before = Program.start(() -> markers.of(D));
        first.awaitHeld(1);
        markers.doubt(D);
        try (Gate second = delays.hold(Call.Describe.class::isInstance)) {
            Program<?> now = Program.start(() -> markers.of(D));
            first.awaitHeld(2);
            first.open();
            second.awaitHeld(1);
            assertThat(before.call().get()).isNotNull();

            Program<?> joining = Program.start(() -> markers.of(D));
            joining.awaitWaitingOrEnded();
            second.open();

            assertThat(now.call().get()).isEqualTo(joining.call().get());
        }
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void of_whatAListingHasShown_countsFromItsTime() throws Exception {
        bucket.put("d/a", "1");
        assertThat(tree.list(D).await(0)).isTrue();
        clock.advance(TTL.dividedBy(2));
        assertThat(markers.of(D).isBelow()).isFalse();
        store.drain();
        clock.advance(TTL.dividedBy(2));

        assertThat(markers.of(D).isBelow()).isFalse();

        assertThat(store.drain()).hasSize(1);
    }

    @Test
    void of_whatTheStoreHasWhileTheBucketIsListed_isNotUndone() throws Exception {
        bucket.put("d/a", "1");
        PreloadConfig seldom = new PreloadConfig(PreloadConfig.Mode.ON, TTL.multipliedBy(100), 1 << 20, null);
        try (Tree whole = new Tree(store, "", new MetadataConfig(TTL, TTL, 4, seldom), clock::nanoTime);
                DirectoryMarkers inIt = new DirectoryMarkers(store, whole, clock::nanoTime);
                Gate gate = delays.holdAnswer(Call.List.class::isInstance)) {
            whole.preload();
            gate.awaitHeld(1);
            bucket.put("d/", Content.of(new byte[0]), properties("d/", ObjectAttributes.NONE.withPermissions(0700)));
            assertThat(inIt.of(D).attributes().permissions()).isEqualTo(0700);
            gate.open();
            while (!(whole.preloaded() instanceof PreloadState.Known)) {
                Thread.sleep(1);
            }
            clock.advance(TTL);

            assertThat(inIt.of(D).attributes().permissions()).isEqualTo(0700);
        }
    }

    @Test
    void attributesOf_inAMarkedDirectory_areAskedWithinOneDeadline() throws Exception {
        mark(D);
        ObjectVersion version = bucket.put(
                "d/a", Content.of(new byte[1]), properties("d/a", ObjectAttributes.NONE.withPermissions(0600)));
        clock.advance(TTL);
        store.drain();
        try (KeptAttributes kept = new KeptAttributes(store, markers, Keeping.KEEP, null)) {
            assertThat(kept.of(D, version).permissions()).isEqualTo(0600);
        }
        assertThat(store.deadlines()).hasSize(1);
        assertThat(store.drain()).hasSize(2);
    }

    @Test
    void attributesOf_doubtedWhileRequested_areRequestedAgain() throws Exception {
        mark(D);
        ObjectVersion version = putA(0600);
        try (KeptAttributes kept = new KeptAttributes(store, markers, Keeping.KEEP, null)) {
            Program<ObjectAttributes> before = askedBefore(kept, version, () -> {
                assertThat(putA(0640)).isEqualTo(version);
                kept.doubt("d/a");
            });

            assertThat(before.call().get().permissions()).isEqualTo(0600);
            assertThat(kept.of(D, version).permissions()).isEqualTo(0640);
        }
    }

    @Test
    void attributesOf_askedOfAnEarlierVersion_leaveThoseOfALater() throws Exception {
        mark(D);
        ObjectVersion version = putA(0600);
        try (KeptAttributes kept = new KeptAttributes(store, markers, Keeping.KEEP, null)) {
            List<ObjectVersion> later = new ArrayList<>();
            Program<ObjectAttributes> before = askedBefore(kept, version, () -> {
                clock.advance(Duration.ofSeconds(1));
                later.add(putA(0640));
                kept.set(later.getFirst(), ObjectAttributes.NONE.withPermissions(0640));
            });

            assertThat(before.call().get().permissions()).isEqualTo(0600);
            assertThat(kept.now(D, later.getFirst())).isEqualTo(ObjectAttributes.NONE.withPermissions(0640));
        }
    }

    /** A change. */
    private interface Change {
        void run() throws Exception;
    }

    /** A program whose response the store sent before the change, but that receives it afterwards. */
    private Program<ObjectAttributes> askedBefore(KeptAttributes kept, ObjectVersion version, Change change)
            throws Exception {
        try (Gate gate = delays.holdAnswer(call -> call.equals(new Call.Describe("d/a")))) {
            Program<ObjectAttributes> asking = Program.start(() -> kept.of(D, version));
            gate.awaitHeld(1);
            change.run();
            return asking;
        }
    }

    private ObjectVersion putA(int permissions) {
        return bucket.put(
                "d/a", Content.of(new byte[1]), properties("d/a", ObjectAttributes.NONE.withPermissions(permissions)));
    }

    private static ObjectProperties properties(String key, ObjectAttributes attributes) {
        return ObjectProperties.ofNew(key).with(AttributeHeaders.of(attributes));
    }
}
