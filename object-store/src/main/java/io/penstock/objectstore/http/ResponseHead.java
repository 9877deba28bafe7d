package io.penstock.objectstore.http;

import java.io.IOException;
import java.net.ProtocolException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The head of an HTTP response (RFC 9112): its status line and its headers. Parsing refuses any text that another
 * parser may read differently.
 *
 * @param version {@code HTTP/1.1}
 * @param headers by their names, which are compared case-insensitively
 */
public record ResponseHead(String version, int status, Map<String, String> headers) {
    private static final Pattern STATUS_LINE = Pattern.compile("(HTTP/1\\.[01]) ([1-5][0-9][0-9])(?: .*)?");

    private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");

    private static final int SWITCHING_PROTOCOLS = 101;

    /**
     * @param bytes up to but without the empty line
     * @throws ProtocolException if they are not a head that this parser fully understands
     */
    static ResponseHead parse(byte[] bytes) throws IOException {
        String first = HttpHead.firstLine(bytes);
        Matcher status = STATUS_LINE.matcher(first);
        if (!status.matches()) {
            throw new ProtocolException("not an HTTP response: " + HttpHead.printable(first));
        }
        return new ResponseHead(status.group(1), Integer.parseInt(status.group(2)), HttpHead.headers(bytes));
    }

    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /** Whether the final response follows. */
    boolean isInterim() {
        return status < 200 && status != SWITCHING_PROTOCOLS;
    }

    /** The length of the body in bytes; -1 if it is given in another way. */
    public long contentLength() throws IOException {
        String length = header("Content-Length");
        if (length == null || header("Transfer-Encoding") != null) {
            return -1;
        }
        return parseLength(length);
    }

    /** The bytes in a Content-Length header. */
    public static long parseLength(String length) throws ProtocolException {
        if (!LENGTH.matcher(length).matches()) {
            throw new ProtocolException("invalid Content-Length: " + length);
        }
        return Long.parseLong(length);
    }

    /** Whether another request may follow on the connection. */
    public boolean keepsAlive() {
        return version.equals("HTTP/1.1") && HttpHead.keepsAlive(headers);
    }
}
