package io.penstock.tools.doctor;

import io.penstock.serve.control.MountStatistics;
import org.jspecify.annotations.Nullable;

/**
 * A mount, as its process reports it.
 *
 * @param mountPoint as in the mount table
 * @param alive whether a process serves it
 * @param description the features that its process negotiated with the kernel
 * @param statistics null if the process did not answer
 * @param silence a message that the process did not answer, and why; empty if it did
 */
public record MountFacts(
        String mountPoint,
        boolean alive,
        String description,
        @Nullable MountStatistics statistics,
        String silence) {}
