package io.penstock.share;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cache.Urgency;
import io.penstock.objectstore.ObjectStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Breaker, bandwidth, timeouts and proofs, with the test's clock. */
class LimitsTest {
    private long now = 17;

    private void pass(Duration time) {
        now += time.toNanos();
    }

    @Test
    void breaker_afterFailuresInARow_letsOneRequestThroughEachPause() {
        Breaker breaker = new Breaker(() -> now);
        breaker.failed(now);
        breaker.failed(now);
        breaker.succeeded();
        breaker.failed(now);
        breaker.failed(now);
        assertThat(breaker.tryAsk()).isTrue();
        breaker.failed(now);
        assertThat(breaker.isOpen()).isTrue();
        assertThat(breaker.tryAsk()).isFalse();
        pass(Breaker.PAUSE);
        assertThat(breaker.tryAsk()).isTrue();
        assertThat(breaker.tryAsk()).as("while it is tried").isFalse();
        breaker.failed(now);
        assertThat(breaker.tryAsk()).isFalse();
        pass(Breaker.PAUSE.multipliedBy(2));
        assertThat(breaker.tryAsk()).isTrue();
        breaker.succeeded();
        assertThat(breaker.tryAsk()).isTrue();
        assertThat(breaker.isOpen()).isFalse();
    }

    @Test
    void breaker_requestsThatOneStallFails_countOnce() {
        Breaker breaker = new Breaker(() -> now);
        long begun = now;
        pass(Duration.ofSeconds(1));
        for (int i = 0; i < 10; i++) {
            breaker.failed(begun);
        }
        assertThat(breaker.isOpen()).isFalse();
        breaker.failed(now);
        breaker.failed(now);
        assertThat(breaker.isOpen()).isTrue();
    }

    @Test
    void breaker_repeatedFailures_pausesUpToAMinute_resetBySuccess() {
        Breaker breaker = new Breaker(() -> now);
        for (int seconds : new int[] {5, 10, 20, 40, 60, 60}) {
            for (int i = 0; i < Breaker.FAILURES; i++) { // also requests that were in flight
                breaker.failed(now);
            }
            pass(Duration.ofSeconds(seconds).minusNanos(1));
            assertThat(breaker.tryAsk()).as(seconds + " s").isFalse();
            pass(Duration.ofNanos(1));
            assertThat(breaker.tryAsk()).as(seconds + " s").isTrue();
        }
        breaker.succeeded();
        for (int i = 0; i < Breaker.FAILURES; i++) {
            breaker.failed(now);
        }
        pass(Breaker.PAUSE);
        assertThat(breaker.tryAsk()).isTrue();
    }

    @Test
    void bandwidth_usedUp_letsDemandWaitALittle_andReadaheadLess() throws Exception {
        Bandwidth bandwidth = new Bandwidth(1_000_000, () -> now);
        assertThat(bandwidth.reserve(200_000, Urgency.READAHEAD)).isZero();
        assertThat(bandwidth.reserve(1, Urgency.READAHEAD)).isNegative();
        assertThat(bandwidth.reserve(1_000_000, Urgency.DEMAND)).isEqualTo(TimeUnit.MILLISECONDS.toNanos(200));
        assertThat(bandwidth.reserve(1, Urgency.DEMAND)).isNegative();
        pass(Duration.ofMillis(1_200));
        assertThat(bandwidth.reserve(1, Urgency.READAHEAD)).isZero();
        Bandwidth unlimited = new Bandwidth(0, () -> now);
        assertThat(unlimited.pass(Long.MAX_VALUE, Urgency.READAHEAD)).isTrue();
        assertThat(unlimited.pass(Long.MAX_VALUE, Urgency.READAHEAD)).isTrue();
    }

    @Test
    void bandwidth_limitedLater_holdsFromThenOn() {
        Bandwidth bandwidth = new Bandwidth(0, () -> now);
        assertThat(bandwidth.reserve(1_000_000, Urgency.READAHEAD)).isZero();
        bandwidth.limit(1_000_000);
        assertThat(bandwidth.reserve(1_000_000, Urgency.READAHEAD)).isZero();
        assertThat(bandwidth.reserve(1, Urgency.READAHEAD)).isNegative();
        bandwidth.limit(0);
        assertThat(bandwidth.reserve(1, Urgency.READAHEAD)).isZero();
    }

