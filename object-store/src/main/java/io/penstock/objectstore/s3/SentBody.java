package io.penstock.objectstore.s3;

import io.penstock.objectstore.Deadline;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.UploadBody;
import io.penstock.objectstore.http.ResponseHead;
import io.penstock.objectstore.s3.Gaps.Gap;
import io.penstock.objectstore.s3.S3Config.UploadChecksums;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * A body to send, with as many attempts as it takes and its checksum in the headers before it. An unknown checksum
 * costs a pass over the body: trailers would avoid it, but old servers refuse them. Confined to one thread.
 */
final class SentBody {
    private static final String CONTENT_TYPE = "application/octet-stream";

    private final UploadBody body;
    private final OptionalInt crc32c;
    private final @Nullable String md5;
    private @Nullable Exception failure;

    SentBody(UploadBody body, UploadChecksums checksums) throws IOException, InterruptedException {
        this.body = body;
        this.crc32c = checksums == UploadChecksums.CRC32C ? BodyChecksums.crc32c(body) : OptionalInt.empty();
        this.md5 =
                checksums == UploadChecksums.MD5 ? Base64.getEncoder().encodeToString(BodyChecksums.md5(body)) : null;
    }

    /** A request that sends a body. */
    @FunctionalInterface
    interface Sending<T> {
        T send(SentBody sent) throws ObjectStoreException, IOException, InterruptedException;
    }

    /** Sends the body with the configured checksum. If the store does not implement its header, sends an MD5. */
    static <T> T withChecksum(RequestExecutor requests, UploadBody body, Sending<T> sending)
            throws ObjectStoreException, IOException, InterruptedException {
        UploadChecksums set = requests.config.integrity().uploadChecksums();
        Gaps.Way<T, IOException> asSet = () -> sending.send(new SentBody(body, set));
        return set == UploadChecksums.CRC32C
                ? requests.gaps.go(Gap.CHECKSUMS, asSet, () -> sending.send(new SentBody(body, UploadChecksums.MD5)))
                : asSet.go();
    }

    /** Empty if another checksum is sent, or none. */
    OptionalInt crc32c() {
        return crc32c;
    }

    /** The value of {@code x-amz-checksum-crc32c}. */
    @Nullable
    String crc32cHeader() {
        return crc32c.isEmpty() ? null : BodyChecksums.encode(crc32c.getAsInt());
    }

    /** The value of {@code Content-MD5}. */
    @Nullable
    String md5Header() {
        return md5;
    }

    /**
     * Sends the body with a call and retries.
     *
     * @throws IOException thrown by reading the body
     */
    <T> T send(RequestExecutor requests, RetryState retryState, String subject, Attempt<T> attempt)
            throws ObjectStoreException, IOException, InterruptedException {
        RequestBody request = RequestBody.fromContentProvider(Bytes::new, body.length(), CONTENT_TYPE);
        Deadline.acquire(requests.sendPermits);
        try {
            return requests.change(subject, retryState, () -> attempt.send(request));
        } catch (RuntimeException | ObjectStoreException e) {
            throwIfUnreadable();
            throw e;
        } finally {
            requests.sendPermits.release();
        }
    }

    /**
     * Sends the body once, without the SDK.
     *
     * @param query see {@link DirectRequests#put}
     * @param headers in addition to those of the body; include its type if it is not plain bytes
     * @return null if the SDK must send it: the body has not arrived, or its fate is unknown
     * @throws IOException thrown by reading the body
     */
    @Nullable
    ResponseHead sendDirectly(
            @Nullable DirectRequests direct,
            RetryState retryState,
            String key,
            Map<String, String> query,
            Map<String, String> headers)
            throws IOException, InterruptedException {
        if (direct == null) {
            return null;
        }
        Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.put("Content-Type", CONTENT_TYPE);
        all.putAll(headers);
        if (crc32c.isPresent()) {
            all.put("x-amz-checksum-crc32c", BodyChecksums.encode(crc32c.getAsInt()));
        }
        if (md5 != null) {
            all.put("Content-MD5", md5);
        }
        try {
            return direct.put(retryState, key, query, all, this::read, body.length());
        } catch (RuntimeException e) {
            throwIfUnreadable();
            throw e;
        }
    }

    private void throwIfUnreadable() throws IOException, InterruptedException {
        switch (failure) {
            case null -> {}
            case InterruptedException e -> throw e;
            case IOException e -> throw e;
            default -> throw new IllegalStateException(failure);
        }
    }

    /** One attempt to send. */
    @FunctionalInterface
    interface Attempt<T> {
        T send(RequestBody body) throws ObjectStoreException, InterruptedException;
    }

    /** Reads with unchecked failures, because the SDK takes an IOException for a network failure and retries. */
    private void read(long offset, ByteBuffer target) {
        try {
            body.read(offset, target);
        } catch (IOException e) {
            failure = e;
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            failure = e;
            throw new UncheckedIOException(new InterruptedIOException("interrupted while the body was read"));
        }
    }

    /** The body as a stream from its first byte, for the SDK. */
    private final class Bytes extends InputStream {
        private long position;

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            int count = (int) Math.min(length, body.length() - position);
            if (count == 0) {
                return length == 0 ? 0 : -1;
            }
            SentBody.this.read(position, ByteBuffer.wrap(target, offset, count));
            position += count;
            return count;
        }
    }
}
