package io.penstock.core;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests by algorithms that every JDK supports. */
public final class Digests {
    private Digests() {}

    /** A new digest, for use by one thread. */
    public static MessageDigest sha256() {
        return of("SHA-256");
    }

    /**
     * A new digest, for use by one thread.
     *
     * @param algorithm MD5, SHA-1 or SHA-256
     */
    public static MessageDigest of(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("this JDK lacks " + algorithm, e);
        }
    }
}
