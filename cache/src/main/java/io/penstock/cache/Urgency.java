package io.penstock.cache;

/** The purpose of a page: decides which one gets memory and a request first. */
public enum Urgency {
    /** A reader waits for it. */
    DEMAND,
    /** A reader is expected to come to it soon; gives way when memory is short. */
    READAHEAD,
    /** It is to be read from NVMe, long after; gives way when memory is short, and comes no faster than the disk stores it. */
    LATER
}
