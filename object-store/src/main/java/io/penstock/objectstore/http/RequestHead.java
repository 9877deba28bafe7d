package io.penstock.objectstore.http;

import java.net.ProtocolException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The head of an HTTP/1.1 request (RFC 9112). Parsing refuses any text that another parser may read differently.
 *
 * @param target path and query as sent
 * @param headers by their names, which are compared case-insensitively
 */
public record RequestHead(String method, String target, Map<String, String> headers) {
    private static final Pattern REQUEST_LINE = Pattern.compile("([A-Z]{1,20}) (/[!-~]*) HTTP/1\\.1");

    /**
     * @param bytes up to but without the empty line
     * @throws ProtocolException if they are not a head that this parser fully understands
     */
    static RequestHead parse(byte[] bytes) throws ProtocolException {
        String first = HttpHead.firstLine(bytes);
        Matcher line = REQUEST_LINE.matcher(first);
        if (!line.matches()) {
            throw new ProtocolException("not an HTTP/1.1 request: " + HttpHead.printable(first));
        }
        return new RequestHead(line.group(1), line.group(2), HttpHead.headers(bytes));
    }

    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /** Whether the request is followed by a body (RFC 9112, section 6). */
    public boolean hasBody() {
        String length = header("Content-Length");
        return header("Transfer-Encoding") != null || (length != null && !length.equals("0"));
    }

    /** Whether another request may follow on the connection. */
    public boolean keepsAlive() {
        return HttpHead.keepsAlive(headers);
    }
}
