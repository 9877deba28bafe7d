package io.penstock.objectstore.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The common parts of the heads of HTTP/1.1 requests and responses (RFC 9112). */
final class HttpHead {
    /** In bytes, including the empty line. */
    static final int LONGEST = 16 << 10;

    private static final String LINE_END = "\r\n";

    /** The ASCII characters that a header's name may contain (RFC 9110, section 5.6.2). */
    private static final boolean[] NAME = new boolean[128];

    static {
        "!#$%&'*+-.^_`|~".chars().forEach(c -> NAME[c] = true);
        Arrays.fill(NAME, '0', '9' + 1, true);
        Arrays.fill(NAME, 'A', 'Z' + 1, true);
        Arrays.fill(NAME, 'a', 'z' + 1, true);
    }

    /** Headers that define where the body ends and what it is: two of the same name may contradict each other. */
    private static final Set<String> ONLY_ONCE = Set.of("content-length", "transfer-encoding", "content-range", "etag");

    private HttpHead() {}

    /** A source of heads. */
    interface Source {
        /** @return the number of bytes received; -1 at the end */
        int read(ByteBuffer target) throws IOException;
    }

    /**
     * The next head, up to but without the empty line; null if the source ends first.
     *
     * @param received of {@link #LONGEST} bytes, ready to be read: the bytes received so far, then those after the head
     */
    static byte @Nullable [] receive(ByteBuffer received, Source source) throws IOException {
        received.compact();
        int end;
        for (int scanned = 0; (end = end(received, scanned)) < 0; ) {
            scanned = Math.max(0, received.position() - 3);
            if (!received.hasRemaining()) {
                throw new ProtocolException("the header of the message is longer than " + LONGEST + " bytes");
            }
            if (source.read(received) < 0) {
                return null;
            }
        }
        byte[] head = new byte[end];
        received.flip().get(head).position(end + 4);
        return head;
    }

    /** The position of the empty line that ends the head; -1 if it has not been received. */
    private static int end(ByteBuffer received, int from) {
        for (int i = from; i + 4 <= received.position(); i++) {
            if (received.getInt(i) == 0x0d0a0d0a) {
                return i;
            }
        }
        return -1;
    }

    /** The first line of a head. */
    static String firstLine(byte[] head) {
        String text = new String(head, ISO_8859_1);
        return text.substring(0, endOfLine(text, 0));
    }

    /**
     * The headers of a head by their names, which are compared case-insensitively.
     *
     * @throws ProtocolException if another parser may read them differently
     */
    static Map<String, String> headers(byte[] head) throws ProtocolException {
        String text = new String(head, ISO_8859_1);
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (int end = endOfLine(text, 0); end < text.length(); ) {
            int begin = end + LINE_END.length();
            end = endOfLine(text, begin);
            add(text.substring(begin, end), headers);
        }
        return headers;
    }

    private static int endOfLine(String text, int begin) {
        int end = text.indexOf(LINE_END, begin);
        return end < 0 ? text.length() : end;
    }

    private static void add(String line, Map<String, String> headers) throws ProtocolException {
        int colon = Math.max(0, line.indexOf(':'));
        String name = line.substring(0, colon);
        if (!isName(name) || hasControls(line)) {
            throw new ProtocolException("invalid HTTP header: " + printable(line));
        }
        String value = line.substring(colon + 1).strip();
        String before = headers.put(name, value);
        if (before != null) {
            if (ONLY_ONCE.contains(name.toLowerCase(Locale.ROOT))) {
                throw new ProtocolException("more than one " + name);
            }
            headers.put(name, before + ", " + value); // RFC 9110, section 5.3
        }
    }

    private static boolean isName(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c >= NAME.length || !NAME[c]) {
                return false;
            }
        }
        return !name.isEmpty();
    }

    /** Includes a lone CR or LF, at which other parsers end a line, but not a tab. */
    private static boolean hasControls(String line) {
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if ((c < ' ' && c != '\t') || c == 0x7f) {
                return true;
            }
        }
        return false;
    }

    static String printable(String line) {
        return line.substring(0, Math.min(80, line.length())).replaceAll("\\p{Cntrl}", "?");
    }

    /** Whether another message may follow on the connection, by HTTP/1.1's rule. */
    static boolean keepsAlive(Map<String, String> headers) {
        String connection = headers.get("Connection");
        return connection == null || !connection.toLowerCase(Locale.ROOT).contains("close");
    }
}
