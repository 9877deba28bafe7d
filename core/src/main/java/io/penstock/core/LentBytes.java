package io.penstock.core;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Parts of a buffer whose bytes have not been copied into it: they lie in memory that its owner lends for as long as it
 * takes to hand them on. Reused; for one thread at a time.
 *
 * <p>Who has taken loans and has to wait for anything but the hand-over {@linkplain #settle settles} first: somebody may
 * be waiting for that memory.
 */
public final class LentBytes {
    /** Below this a copy costs less than a loan: counting it, and another element for writev(2) to go through. */
    private static final int WORTH_LENDING = 32 << 10;

    /** What ends a loan: the memory is its owner's again. */
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

    /** @param most loans at a time */
    public LentBytes(int most) {
        parts = new Part[most];
        for (int i = 0; i < most; i++) {
            parts[i] = new Part();
        }
    }

    /** Whether so many bytes are to be lent rather than copied. */
    public boolean takes(int bytes) {
        return bytes >= WORTH_LENDING && count < parts.length;
    }

    /**
     * Notes a loan, behind those before.
     *
     * @param at where in the buffer the bytes belong
     * @param memory has them from {@code offset} on
     * @param address of the first of them
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

    /** Ends all loans; what they were of is copied to where it belongs. */
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

    /** Where in the buffer the bytes of a loan belong. */
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