    @Test
    void bandwidth_raised_doesNotWaitForWhatHasPassedAtTheOldRate() {
        Bandwidth bandwidth = new Bandwidth(1_000, () -> now);
        assertThat(bandwidth.reserve(1_000_000, Urgency.READAHEAD)).isZero();
        bandwidth.limit(1_000_000_000);
        assertThat(bandwidth.reserve(1, Urgency.READAHEAD)).isZero();
    }

    @Test
    void responseTimeout_startsLong_thenFollowsResponsesWithinBounds() {
        ResponseTimeout timeout = new ResponseTimeout();
        assertThat(timeout.get()).isEqualTo(ResponseTimeout.LONGEST);
        for (int i = 0; i < 100; i++) {
            timeout.responded(Duration.ofMillis(2).toNanos());
        }
        assertThat(timeout.get()).isEqualTo(ResponseTimeout.SHORTEST);
        for (int i = 0; i < 100; i++) {
            timeout.responded(Duration.ofMillis(i % 2 == 0 ? 500 : 900).toNanos());
        }
        assertThat(timeout.get()).isBetween(Duration.ofMillis(1_100), Duration.ofMillis(2_000));
        for (int i = 0; i < 100; i++) {
            timeout.responded(Duration.ofSeconds(20).toNanos());
        }
        assertThat(timeout.get()).isEqualTo(ResponseTimeout.LONGEST);
    }

    @Test
    void responseTimeout_afterTimeouts_grows() {
        ResponseTimeout timeout = new ResponseTimeout();
        for (int i = 0; i < 100; i++) {
            timeout.responded(Duration.ofMillis(100).toNanos());
        }
        timeout.timedOut(Duration.ofMillis(900).toNanos()); // the call's own deadline ended
        assertThat(timeout.get()).isEqualTo(ResponseTimeout.SHORTEST);
        for (int i = 0; i < 20; i++) {
            timeout.timedOut(timeout.get().toNanos());
        }
        assertThat(timeout.get()).isGreaterThan(Duration.ofSeconds(2));
    }

    @Test
    void proof_isAskedOnceInAWhileForEachNode() throws Exception {
        FakeProof bucket = new FakeProof();
        ProvenNodes nodes = new ProvenNodes(bucket, () -> now);
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
        assertThat(nodes.mayHave("a", "right", "another")).isTrue();
        assertThat(bucket.asked).hasValue(1);
        assertThat(nodes.mayHave("b", "right", "key")).isTrue();
        assertThat(bucket.asked).hasValue(2);
        pass(Duration.ofMinutes(10));
        bucket.accepts = false;
        assertThat(nodes.mayHave("a", "right", "key")).isFalse();
        assertThat(nodes.mayHave("a", "right", "key")).isFalse();
        assertThat(bucket.asked).hasValue(3);
        bucket.accepts = true;
        pass(Duration.ofSeconds(10));
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
    }

    @Test
    void proof_thatIsMissingOrOfOtherKeys_isRefusedWithoutAQuestion() throws Exception {
        FakeProof bucket = new FakeProof();
        ProvenNodes nodes = new ProvenNodes(bucket, () -> now);
        assertThat(nodes.mayHave("a", null, "key")).isFalse();
        assertThat(nodes.mayHave("a", "right", "elsewhere/key")).isFalse();
        assertThat(bucket.asked).hasValue(0);
    }

    @Test
    void proof_whereTheStoreCannotBeAsked_isAskedForAgainAfterASecond() throws Exception {
        FakeProof bucket = new FakeProof();
        ProvenNodes nodes = new ProvenNodes(bucket, () -> now);
        bucket.isUnreachable = true;
        assertThatThrownBy(() -> nodes.mayHave("a", "right", "key")).isInstanceOf(ObjectStoreException.class);
        bucket.isUnreachable = false;
        pass(Duration.ofSeconds(1).minusNanos(1));
        assertThatThrownBy(() -> nodes.mayHave("a", "right", "key")).isInstanceOf(ObjectStoreException.class);
        assertThat(bucket.asked).hasValue(1);
        pass(Duration.ofNanos(1));
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
        assertThat(bucket.asked).hasValue(2);
    }

