package io.penstock.cli.doctor;

import java.util.Locale;

/** How bad a {@link Finding} is, in ascending order. */
public enum Severity {
    /** As it should be. */
    OK,
    /** Good to know; nothing needs to be done. */
    NOTE,
    /** A mount works, but it is slower than it could be, or will fail under conditions that are likely. */
    WARNING,
    /** A mount fails, or does not do its job. */
    ERROR;

    /** {@code warning}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
