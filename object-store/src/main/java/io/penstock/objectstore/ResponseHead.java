package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The first lines of an HTTP answer (RFC 9112).
 *
 * @param version {@code HTTP/1.1}
 * @param headers by their names, which are compared without regard to case
 */
record ResponseHead(String version, int status, Map<String, String> headers) {

    /** @param bytes up to and without the empty line */
    static ResponseHead parse(byte[] bytes, int length) throws IOException {
        String[] lines = new String(bytes, 0, length, ISO_8859_1).split("\r\n", -1);
        String[] status = lines[0].split(" ", 3);
        if (status.length < 2 || !status[0].startsWith("HTTP/1.") || !status[1].matches("[1-5][0-9][0-9]")) {
            throw new IOException("not HTTP: " + lines[0]);
        }
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int i = 1; i < lines.length; i++) {
            int colon = lines[i].indexOf(':');
            if (colon <= 0) {
                throw new IOException("no HTTP header: " + lines[i]);
            }
            headers.put(
                    lines[i].substring(0, colon), lines[i].substring(colon + 1).strip());
        }
        return new ResponseHead(status[0], Integer.parseInt(status[1]), headers);
    }

    @Nullable
    String header(String name) {
        return headers.get(name);
    }

    /** Bytes of the body; -1 if it is framed in another way. */
    long contentLength() throws IOException {
        String length = header("Content-Length");
        if (length == null || header("Transfer-Encoding") != null) {
            return -1;
        }
        if (!length.matches("[0-9]{1,18}")) {
            throw new IOException("no length: " + length);
        }
        return Long.parseLong(length);
    }

    /** Whether another request may follow on the connection. */
    boolean keepsAlive() {
        String connection = header("Connection");
        return version.equals("HTTP/1.1")
                && (connection == null || !connection.toLowerCase(Locale.ROOT).contains("close"));
    }
}
