package io.penstock.objectstore;

import io.penstock.core.ObjectVersion;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * What a store says of an object in the response to a HEAD.
 *
 * @param headers by their names, which are compared without regard to case
 */
record ObjectHead(Map<String, String> headers) {

    static ObjectHead of(ResponseHead response) throws IOException {
        return new ObjectHead(response.headers()).complete();
    }

    static ObjectHead of(HeadObjectResponse response) throws IOException {
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        response.sdkHttpResponse().headers().forEach((name, values) -> headers.put(name, String.join(", ", values)));
        return new ObjectHead(headers).complete();
    }

    /** The SDK's HTTP client takes the end of a connection for the end of the headers. */
    private ObjectHead complete() throws IOException {
        if (lastModifiedOrNull() == null
                || !headers.getOrDefault("Content-Length", "").matches("[0-9]{1,18}")) {
            throw new IOException("the response to a HEAD lacks the object's size or time");
        }
        return this;
    }

    @Nullable
    String header(String name) {
        return headers.get(name);
    }

    long size() {
        return Long.parseLong(headers.getOrDefault("Content-Length", ""));
    }

    /** The entity tag, or {@link ResponseValues#NO_ETAG} if the store sends none. */
    String etag() {
        return ResponseValues.etag(header("ETag"));
    }

    /**
     * In whole seconds. HEAD has no finer time (RFC 9110, section 5.6.7), and a file must show the same time from HEAD and
     * from a listing.
     */
    Instant lastModified() {
        return Objects.requireNonNull(lastModifiedOrNull()).truncatedTo(ChronoUnit.SECONDS);
    }

    private @Nullable Instant lastModifiedOrNull() {
        return ResponseValues.parseTime(header("Last-Modified"));
    }

    boolean hasTags() {
        return !headers.getOrDefault("x-amz-tagging-count", "0").equals("0");
    }

    ObjectVersion version(String key) {
        return new ObjectVersion(key, etag(), size(), lastModified());
    }

    StoredObject object(String key) {
        String storageClass = headers.getOrDefault("x-amz-storage-class", ResponseValues.DEFAULT_STORAGE_CLASS);
        return new StoredObject(version(key), storageClass.intern()); // few storage classes, very many objects
    }
}
