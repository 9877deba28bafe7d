package io.penstock.cli.doctor;

/**
 * One result of a check.
 *
 * @param check the check's name
 * @param found the fault or fact
 * @param why why it matters; empty if nothing is to be done
 * @param remedy the setting or the command that mends it; empty likewise
 */
public record Finding(String check, Severity severity, String found, String why, String remedy) {}
