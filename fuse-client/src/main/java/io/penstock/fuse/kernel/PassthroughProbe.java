package io.penstock.fuse.kernel;

import io.penstock.filesystem.kernel.BackingFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The result of probing passthrough.
 *
 * @param backingFiles null if passthrough is not possible
 * @param description part of the mount's description, with the reason if passthrough is not possible
 */
record PassthroughProbe(@Nullable BackingFiles backingFiles, String description) {
    private static final Logger log = LoggerFactory.getLogger(PassthroughProbe.class);

    /**
     * How many file systems may be stacked, this mount included: INIT's max_stack_depth. It is 1 with a cache on a
     * disk; with a larger depth nothing else may be stacked on the mount (FILESYSTEM_MAX_STACK_DEPTH in
     * include/linux/fs.h).
     *
     * @param folder the folder of the files; null for none
     * @return 0 for no passthrough
     */
    static int stackDepth(@Nullable Path folder) {
        if (folder == null) {
            return 0;
        }
        try {
            return Files.getFileStore(folder).type().equals("overlay") ? 2 : 1;
        } catch (IOException e) {
            return 0;
        }
    }

    /** Tries passthrough with a file of this folder. */
    static PassthroughProbe of(Device device, NegotiatedInit negotiated, @Nullable Path folder) {
        if (negotiated.writesBack()) {
            return none("not with the kernel's writeback cache");
        }
        if (folder == null) {
            return none("switched off");
        }
        if (!negotiated.passesThrough()) {
            return none("this kernel has none: Linux 6.9 or newer has, if built with CONFIG_FUSE_PASSTHROUGH");
        }
        BackingFiles files = new DeviceBackingFiles(device);
        try {
            Path probe = Files.createTempFile(folder, "passthrough", ".probe");
            try {
                files.close(files.open(probe));
            } finally {
                Files.deleteIfExists(probe);
            }
            return new PassthroughProbe(files, "passthrough");
        } catch (IOException e) {
            return none(String.valueOf(e.getMessage()));
        }
    }

    private static PassthroughProbe none(String reason) {
        log.info("Cached files are read through this process, not by the kernel itself: {}", reason);
        return new PassthroughProbe(null, "no passthrough (" + reason + ")");
    }
}
