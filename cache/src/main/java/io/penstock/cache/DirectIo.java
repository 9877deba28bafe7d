package io.penstock.cache;

import java.nio.file.OpenOption;

/** Java's name for O_DIRECT: transfers between memory and disk past the kernel's page cache. */
final class DirectIo {
    /**
     * In the supported module jdk.unsupported. By name, because javac warns of its package and cannot be told not to.
     */
    static final OpenOption OPTION = option();

    private DirectIo() {}

    private static OpenOption option() {
        try {
            return (OpenOption) Class.forName("com.sun.nio.file.ExtendedOpenOption")
                    .getField("DIRECT")
                    .get(null);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("this Java has no direct I/O", e);
        }
    }
}
