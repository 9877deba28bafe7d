package io.penstock.benchmarks;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ListPage;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** The ceiling of every write: the rate at which the mount's own S3 client sends from memory, without other work. */
final class RawPuts {
    private final ObjectStore store;

    RawPuts(ObjectStore store) {
        this.store = store;
    }

    /** Sends objects in parts, one part of each in turn, and completes them; an operation is a part. */
    Measurement parts(List<String> keys, long size, int partSize, int concurrency) throws Exception {
        Body body = new Body(partSize);
        MultipartUpload[] uploads = new MultipartUpload[keys.size()];
        int each = Math.toIntExact(size / partSize);
        UploadedPart[][] parts = new UploadedPart[uploads.length][each];
        long start = System.nanoTime();
        boolean completed = false;
        try {
            long[] _ = concurrently(uploads.length, uploads.length, i -> uploads[i] = store.createUpload(keys.get(i)));
            long[] nanos = concurrently(uploads.length * each, concurrency, i -> {
                int object = i % uploads.length;
                int part = i / uploads.length;
                parts[object][part] = store.uploadPart(uploads[object], part + 1, body);
            });
            long[] _ = concurrently(uploads.length, uploads.length, i -> {
                var _ = store.complete(uploads[i], List.of(parts[i]), WriteCondition.ALWAYS);
            });
            completed = true;
            return Measurement.of((long) uploads.length * each * partSize, System.nanoTime() - start, nanos);
        } finally {
            if (!completed) {
                abort(uploads);
            }
        }
    }

    private void abort(@Nullable MultipartUpload[] uploads) {
        for (MultipartUpload upload : uploads) {
            if (upload != null) {
                try {
                    store.abort(upload);
                } catch (ObjectStoreException | InterruptedException e) {
                    System.err.println("bench: the upload of " + upload.key() + " is left: " + e.getMessage());
                }
            }
        }
    }

    /** Sends whole objects; an operation is an object. */
    Measurement wholes(List<String> keys, int size, int concurrency) throws Exception {
        Body body = new Body(size);
        long start = System.nanoTime();
        long[] nanos = concurrently(keys.size(), concurrency, i -> {
            ObjectVersion _ = store.put(keys.get(i), body, WriteCondition.ALWAYS);
        });
        return Measurement.of((long) keys.size() * size, System.nanoTime() - start, nanos);
    }

    /** All objects below a prefix, by one request after another; not measured. */
    List<StoredObject> list(String prefix) throws Exception {
        List<StoredObject> objects = new ArrayList<>();
        ListRequest request = ListRequest.of(prefix, "");
        while (true) {
            ListPage page = store.list(request);
            objects.addAll(page.objects());
            String token = page.nextToken();
            if (token == null) {
                return objects;
            }
            request = request.next(token);
        }
    }

    /** Removes objects; not measured. */
    void remove(List<String> keys) throws Exception {
        concurrently(keys.size(), WriteRig.THREADS, i -> store.delete(keys.get(i)));
    }

    /** Runs so many operations, the next one whenever a lane is free; the nanoseconds of each. */
    static long[] concurrently(int count, int concurrency, Operation operation)
            throws ExecutionException, InterruptedException {
        long[] nanos = new long[count];
        AtomicInteger next = new AtomicInteger();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> lanes = new ArrayList<>();
            for (int lane = 0; lane < concurrency; lane++) {
                lanes.add(threads.submit(() -> {
                    for (int i; (i = next.getAndIncrement()) < count; ) {
                        long begun = System.nanoTime();
                        operation.run(i);
                        nanos[i] = System.nanoTime() - begun;
                    }
                    return null;
                }));
            }
            for (Future<?> lane : lanes) {
                lane.get();
            }
        }
        return nanos;
    }

    interface Operation {
        void run(int index) throws Exception;
    }

    /** The same bytes for all, and their checksum. */
    private static final class Body implements UploadBody {
        private final byte[] bytes;
        private final int crc32c;

        Body(int size) {
            bytes = RandomBytes.of("raw", 0, size);
            CRC32C crc = new CRC32C();
            crc.update(bytes);
            crc32c = (int) crc.getValue();
        }

        @Override
        public long length() {
            return bytes.length;
        }

        @Override
        public OptionalInt crc32c() {
            return OptionalInt.of(crc32c);
        }

        @Override
        public void read(long offset, ByteBuffer target) {
            target.put(bytes, Math.toIntExact(offset), target.remaining());
        }
    }
}
