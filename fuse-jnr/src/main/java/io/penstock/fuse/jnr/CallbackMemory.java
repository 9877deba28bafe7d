package io.penstock.fuse.jnr;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import org.jspecify.annotations.Nullable;

/** Memory that libfuse hands to a callback, valid until the callback returns. */
final class CallbackMemory {
    private CallbackMemory() {}

    /** The bytes themselves, not a copy. */
    @SuppressWarnings("restricted") // the address and size are libfuse's own
    static ByteBuffer buffer(long address, long size) {
        return MemorySegment.ofAddress(address).reinterpret(size).asByteBuffer();
    }

    /** The 64-bit number there. */
    static long number(long address) {
        return buffer(address, Long.BYTES).order(ByteOrder.nativeOrder()).getLong();
    }

    /** @return the string that ends with NUL there, or null if its bytes are not UTF-8 */
    @SuppressWarnings("restricted") // a C string: its own NUL bounds it
    static @Nullable String text(long address) {
        MemorySegment bytes = MemorySegment.ofAddress(address).reinterpret(Integer.MAX_VALUE);
        int length = 0;
        while (bytes.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        try {
            return UTF_8.newDecoder()
                    .decode(bytes.asSlice(0, length).asByteBuffer())
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
