package io.penstock.objectstore.s3;

import static java.util.stream.Collectors.joining;

import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.OperationId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.model.StorageClass;

/** The properties of objects, as headers of requests and responses. */
final class PropertyHeaders {
    static final String TAGS = "x-amz-tagging";

    private static final String ENCODING = "content-encoding";
    private static final String STORAGE_CLASS = "x-amz-storage-class";
    private static final String ENCRYPTION = "x-amz-server-side-encryption";

    /** Describes the transfer of a body, not the stored object; some servers store it nevertheless. */
    private static final String TRAVELS_IN_CHUNKS = "aws-chunked";

    private static final Set<String> KEPT = Set.of(
            "content-type",
            ENCODING,
            "content-disposition",
            "content-language",
            "cache-control",
            "expires",
            "x-amz-website-redirect-location",
            STORAGE_CLASS,
            ENCRYPTION,
            "x-amz-server-side-encryption-aws-kms-key-id",
            "x-amz-server-side-encryption-bucket-key-enabled");

    private PropertyHeaders() {}

    /**
     * The headers in the response to a HEAD that are properties of the object.
     *
     * @param isAws S3 itself encrypts every object with AES-256 at least; it refuses a request for that if the bucket
     *     requires better encryption
     * @param leftOut receives the names of properties whose values no request can carry
     */
    static SortedMap<String, String> of(Map<String, String> response, boolean isAws, Consumer<String> leftOut) {
        SortedMap<String, String> headers = new TreeMap<>();
        response.forEach((name, text) -> {
            String key = name.toLowerCase(Locale.ROOT);
            String value = kept(key, text);
            String sent = value == null ? null : sendable(key, value);
            if (sent != null) {
                headers.put(key, sent);
            } else if (value != null) {
                leftOut.accept(key);
            }
        });
        if (isAws) {
            headers.remove(ENCRYPTION, "AES256");
        }
        return headers;
    }

    static boolean isEncryptedWithKms(ObjectProperties properties) {
        return properties.headers().getOrDefault(ENCRYPTION, "").startsWith("aws:kms");
    }

    private static @Nullable String kept(String header, String value) {
        if (header.startsWith(ObjectProperties.USER_METADATA)) {
            return header.equals(OperationId.HEADER) ? null : value; // applies only to that version
        }
        return switch (header) {
            case ENCODING -> {
                String encodings = Arrays.stream(value.split(","))
                        .map(String::strip)
                        .filter(encoding -> !encoding.isEmpty() && !encoding.equals(TRAVELS_IN_CHUNKS))
                        .collect(joining(","));
                yield encodings.isEmpty() ? null : encodings;
            }
            // A server that moves objects to other stores (MinIO) shows those stores' names here, and refuses them in a
            // PUT.
            case STORAGE_CLASS -> StorageClass.fromValue(value) == StorageClass.UNKNOWN_TO_SDK_VERSION ? null : value;
            default -> KEPT.contains(header) ? value : null;
        };
    }

    /**
     * The value as requests carry it; null if they cannot. Signers and HTTP clients agree only on ASCII. Compatible
     * servers send the UTF-8 of user metadata unchanged. S3 itself sends it as an encoded word (RFC 2047, section 2),
     * and accepts that: user guide, "Working with object metadata".
     *
     * @param value its bytes as ISO 8859-1
     */
    private static @Nullable String sendable(String header, String value) {
        if (value.chars().allMatch(c -> c >= ' ' && c < 0x7f)) {
            return value;
        }
        if (!header.startsWith(ObjectProperties.USER_METADATA)) {
            return null;
        }
        byte[] bytes = value.getBytes(StandardCharsets.ISO_8859_1);
        boolean isUtf8 =
                Arrays.equals(new String(bytes, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8), bytes);
        return "=?UTF-8?B?"
                + Base64.getEncoder().encodeToString(isUtf8 ? bytes : value.getBytes(StandardCharsets.UTF_8)) + "?=";
    }

    /**
     * The headers of a request that creates an object with these properties. If other metadata leaves no room, the
     * operation has no id.
     */
    static SortedMap<String, String> of(ObjectProperties properties) {
        SortedMap<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.putAll(properties.headers());
        if (ObjectProperties.metadataBytes(properties.headers()) > ObjectProperties.MOST_METADATA_BYTES) {
            all.remove(OperationId.HEADER);
        }
        if (!properties.tags().isEmpty()) {
            all.put(TAGS, encoded(properties.tags()));
        }
        return all;
    }

    /** Encodes tags like the query of an address (RFC 3986), as S3 requires. */
    private static String encoded(Map<String, String> tags) {
        return new TreeMap<>(tags)
                .entrySet().stream()
                        .map(tag -> encoded(tag.getKey()) + "=" + encoded(tag.getValue()))
                        .collect(joining("&"));
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
