package io.penstock.benchmarks;

import io.penstock.objectstore.MultipartUpload;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.UploadedPart;
import io.penstock.objectstore.WriteCondition;
import io.penstock.tools.measure.Measurement;
import io.penstock.tools.measure.Workers;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalInt;
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
            Measurement _ = Workers.REQUESTS.run(
                    uploads.length, uploads.length, (i, _) -> uploads[i] = store.createUpload(keys.get(i)));
            Measurement sent = Workers.REQUESTS.run(concurrency, uploads.length * each, (i, _) -> {
                int object = i % uploads.length;
                int part = i / uploads.length;
                parts[object][part] = store.uploadPart(uploads[object], part + 1, body);
            });
            Measurement _ = Workers.REQUESTS.run(uploads.length, uploads.length, (i, _) -> {
                var _ = store.complete(uploads[i], List.of(parts[i]), WriteCondition.ALWAYS);
            });
            completed = true;
            return new Measurement(
                    (long) uploads.length * each * partSize,
                    sent.operations(),
                    System.nanoTime() - start,
                    sent.p50Nanos(),
                    sent.p99Nanos());
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
        return Workers.REQUESTS
                .run(concurrency, keys.size(), (i, _) -> store.put(keys.get(i), body, WriteCondition.ALWAYS))
                .withBytes((long) keys.size() * size);
    }

    /** Removes objects; not measured. */
    void remove(List<String> keys) throws Exception {
        Measurement _ = Workers.REQUESTS.run(WriteRig.THREADS, keys.size(), (i, _) -> store.delete(keys.get(i)));
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
