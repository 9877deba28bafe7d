package io.penstock.fuse.jnr;

import io.penstock.filesystem.Attributes;
import java.time.Instant;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.Timespec;

/** Writes struct stat, reusing the same objects. Confined to one thread. */
final class StatBuffer {
    /** The read size for programs that use st_blksize: the largest request of libfuse 2. */
    private static final int PREFERRED_READ = 128 * 1024;

    private final FileStat stat = new FileStat(Runtime.getSystemRuntime());
    private final Pointer own = Memory.allocateDirect(Runtime.getSystemRuntime(), Struct.size(stat), true);

    /** @return this object's memory, valid until the next call */
    Pointer write(Attributes attributes) {
        return write(attributes, own);
    }

    /** @param to zeroed, as libfuse passes it to getattr, or written here before */
    Pointer write(Attributes attributes, Pointer to) {
        stat.useMemory(to);
        stat.st_ino.set(attributes.number());
        stat.st_mode.set(attributes.mode());
        stat.st_nlink.set(attributes.links());
        stat.st_uid.set(attributes.uid());
        stat.st_gid.set(attributes.gid());
        stat.st_rdev.set(attributes.device());
        stat.st_size.set(attributes.size());
        stat.st_blksize.set(PREFERRED_READ);
        stat.st_blocks.set(attributes.blocks());
        write(attributes.modified(), stat.st_mtim);
        write(attributes.changed(), stat.st_ctim);
        write(attributes.accessed(), stat.st_atim);
        return to;
    }

    private static void write(Instant time, Timespec to) {
        to.tv_sec.set(time.getEpochSecond());
        to.tv_nsec.set(time.getNano());
    }
}
