package io.penstock.tools.doctor;

import io.penstock.serve.control.MountStatistics;
import org.jspecify.annotations.Nullable;

/**
 * A mount, as its process says.
 *
 * @param mountPoint as the mount table has it
 * @param alive whether a process serves it
 * @param description of the features that its process negotiated with the kernel
 * @param statistics null if the process did not answer
 * @param silence that it did not, and why; empty if it did
 */
public record MountFacts(
        String mountPoint,
        boolean alive,
        String description,
        @Nullable MountStatistics statistics,
        String silence) {}
