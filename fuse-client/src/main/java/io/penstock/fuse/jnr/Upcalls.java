package io.penstock.fuse.jnr;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.OpenFile;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import io.penstock.filesystem.Statfs;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Collectors;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Statvfs;

/**
 * What libfuse calls, handed to the file system: paths become inodes, answers become structs, exceptions become error
 * numbers. It decides nothing else. Called by the session's threads at the same time; a call may wait.
 *
 * <p>Of jnr-fuse it takes the operation table and its filling, not {@code mount()}. Operations that it leaves out are
 * not in the table: the kernel then does locks by itself, and does not ask again after the first flush, fsync or access.
 */
final class Upcalls extends FuseStubFS {
    private static final Logger log = LoggerFactory.getLogger(Upcalls.class);

    /** "Invalid or incomplete multibyte character": errno.h. Object keys are UTF-8, so no such name can exist. */
    private static final int EILSEQ = 84;

    // struct fuse_operations, fuse.h of libfuse 2.9: byte offsets. jnr-fuse has the flags as padding.
    static final long GETATTR = 0;
    static final long READ = 15 * Long.BYTES;
    static final long FLAGS = 38 * Long.BYTES;

    /** Calls with an open file come without its path, which libfuse then need not build. */
    private static final int FLAG_NOPATH = 2;

    /** utimens comes also for one of the two times; without this libfuse drops such calls silently. */
    private static final int FLAG_UTIME_OMIT_OK = 4;

    // struct fuse_file_info, fuse_common.h of libfuse 2.9: byte offsets and bits. jnr-fuse has these bits elsewhere.
    private static final long FILE_BITS = 20;
    static final long FILE_HANDLE = 24;
    private static final byte DIRECT_IO = 1;
    private static final byte KEEP_CACHE = 2;

    /** struct fuse_conn_info, fuse_common.h: byte offsets. */
    private static final long PROTOCOL_MINOR = 4;

    private final FileSystem fileSystem;
    private final Lookups lookups;

    /** One for each of the session's threads: jnr-fuse makes a dozen objects for each struct that it shows. */
    private final ThreadLocal<StatBuffer> stat = ThreadLocal.withInitial(StatBuffer::new);

    // Held here: the table has only their addresses.
    private final Callbacks.GetAttr getattr = this::getattr;
    private final Callbacks.Read read = this::read;

    /** The kernel's minor protocol version, 0 before INIT. Written by the thread that serves INIT. */
    private volatile int protocolMinor;

    /** What an upcall does once it is guarded. */
    @FunctionalInterface
    interface Body {
        int run() throws ErrnoException;
    }

    Upcalls(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
        this.lookups = new Lookups(inode -> fileSystem.forget(inode, 1));
        var closures = Runtime.getSystemRuntime().getClosureManager();
        Pointer table = operations();
        table.putPointer(GETATTR, closures.getClosurePointer(Callbacks.GetAttr.class, getattr));
        table.putPointer(READ, closures.getClosurePointer(Callbacks.Read.class, read));
        table.putInt(FLAGS, FLAG_NOPATH | FLAG_UTIME_OMIT_OK);
    }

    /** A struct fuse_operations, good while this object lives. */
    Pointer operations() {
        return Struct.getMemory(fuseOperations);
    }

    long operationsSize() {
        return Struct.size(fuseOperations);
    }

    int protocolMinor() {
        return protocolMinor;
    }

    @Override
    public Pointer init(Pointer connection) {
        protocolMinor = connection.getInt(PROTOCOL_MINOR);
        return connection;
    }

    @Override
    public void destroy(Pointer userData) {
        guarded("destroy", () -> {
            lookups.releaseAll();
            return 0;
        });
    }

    /**
     * Serves LOOKUP too. The kernel looks a name up before it does anything else with it, so that a name that is not
     * UTF-8 is refused here and gets no further.
     */
    private int getattr(long pathAddress, Pointer to) {
        return guarded("getattr", () -> {
            String path = NativeMemory.text(pathAddress);
            if (path == null) {
                return -EILSEQ;
            }
            stat.get().write(resolve(path), to);
            return 0;
        });
    }

    @Override
    public int open(String path, FuseFileInfo file) {
        return guarded("open", () -> {
            OpenFile opened = fileSystem.open(resolve(path).inode(), file.flags.intValue());
            Pointer memory = Struct.getMemory(file);
            memory.putLong(FILE_HANDLE, opened.handle());
            memory.putByte(FILE_BITS, bits(opened.pageCache()));
            return 0;
        });
    }

