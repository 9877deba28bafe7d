package io.penstock.fuse.jnr;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.AttributeChange;
import io.penstock.filesystem.CreatedFile;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.Statfs;
import io.penstock.fuse.jnr.Paths.Place;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.Collectors;
import jnr.ffi.Pointer;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import org.jspecify.annotations.Nullable;
import ru.serce.jnrfuse.FuseFillDir;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Statvfs;
import ru.serce.jnrfuse.struct.Timespec;

/**
 * What libfuse calls, handed to the file system: paths become inodes, answers become structs, exceptions become error
 * numbers. It decides nothing else. Called by the session's threads at the same time; a call may wait.
 *
 * <p>Of jnr-fuse it takes the operation table and its filling, not {@code mount()}. Operations that it leaves out are
 * not in the table: the kernel then does locks by itself, and does not ask again after the first flush, fsync or access.
 */
final class Upcalls extends FuseStubFS {
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

    /** struct fuse_conn_info, fuse_common.h: byte offsets. */
    private static final long PROTOCOL_MINOR = 4;

    private final FileSystem fileSystem;
    private final Paths paths;

    /** One for each of the session's threads: jnr-fuse makes a dozen objects for each struct that it shows. */
    private final ThreadLocal<StatBuffer> stat = ThreadLocal.withInitial(StatBuffer::new);

    // Held here: the table has only their addresses.
    private final Callbacks.GetAttr getattr = this::getattr;
    private final Callbacks.Read read = this::read;

    /** The kernel's minor protocol version, 0 before INIT. Written by the thread that serves INIT. */
    private volatile int protocolMinor;

