package io.penstock.objectstore.s3;

import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.SdkResponse;

/** Values of responses that a server may omit, in the form in which Penstock keeps them. */
final class ResponseValues {
    /** The storage class of an object whose response names none. */
    static final String DEFAULT_STORAGE_CLASS = "STANDARD";

    /** Replaces an entity tag that the server omits (S3Proxy does for directory markers). No request carries it. */
    static final String NO_ETAG = "\"\"";

    private static final String WEAK = "W/";

    private ResponseValues() {}

    /**
     * The entity tag, or {@link #NO_ETAG} if the response has none. Proxies that may encode bodies make tags weak (RFC
     * 9110, section 8.8.1): the opaque part is the store's and identifies the same version.
     */
    static String etag(@Nullable String received) {
        if (received == null || received.isEmpty()) {
            return NO_ETAG;
        }
        return received.startsWith(WEAK) ? received.substring(WEAK.length()) : received;
    }

    /** Whether a response has an entity tag that was not cut off after its first quote. */
    static boolean isWhole(@Nullable String received) {
        return received != null
                && !received.isEmpty()
                && (received.indexOf('"') < received.lastIndexOf('"') || received.indexOf('"') < 0);
    }

    /** When the store made this response; this machine's time if the response has no date. */
    static Instant timeOf(SdkResponse response) {
        return timeOf(response.sdkHttpResponse().firstMatchingHeader("Date").orElse(null));
    }

    /** The time in a {@code Date} header; this machine's time if there is no such header or it holds no time. */
    static Instant timeOf(@Nullable String date) {
        Instant time = parseTime(date);
        return time == null ? Instant.now() : time;
    }

    /** Null if the header is missing or holds no time. */
    static @Nullable Instant parseTime(@Nullable String date) {
        try {
            return date == null ? null : DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from);
        } catch (DateTimeParseException _) {
            return null;
        }
    }
}
