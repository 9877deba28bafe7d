package io.penstock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class DecoratorsTest {
    private final InMemoryObjectStore memory = new InMemoryObjectStore();
    private final ObjectVersion version = memory.putTestData("key", 10_000);
    private final ByteRange range = new ByteRange(1000, 5000);
    private final CollectingSink sink = new CollectingSink(5000);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    @AfterEach
    void endThreads() {
        threads.shutdownNow();
        threads.close();
    }

    @Test
    void recording_anyCalls_areRememberedInOrder() throws Exception {
        RecordingObjectStore store = new RecordingObjectStore(memory);

        store.list(ListRequest.of("k", "/"));
        store.head("key");
        store.get(version, range, sink);

        assertThat(store.drain())
                .containsExactly(
                        new Call.List(ListRequest.of("k", "/")),
                        new Call.Head("key"),
                        new Call.Get("key", range, version.etag()));
        assertThat(store.calls()).isEmpty();
        assertThat(store.getsInFlight()).isZero();
    }

    @Test
    void recording_failedGet_isCountedAndNoLongerInFlight() throws Exception {
        RecordingObjectStore store = new RecordingObjectStore(memory);
        memory.delete("key");

        assertThatThrownBy(() -> store.get(version, range, sink)).isInstanceOf(ObjectStoreException.NotFound.class);

        assertThat(store.gets("key")).hasSize(1);
        assertThat(store.getsInFlight()).isZero();
    }

    @Test
    void gate_beforeTheRequest_holdsItUntilOpened() throws Exception {
        DelayingObjectStore store = new DelayingObjectStore(memory);
        Future<?> get;
        try (Gate gate = store.hold(call -> call.isGetOf("key"))) {
            get = start(store);
            gate.awaitHeld(1);
            assertThat(sink.bytes()).isEmpty();
            store.head("key");
        }
        get.get();
        assertThat(sink.bytes()).isEqualTo(TestData.of("key", 10_000).bytes(1000, 5000));
    }

    @Test
    void gate_withinTheBody_letsExactlySoManyBytesThrough() throws Exception {
        DelayingObjectStore store = new DelayingObjectStore(memory);
        List<Integer> lengths = new ArrayList<>();
        try (Gate gate = store.holdAfter(777, call -> call.isGetOf("key"))) {
            Future<?> get = start(store);
            gate.awaitHeld(1);
            lengths.add(sink.bytes().length);
            gate.advanceTo(4999);
            while (sink.bytes().length < 4999) {
                gate.awaitHeld(1);
            }
            lengths.add(sink.bytes().length);
            gate.open();
            get.get();
        }
        assertThat(lengths).containsExactly(777, 4999);
        assertThat(sink.bytes()).isEqualTo(TestData.of("key", 10_000).bytes(1000, 5000));
    }

    @Test
    void latency_onTheClock_passesOnlyWhenItIsMoved() throws Exception {
        ManualClock clock = new ManualClock();
        DelayingObjectStore store = new DelayingObjectStore(memory, clock, Duration.ofMillis(25));
        Future<?> get = start(store);
        clock.awaitSleepers(1);

        clock.advance(Duration.ofMillis(24));
        assertThat(sink.bytes()).isEmpty();
        clock.advance(Duration.ofMillis(1));

        get.get();
        assertThat(sink.bytes()).hasSize(5000);
    }

    @Test
    void fault_midwayInABody_deliversWhatComesBeforeIt() throws Exception {
        FaultyObjectStore store = new FaultyObjectStore(memory);
        store.next(call -> call.isGetOf("key"), new Fault.Fail(1234, ObjectStoreException.Unavailable::new));

        assertThatThrownBy(() -> store.get(version, range, sink)).isInstanceOf(ObjectStoreException.Unavailable.class);

        assertThat(sink.bytes()).isEqualTo(TestData.of("key", 10_000).bytes(1000, 1234));
        store.get(version, range, new CollectingSink(5000));
        assertThat(store.injected()).isOne();
    }

    @Test
    void fault_stall_endsByInterruptOrClose() throws Exception {
        FaultyObjectStore store = new FaultyObjectStore(memory);
        store.next(2, call -> call instanceof Call.Head, new Fault.Stall(0));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> store.head("key")).isInstanceOf(InterruptedException.class);

        Future<?> head = threads.submit(() -> store.head("key"));
        store.close();

        assertThatThrownBy(head::get).hasCauseInstanceOf(ObjectStoreException.Unavailable.class);
    }

    @Test
    void fault_random_followsFromItsSeed() {
        assertThat(failures(1)).isEqualTo(failures(1)).isNotEqualTo(failures(2)).contains(true, false);
    }

    @Test
    void seeded_failure_namesItsSeed() {
        assertThatThrownBy(() -> Seeded.check(
                        1000, random -> assertThat(random.nextInt(100)).isNotZero()))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("-Dpenstock.seed=");
    }

    private List<Boolean> failures(long seed) {
        FaultyObjectStore store = new FaultyObjectStore(memory);
        store.randomly(Seeded.random(seed), 0.3, _ -> Fault.fail(ObjectStoreException.Throttled::new));
        List<Boolean> failures = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            try {
                store.head("key");
                failures.add(false);
            } catch (ObjectStoreException.Throttled e) {
                failures.add(true);
            } catch (ObjectStoreException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }
        return failures;
    }

    private Future<?> start(ObjectStore store) {
        return threads.submit(() -> {
            store.get(version, range, sink);
            return null;
        });
    }
}
