package io.penstock.core;

import java.util.List;

/** A lack of disk space, as exceptions of the JDK tell it: those of writes name no file and have no errno. */
public final class NoSpace {
    /** strerror of ENOSPC and EDQUOT; other locales have other words. */
    private static final List<String> WORDS = List.of("No space left on device", "Disk quota exceeded");

    private NoSpace() {}

    /** Whether an exception's message says so. May miss some, and finds no other. */
    public static boolean isSaidBy(String message) {
        return WORDS.stream().anyMatch(message::contains);
    }
}
