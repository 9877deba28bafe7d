package io.penstock.cache;

/** Why a page is requested; decides which one gets memory and a request first. */
public enum Urgency {
    /** A reader waits for it. */
    DEMAND,
    /** A reader is expected to reach it soon; gives way when memory is short. */
    READAHEAD,
    /** Will be read from NVMe, much later; gives way when memory is short, and comes as fast as the disk stores it. */
    LATER
}
