package io.penstock.objectstore;

/** UTF-8 (RFC 3629) of the characters that XML 1.0 allows. */
final class Utf8 {
    /** Maximum length of one character, in bytes. */
    static final int LONGEST = 4;

    private Utf8() {}

    /**
     * The length in bytes of the non-ASCII character that begins here; 0 if there is none, or XML does not allow it.
     *
     * @param bytes with a byte below 0x80 somewhere after {@code at}
     */
    static int length(byte[] bytes, int at) {
        int first = bytes[at] & 0xff;
        int length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
        int codePoint = first & (0x7f >> length);
        for (int i = 1; i < length; i++) {
            int next = bytes[at + i];
            if ((next & 0xc0) != 0x80) {
                return 0;
            }
            codePoint = codePoint << 6 | (next & 0x3f);
        }
        return length == 0 || size(codePoint) != length || !isOfXml(codePoint) ? 0 : length;
    }

    /** Encodes the character here and returns its length in bytes. */
    static int put(int codePoint, byte[] target, int at) {
        int size = size(codePoint);
        int rest = codePoint;
        for (int i = size - 1; i > 0; i--) {
            target[at + i] = (byte) (0x80 | (rest & 0x3f));
            rest >>= 6;
        }
        target[at] = (byte) (size == 1 ? rest : (0xf00 >> size) | rest);
        return size;
    }

    private static int size(int codePoint) {
        return codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
    }

    /** XML 1.0, section 2.2. */
    static boolean isOfXml(int codePoint) {
        return codePoint < ' '
                ? codePoint == '\t' || codePoint == '\n' || codePoint == '\r'
                : codePoint < Character.MIN_SURROGATE
                        || (codePoint > Character.MAX_SURROGATE && codePoint < 0xfffe)
                        || (codePoint > 0xffff && codePoint <= Character.MAX_CODE_POINT);
    }
}
