package io.penstock.testing;

import java.util.Comparator;

/** The order in which ordinary buckets list keys: by the bytes of their UTF-8, which is the order of code points. */
final class Utf8Order {
    static final Comparator<String> COMPARATOR = Utf8Order::compare;

    private Utf8Order() {}

    private static int compare(String a, String b) {
        int length = Math.min(a.length(), b.length());
        for (int i = 0; i < length; i++) {
            char x = a.charAt(i);
            char y = b.charAt(i);
            if (x != y) {
                // UTF-16 puts surrogates, which stand for code points above U+FFFF, below U+E000 to U+FFFF.
                boolean surrogateX = Character.isSurrogate(x);
                return surrogateX == Character.isSurrogate(y) ? x - y : surrogateX ? 1 : -1;
            }
        }
        return a.length() - b.length();
    }
}