    private int read(long path, long buffer, long size, long offset, long file) {
        return guarded("read", () -> {
            long handle = NativeMemory.number(file + FILE_HANDLE);
            return fileSystem.read(handle, offset, NativeMemory.buffer(buffer, size));
        });
    }

    @Override
    public int release(String path, FuseFileInfo file) {
        return guarded("release", () -> {
            fileSystem.release(file.fh.get());
            return 0;
        });
    }

    @Override
    public int opendir(String path, FuseFileInfo directory) {
        return guarded("opendir", () -> {
            directory.fh.set(fileSystem.opendir(resolve(path).inode()));
            return 0;
        });
    }

    @Override
    public int readdir(String path, Pointer buffer, FuseFillDir fill, long offset, FuseFileInfo directory) {
        return guarded("readdir", () -> {
            StatBuffer entry = stat.get();
            fileSystem.readdir(
                    directory.fh.get(),
                    offset,
                    (name, attributes, nextOffset) ->
                            fill.apply(buffer, nulTerminated(name), entry.write(attributes), nextOffset) == 0);
            return 0;
        });
    }

    @Override
    public int releasedir(String path, FuseFileInfo directory) {
        return guarded("releasedir", () -> {
            fileSystem.releasedir(directory.fh.get());
            return 0;
        });
    }

    @Override
    public int statfs(String path, Statvfs to) {
        return guarded("statfs", () -> {
            Statfs statfs = fileSystem.statfs();
            to.f_bsize.set(statfs.blockSize());
            to.f_frsize.set(statfs.blockSize());
            to.f_blocks.set(statfs.blocks());
            to.f_bfree.set(statfs.freeBlocks());
            to.f_bavail.set(statfs.freeBlocks());
            to.f_namemax.set(statfs.nameMax());
            return 0;
        });
    }

    @Override
    public int getxattr(String path, String name, Pointer to, long size) {
        return guarded(
                "getxattr", () -> answer(fileSystem.getxattr(resolve(path).inode(), name), to, size));
    }

    @Override
    public int listxattr(String path, Pointer to, long size) {
        return guarded("listxattr", () -> {
            String names = fileSystem.listxattr(resolve(path).inode()).stream()
                    .map(name -> name + '\0')
                    .collect(Collectors.joining());
            return answer(names.getBytes(UTF_8), to, size);
        });
    }

    /** An empty buffer asks for the length: getxattr(2). */
    private static int answer(byte[] value, Pointer to, long size) {
        if (size == 0) {
            return value.length;
        }
        if (size < value.length) {
            return -Errno.ERANGE.number();
        }
        to.put(0, value, 0, value.length);
        return value.length;
    }

    /** Walks from the root. */
    private Attributes resolve(String path) throws ErrnoException {
        Attributes found = null;
        long inode = FileSystem.ROOT;
        int start = 1;
        while (start < path.length()) {
            int slash = path.indexOf('/', start);
            int end = slash < 0 ? path.length() : slash;
            found = fileSystem.lookup(inode, path.substring(start, end));
            inode = found.inode();
            lookups.hold(inode);
            start = end + 1;
        }
        return found == null ? fileSystem.getattr(FileSystem.ROOT) : found;
    }

    private static byte bits(PageCachePolicy policy) {
        return switch (policy) {
            case KEEP -> KEEP_CACHE;
            case INVALIDATE -> 0;
            case BYPASS -> DIRECT_IO;
        };
    }

    private static ByteBuffer nulTerminated(String name) {
        byte[] bytes = name.getBytes(UTF_8);
        return ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length + 1));
    }

    /** Everything that libfuse calls passes here: an exception that reached native code would be lost there. */
    @SuppressWarnings("CatchThrowable") // also what a virtual machine error is: the program reading must get an answer
    static int guarded(String operation, Body body) {
        try {
            return body.run();
        } catch (ErrnoException e) {
            if (e.errno() == Errno.EIO) {
                log.warn("{} failed: {}", operation, e.getMessage());
            } else {
                log.debug("{}: {}", operation, e.getMessage());
            }
            return -e.errno().number();
        } catch (Throwable e) {
            log.error("{} failed, answered EIO", operation, e);
            return -Errno.EIO.number();
        }
    }
}
