package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * One range on its way into a sink, over as many requests as it takes: a body that breaks or stalls is resumed after
 * its last byte. Confined to one thread.
 */
final class RangeGet {
    /**
     * Bytes moved at once where the sink's memory is off the heap, which the SDK's streams cannot fill: enough to make
     * calls rare, few enough to stay in a core's cache between the two copies.
     */
    private static final int CHUNK = 128 << 10;

    private final ObjectVersion version;
    private final BodySink sink;
    private final Failures failures;
    private ByteRange rest;
    private boolean complete;
    private byte[] chunk = new byte[0];

    RangeGet(ObjectVersion version, ByteRange range, BodySink sink, Failures failures) {
        this.version = version;
        this.rest = range;
        this.sink = sink;
        this.failures = failures;
    }

    /** What is still to be asked for. */
    ByteRange rest() {
        return rest;
    }

    boolean isComplete() {
        return complete;
    }

    /**
     * Moves a body into the sink; it must begin where {@link #rest} does.
     *
     * @throws IOException if it breaks, after which {@link #rest} tells what is missing
     */
    void receive(ObjectBody body) throws IOException, ObjectStoreException, InterruptedException {
        check(body.response());
        while (true) {
            ByteBuffer target = sink.buffer();
            int wanted = (int) Math.min(target.remaining(), rest.length());
            int received = read(body, target, wanted);
            if (received < 0) {
                throw new IOException("the body ended " + rest.length() + " bytes early");
            }
            sink.filled(received);
            if (received == rest.length()) {
                break;
            }
            rest = rest.skip(received);
        }
        complete = true;
        finish(body);
    }

    /** Reads on to the stream's end, where the SDK compares checksums and takes the connection back for others. */
    private void finish(ObjectBody body) throws ObjectStoreException {
        try (InputStream stream = body.stream()) {
            if (stream.read() >= 0) {
                throw corrupt("the body goes on after its end");
            }
        } catch (IOException _) {
            // All bytes came before it broke; the connection is not used again.
        } catch (SdkException e) {
            throw failures.explainBrokenBody(version.key(), e);
        }
    }

    private int read(ObjectBody body, ByteBuffer target, int wanted) throws IOException {
        if (target.hasArray()) {
            int received = body.read(target.array(), target.arrayOffset() + target.position(), wanted);
            if (received > 0) {
                target.position(target.position() + received);
            }
            return received;
        }
        if (chunk.length == 0) {
            chunk = new byte[(int) Math.min(CHUNK, rest.length())];
        }
        int received = body.read(chunk, 0, Math.min(chunk.length, wanted));
        if (received > 0) {
            target.put(chunk, 0, received);
        }
        return received;
    }

    private void check(GetObjectResponse response) throws ObjectStoreException {
        if (response.eTag() != null && !response.eTag().equals(version.etag())) {
            throw corrupt("the store ignored If-Match: it answered with version " + response.eTag());
        }
        if (response.contentLength() != null && response.contentLength() != rest.length()) {
            throw corrupt("%d bytes were asked for, %d come".formatted(rest.length(), response.contentLength()));
        }
        String range = response.contentRange();
        if (range != null && !range.startsWith("bytes " + rest.offset() + "-" + (rest.end() - 1))) {
            throw corrupt(rest.toHttpRange() + " was asked for, '" + range + "' comes");
        }
    }

    private ObjectStoreException corrupt(String why) {
        return new ObjectStoreException.Corrupt(failures.object(version.key()) + " came damaged: " + why, null);
    }
}
