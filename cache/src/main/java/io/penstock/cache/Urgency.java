package io.penstock.cache;

/** The purpose of a page: decides which one gets memory and a request first. */
public enum Urgency {
    /** A reader waits for it. */
    DEMAND,
    /** It is expected to be read; gives way when memory is short. */
    READAHEAD
}
