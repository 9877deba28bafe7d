package io.penstock.interleaving;

import java.util.concurrent.ThreadLocalRandom;

/** Delays an actor, so that it meets each moment of a slower one: both begin at the same time. */
public final class Delay {
    private Delay() {}

    /** A random delay of up to this many nanoseconds. */
    public static void upTo(int nanos) {
        long delay = ThreadLocalRandom.current().nextInt(nanos);
        for (long begun = System.nanoTime(); System.nanoTime() - begun < delay; ) {
            Thread.onSpinWait();
        }
    }
}
