package io.penstock.cli;

import java.util.Locale;

/** Numbers as the tables of statistics show them: short, in a unit that needs few digits. */
final class Figures {
    private Figures() {}

    /** A number of MiB. */
    static String mib(double bytes) {
        return count(bytes / (1 << 20));
    }

    static String count(double number) {
        return String.format(Locale.ROOT, number < 9.95 && number != Math.rint(number) ? "%.1f" : "%.0f", number);
    }

    /** {@code 1 problem}, {@code 1,200 problems}. */
    static String count(long number, String noun) {
        return String.format(Locale.ROOT, "%,d %s%s", number, noun, number == 1 ? "" : "s");
    }

    static String percent(double part, double whole) {
        return whole == 0 ? "-" : String.format(Locale.ROOT, "%.0f%%", 100.0 * part / whole);
    }

    static String percent(long part, long whole) {
        return percent((double) part, (double) whole);
    }

    /** In the unit that needs at most three digits: {@code 1.4ms}. */
    static String time(long nanos) {
        if (nanos < 999_500) {
            return count(nanos / 1e3) + "us";
        }
        return nanos < 999_500_000 ? count(nanos / 1e6) + "ms" : count(nanos / 1e9) + "s";
    }

    /** In one or two units: {@code 7 s}, {@code 2 min 5 s}, {@code 30 h 0 min}. */
    static String duration(long seconds) {
        return seconds < 60
                ? seconds + " s"
                : seconds < 3600
                        ? seconds / 60 + " min " + seconds % 60 + " s"
                        : seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
    }
}
