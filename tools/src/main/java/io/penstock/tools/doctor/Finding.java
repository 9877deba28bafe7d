package io.penstock.tools.doctor;

import io.penstock.settings.process.Secrets;
import java.util.Locale;

/**
 * One result of a check, without secrets.
 *
 * @param check the check's name
 * @param found the fault or fact
 * @param why why it matters; empty if no action is needed
 * @param remedy the setting or the command that fixes it; empty if no action is needed
 */
public record Finding(String check, Finding.Severity severity, String found, String why, String remedy) {
    public Finding {
        found = Secrets.hidden(found);
        why = Secrets.hidden(why);
        remedy = Secrets.hidden(remedy);
    }

    /** How bad a {@link Finding} is, in ascending order. */
    public enum Severity {
        /** As it should be. */
        OK,
        /** Good to know; nothing needs to be done. */
        NOTE,
        /** A mount works, but is slower than it could be, or will fail under likely conditions. */
        WARNING,
        /** A mount fails, or does not do its job. */
        ERROR;

        /** {@code warning}. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
