package io.penstock.cli.doctor;

/**
 * Judges facts. It reads nothing but them, so that a test can give it the facts of any machine.
 *
 * @param <F> the facts
 */
interface Check<F> {
    /** One or two words, for the report. */
    String name();

    void examine(F facts, Findings findings);
}
