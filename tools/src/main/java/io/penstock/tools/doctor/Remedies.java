package io.penstock.tools.doctor;

import org.jspecify.annotations.Nullable;

/** Splits messages of the object store, which consist of the fault and often, after a semicolon, the remedy. */
final class Remedies {
    private static final String BEHIND = "; ";

    private Remedies() {}

    static String fault(String message) {
        int at = message.indexOf(BEHIND);
        return at < 0 ? message : message.substring(0, at);
    }

    /** @param otherwise the remedy if the message has none */
    static String of(@Nullable String message, String otherwise) {
        int at = message == null ? -1 : message.indexOf(BEHIND);
        if (message == null || at < 0) {
            return otherwise;
        }
        String remedy = message.substring(at + BEHIND.length());
        return Character.toUpperCase(remedy.charAt(0)) + remedy.substring(1);
    }
}
