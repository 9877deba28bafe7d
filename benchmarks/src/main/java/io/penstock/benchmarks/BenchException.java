package io.penstock.benchmarks;

import org.jspecify.annotations.Nullable;

/** A benchmark cannot go on for a reason that its user can do something about: the message says what. */
final class BenchException extends Exception {
    private static final long serialVersionUID = 1L;

    BenchException(@Nullable String message) {
        super(message);
    }
}
