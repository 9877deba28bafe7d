package io.penstock.testing;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Runs a property on random inputs that follow from a seed. A failure names its seed, and {@code -Dpenstock.seed=N}
 * runs only that seed.
 */
public final class Seeded {
    private static final RandomGeneratorFactory<RandomGenerator> GENERATORS =
            RandomGeneratorFactory.of("L64X128MixRandom");

    private Seeded() {}

    /** The property, for any input drawn from the generator. */
    @FunctionalInterface
    public interface Property {
        void check(RandomGenerator random) throws Exception;
    }

    /**
     * Checks the property with the seeds {@code 0} to {@code runs - 1}, the same in every run of the tests. Unless
     * {@link TestTier all} is tested, uses a third of them.
     */
    public static void check(int runs, Property property) {
        checkFrom(0, TestTier.choose((runs + 2) / 3, runs), property);
    }

    /**
     * Checks the property with different seeds in each run of the tests, and prints them: many runs find more than one
     * run has time for.
     *
     * @param name of the test, to be printed
     */
    public static void checkOthers(String name, int runs, Property property) {
        long first = System.currentTimeMillis() / 1000 * runs;
        System.out.println("%s: %,d sequences, the first with -Dpenstock.seed=%d".formatted(name, runs, first));
        checkFrom(first, runs, property);
    }

    private static void checkFrom(long first, int runs, Property property) {
        Long only = Long.getLong("penstock.seed");
        if (only != null) {
            checkOne(only, property);
            return;
        }
        for (long seed = first; seed < first + runs; seed++) {
            checkOne(seed, property);
        }
    }

    /** A generator with the given seed, for tests that run once. */
    public static RandomGenerator random(long seed) {
        return GENERATORS.create(seed);
    }

    private static void checkOne(long seed, Property property) {
        try {
            property.check(random(seed));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure(seed, e);
        } catch (Exception | AssertionError e) {
            throw failure(seed, e);
        }
    }

    private static AssertionError failure(long seed, Throwable cause) {
        return new AssertionError("fails with -Dpenstock.seed=" + seed + ": " + cause.getMessage(), cause);
    }
}
