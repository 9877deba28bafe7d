package io.penstock.share;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.cache.Urgency;
import io.penstock.core.ByteRange;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.BucketProof;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a node asks another for: a GET of {@link #PATH} with these in its query. The response is {@link #OK} with the
 * {@link Chunks} of the range, or a status without a body.
 *
 * @param namespace of the bucket
 * @param range within the object, {@link OwnedSlabs#SIZE} bytes at most
 * @param urgency of the node's reader or its readahead; {@link Urgency#LATER} is of claims alone
 */
record PeerRequest(String namespace, ObjectVersion version, ByteRange range, Urgency urgency) {
    /** Has the version of the protocol. */
    static final String PATH = "/penstock/share/1";

    /** The header with the node's {@link BucketProof}. */
    static final String PROOF = "Penstock-Proof";

    /** The header of a response that says of which version of the object its bytes are. */
    static final String IDENTITY = "Penstock-Identity";

    static final int OK = 206;
    static final int MALFORMED = 400;
    static final int FORBIDDEN = 403;

    /** Of {@link #PATH}: another version of the protocol. */
    static final int UNKNOWN = 404;

    /** The store has another version of the object. */
    static final int OTHER_VERSION = 412;

    static final int OTHER_BUCKET = 421;
    static final int STORE_FAILED = 502;
    static final int BUSY = 503;

    PeerRequest {
        if (range.length() > OwnedSlabs.SIZE
                || range.end() > version.size()
                || version.size() > ObjectVersion.LARGEST) {
            throw new IllegalArgumentException(range + " of " + version.size() + " bytes");
        }
        if (urgency == Urgency.LATER) {
            throw new IllegalArgumentException("unknown urgency: " + urgency);
        }
    }

    /** Path and query. */
    String target() {
        return PATH + "?namespace=" + encode(namespace) + "&key=" + encode(version.key()) + "&etag="
                + encode(version.etag()) + "&size=" + version.size() + "&modified="
                + encode("" + version.lastModified())
                + "&from=" + range.offset() + "&length=" + range.length() + "&urgency=" + urgency;
    }

    /**
     * @param query as it was sent
     * @throws IllegalArgumentException if it is none
     */
    static PeerRequest parse(@Nullable String query) {
        Map<String, String> fields = new HashMap<>();
        for (String field : query == null ? new String[0] : query.split("&", -1)) {
            int equals = field.indexOf('=');
            if (equals < 0 || fields.put(field.substring(0, equals), decode(field.substring(equals + 1))) != null) {
                throw new IllegalArgumentException("unknown or duplicate field: " + field);
            }
        }
        try {
            ObjectVersion version = new ObjectVersion(
                    of(fields, "key"),
                    of(fields, "etag"),
                    number(fields, "size"),
                    Instant.parse(of(fields, "modified")));
            ByteRange range = new ByteRange(number(fields, "from"), number(fields, "length"));
            return new PeerRequest(of(fields, "namespace"), version, range, Urgency.valueOf(of(fields, "urgency")));
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static String of(Map<String, String> fields, String name) {
        String value = fields.get(name);
        if (value == null) {
            throw new IllegalArgumentException("no " + name);
        }
        return value;
    }

    private static long number(Map<String, String> fields, String name) {
        return Long.parseLong(of(fields, name));
    }

    static String encode(String text) {
        return URLEncoder.encode(text, UTF_8);
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, UTF_8);
    }
}
