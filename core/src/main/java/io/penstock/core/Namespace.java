package io.penstock.core;

import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes buckets of the same name on different servers: server and bucket, such as {@code
 * minio.example.com:9000/data} or {@code aws/data}. All spellings of an endpoint are equal: the scheme, its default
 * port, a trailing slash and upper case do not count. A server's name and its address are different.
 */
public final class Namespace {
    private Namespace() {}

    /** @param endpoint of the server, without a path; null for AWS */
    public static String of(@Nullable URI endpoint, String bucket) {
        if (endpoint == null) {
            return "aws/" + bucket;
        }
        String server = endpoint.getRawAuthority().toLowerCase(Locale.ROOT);
        String port = "https".equalsIgnoreCase(endpoint.getScheme()) ? ":443" : ":80";
        return (server.endsWith(port) ? server.substring(0, server.length() - port.length()) : server) + "/" + bucket;
    }
}
