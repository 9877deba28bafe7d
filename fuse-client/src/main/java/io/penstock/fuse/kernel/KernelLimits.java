package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** This kernel's limits for a request. */
final class KernelLimits {
    /** Pages of the largest request. Root may raise it for the machine, up to 65535. Since Linux 6.13. */
    private static final Path MAX_PAGES_LIMIT = Path.of("/proc/sys/fs/fuse/max_pages_limit");

    /** The fixed limit of earlier kernels: FUSE_MAX_MAX_PAGES in fs/fuse/fuse_i.h. */
    private static final int FIXED_MAX_PAGES = 256;

    private KernelLimits() {}

    static int maxPages() {
        // In one read: a second would find nothing, and Files.readString starts with a read of a single byte.
        try (InputStream limit = Files.newInputStream(MAX_PAGES_LIMIT)) {
            byte[] digits = new byte[16];
            return Integer.parseInt(new String(digits, 0, limit.read(digits), US_ASCII).strip());
        } catch (IOException | NumberFormatException e) {
            return FIXED_MAX_PAGES;
        }
    }
}
