package io.penstock.embeddeds3;

/** Text in XML. */
final class Xml {
    private Xml() {}

    /** Writes characters that have a meaning in XML, or that it cannot contain, as character references, as S3 does. */
    static String text(String text) {
        StringBuilder escaped = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char unit = text.charAt(i);
            if (unit < ' ' || unit == '<' || unit == '>' || unit == '&' || unit == '"') {
                escaped.append("&#x").append(Integer.toHexString(unit)).append(';');
            } else {
                escaped.append(unit);
            }
        }
        return escaped.toString();
    }
}
