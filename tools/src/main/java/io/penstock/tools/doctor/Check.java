package io.penstock.tools.doctor;

import java.util.Locale;

/**
 * Judges facts. It reads nothing but them, so that a test can give it the facts of any machine.
 *
 * @param <F> the facts
 */
interface Check<F> {
    /** One or two words, for the report: those of the class, unless it says otherwise. */
    default String name() {
        return getClass().getSimpleName().replace("Check", "").toLowerCase(Locale.ROOT);
    }

    void examine(F facts, Findings findings);
}
