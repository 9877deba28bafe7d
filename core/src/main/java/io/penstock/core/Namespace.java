package io.penstock.core;

import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What keeps keys of buckets of one name on different servers apart: server and bucket, as {@code
 * minio.example.com:9000/data}, or {@code aws/data}. All spellings of an endpoint are one: the scheme does not count, nor a
 * port that is the scheme's own, nor a slash at the end, nor whether letters of the host are capitals. A name and an
 * address of one server are two.
 */
public final class Namespace {
    private Namespace() {}

    /** @param endpoint of the server; null for AWS */
    public static String of(@Nullable URI endpoint, String bucket) {
        return normalised((endpoint == null ? "aws" : endpoint) + "/" + bucket);
    }

    /** The same for a namespace as earlier versions wrote it: the endpoint as the user did, a slash and the bucket. */
    public static String normalised(String namespace) {
        int start = namespace.indexOf("://");
        String scheme = start < 0 ? "" : namespace.substring(0, start).toLowerCase(Locale.ROOT);
        String rest = start < 0 ? namespace : namespace.substring(start + "://".length());
        int end = rest.indexOf('/');
        if (end < 0) {
            return rest;
        }
        String server = rest.substring(0, end).toLowerCase(Locale.ROOT);
        String own = switch (scheme) {
            case "http" -> ":80";
            case "https" -> ":443";
            default -> "/"; // which no server ends in
        };
        if (server.endsWith(own)) {
            server = server.substring(0, server.length() - own.length());
        }
        return server + "/" + rest.substring(end).replaceFirst("^/+", "");
    }
}
