package io.penstock.core;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** Digests by algorithms that every JDK has. */
public final class Digests {
    private Digests() {}

    /** A new one, which one thread uses. */
    public static MessageDigest sha256() {
        return of("SHA-256");
    }

    /**
     * A new one, which one thread uses.
     *
     * @param algorithm MD5, SHA-1 or SHA-256
     */
    public static MessageDigest of(String algorithm) {
        try {
            return MessageDigest.getInstance(algorithm);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has " + algorithm, e);
        }
    }
}
