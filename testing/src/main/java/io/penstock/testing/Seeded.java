package io.penstock.testing;

import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/**
 * Runs a property on random inputs that follow from a seed. Every run of the tests uses the same seeds; a failure names
 * the one that it needs, and {@code -Dpenstock.seed=N} runs that one alone.
 */
public final class Seeded {
    private static final RandomGeneratorFactory<RandomGenerator> GENERATORS =
            RandomGeneratorFactory.of("L64X128MixRandom");

    private Seeded() {}

    /** What must hold for any input drawn from the generator. */
    @FunctionalInterface
    public interface Property {
        void check(RandomGenerator random) throws Exception;
    }

    /** Checks the property with the seeds {@code 0} to {@code runs - 1}. */
    public static void check(int runs, Property property) {
        Long only = Long.getLong("penstock.seed");
        if (only != null) {
            checkOne(only, property);
            return;
        }
        for (long seed = 0; seed < runs; seed++) {
            checkOne(seed, property);
        }
    }

    /** A generator of the given seed, for tests of one run. */
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