    Upcalls(FileSystem fileSystem) {
        this.fileSystem = fileSystem;
        this.paths = new Paths(fileSystem);
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
    public @Nullable Pointer init(Pointer connection) {
        protocolMinor = connection.getInt(PROTOCOL_MINOR);
        return null; // libfuse's private data, which nothing here needs
    }

    @Override
    public void destroy(Pointer userData) {
        Guard.call("destroy", () -> {
            paths.forgetAll();
            return 0;
        });
    }

    /**
     * Serves LOOKUP too. The kernel looks a name up before it does anything else with it, so that a name that is not
     * UTF-8 is refused here and gets no further.
     */
    private int getattr(long pathAddress, Pointer to) {
        return Guard.call("getattr", () -> {
            String path = NativeMemory.text(pathAddress);
            if (path == null) {
                return -EILSEQ;
            }
            stat.get().write(paths.attributes(path), to);
            return 0;
        });
    }

    @Override
    public int open(String path, FuseFileInfo file) {
        return Guard.call("open", () -> {
            FileInfo.opened(file, fileSystem.open(paths.inode(path), file.flags.intValue()));
            return 0;
        });
    }

    private int read(long path, long buffer, long size, long offset, long file) {
        return Guard.call("read", () -> {
            long handle = NativeMemory.number(file + FileInfo.HANDLE);
            return fileSystem.read(handle, offset, NativeMemory.buffer(buffer, size));
        });
    }

    @Override
    public int release(String path, FuseFileInfo file) {
        return Guard.call("release", () -> {
            fileSystem.release(file.fh.get());
            return 0;
        });
    }

    @Override
    public int opendir(String path, FuseFileInfo directory) {
        return Guard.call("opendir", () -> {
            directory.fh.set(fileSystem.opendir(paths.inode(path)));
            return 0;
        });
    }

    @Override
    public int readdir(String path, Pointer buffer, FuseFillDir fill, long offset, FuseFileInfo directory) {
        return Guard.call("readdir", () -> {
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
        return Guard.call("releasedir", () -> {
            fileSystem.releasedir(directory.fh.get());
            return 0;
        });
    }

    @Override
    public int statfs(String path, Statvfs to) {
        return Guard.call("statfs", () -> {
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
        return Guard.call("getxattr", () -> answer(fileSystem.getxattr(paths.inode(path), name), to, size));
    }

    @Override
    public int listxattr(String path, Pointer to, long size) {
        return Guard.call("listxattr", () -> {
            String names = fileSystem.listxattr(paths.inode(path)).stream()
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

    @Override
    public int readlink(String path, Pointer to, long size) {
        return Guard.call("readlink", () -> {
            byte[] target = fileSystem.readlink(paths.inode(path)).getBytes(UTF_8);
            int length = (int) Math.min(target.length, size - 1); // the NUL included, and cut if need be: fuse.h
            to.put(0, target, 0, length);
            to.putByte(length, (byte) 0);
            return 0;
        });
    }

    @Override
    public int create(String path, long mode, FuseFileInfo file) {
        return Guard.call("create", () -> {
            Place place = paths.place(path);
            CreatedFile created = fileSystem.create(place.directory(), place.name(), (int) mode, file.flags.intValue());
            paths.held(created.attributes());
            FileInfo.opened(file, created.open());
            return 0;
        });
    }

    @Override
    public int mknod(String path, long mode, long device) {
        return Guard.call("mknod", () -> {
            Place place = paths.place(path);
            paths.held(fileSystem.mknod(place.directory(), place.name(), (int) mode));
            return 0;
        });
    }

    @Override
    public int mkdir(String path, long mode) {
        return Guard.call("mkdir", () -> {
            Place place = paths.place(path);
            paths.held(fileSystem.mkdir(place.directory(), place.name(), (int) mode));
            return 0;
        });
    }

    @Override
    public int unlink(String path) {
        return Guard.call("unlink", () -> {
            Place place = paths.place(path);
            fileSystem.unlink(place.directory(), place.name());
            return 0;
        });
    }

    @Override
    public int rmdir(String path) {
        return Guard.call("rmdir", () -> {
            Place place = paths.place(path);
            fileSystem.rmdir(place.directory(), place.name());
            return 0;
        });
    }

    @Override
    public int rename(String from, String to) {
        return Guard.call("rename", () -> {
            Place source = paths.place(from);
            Place target = paths.place(to);
            fileSystem.rename(source.directory(), source.name(), target.directory(), target.name(), 0);
            return 0;
        });
    }

    @Override
    public int link(String existing, String added) {
        return Guard.call("link", () -> {
            Place place = paths.place(added);
            paths.held(fileSystem.link(paths.inode(existing), place.directory(), place.name()));
            return 0;
        });
    }

    @Override
    public int symlink(String target, String path) {
        return Guard.call("symlink", () -> {
            Place place = paths.place(path);
            paths.held(fileSystem.symlink(target, place.directory(), place.name()));
            return 0;
        });
    }

    @Override
    public int chmod(String path, long mode) {
        return Guard.call("chmod", () -> change(path, Changes.mode(mode)));
    }

    @Override
    public int chown(String path, long uid, long gid) {
        return Guard.call("chown", () -> change(path, Changes.owner(uid, gid)));
    }

    @Override
    public int truncate(String path, long size) {
        return Guard.call("truncate", () -> change(path, Changes.size(size)));
    }

    @Override
    public int utimens(String path, Timespec[] accessedAndModified) {
        return Guard.call("utimens", () -> change(path, Changes.times(accessedAndModified[0], accessedAndModified[1])));
    }

    private int change(String path, AttributeChange change) throws ErrnoException {
        fileSystem.setattr(paths.inode(path), change);
        return 0;
    }

    @Override
    public int write(String path, Pointer from, long size, long offset, FuseFileInfo file) {
        return Guard.call(
                "write", () -> fileSystem.write(file.fh.get(), offset, NativeMemory.buffer(from.address(), size)));
    }

    @Override
    public int fallocate(String path, int mode, long offset, long length, FuseFileInfo file) {
        return Guard.call("fallocate", () -> {
            fileSystem.fallocate(file.fh.get(), mode, offset, length);
            return 0;
        });
    }

    @Override
    public int setxattr(String path, String name, Pointer from, long size, int flags) {
        return Guard.call("setxattr", () -> {
            byte[] value = new byte[(int) size];
            from.get(0, value, 0, value.length);
            fileSystem.setxattr(paths.inode(path), name, value, flags);
            return 0;
        });
    }

    @Override
    public int removexattr(String path, String name) {
        return Guard.call("removexattr", () -> {
            fileSystem.removexattr(paths.inode(path), name);
            return 0;
        });
    }

    private static ByteBuffer nulTerminated(String name) {
        byte[] bytes = name.getBytes(UTF_8);
        return ByteBuffer.wrap(Arrays.copyOf(bytes, bytes.length + 1));
    }
}
