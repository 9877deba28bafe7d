package io.penstock.core;

import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes buckets of the same name on different servers: server and bucket, as {@code
 * minio.example.com:9000/data}, or {@code aws/data}. All spellings of an endpoint are equal: scheme, the scheme's
 * default port, a slash at the end and upper case do not count. A name and an address of one server are different.
 */
public final class Namespace {
    private Namespace() {}

    /** @param endpoint of the server; null for AWS */
    public static String of(@Nullable URI endpoint, String bucket) {
        return normalised((endpoint == null ? "aws" : endpoint) + "/" + bucket);
    }

    /** The same for a namespace of earlier versions: the endpoint as the user wrote it, a slash and the bucket. */
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
            default -> "/"; // no server's name ends in it
        };
        if (server.endsWith(own)) {
            server = server.substring(0, server.length() - own.length());
        }
        return server + "/" + rest.substring(end).replaceFirst("^/+", "");
    }
}
