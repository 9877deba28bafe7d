package io.penstock.metadata;

/**
 * A cached answer, and how much longer it is valid.
 *
 * @param nanos 0 or more
 */
public record CachedLookup(Answer answer, long nanos) {}
