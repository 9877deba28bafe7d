package io.penstock.objectstore.s3;

import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectDescription;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.OperationId;
import io.penstock.objectstore.StoredObject;
import io.penstock.objectstore.http.ResponseHead;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * An object according to the response to a HEAD.
 *
 * @param headers by their names, which are compared case-insensitively
 * @param isWhole whether no header can be missing: the SDK's HTTP client takes a connection's end for the headers' end
 * @param size {@link #lacksSize} for some stores until it is looked up
 * @param lastModified in whole seconds. HEAD has no finer time (RFC 9110, section 5.6.7), and a file must show the same
 *     time from HEAD and from a listing
 */
record ObjectHead(Map<String, String> headers, boolean isWhole, long size, Instant lastModified) {
    private static final long UNKNOWN = -1;

    private static final String CHECKSUM = "X-AMZ-CHECKSUM-";

    /** Says whether the checksum covers all bytes or the parts' checksums, which the checksum itself shows. */
    private static final String CHECKSUM_TYPE = CHECKSUM + "TYPE";

    static ObjectHead of(ResponseHead response) throws IOException {
        return of(response.headers(), true);
    }

    static ObjectHead of(HeadObjectResponse response) throws IOException {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        response.sdkHttpResponse().headers().forEach((name, values) -> headers.put(name, String.join(", ", values)));
        return of(headers, false);
    }

    /** @throws IOException if the time is missing */
    private static ObjectHead of(Map<String, String> headers, boolean isWhole) throws IOException {
        String length = headers.get("Content-Length");
        Instant time = ResponseValues.parseTime(headers.get("Last-Modified"));
        if (time == null) {
            throw new IOException("the response to a HEAD lacks the object's time");
        }
        long size = length == null ? UNKNOWN : ResponseHead.parseLength(length);
        return new ObjectHead(headers, isWhole, size, time.truncatedTo(ChronoUnit.SECONDS));
    }

    boolean lacksSize() {
        return size == UNKNOWN;
    }

    ObjectHead withSize(long bytes) {
        return new ObjectHead(headers, isWhole, bytes, lastModified);
    }

    @Nullable
    String header(String name) {
        return headers.get(name);
    }

    /** The entity tag, or {@link ResponseValues#NO_ETAG} if the store sends none. */
    String etag() {
        return ResponseValues.etag(header("ETag"));
    }

    /** The operation that made it; null if another program did. */
    @Nullable
    OperationId operation() {
        String text = header(OperationId.HEADER);
        return text == null ? null : new OperationId(text);
    }

    /** See {@link ObjectDescription}. */
    Instant date() {
        return ResponseValues.timeOf(header("Date"));
    }

    /** See {@link ObjectStore#checksums}. */
    SortedMap<String, String> checksums() {
        SortedMap<String, String> checksums = new TreeMap<>();
        headers.forEach((name, value) -> {
            String algorithm = name.toUpperCase(Locale.ROOT);
            if (algorithm.startsWith(CHECKSUM) && !algorithm.equals(CHECKSUM_TYPE)) {
                checksums.put(algorithm.substring(CHECKSUM.length()), value);
            }
        });
        return checksums;
    }

    boolean hasTags() {
        return !headers.getOrDefault("x-amz-tagging-count", "0").equals("0");
    }

    ObjectVersion version(String key) {
        return new ObjectVersion(key, etag(), size, lastModified);
    }

    StoredObject object(String key) {
        String storageClass = headers.getOrDefault("x-amz-storage-class", ResponseValues.DEFAULT_STORAGE_CLASS);
        return new StoredObject(version(key), storageClass.intern()); // few storage classes, very many objects
    }
}
