package io.penstock.fuse.kernel;

import io.penstock.core.Errno;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.fuse.Native;
import io.penstock.fuse.kernel.Layouts.BackingMap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Files of one mount that the kernel reads itself (passthrough). */
final class DeviceBackingFiles implements BackingFiles {
    private static final Logger log = LoggerFactory.getLogger(DeviceBackingFiles.class);

    // include/uapi/linux/fuse.h: _IOW(229, 1, struct fuse_backing_map) and _IOW(229, 2, uint32_t).
    private static final int FUSE_DEV_IOC_BACKING_OPEN = 0x4010_e501;
    private static final int FUSE_DEV_IOC_BACKING_CLOSE = 0x4004_e502;

    private final Device device;

    DeviceBackingFiles(Device device) {
        this.device = device;
    }

    @Override
    public int open(Path file) throws IOException {
        int fd = Native.C.open(file.toString(), Native.O_RDONLY | Native.O_CLOEXEC);
        if (fd < 0) {
            throw new IOException(file + " cannot be opened: error number " + Native.error());
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment map = arena.allocate(BackingMap.SIZE, Long.BYTES);
            map.set(ValueLayout.JAVA_INT, BackingMap.FD, fd);
            int id = device.ioctl(FUSE_DEV_IOC_BACKING_OPEN, map.address());
            if (id <= 0) {
                throw new IOException(reason(-id));
            }
            return id;
        } finally {
            Native.C.close(fd);
        }
    }

    private static String reason(int error) {
        if (error == Errno.EPERM.number()) {
            return "the kernel requires CAP_SYS_ADMIN outside of user namespaces: mount as root";
        } else if (error == Errno.ELOOP.number()) {
            return "the cache folder is on file systems stacked too deep: choose another (setting cache.dir)";
        }
        return "error number " + error + " of FUSE_DEV_IOC_BACKING_OPEN";
    }

    @Override
    public void close(int id) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment argument = arena.allocateFrom(ValueLayout.JAVA_INT, id);
            int error = device.ioctl(FUSE_DEV_IOC_BACKING_CLOSE, argument.address());
            // A closed device has no files.
            if (error < 0 && error != -Errno.EBADF.number()) {
                log.warn("The kernel did not release the backing file {}: error number {}", id, -error);
            }
        }
    }
}
