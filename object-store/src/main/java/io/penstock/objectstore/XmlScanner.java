package io.penstock.objectstore;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Scans one XML document (XML 1.0, UTF-8) in memory, element by element, without an object for any of them. It refuses
 * documents that are not well-formed, document types, processing instructions and names beyond ASCII, none of which an
 * S3 response has. Confined to one thread.
 */
final class XmlScanner {
    /** A response of S3 has four levels. */
    private static final int MOST_LEVELS = 64;

    /** Elements after which it looks whether the page is still wanted; a power of two. */
    private static final int LOOK_UP = 4096;

    private static final Pattern DECLARATION =
            Pattern.compile("<\\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(\"1\\.0\"|'1\\.0')"
                    + "([ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(\"(?i:UTF-8)\"|'(?i:UTF-8)'))?"
                    + "([ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(\"(yes|no)\"|'(yes|no)'))?[ \t\r\n]*\\?>");
    private static final int LONGEST_DECLARATION = 256;

    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xef, (byte) 0xbb, (byte) 0xbf};
    private static final byte[] COMMENT = "<!--".getBytes(US_ASCII);
    private static final byte[] QUOTE = "&quot;".getBytes(US_ASCII);
    private static final byte[] DATA = "<![CDATA[".getBytes(US_ASCII);

    /** Indexed by character, up to the highest one in use. */
    private static final int LONGEST_REFERENCE = 16;

    /** ASCII characters that a text may hold unescaped, and those that a name may hold. */
    private static final boolean[] PLAIN = new boolean[128];

    private static final boolean[] NAME = new boolean[128];

    static {
        Arrays.fill(PLAIN, ' ', 128, true);
        PLAIN['<'] = false;
        PLAIN['&'] = false;
        PLAIN[']'] = false;
        PLAIN['\t'] = true;
        PLAIN['\n'] = true;
        Arrays.fill(NAME, 'a', 'z' + 1, true);
        Arrays.fill(NAME, 'A', 'Z' + 1, true);
        Arrays.fill(NAME, '0', '9' + 1, true);
        NAME['_'] = true;
        NAME['-'] = true;
        NAME['.'] = true;
        NAME[':'] = true;
    }

    private final byte[] bytes;
    private final int end;
    private final XmlPrefixes prefixes = new XmlPrefixes();
    private int at;

    /** The open elements: where their names begin in the document, and how long they are, prefix included. */
    private final int[] names = new int[MOST_LEVELS];

    private final int[] lengths = new int[MOST_LEVELS];
    private int levels;

    /** Elements so far. */
    private int elements;

    private final long began = System.nanoTime();

    /** The name of the element opened last, without its prefix. */
    private int localName;

    private int localLength;

    /** The element opened last was an empty-element tag, and its end has not been reported yet. */
    private boolean closed;

    /** UTF-8, with references and line ends replaced. */
    private byte[] text = new byte[1024];

    private int textLength;

    /**
     * @param bytes the document at their start and a zero after it, which no document holds: every scan ends there
     * @param length of the document
     */
    XmlScanner(byte[] bytes, int length) {
        if (bytes[length] != 0) {
            throw new IllegalArgumentException("no zero after the document");
        }
        this.bytes = bytes;
        this.end = length;
    }

    /** Opens the root element. */
    void openRoot() throws UnreadableListingException {
        if (startsWith(BYTE_ORDER_MARK)) {
            at = BYTE_ORDER_MARK.length;
        }
        if (bytes[at] == '<' && bytes[at + 1] == '?') {
            String start = new String(bytes, at, Math.min(LONGEST_DECLARATION, end - at), ISO_8859_1);
            Matcher declaration = DECLARATION.matcher(start);
            if (!declaration.lookingAt()) {
                throw failure("an XML declaration other than that of XML 1.0 in UTF-8");
            }
            at += declaration.end();
        }
        skipAround();
        if (bytes[at] != '<') {
            throw failure("no element");
        }
        startTag();
    }

    /** Checks that nothing follows the closed root element. */
    void finish() throws UnreadableListingException {
        skipAround();
        if (at != end) {
            throw failure("more than one document");
        }
    }

    private void skipAround() throws UnreadableListingException {
        while (true) {
            if (isSpace(bytes[at])) {
                at++;
            } else if (startsWith(COMMENT)) {
                comment();
            } else {
                return;
            }
        }
    }

    /**
     * Opens the next child of the open element.
     *
     * @return false if there is none: the element is then closed and its parent open again, and {@link #text} is the
     *     element's text after its last child
     */
    boolean nextChild() throws UnreadableListingException {
        textLength = 0;
        if (closed) {
            closed = false;
            pop();
            return false;
        }
        while (true) {
            if (bytes[at] != '<') {
                characters();
                continue;
            }
            switch (bytes[at + 1]) {
                case '/' -> {
                    endTag();
                    return false;
                }
                case '!' -> commentOrData();
                default -> {
                    startTag();
                    return true;
                }
            }
        }
    }

    /** Closes the open element, whatever it holds. */
    void skip() throws UnreadableListingException {
        while (nextChild()) {
            skip();
        }
    }

    /** Closes the open element, which holds text only: {@link #text}. */
    void closeText() throws UnreadableListingException {
        if (nextChild()) {
            throw failure("an element where text belongs");
        }
    }

    /** Whether the element opened last has this name, in any namespace. */
    boolean is(byte[] name) {
        return name.length == localLength && startsWith(name, localName);
    }

    /** Its first {@link #textLength} bytes are the text, until the next call of another method. */
    byte[] text() {
        return text;
    }

    int textLength() {
        return textLength;
    }

    String textAsString() {
        return new String(text, 0, textLength, UTF_8);
    }

    UnreadableListingException failure(String what) {
        return new UnreadableListingException(
                at == end ? "it breaks off after " + end + " bytes" : what + " at byte " + at);
    }

    private void startTag() throws UnreadableListingException {
        if (++elements % LOOK_UP == 0) {
            checkWanted();
        }
        at++;
        int start = at;
        skipName();
        if (levels == MOST_LEVELS) {
            throw failure("more than " + MOST_LEVELS + " levels");
        }
        names[levels] = start;
        lengths[levels] = at - start;
        levels++;
        int colon = colon(start, at);
        localName = colon + 1;
        localLength = at - localName;
        closed = false;
        if (bytes[at] == '>') {
            at++;
        } else {
            attributes();
        }
        if (localName > start && !prefixes.isDeclared(name(start, colon))) {
            throw failure("a namespace's prefix that is not declared");
        }
    }

    private void checkWanted() throws UnreadableListingException {
        Deadline deadline = Deadline.current();
        boolean isLate = deadline != null && deadline.endsSilence(System.nanoTime() - began);
        if (isLate || Thread.currentThread().isInterrupted()) {
            throw failure("the end of its reader's wait");
        }
    }

    private void endTag() throws UnreadableListingException {
        at += 2;
        int length = lengths[levels - 1];
        if (!Arrays.equals(
                bytes, at, Math.min(at + length, end), bytes, names[levels - 1], names[levels - 1] + length)) {
            throw failure("an end tag of another element");
        }
        at += length;
        skipSpace();
        take('>');
        pop();
    }

    private void pop() {
        levels--;
        prefixes.forget(levels);
    }

    private void attributes() throws UnreadableListingException {
        prefixes.beginTag();
        while (true) {
            boolean apart = skipSpace();
            if (bytes[at] == '>') {
                at++;
                break;
            }
            if (bytes[at] == '/') {
                at++;
                take('>');
                closed = true;
                break;
            }
            if (!apart) {
                throw failure("no tag");
            }
            int start = at;
            skipName();
            colon(start, at);
            String name = name(start, at);
            skipSpace();
            take('=');
            skipSpace();
            attributeValue();
            if (!prefixes.add(name, textLength == 0)) {
                throw failure("an attribute that may not stand here");
            }
        }
        if (!prefixes.endTag(levels - 1)) {
            throw failure("a namespace's prefix that is not declared");
        }
    }

    private void attributeValue() throws UnreadableListingException {
        textLength = 0;
        byte quote = bytes[at];
        if (quote != '"' && quote != '\'') {
            throw failure("no quotes");
        }
        at++;
        while (bytes[at] != quote) {
            if (bytes[at] == '&') {
                reference();
            } else if (bytes[at] == '<') {
                throw failure("'<' in an attribute");
            } else {
                character();
            }
        }
        at++;
    }

    private String name(int from, int to) {
        return new String(bytes, from, to - from, US_ASCII);
    }

    private void skipName() throws UnreadableListingException {
        int start = at;
        byte c;
        while ((c = bytes[at]) >= 0 && NAME[c]) {
            at++;
        }
        if (at == start || !isNameStart(bytes[start])) {
            throw failure("no name");
        }
    }

    /** The position of the colon in a name with a prefix; the position before the name if it has no prefix. */
    private int colon(int start, int end) throws UnreadableListingException {
        int colon = start - 1;
        for (int i = start; i < end; i++) {
            if (bytes[i] == ':') {
                if (colon >= start || !isNameStart(bytes[i + 1])) {
                    throw failure("no name");
                }
                colon = i;
            }
        }
        return colon;
    }

    private static boolean isNameStart(byte c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    }

    private void commentOrData() throws UnreadableListingException {
        if (startsWith(COMMENT)) {
            comment();
        } else if (startsWith(DATA)) {
            data();
        } else {
            throw failure("something other than an element");
        }
    }

    /** Keeps the text unchanged. */
    private void comment() throws UnreadableListingException {
        int before = textLength;
        at += COMMENT.length;
        while (bytes[at] != '-' || bytes[at + 1] != '-') {
            character();
        }
        at += 2;
        take('>');
        textLength = before;
    }

    private void data() throws UnreadableListingException {
        at += DATA.length;
        while (bytes[at] != ']' || bytes[at + 1] != ']' || bytes[at + 2] != '>') {
            character();
        }
        at += 3;
    }

    /** Adds a run of text, and the character that ended it unless it begins a tag. */
    private void characters() throws UnreadableListingException {
        int start = at;
        byte c;
        while ((c = bytes[at]) >= 0 && PLAIN[c]) {
            at++;
        }
        add(start, at);
        if (c == '&') {
            reference();
        } else if (c == ']' && bytes[at + 1] == ']' && bytes[at + 2] == '>') {
            throw failure("']]>' in a text");
        } else if (c != '<') {
            character();
        }
    }

    /** Adds one character of the document, whatever it means. */
    private void character() throws UnreadableListingException {
        byte c = bytes[at];
        if (c < 0) {
            int length = Utf8.length(bytes, at);
            if (length == 0) {
                throw failure("no UTF-8");
            }
            add(at, at + length);
            at += length;
        } else if (c == '\r') { // XML 1.0, section 2.11
            at += bytes[at + 1] == '\n' ? 2 : 1;
            add('\n');
        } else if (c < ' ' && c != '\t' && c != '\n') {
            throw failure("a control character");
        } else {
            at++;
            add(c);
        }
    }

    /** Adds the character that the reference stands for. */
    private void reference() throws UnreadableListingException {
        if (startsWith(QUOTE)) { // two in each entity tag
            add('"');
            at += QUOTE.length;
            return;
        }
        int semicolon = at + 1;
        while (bytes[semicolon] != ';') {
            if (bytes[semicolon] <= 0 || semicolon - at > LONGEST_REFERENCE) {
                throw failure("'&' without ';'");
            }
            semicolon++;
        }
        int codePoint = switch (name(at + 1, semicolon)) {
            case "amp" -> '&';
            case "lt" -> '<';
            case "gt" -> '>';
            case "apos" -> '\'';
            default -> number(semicolon);
        };
        reserve(Utf8.LONGEST);
        textLength += Utf8.put(codePoint, text, textLength);
        at = semicolon + 1;
    }

    private int number(int semicolon) throws UnreadableListingException {
        boolean hexadecimal = bytes[at + 2] == 'x';
        int digits = at + (hexadecimal ? 3 : 2);
        int codePoint = 0;
        for (int i = digits; i < semicolon; i++) {
            int digit = bytes[i] < 0 ? -1 : Character.digit(bytes[i], hexadecimal ? 16 : 10);
            codePoint = codePoint * (hexadecimal ? 16 : 10) + digit;
            if (digit < 0 || codePoint > Character.MAX_CODE_POINT) {
                throw failure("no reference");
            }
        }
        if (bytes[at + 1] != '#' || digits >= semicolon || !Utf8.isOfXml(codePoint)) {
            throw failure("no reference");
        }
        return codePoint;
    }

    private void add(int c) {
        reserve(1);
        text[textLength++] = (byte) c;
    }

    private void add(int from, int to) {
        reserve(to - from);
        System.arraycopy(bytes, from, text, textLength, to - from);
        textLength += to - from;
    }

    private void reserve(int more) {
        if (text.length - textLength < more) {
            text = Arrays.copyOf(text, Math.max(2 * text.length, textLength + more));
        }
    }

    private boolean skipSpace() {
        int start = at;
        while (isSpace(bytes[at])) {
            at++;
        }
        return at > start;
    }

    private static boolean isSpace(byte c) {
        return c == ' ' || c == '\n' || c == '\t' || c == '\r';
    }

    private void take(char expected) throws UnreadableListingException {
        if (bytes[at] != expected) {
            throw failure("no '" + expected + "'");
        }
        at++;
    }

    private boolean startsWith(byte[] what) {
        return startsWith(what, at);
    }

    /** Never reads beyond the zero, because no constant contains one. */
    private boolean startsWith(byte[] what, int from) {
        for (int i = 0; i < what.length; i++) {
            if (bytes[from + i] != what[i]) {
                return false;
            }
        }
        return true;
    }
}
