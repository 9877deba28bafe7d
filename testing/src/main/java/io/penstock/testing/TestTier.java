package io.penstock.testing;

/** How much is tested: what every change must pass or, with {@code bin/test --all}, as much as fits into a night. */
public final class TestTier {
    private static final boolean ALL = Boolean.getBoolean("penstock.test.full");

    private TestTier() {}

    /** Whether this is a run of {@code bin/test --all}. */
    public static boolean isAll() {
        return ALL;
    }

    /** A number of files, rounds or seconds: the first for every change, the second for {@code bin/test --all}. */
    public static int choose(int everyChange, int all) {
        return ALL ? all : everyChange;
    }

    /** The same, unless the system property sets another number. */
    public static int choose(String property, int everyChange, int all) {
        return Integer.getInteger(property, choose(everyChange, all));
    }
}
