package io.penstock.tools.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.settings.process.RefusedException;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RawBucketTest {
    private static final String PREFIX = "a/.penstock/bench-1/";
    private static final int MIB = 1 << 20;
    private static final Workload WORKLOAD = new Workload(20 * MIB, 7, 1000, 3, Duration.ofDays(1));

    private final InMemoryObjectStore memory = new InMemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final BenchData data = new BenchData(1);
    private final RawBucket bucket = new RawBucket(store, PREFIX, WORKLOAD, data);

    @BeforeEach
    void fill() throws Exception {
        memory.put("a/first", "content");
        memory.put("a/.penstock/bench-2/large", "another run's");
    }

    private List<String> keys(String prefix) throws Exception {
        return memory.list(ListRequest.of(prefix, "")).objects().stream()
                .map(StoredObject::version)
                .map(version -> version.key())
                .toList();
    }

    private void assertNothingLeft() throws Exception {
        assertThat(keys("")).containsExactlyInAnyOrder("a/first", "a/.penstock/bench-2/large");
        assertThat(memory.openUploads()).isEmpty();
    }

    @Test
    void all_wholeParts_areSentReadAndRemoved() throws Exception {
        bucket.requireWritable();
        bucket.warmUp();

        assertThat(bucket.upload(8 * MIB).bytes()).isEqualTo(16 * MIB);
        assertThat(bucket.largeBytes()).isEqualTo(16 * MIB);
        assertThat(bucket.putSmall().operations()).isEqualTo(7);
        assertThat(bucket.getSmall().operations()).isEqualTo(7);
        assertThat(bucket.ranges(8 * MIB, Duration.ofMillis(20)).at(2).mib()).isPositive();
        assertThat(keys(PREFIX + "small-")).hasSize(7);

        bucket.remove();
        assertNothingLeft();
    }

    @Test
    void upload_smallerThanAPart_isOnePart() throws Exception {
        bucket.upload(64 * MIB);
        assertThat(bucket.largeBytes()).isEqualTo(20 * MIB);
    }

    @Test
    void upload_interrupted_isAborted() throws Exception {
        DelayingObjectStore delaying = new DelayingObjectStore(memory);
        try (Gate gate = delaying.hold(call -> call instanceof Call.UploadPart)) {
            Thread caller = Thread.currentThread();
            Thread.startVirtualThread(() -> {
                try {
                    gate.awaitHeld(1);
                    caller.interrupt();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThatThrownBy(() -> new RawBucket(delaying, PREFIX, WORKLOAD, data).upload(8 * MIB))
                    .isInstanceOf(InterruptedException.class);
        }
        assertNothingLeft();
    }

    @Test
    void upload_fails_isAborted() throws Exception {
        store.always(call -> call instanceof Call.UploadPart, Fault.fail(ObjectStoreException.QuotaExceeded::new));
        assertThatThrownBy(() -> bucket.upload(8 * MIB)).isInstanceOf(ObjectStoreException.QuotaExceeded.class);
        assertNothingLeft();
    }

    @Test
    void getSmall_otherBytes_areNoticed() throws Exception {
        InMemoryObjectStore unversioned = InMemoryObjectStore.withOneEtag(InstantSource.system());
        RawBucket raw = new RawBucket(unversioned, PREFIX, WORKLOAD, data);
        raw.putSmall();
        unversioned.put(PREFIX + "small-00004", new byte[WORKLOAD.smallBytes()]);

        assertThatThrownBy(raw::getSmall)
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith(PREFIX + "small-00004: the bytes read differ from those written");
    }

    @Test
    void requireWritable_noPutAllowed_namesTheRight() throws Exception {
        store.always(call -> call instanceof Call.Put, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertThatThrownBy(bucket::requireWritable)
                .isInstanceOf(RefusedException.class)
                .hasMessageStartingWith("the benchmark writes to the bucket and needs s3:PutObject below '" + PREFIX);
        assertNothingLeft();
    }

    @Test
    void requireWritable_noDeleteAllowed_namesWhatStays() {
        store.always(call -> call instanceof Call.Delete, Fault.fail(ObjectStoreException.AccessDenied::new));
        assertThatThrownBy(bucket::requireWritable)
                .isInstanceOf(RefusedException.class)
                .hasMessageContaining("needs s3:DeleteObject")
                .hasMessageEndingWith("remove the object '" + PREFIX + "probe', which was left behind");
    }
}
