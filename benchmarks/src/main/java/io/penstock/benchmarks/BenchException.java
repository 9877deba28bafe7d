package io.penstock.benchmarks;

import org.jspecify.annotations.Nullable;

/** A benchmark cannot continue, for a reason that its user can fix: the message says what to do. */
final class BenchException extends Exception {
    private static final long serialVersionUID = 1L;

    BenchException(@Nullable String message) {
        super(message);
    }
}
