package io.penstock.core;

/** Makes foreign text, such as an object's key, safe for a message. */
public final class Printable {
    private Printable() {}

    /**
     * The text with its control characters as escapes ({@code \}{@code u001b}): no line breaks, and nothing that
     * controls a terminal.
     */
    public static String text(String text) {
        if (text.codePoints().noneMatch(Printable::isControl)) {
            return text;
        }
        StringBuilder escaped = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            if (isControl(c)) {
                escaped.append("\\u%04x".formatted(c));
            } else {
                escaped.appendCodePoint(c);
            }
        });
        return escaped.toString();
    }

    /** The control characters of ISO 646 and 6429, and Unicode's line breaks and direction changes. */
    private static boolean isControl(int c) {
        return Character.isISOControl(c)
                || c == 0x2028
                || c == 0x2029
                || (c >= 0x202a && c <= 0x202e)
                || (c >= 0x2066 && c <= 0x2069);
    }
}
