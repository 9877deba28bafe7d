package io.penstock.objectstore;

import java.util.Comparator;

/** The order in which ordinary buckets list keys: by their UTF-8 bytes, which is the order of code points. */
public final class KeyOrder {
    public static final Comparator<String> COMPARATOR = KeyOrder::compare;

    private KeyOrder() {}

    public static int compare(String a, String b) {
        int at = mismatch(a, b);
        if (at == Math.min(a.length(), b.length())) {
            return Integer.compare(a.length(), b.length());
        }
        return Integer.compare(rank(a.charAt(at)), rank(b.charAt(at)));
    }

    /** Whether the key is UTF-8: an unpaired surrogate represents a byte that is not. */
    public static boolean isUnicode(String key) {
        for (int i = 0; i < key.length(); i++) {
            if (Character.isSurrogate(key.charAt(i))) {
                if (key.codePointAt(i) <= Character.MAX_SURROGATE) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    private static int mismatch(String a, String b) {
        int length = Math.min(a.length(), b.length());
        int at = 0;
        while (at < length && a.charAt(at) == b.charAt(at)) {
            at++;
        }
        return at;
    }

    /** UTF-16 encodes characters above U+FFFF as surrogates, which sort below U+E000 to U+FFFF. */
    private static int rank(char unit) {
        return Character.isSurrogate(unit) ? unit + 0x10000 : unit;
    }
}
