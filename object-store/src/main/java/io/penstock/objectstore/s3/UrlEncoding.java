package io.penstock.objectstore.s3;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import org.jspecify.annotations.Nullable;

/**
 * Decodes names in listings with {@code encoding-type=url}: bytes of UTF-8 as {@code %XX}, and {@code +} for a space.
 */
final class UrlEncoding {
    private UrlEncoding() {}

    /** The decoded name; null if it is not encoded this way. */
    static @Nullable String decode(String name) {
        byte[] bytes = name.getBytes(UTF_8);
        int length = 0;
        for (int i = 0; i < bytes.length; i++) {
            byte c = bytes[i];
            if (c == '%') {
                int high = i + 2 < bytes.length ? digit(bytes[i + 1]) : -1;
                int low = i + 2 < bytes.length ? digit(bytes[i + 2]) : -1;
                if (high < 0 || low < 0) {
                    return null;
                }
                c = (byte) (high << 4 | low);
                i += 2;
            } else if (c == '+') {
                c = ' ';
            }
            bytes[length++] = c;
        }
        return text(ByteBuffer.wrap(bytes, 0, length));
    }

    /** A byte that is not UTF-8 becomes half a surrogate pair, which no other key has: such keys stay distinct. */
    private static String text(ByteBuffer bytes) {
        CharBuffer text = CharBuffer.allocate(bytes.remaining());
        CharsetDecoder decoder = UTF_8.newDecoder();
        for (CoderResult end = decoder.decode(bytes, text, true);
                end.isMalformed();
                end = decoder.reset().decode(bytes, text, true)) {
            for (int i = 0; i < end.length(); i++) {
                text.put((char) (Character.MIN_LOW_SURROGATE | (bytes.get() & 0xff)));
            }
        }
        return text.flip().toString();
    }

    private static int digit(byte c) {
        return c < 0 ? -1 : Character.digit(c, 16);
    }
}
