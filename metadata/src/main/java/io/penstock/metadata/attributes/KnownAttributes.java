package io.penstock.metadata.attributes;

import io.penstock.core.ObjectVersion;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The attributes of one version, as far as they are known. A change of attributes alone leaves an object's ETag and size as they
 * are, and its time counts in whole seconds. So several changes within one second are one version, and what was learned during
 * that second may be any of them: it is <em>racy</em>, as in git's index.
 */
sealed interface KnownAttributes {
    /**
     * After an object's time, by the store's clock. One second is that of the time itself, in which the object may have been
     * changed again. The other is for the time between the store's look at the object and the date of its response, and for
     * servers of one store whose clocks differ.
     */
    Duration SETTLED = Duration.ofSeconds(2);

    ObjectVersion version();

    ObjectAttributes attributes();

    /** These count for the version for good. */
    record Settled(ObjectVersion version, ObjectAttributes attributes) implements KnownAttributes {}

    /**
     * The version may have others by now.
     *
     * @param asOf when they were asked for, or set here, on the clock: nanoseconds
     */
    record Racy(ObjectVersion version, ObjectAttributes attributes, long asOf) implements KnownAttributes {}

    /** Whether nothing changes any more that has this time, once a store's response has this date. */
    static boolean isSettled(Instant lastModified, Instant date) {
        return !date.isBefore(lastModified.plus(SETTLED));
    }

    default boolean isOf(ObjectVersion other) {
        // Another node that changes attributes changes nothing but the time.
        ObjectVersion version = version();
        return version.hasIdentityOf(other)
                && version.size() == other.size()
                && version.lastModified()
                        .truncatedTo(ChronoUnit.SECONDS)
                        .equals(other.lastModified().truncatedTo(ChronoUnit.SECONDS));
    }
}
