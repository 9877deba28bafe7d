package io.penstock.objectstore;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.nio.ByteBuffer;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * One range on its way into a sink, over as many requests as it takes: a body that breaks or stalls is resumed after
 * its last byte. Confined to one thread.
 */
final class RangeGet {
    private final ObjectVersion version;
    private final BodySink sink;
    private final Failures failures;
    private ByteRange rest;
    private boolean complete;

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
        check(body);
        while (true) {
            ByteBuffer target = sink.buffer();
            int wanted = (int) Math.min(target.remaining(), rest.length());
            int received = body.read(target, wanted);
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

    private void finish(ObjectBody body) throws ObjectStoreException {
        try {
            if (!body.finish()) {
                throw corrupt("the body goes on after its end");
            }
        } catch (IOException _) {
            // All bytes came before it broke; the connection is not used again.
        } catch (SdkException e) {
            throw failures.explainBrokenBody(version.key(), e);
        }
    }

    private void check(ObjectBody body) throws ObjectStoreException {
        String etag = body.eTag();
        if (etag != null && !etag.equals(version.etag())) {
            throw corrupt("the store ignored If-Match: it answered with version " + etag);
        }
        Long length = body.contentLength();
        if (length != null && length != rest.length()) {
            throw corrupt("%d bytes were asked for, %d come".formatted(rest.length(), length));
        }
        String range = body.contentRange();
        if (range != null && !range.startsWith("bytes " + rest.offset() + "-" + (rest.end() - 1))) {
            throw corrupt(rest.toHttpRange() + " was asked for, '" + range + "' comes");
        }
    }

    private ObjectStoreException corrupt(String why) {
        return new ObjectStoreException.Corrupt(failures.object(version.key()) + " came damaged: " + why, null);
    }
}
