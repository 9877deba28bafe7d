package io.penstock.metadata.attributes;

import io.penstock.core.ObjectVersion;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The known attributes of one version. A change of attributes alone leaves an object's ETag and size unchanged, and its
 * time is in whole seconds. So several changes within one second are one version, and an answer from that second may
 * show any of them: it is <em>racy</em>, as in git's index.
 */
sealed interface KnownAttributes {
    /**
     * After an object's time, by the store's clock. One second is that of the time itself, in which the object may have
     * changed again. The other covers the time between the store's look at the object and the date of its response, and
     * servers of one store whose clocks differ.
     */
    Duration SETTLED = Duration.ofSeconds(2);

    ObjectVersion version();

    ObjectAttributes attributes();

    /** These are permanently valid for the version. */
    record Settled(ObjectVersion version, ObjectAttributes attributes) implements KnownAttributes {}

    /**
     * The version may have other attributes by now.
     *
     * @param asOf when they were requested, or set here, on the clock: nanoseconds
     */
    record Racy(ObjectVersion version, ObjectAttributes attributes, long asOf) implements KnownAttributes {}

    /** Whether a version with this time can no longer change, once a store's response has this date. */
    static boolean isSettled(Instant lastModified, Instant date) {
        return !date.isBefore(lastModified.plus(SETTLED));
    }

    default boolean isOf(ObjectVersion other) {
        // Another node's change of attributes changes nothing else except the time.
        ObjectVersion version = version();
        return version.hasIdentityOf(other)
                && version.size() == other.size()
                && version.lastModified()
                        .truncatedTo(ChronoUnit.SECONDS)
                        .equals(other.lastModified().truncatedTo(ChronoUnit.SECONDS));
    }
}
