package io.penstock.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** O_DIRECT in Java: transfers between memory and disk that bypass the kernel's page cache. */
public final class DirectIo {
    private static final Logger log = LoggerFactory.getLogger(DirectIo.class);

    /**
     * The alignment of memory, offset and length that is enough for direct I/O on all common file systems, in bytes.
     */
    public static final int ALIGNMENT = 4096;

    /** The name of the test file. */
    public static final String PROBE = "probe";

    /** From the supported module jdk.unsupported. By reflection, as javac's warning about it cannot be disabled. */
    static final OpenOption OPTION = option();

    private DirectIo() {}

    /** Whether files in this folder can be opened for direct I/O. Creates a file to test it, and removes it. */
    public static boolean isSupported(Path directory) throws IOException {
        Path probe = directory.resolve(PROBE);
        Files.deleteIfExists(probe);
        try (FileChannel channel =
                FileChannel.open(probe, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, OPTION)) {
            return channel.isOpen();
        } catch (IOException | UnsupportedOperationException e) {
            log.info(
                    "The folder {} is on a file system without direct I/O ({}): writes to it pass through"
                            + " the kernel's page cache.",
                    directory,
                    e.getMessage());
            return false;
        } finally {
            Files.deleteIfExists(probe);
        }
    }

    /** The size of this many bytes in whole blocks. */
    public static long wholeBlocks(long bytes) {
        return Math.ceilDiv(bytes, ALIGNMENT) * ALIGNMENT;
    }

    /** Whether a transfer of these bytes can be direct. */
    public static boolean isAligned(long position, ByteBuffer bytes) {
        return bytes.isDirect()
                && (position | bytes.remaining()) % ALIGNMENT == 0
                && bytes.alignmentOffset(bytes.position(), ALIGNMENT) == 0;
    }

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
