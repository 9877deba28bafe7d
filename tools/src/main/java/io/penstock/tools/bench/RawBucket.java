package io.penstock.tools.bench;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.RangeMeasurement;
import io.penstock.tools.measure.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** The ceilings of a bucket: requests of a mount's S3 client, from and to memory. For a single use by one thread. */
final class RawBucket {
    /** The number of parts uploaded concurrently. */
    static final int UPLOADS = 16;

    /** The number of small objects read concurrently: a mount reads them ahead, so it is more than programs open. */
    private static final int GETS = 64;

    private static final int WARM_UPS = 64;
    private static final int WARM_UP_BYTES = 64 << 10;

    private final ObjectStore store;
    private final String prefix;
    private final Workload workload;
    private final BenchData data;

    private @Nullable ObjectVersion large;
    private List<ObjectVersion> small = List.of();

    /** @param prefix the prefix of all objects that the run creates, ending with a slash */
    RawBucket(ObjectStore store, String prefix, Workload workload, BenchData data) {
        this.store = store;
        this.prefix = prefix;
        this.workload = workload;
        this.data = data;
    }

    /** @throws RefusedException if objects cannot be written and deleted; it names the missing right */
    void requireWritable() throws RefusedException, ObjectStoreException, IOException, InterruptedException {
        String key = prefix + "probe";
        try {
            ObjectVersion _ = store.put(key, data.body(0, 1), WriteCondition.ALWAYS);
        } catch (ObjectStoreException.AccessDenied e) {
            throw new RefusedException(refusal("s3:PutObject", e));
        }
        try {
            store.delete(key);
        } catch (ObjectStoreException.AccessDenied e) {
            throw new RefusedException(
                    refusal("s3:DeleteObject", e) + "; remove the object '" + key + "', which was left behind");
        }
    }

    private String refusal(String action, ObjectStoreException.AccessDenied e) {
        return "the benchmark writes to the bucket and needs " + action + " below '" + prefix + "': " + e.getMessage()
                + ". penstock doctor " + store.bucket() + " measures without writing";
    }

    /** Lets the JVM compile the measured code, and opens connections. */
    void warmUp() throws ObjectStoreException, IOException, RefusedException, InterruptedException {
        UploadBody body = data.body(0, WARM_UP_BYTES);
        Measurement _ = Workers.REQUESTS.run(UPLOADS, WARM_UPS, workload.limit(), WARM_UP_BYTES, (number, buffer) -> {
            ObjectVersion sent = store.put(prefix + "warm-" + number, body, WriteCondition.ALWAYS);
            store.get(sent, new ByteRange(0, WARM_UP_BYTES), new Into(buffer));
        });
    }

    /** Sends the large object in parts of one size, as many as the time limit allows. */
    Measurement upload(long partSize) throws ObjectStoreException, IOException, RefusedException, InterruptedException {
        long length = Math.min(partSize, workload.largeBytes());
        UploadBody body = data.body(BenchData.LARGE, length);
        Queue<UploadedPart> parts = new ConcurrentLinkedQueue<>();
        long began = System.nanoTime();
        MultipartUpload upload = store.createUpload(prefix + "large");
        try {
            int most = Math.toIntExact(Math.min(workload.largeBytes() / length, UploadedPart.MAX_NUMBER));
            Measurement _ = Workers.REQUESTS.run(
                    UPLOADS,
                    most,
                    workload.limit(),
                    0,
                    (number, _) -> parts.add(store.uploadPart(upload, number + 1, body)));
            List<UploadedPart> inOrder = parts.stream()
                    .sorted(Comparator.comparingInt(UploadedPart::number))
                    .toList();
            large = store.complete(upload, inOrder, WriteCondition.ALWAYS);
        } finally {
            if (large == null) {
                store.abort(upload);
            }
        }
        return Measurement.ofWhole(largeBytes(), System.nanoTime() - began);
    }

    /** The size of the large object. */
    long largeBytes() {
        return large().size();
    }

    private ObjectVersion large() {
        return Objects.requireNonNull(large, "the large object is not uploaded");
    }

    /**
     * Range GETs of the large object.
     *
     * @param rangeBytes the most bytes of one GET
     */
    RangeMeasurement ranges(long rangeBytes, Duration time) {
        return new RangeMeasurement(store, large(), Math.min(rangeBytes, largeBytes()), time);
    }

    /** Sends small objects, as many concurrently as small files are written. */
    Measurement putSmall() throws ObjectStoreException, IOException, RefusedException, InterruptedException {
        UploadBody body = data.body(0, workload.smallBytes());
        ObjectVersion[] sent = new ObjectVersion[workload.smallFiles()];
        Measurement outcome = Workers.REQUESTS.run(
                workload.threads(),
                sent.length,
                workload.limit(),
                0,
                (number, _) ->
                        sent[number] = store.put(prefix + "small-%05d".formatted(number), body, WriteCondition.ALWAYS));
        small = Arrays.asList(sent).subList(0, (int) outcome.operations());
        return outcome;
    }

    /** Reads each small object whole. */
    Measurement getSmall() throws ObjectStoreException, IOException, RefusedException, InterruptedException {
        Measurement outcome =
                Workers.REQUESTS.run(GETS, small.size(), workload.limit(), workload.smallBytes(), (number, buffer) -> {
                    ObjectVersion object = small.get(number);
                    store.get(object, new ByteRange(0, object.size()), new Into(buffer));
                    data.check(object.key(), 0, 0, buffer.flip());
                });
        return outcome;
    }

    /** Removes everything below the prefix, including objects of other programs. */
    void remove() throws ObjectStoreException, InterruptedException {
        List<StoredObject> found = store.list(ListRequest.of(prefix, "")).objects();
        while (!found.isEmpty()) {
            for (ObjectVersion newer :
                    store.deleteAll(found.stream().map(StoredObject::version).toList())) {
                store.delete(newer.key());
            }
            found = store.list(ListRequest.of(prefix, "")).objects();
        }
    }

    /** Fills a buffer. */
    private record Into(ByteBuffer buffer) implements BodySink {
        @Override
        public void filled(int bytes) {}
    }
}
