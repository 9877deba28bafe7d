package io.penstock.core;

/** The answer of a call that may not wait, such as {@code read(…, mayWait)}. */
public final class NoWait {
    /** Returned instead of a count: the call would have to wait. Differs from every count and negated error number. */
    public static final int WOULD_WAIT = Integer.MIN_VALUE;

    private NoWait() {}
}
