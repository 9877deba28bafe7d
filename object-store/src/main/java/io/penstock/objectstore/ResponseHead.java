package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.ProtocolException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The head of an HTTP response (RFC 9112): its status line and its headers. Parsing refuses any text that another
 * parser may read differently.
 *
 * @param version {@code HTTP/1.1}
 * @param headers by their names, which are compared without regard to case
 */
public record ResponseHead(String version, int status, Map<String, String> headers) {
    private static final String LINE_END = "\r\n";

    private static final Pattern STATUS_LINE = Pattern.compile("(HTTP/1\\.[01]) ([1-5][0-9][0-9])(?: .*)?");

    /** Which ASCII characters a header's name may have (RFC 9110, section 5.6.2). */
    private static final boolean[] NAME = new boolean[128];

    static {
        "!#$%&'*+-.^_`|~".chars().forEach(c -> NAME[c] = true);
        Arrays.fill(NAME, '0', '9' + 1, true);
        Arrays.fill(NAME, 'A', 'Z' + 1, true);
        Arrays.fill(NAME, 'a', 'z' + 1, true);
    }

    private static final Pattern LENGTH = Pattern.compile("[0-9]{1,18}");

    /** Headers that say where the body ends and which bytes it has: two of the same name may contradict each other. */
    private static final Set<String> ONLY_ONCE = Set.of("content-length", "transfer-encoding", "content-range", "etag");

    private static final int SWITCHING_PROTOCOLS = 101;

    /**
     * @param bytes up to the empty line, without it
     * @throws ProtocolException if they are no head that this parser understands in full
     */
    static ResponseHead parse(byte[] bytes) throws IOException {
        String text = new String(bytes, ISO_8859_1);
        int end = endOfLine(text, 0);
        String first = text.substring(0, end);
        Matcher status = STATUS_LINE.matcher(first);
        if (!status.matches()) {
            throw new ProtocolException("not HTTP: " + printable(first));
        }
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        while (end < text.length()) {
            int begin = end + LINE_END.length();
            end = endOfLine(text, begin);
            add(text.substring(begin, end), headers);
        }
        return new ResponseHead(status.group(1), Integer.parseInt(status.group(2)), headers);
    }

    private static int endOfLine(String text, int begin) {
        int end = text.indexOf(LINE_END, begin);
        return end < 0 ? text.length() : end;
    }

    private static void add(String line, Map<String, String> headers) throws IOException {
        int colon = Math.max(0, line.indexOf(':'));
        String name = line.substring(0, colon);
        if (!isName(name) || hasControls(line)) {
            throw new ProtocolException("no HTTP header: " + printable(line));
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

    private static String printable(String line) {
        return line.substring(0, Math.min(80, line.length())).replaceAll("\\p{Cntrl}", "?");
    }

    public @Nullable String header(String name) {
        return headers.get(name);
    }

    /** Whether the final response is still to come. */
    boolean isInterim() {
        return status < 200 && status != SWITCHING_PROTOCOLS;
    }

    /** Bytes of the body; -1 if its length is given in another way. */
    public long contentLength() throws IOException {
        String length = header("Content-Length");
        if (length == null || header("Transfer-Encoding") != null) {
            return -1;
        }
        return parseLength(length);
    }

    /** Bytes, as Content-Length has them. */
    static long parseLength(String length) throws ProtocolException {
        if (!LENGTH.matcher(length).matches()) {
            throw new ProtocolException("no length: " + length);
        }
        return Long.parseLong(length);
    }

    /** Whether another request may follow on the connection. */
    public boolean keepsAlive() {
        String connection = header("Connection");
        return version.equals("HTTP/1.1")
                && (connection == null || !connection.toLowerCase(Locale.ROOT).contains("close"));
    }
}
