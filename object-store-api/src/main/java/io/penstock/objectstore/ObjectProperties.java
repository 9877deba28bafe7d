package io.penstock.objectstore;

import java.net.URLConnection;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The properties of an object, besides key and bytes, that a write must repeat: a PUT that omits one creates an object
 * without it. Immutable.
 *
 * @param headers as S3 names them in a PUT and in the response to a HEAD, in lower case: type, encoding, language,
 *     disposition, caching and user metadata ({@code x-amz-meta-…}), the storage class unless it is the store's
 *     default, and the encryption
 * @param tags by their keys
 */
public record ObjectProperties(SortedMap<String, String> headers, Map<String, String> tags) {
    /** The prefix of headers that carry user metadata. */
    public static final String USER_METADATA = "x-amz-meta-";

    /** The maximum size in bytes of an object's user metadata in S3 (user guide, "Working with object metadata"). */
    public static final int MOST_METADATA_BYTES = 2048;

    private static final Map<String, String> TIMES =
            Map.of(USER_METADATA + "file-mtime", "", USER_METADATA + "file-atime", "", USER_METADATA + "mtime", "");

    private static final String TYPE = "content-type";
    private static final String ENCODING = "content-encoding";
    private static final String STORAGE_CLASS = "x-amz-storage-class";

    /** The storage class of an object if the response names none. */
    private static final String DEFAULT_STORAGE_CLASS = "STANDARD";

    private static final String DEFAULT_TYPE = "application/octet-stream";

    public ObjectProperties {
        headers = Collections.unmodifiableSortedMap(new TreeMap<>(headers));
        tags = Map.copyOf(tags);
    }

    /** The properties of a new object. Its content type follows from its name, by the JDK's table. */
    public static ObjectProperties ofNew(String key) {
        return new ObjectProperties(new TreeMap<>(Map.of(TYPE, typeOf(key))), Map.of());
    }

    private static String typeOf(String key) {
        return Objects.requireNonNullElse(URLConnection.getFileNameMap().getContentTypeFor(key), DEFAULT_TYPE);
    }

    /**
     * The properties of the same object under another name. The new name determines an unknown content type: many
     * programs first write a file under a temporary name.
     */
    public ObjectProperties renamed(String key) {
        return headers.getOrDefault(TYPE, DEFAULT_TYPE).equals(DEFAULT_TYPE) ? with(Map.of(TYPE, typeOf(key))) : this;
    }

    /** The properties without a content encoding, for new content: the encoding described the old content. */
    public ObjectProperties withoutEncoding() {
        return with(Map.of(ENCODING, ""));
    }

    /** The properties with these headers replacing those of the same names. An empty value removes the header. */
    public ObjectProperties with(Map<String, String> others) {
        SortedMap<String, String> all = new TreeMap<>(headers);
        others.forEach((name, value) -> {
            if (value.isEmpty()) {
                all.remove(name);
            } else {
                all.put(name, value);
            }
        });
        return new ObjectProperties(all, tags);
    }

    /** The properties as this operation sends them. */
    public ObjectProperties sentBy(OperationId operation) {
        return with(Map.of(OperationId.HEADER, operation.text()));
    }

    /** The operation that sends them; null if they were read from an object. */
    public @Nullable OperationId operation() {
        String text = headers.get(OperationId.HEADER);
        return text == null ? null : new OperationId(text);
    }

    /**
     * The properties as a request that writes this key sends them: with the operation set by the caller, or else with
     * {@link OperationId#of(String)}.
     */
    public ObjectProperties sent(String key) {
        return operation() == null ? sentBy(OperationId.of(key)) : this;
    }

    /** The properties without the file times that DataSync, rclone and s3fs store: they belonged to other content. */
    public ObjectProperties withoutTimes() {
        return with(TIMES);
    }

    /** The size of user metadata in bytes as S3 counts it: names without the common prefix, and values. */
    public static int metadataBytes(SortedMap<String, String> headers) {
        return headers.entrySet().stream()
                .filter(header ->
                        !header.getValue().isEmpty() && header.getKey().startsWith(USER_METADATA))
                .mapToInt(header -> header.getKey().length()
                        - USER_METADATA.length()
                        + header.getValue().length())
                .sum();
    }

    /** S3's name of the class, such as {@code STANDARD} or {@code GLACIER}. */
    public String storageClass() {
        return headers.getOrDefault(STORAGE_CLASS, DEFAULT_STORAGE_CLASS);
    }
}
