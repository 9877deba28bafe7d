package io.penstock.fuse.jnr;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.Statfs;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.calls.KernelCall;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Collectors;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.struct.FileStat;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Statvfs;

/**
 * Passes libfuse's upcalls to the file system: paths become inodes, results become structs, exceptions become error
 * numbers. It decides nothing else. The session's threads call it concurrently; a call may wait.
 *
 * <p>It uses jnr-fuse's operation table and the code that fills it, but not {@code mount()}. Operations that it omits
 * are not in the table: the kernel then handles locks itself, and does not ask again after the first access.
 */
final class Upcalls extends ChangeUpcalls {
    // struct fuse_operations, fuse.h of libfuse 2.9: byte offsets. jnr-fuse declares the flags as padding.
    static final long GETATTR = 0;
    static final long READ = 15 * Long.BYTES;
    static final long FSYNCDIR = 28 * Long.BYTES;
    static final long FLAGS = 38 * Long.BYTES;

    /** Calls on an open file come without its path, so that libfuse need not build it. */
    private static final int FLAG_NOPATH = 2;

    /** utimens is also called for just one of the two times; without this flag libfuse drops such calls silently. */
    private static final int FLAG_UTIME_OMIT_OK = 4;

    /** struct fuse_conn_info, fuse_common.h: byte offsets. */
    private static final long PROTOCOL_MINOR = 4;

    /** One for each of the session's threads: jnr-fuse makes a dozen objects for each view of a struct. */
    private final ThreadLocal<StatBuffer> stat = ThreadLocal.withInitial(StatBuffer::new);

    // Kept referenced here: the table holds only their addresses.
    private final Callbacks.GetAttr getattr = this::getattr;
    private final Callbacks.Read read = this::read;
    private final Callbacks.FsyncDir fsyncdir = this::fsyncdir;

    /** The kernel's minor protocol version, 0 before INIT. Written by the thread that serves INIT. */
    private volatile int protocolMinor;

    Upcalls(FileSystem fileSystem, CallObserver observer) {
        super(fileSystem, observer);
        var closures = Runtime.getSystemRuntime().getClosureManager();
        Pointer table = operations();
        table.putPointer(GETATTR, closures.getClosurePointer(Callbacks.GetAttr.class, getattr));
        table.putPointer(READ, closures.getClosurePointer(Callbacks.Read.class, read));
        table.putPointer(FSYNCDIR, closures.getClosurePointer(Callbacks.FsyncDir.class, fsyncdir));
        table.putInt(FLAGS, FLAG_NOPATH | FLAG_UTIME_OMIT_OK);
    }

    /** A struct fuse_operations, valid as long as this object is reachable. */
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
    public @Nullable Pointer init(Pointer connection) {
        protocolMinor = connection.getInt(PROTOCOL_MINOR);
        return null; // libfuse's private data, unused here
    }

    @Override
    public void destroy(Pointer userData) {
        Guard.run("destroy", () -> {
            paths.forgetAll();
            return 0;
        });
    }

    /**
     * Also serves LOOKUP. The kernel looks a name up before it uses it otherwise, so a name that is not UTF-8 is
     * refused here.
     */
    private int getattr(long pathAddress, Pointer to) {
        String path = CallbackMemory.text(pathAddress);
        return guard.call(KernelCall.GETATTR, path, () -> {
            if (path == null) {
                return -Errno.EILSEQ.number();
            }
            stat.get().write(paths.attributes(path), to);
            return 0;
        });
    }

    /** Called for open files, without a path. */
    @Override
    public int fgetattr(String path, FileStat to, FuseFileInfo file) {
        return guard.call(KernelCall.GETATTR, file.fh.get(), () -> {
            long inode = fileSystem.inodeOf(file.fh.get());
            stat.get().write(fileSystem.getattr(inode), Struct.getMemory(to));
            return 0;
        });
    }

    @Override
    public int open(String path, FuseFileInfo file) {
        return guard.call(KernelCall.OPEN, path, () -> {
            FileInfo.opened(file, fileSystem.open(paths.inode(path), file.flags.intValue()));
            return 0;
        });
    }

    private int read(long path, long buffer, long size, long offset, long file) {
        long handle = CallbackMemory.number(file + FileInfo.HANDLE);
        return guard.call(
                KernelCall.READ,
                handle,
                offset,
                () -> fileSystem.read(handle, offset, CallbackMemory.buffer(buffer, size), null, true));
    }

    @Override
    public int release(String path, FuseFileInfo file) {
        return guard.call(KernelCall.RELEASE, file.fh.get(), () -> {
            fileSystem.release(file.fh.get());
            return 0;
        });
    }

    @Override
    public int opendir(String path, FuseFileInfo directory) {
        return guard.call(KernelCall.OPENDIR, path, () -> {
            directory.fh.set(fileSystem.opendir(paths.inode(path)).handle());
            return 0;
        });
    }

    @Override
    public int readdir(String path, Pointer buffer, FuseFillDir fill, long offset, FuseFileInfo directory) {
        return guard.call(KernelCall.READDIR, directory.fh.get(), offset, () -> {
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
        return guard.call(KernelCall.RELEASEDIR, directory.fh.get(), () -> {
            fileSystem.releasedir(directory.fh.get());
            return 0;
        });
    }

    private int fsyncdir(long path, int dataOnly, long directory) {
        long handle = CallbackMemory.number(directory + FileInfo.HANDLE);
        return guard.call(KernelCall.FSYNCDIR, handle, () -> {
            fileSystem.fsyncdir(handle);
            return 0;
        });
    }

    @Override
    public int statfs(String path, Statvfs to) {
        return guard.call(KernelCall.STATFS, path, () -> {
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
        return guard.call(
                KernelCall.GETXATTR, path, () -> answer(fileSystem.getxattr(paths.inode(path), name), to, size));
    }

    @Override
    public int listxattr(String path, Pointer to, long size) {
        return guard.call(KernelCall.LISTXATTR, path, () -> {
            String names = fileSystem.listxattr(paths.inode(path)).stream()
                    .map(name -> name + '\0')
                    .collect(Collectors.joining());
            return answer(names.getBytes(UTF_8), to, size);
        });
    }

    /** An empty buffer requests the length: getxattr(2). */
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

    @Override
    public int readlink(String path, Pointer to, long size) {
        return guard.call(KernelCall.READLINK, path, () -> {
            byte[] target = fileSystem.readlink(paths.inode(path)).getBytes(UTF_8);
            int length = (int) Math.min(target.length, size - 1); // with the NUL, and truncated if necessary: fuse.h
            to.put(0, target, 0, length);
            to.putByte(length, (byte) 0);
            return 0;
        });
    }

    private static ByteBuffer nulTerminated(String name) {
        byte[] bytes = name.getBytes(UTF_8);
        return ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length + 1));
    }
}
