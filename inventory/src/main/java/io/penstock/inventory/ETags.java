package io.penstock.inventory;

/**
 * Converts ETags between the form of S3 Inventory, without quotation marks, and that of S3 responses, with them. Each
 * one survives the round trip unchanged:
 *
 * <pre>
 *   "9b2c…"     9b2c…       the form in S3
 *   W/"9b2c"    W/"9b2c"    a quotation mark elsewhere stays as it is
 *   9b2c         9b2c       without one, it gets a leading space, which no ETag has (RFC 9110, section 8.8.3)
 * </pre>
 */
final class ETags {
    private static final char QUOTE = '"';
    private static final char UNQUOTED = ' ';

    private ETags() {}

    static String toInventory(String etag) {
        if (etag.indexOf(QUOTE) < 0) {
            return UNQUOTED + etag;
        }
        String inner = etag.length() > 2 && etag.charAt(0) == QUOTE ? etag.substring(1, etag.length() - 1) : "";
        boolean isOrdinary = !inner.isEmpty()
                && etag.charAt(etag.length() - 1) == QUOTE
                && inner.indexOf(QUOTE) < 0
                && inner.charAt(0) != UNQUOTED;
        return isOrdinary ? inner : etag;
    }

    /** @param text not empty */
    static String fromInventory(String text) {
        if (text.indexOf(QUOTE) >= 0) {
            return text;
        }
        return text.charAt(0) == UNQUOTED ? text.substring(1) : QUOTE + text + QUOTE;
    }
}
