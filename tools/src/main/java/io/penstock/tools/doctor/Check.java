package io.penstock.tools.doctor;

import java.util.Locale;

/**
 * Judges facts. It reads nothing else, so a test can give it the facts of any machine.
 *
 * @param <F> the facts
 */
interface Check<F> {
    /** One or two words for the report: by default, those of the class name. */
    default String name() {
        return getClass().getSimpleName().replace("Check", "").toLowerCase(Locale.ROOT);
    }

    void examine(F facts, Findings findings);
}
