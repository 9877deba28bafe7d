package io.penstock.cli.doctor;

import io.penstock.cli.process.Secrets;

/**
 * One result of a check, without secrets.
 *
 * @param check the check's name
 * @param found the fault or fact
 * @param why why it matters; empty if nothing is to be done
 * @param remedy the setting or the command that mends it; empty likewise
 */
public record Finding(String check, Severity severity, String found, String why, String remedy) {
    public Finding {
        found = Secrets.hidden(found);
        why = Secrets.hidden(why);
        remedy = Secrets.hidden(remedy);
    }
}