    /** Requests that still use the old proof say nothing about the new one. */
    @Test
    void proof_refusedLate_isNotDroppedInPlaceOfANewerOne() throws Exception {
        FakeProof bucket = new FakeProof();
        OwnProof own = new OwnProof(bucket);
        String old = own.get();
        own.drop(old);
        bucket.text = "new";
        assertThat(own.get()).isEqualTo("new");
        bucket.text = "newest";
        own.drop(old);
        assertThat(own.get()).isEqualTo("new");
        own.drop("new");
        assertThat(own.get()).isEqualTo("newest");
    }

    @Test
    void proofs_thatAreOver_areForgottenWithTheNextNewOne() throws Exception {
        ProvenNodes nodes = new ProvenNodes(new FakeProof(), () -> now);
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
        assertThat(nodes.mayHave("a", "wrong", "key")).isFalse();
        pass(Duration.ofSeconds(10));
        assertThat(nodes.mayHave("b", "right", "key")).isTrue();
        assertThat(nodes.count()).isEqualTo(2);
    }

    /** One neighbor was proven before, and a third node is proven during the attack. */
    @Test
    void proofs_manyOfOneNode_areUncheckedAndKeepNobodyElseOut() throws Exception {
        FakeProof bucket = new FakeProof();
        ProvenNodes nodes = new ProvenNodes(bucket, () -> now);
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
        for (int i = 0; i < ProvenNodes.MOST_UNPROVEN; i++) {
            assertThat(nodes.mayHave("b", "wrong " + i, "key")).isFalse();
        }
        for (int i = 0; i < 20_000; i++) {
            String proof = "new " + i;
            assertThatThrownBy(() -> nodes.mayHave("b", proof, "key")).isInstanceOf(ProvenNodes.BusyException.class);
        }
        assertThat(bucket.asked).hasValue(1 + ProvenNodes.MOST_UNPROVEN);
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
        assertThat(nodes.mayHave("c", "right", "key")).isTrue();
        pass(Duration.ofSeconds(10));
        assertThat(nodes.mayHave("b", "right", "key")).isTrue();
    }

    @Test
    void proofs_ofMoreNodesThanAreRemembered_makeRoomForTheNext() throws Exception {
        FakeProof bucket = new FakeProof();
        ProvenNodes nodes = new ProvenNodes(bucket, () -> now);
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
        pass(Duration.ofSeconds(2));
        for (int i = 1; i < ProvenNodes.MOST_NAMES; i++) {
            assertThat(nodes.mayHave("stranger " + i, "wrong", "key")).isFalse();
        }
        pass(Duration.ofSeconds(2)); // the refusals last 10 s
        assertThat(nodes.mayHave("c", "right", "key")).isTrue();
        assertThat(nodes.count()).isEqualTo(2);
        assertThat(nodes.mayHave("a", "right", "key")).isTrue();
    }

    /** Checks of strangers wait for the store, and occupy all places. */
    @Test
    void proofs_whileTheStoreAnswersNone_fewAreAskedForAtATime() throws Exception {
        FakeProof bucket = new FakeProof();
        bucket.hangs = new CountDownLatch(1);
        ProvenNodes nodes = new ProvenNodes(bucket, System::nanoTime);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> hanging = new ArrayList<>();
            for (int i = 0; i < ProvenNodes.CHECKS; i++) {
                String node = "stranger " + i;
                hanging.add(threads.submit(() -> nodes.mayHave(node, "wrong", "key")));
            }
            TestNode.await("all places are taken", () -> bucket.asked.get() == ProvenNodes.CHECKS);
            assertThatThrownBy(() -> nodes.mayHave("honest", "right", "key"))
                    .isInstanceOf(ProvenNodes.BusyException.class);
            assertThat(bucket.asked).hasValue(ProvenNodes.CHECKS);
            bucket.hangs.countDown();
            for (Future<?> each : hanging) {
                each.get();
            }
            assertThat(nodes.mayHave("honest", "right", "key")).isTrue();
        }
    }
}
