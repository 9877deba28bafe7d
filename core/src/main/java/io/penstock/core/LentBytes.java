package io.penstock.core;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a buffer that have not been copied into it: their bytes lie in memory that its owner lends until they are
 * passed on. Reused; for one thread at a time.
 *
 * <p>Before a thread with loans waits for anything except passing them on, it must {@linkplain #settle settle} them:
 * another thread may be waiting for that memory.
 */
public final class LentBytes {
    /** Below this size a copy costs less than a loan, which must be counted and adds an element to writev(2). */
    private static final int WORTH_LENDING = 32 << 10;

    /** Ends a loan: the owner may use the memory again. */
    @FunctionalInterface
    public interface Loan {
        void end();
    }

    private static final class Part {
        int at;
        int length;
        long address;
        int offset;

        @Nullable
        ByteBuffer memory;

        @Nullable
        Loan loan;
    }

    private final Part[] parts;
    private int count;

    /** @param most the maximum number of loans at a time */
    public LentBytes(int most) {
        parts = new Part[most];
        for (int i = 0; i < most; i++) {
            parts[i] = new Part();
        }
    }

    /** Whether this many bytes should be lent rather than copied. */
    public boolean takes(int bytes) {
        return bytes >= WORTH_LENDING && count < parts.length;
    }

    /**
     * Adds a loan after the earlier ones.
     *
     * @param at the bytes' position in the buffer
     * @param memory contains them from {@code offset} on
     * @param address of the first byte
     */
    public void add(int at, ByteBuffer memory, int offset, long address, int length, Loan loan) {
        Part part = parts[count++];
        part.at = at;
        part.memory = memory;
        part.offset = offset;
        part.address = address;
        part.length = length;
        part.loan = loan;
    }

    /** Copies the lent bytes to their positions and ends all loans. */
    public void settle(ByteBuffer buffer) {
        for (int i = 0; i < count; i++) {
            Part part = parts[i];
            if (part.memory != null) {
                buffer.put(part.at, part.memory, part.offset, part.length);
            }
        }
        giveBack();
    }

    /** Ends all loans. */
    public void giveBack() {
        for (int i = 0; i < count; i++) {
            Part part = parts[i];
            if (part.loan != null) {
                part.loan.end();
            }
            part.loan = null;
            part.memory = null;
        }
        count = 0;
    }

    public int count() {
        return count;
    }

    /** The position of a loan's bytes in the buffer. */
    public int at(int loan) {
        return parts[loan].at;
    }

    public long address(int loan) {
        return parts[loan].address;
    }

    public int length(int loan) {
        return parts[loan].length;
    }
}
