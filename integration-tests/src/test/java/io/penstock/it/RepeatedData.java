package io.penstock.it;

import io.penstock.testing.TestData;

/**
 * Content that repeats one part, so that a server can create a large object by copying.
 *
 * @param name of the object
 * @param size in bytes
 * @param period number of bytes after which the content repeats
 */
record RepeatedData(String name, long size, int period) {
    /** The part that is repeated. */
    TestData part() {
        return TestData.of(name + ".part", period);
    }

    /** The bytes from a position on. */
    byte[] bytes(long position, int length) {
        byte[] bytes = new byte[length];
        for (int done = 0; done < length; ) {
            long inPart = (position + done) % period;
            int n = (int) Math.min(length - done, period - inPart);
            System.arraycopy(part().bytes(inPart, n), 0, bytes, done, n);
            done += n;
        }
        return bytes;
    }
}
