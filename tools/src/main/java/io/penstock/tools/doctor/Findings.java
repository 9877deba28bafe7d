package io.penstock.tools.doctor;

import java.util.ArrayList;
import java.util.List;

/** Collects the findings of one check. Confined to one thread. */
final class Findings {
    private final String check;
    private final List<Finding> all = new ArrayList<>();

    /** @param check the check's name */
    Findings(String check) {
        this.check = check;
    }

    void ok(String found) {
        add(Finding.Severity.OK, found, "", "");
    }

    /** Something that needs no remedy. */
    void note(String found) {
        note(found, "", "");
    }

    void note(String found, String why, String remedy) {
        add(Finding.Severity.NOTE, found, why, remedy);
    }

    void warning(String found, String why, String remedy) {
        add(Finding.Severity.WARNING, found, why, remedy);
    }

    void error(String found, String why, String remedy) {
        add(Finding.Severity.ERROR, found, why, remedy);
    }

    private void add(Finding.Severity severity, String found, String why, String remedy) {
        all.add(new Finding(check, severity, found, why, remedy));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    List<Finding> all() {
        return List.copyOf(all);
    }
}
