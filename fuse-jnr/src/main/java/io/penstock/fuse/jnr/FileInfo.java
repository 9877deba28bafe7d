package io.penstock.fuse.jnr;

import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.kernel.OpenFile.PageCachePolicy;
import jnr.ffi.Pointer;
import jnr.ffi.Struct;
import ru.serce.jnrfuse.struct.FuseFileInfo;

/** struct fuse_file_info, fuse_common.h of libfuse 2.9: jnr-fuse declares the bits at other offsets. */
final class FileInfo {
    /** An int. */
    private static final long WRITE_PAGE = 16;

    /** The offset of a byte of bits; below are the bits that an open sets. */
    private static final long BITS = 20;

    private static final byte DIRECT_IO = 1;
    private static final byte KEEP_CACHE = 2;

    /** 64 bits, set by the file system. */
    static final long HANDLE = 24;

    private FileInfo() {}

    static void opened(FuseFileInfo info, OpenFile file) {
        Pointer memory = Struct.getMemory(info);
        memory.putLong(HANDLE, file.handle());
        memory.putByte(BITS, bits(file.pageCache()));
    }

    /** Whether a write comes from the kernel's page cache. */
    static boolean isPages(FuseFileInfo info) {
        return Struct.getMemory(info).getInt(WRITE_PAGE) != 0;
    }

    private static byte bits(PageCachePolicy policy) {
        return switch (policy) {
            case KEEP -> KEEP_CACHE;
            case INVALIDATE -> 0;
            case BYPASS -> DIRECT_IO;
            case PASS_THROUGH -> throw new IllegalStateException("libfuse 2 passes nothing through");
        };
    }
}
