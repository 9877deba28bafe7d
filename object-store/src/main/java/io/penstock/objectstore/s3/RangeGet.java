package io.penstock.objectstore.s3;

import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BodySink;
import io.penstock.objectstore.ObjectStoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads one range into a sink, with as many requests as it takes: a body that breaks or stalls is resumed after its
 * last byte. Confined to one thread.
 */
final class RangeGet {
    /** The end of a {@code Content-Range}: the size of the whole object. */
    private static final Pattern SIZE = Pattern.compile("(?i)bytes [0-9]+-[0-9]+/([0-9]{1,18})");

    private final ObjectVersion version;
    private final BodySink sink;
    private final ErrorMapper errors;
    private ByteRange remaining;
    private boolean complete;

    RangeGet(ObjectVersion version, ByteRange range, BodySink sink, ErrorMapper errors) {
        this.version = version;
        this.remaining = range;
        this.sink = sink;
        this.errors = errors;
    }

    /** The part of the range that has not been received. */
    ByteRange remaining() {
        return remaining;
    }

    boolean isComplete() {
        return complete;
    }

    /**
     * Moves a body into the sink. The body must begin where {@link #remaining} does.
     *
     * @throws IOException if the body breaks; {@link #remaining} is then the missing range
     * @throws DamagedBodyException if its checksum does not match
     */
    void receive(ObjectBody body) throws IOException, ObjectStoreException, InterruptedException {
        check(body);
        while (!complete) {
            ByteBuffer target = sink.buffer();
            int start = target.position();
            boolean taken = false;
            try {
                int received = receive(body, target);
                complete = received == remaining.length();
                sink.filled(received);
                remaining = complete ? remaining : remaining.skip(received);
                taken = true;
            } finally {
                if (!taken) {
                    target.position(start); // unchanged: the sink may return it again
                }
            }
        }
    }

    /**
     * Reads a body with a checksum until the buffer is full, and passes its last bytes on only after the checksum
     * matches. If the object fits one buffer, the sink gets no wrong byte. Otherwise damage is found at the end of the
     * body. It is not found if the body breaks after the first buffer, because the rest is not a whole object.
     */
    private int receive(ObjectBody body, ByteBuffer target) throws IOException, ObjectStoreException {
        int wanted = (int) Math.min(target.remaining(), remaining.length());
        int received = 0;
        do {
            int more = body.read(target, wanted - received);
            if (more < 0) {
                throw new IOException("the body ended " + (remaining.length() - received) + " bytes early");
            }
            received += more;
        } while (body.isChecked() && received < wanted);
        if (received == remaining.length()) {
            finish(body);
        }
        return received;
    }

    private void finish(ObjectBody body) throws IOException, ObjectStoreException {
        try {
            if (!body.finish()) {
                throw corrupt("the body continues after its end");
            }
        } catch (IOException e) {
            if (body.isChecked()) {
                throw e;
            }
            // All bytes came before it broke; the connection is not used again.
        }
    }

    private void check(ObjectBody body) throws ObjectStoreException {
        String etag = ResponseValues.etag(body.eTag());
        if (!etag.equals(version.etag()) && !version.etag().equals(ResponseValues.NO_ETAG)) {
            throw corrupt(
                    etag.equals(ResponseValues.NO_ETAG)
                            ? "the response has no ETag, so the version that the store sent is unknown"
                            : "the store ignored If-Match and sent version " + etag);
        }
        if (!version.hasContentEtag()) {
            Instant modified = body.lastModified();
            if (modified != null
                    && modified.getEpochSecond() != version.lastModified().getEpochSecond()) {
                throw new ObjectStoreException.PreconditionFailed(
                        errors.object(version.key()) + " was changed by another client", null);
            }
        }
        Long length = body.contentLength();
        checkSize(body.contentRange(), length);
        if (length != null && length != remaining.length()) {
            throw corrupt("%d bytes were requested, %d were sent".formatted(remaining.length(), length));
        }
        String range = body.contentRange();
        if (range != null && !isRange(range, remaining, version.size())) {
            throw corrupt(remaining.toHttpRange() + " was requested, '" + range + "' was sent");
        }
    }

    /**
     * The object's own response takes precedence over the listing's size, which in some gateways is that of the stored
     * bytes. The name is then looked up again.
     */
    private void checkSize(@Nullable String range, @Nullable Long length) throws ObjectStoreException {
        Matcher whole = SIZE.matcher(range == null ? "" : range);
        long sent = range == null && length != null && remaining.length() == version.size() ? length : version.size();
        long size = whole.matches() ? Long.parseLong(whole.group(1)) : sent;
        if (size != version.size()) {
            throw new ObjectStoreException.PreconditionFailed(
                    errors.object(version.key()) + " has " + size + " bytes, not " + version.size() + "; open it again",
                    null);
        }
    }

    /** Whether a {@code Content-Range} (RFC 9110, section 14.4) is this range of an object of {@code size} bytes. */
    static boolean isRange(String contentRange, ByteRange range, long size) {
        String wanted = "bytes " + range.offset() + "-" + (range.end() - 1) + "/";
        return contentRange.equalsIgnoreCase(wanted + size) || contentRange.equalsIgnoreCase(wanted + "*");
    }

    private ObjectStoreException corrupt(String why) {
        return new ObjectStoreException.Corrupt(errors.object(version.key()) + " arrived damaged: " + why, null);
    }
}
