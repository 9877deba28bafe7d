package io.penstock.cli.measure;

import java.time.Duration;

/**
 * The speed of a disk, past the kernel's page cache.
 *
 * @param writeMib MiB/s of sequential writes
 * @param readMib MiB/s of sequential reads
 * @param randomReads reads of 4 KiB a second, {@link DiskTrial#READERS} at a time
 * @param randomP99 the time that 99 of 100 of these took at most
 */
public record DiskSpeed(double writeMib, double readMib, double randomReads, Duration randomP99) {}
