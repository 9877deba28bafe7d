package io.penstock.fuse.jnr;

import io.penstock.core.ErrnoException;
import io.penstock.filesystem.AttributeChange;
import io.penstock.filesystem.CreatedFile;
import io.penstock.filesystem.Creator;
import io.penstock.filesystem.FileSystem;
import io.penstock.fuse.calls.CallObserver;
import io.penstock.fuse.calls.KernelCall;
import io.penstock.fuse.jnr.Paths.Place;
import java.nio.ByteBuffer;
import jnr.ffi.Pointer;
import ru.serce.jnrfuse.FuseStubFS;
import ru.serce.jnrfuse.struct.FuseContext;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.Timespec;

/** Passes the upcalls that change something, or make changes durable, to the file system. */
abstract class ChangeUpcalls extends FuseStubFS {
    final FileSystem fileSystem;
    final Paths paths;
    final Guard guard;

    ChangeUpcalls(FileSystem fileSystem, CallObserver observer) {
        this.fileSystem = fileSystem;
        this.guard = new Guard(observer, fileSystem::inodeOf);
        this.paths = new Paths(fileSystem);
    }

    @Override
    public int create(String path, long mode, FuseFileInfo file) {
        return guard.call(KernelCall.CREATE, path, () -> {
            Place place = paths.place(path);
            CreatedFile created =
                    fileSystem.create(place.directory(), place.name(), (int) mode, creator(), file.flags.intValue());
            paths.held(created.attributes());
            FileInfo.opened(file, created.open());
            return 0;
        });
    }

    /** The user whose call is being served. */
    private Creator creator() {
        FuseContext context = getContext();
        return new Creator(context.uid.intValue(), context.gid.intValue());
    }

    @Override
    public int mknod(String path, long mode, long device) {
        return guard.call(KernelCall.MKNOD, path, () -> {
            Place place = paths.place(path);
            paths.held(fileSystem.mknod(place.directory(), place.name(), (int) mode, (int) device, creator()));
            return 0;
        });
    }

    @Override
    public int mkdir(String path, long mode) {
        return guard.call(KernelCall.MKDIR, path, () -> {
            Place place = paths.place(path);
            paths.held(fileSystem.mkdir(place.directory(), place.name(), (int) mode, creator()));
            return 0;
        });
    }

    @Override
    public int unlink(String path) {
        return guard.call(KernelCall.UNLINK, path, () -> {
            Place place = paths.place(path);
            fileSystem.unlink(place.directory(), place.name());
            return 0;
        });
    }

    @Override
    public int rmdir(String path) {
        return guard.call(KernelCall.RMDIR, path, () -> {
            Place place = paths.place(path);
            fileSystem.rmdir(place.directory(), place.name());
            return 0;
        });
    }

    @Override
    public int rename(String from, String to) {
        return guard.call(KernelCall.RENAME, from, () -> {
            Place source = paths.place(from);
            Place target = paths.place(to);
            fileSystem.rename(source.directory(), source.name(), target.directory(), target.name(), 0);
            return 0;
        });
    }

    @Override
    public int link(String existing, String added) {
        return guard.call(KernelCall.LINK, added, () -> {
            Place place = paths.place(added);
            paths.held(fileSystem.link(paths.inode(existing), place.directory(), place.name()));
            return 0;
        });
    }

    @Override
    public int symlink(String target, String path) {
        return guard.call(KernelCall.SYMLINK, path, () -> {
            Place place = paths.place(path);
            paths.held(fileSystem.symlink(target, place.directory(), place.name(), creator()));
            return 0;
        });
    }

    @Override
    public int chmod(String path, long mode) {
        return guard.call(KernelCall.SETATTR, path, () -> change(path, SetattrUpcalls.mode(mode)));
    }

    @Override
    public int chown(String path, long uid, long gid) {
        return guard.call(KernelCall.SETATTR, path, () -> change(path, SetattrUpcalls.owner(uid, gid)));
    }

    @Override
    public int truncate(String path, long size) {
        return guard.call(KernelCall.SETATTR, path, () -> change(path, SetattrUpcalls.size(size)));
    }

    @Override
    public int utimens(String path, Timespec[] accessedAndModified) {
        return guard.call(
                KernelCall.SETATTR,
                path,
                () -> change(path, SetattrUpcalls.times(accessedAndModified[0], accessedAndModified[1])));
    }

    private int change(String path, AttributeChange change) throws ErrnoException {
        fileSystem.setattr(paths.inode(path), null, change);
        return 0;
    }

    /** Called without a path. */
    @Override
    public int ftruncate(String path, long size, FuseFileInfo file) {
        return guard.call(KernelCall.SETATTR, file.fh.get(), () -> {
            long handle = file.fh.get();
            fileSystem.setattr(fileSystem.inodeOf(handle), handle, SetattrUpcalls.size(size));
            return 0;
        });
    }

    @Override
    public int flush(String path, FuseFileInfo file) {
        return guard.call(KernelCall.FLUSH, file.fh.get(), () -> {
            fileSystem.flush(file.fh.get());
            return 0;
        });
    }

    @Override
    public int fsync(String path, int dataOnly, FuseFileInfo file) {
        return guard.call(KernelCall.FSYNC, file.fh.get(), () -> {
            fileSystem.fsync(file.fh.get());
            return 0;
        });
    }

    @Override
    public int write(String path, Pointer from, long size, long offset, FuseFileInfo file) {
        return guard.call(KernelCall.WRITE, file.fh.get(), offset, () -> {
            long handle = file.fh.get();
            ByteBuffer bytes = CallbackMemory.buffer(from.address(), size);
            // Pages changed in mapped memory may come through any handle of the file, whatever its flags.
            return fileSystem.write(handle, offset, bytes, file.flags.intValue(), FileInfo.isPages(file), true);
        });
    }

    @Override
    public int fallocate(String path, int mode, long offset, long length, FuseFileInfo file) {
        return guard.call(KernelCall.FALLOCATE, file.fh.get(), offset, () -> {
            fileSystem.fallocate(file.fh.get(), mode, offset, length);
            return 0;
        });
    }

    @Override
    public int setxattr(String path, String name, Pointer from, long size, int flags) {
        return guard.call(KernelCall.SETXATTR, path, () -> {
            byte[] value = new byte[(int) size];
            from.get(0, value, 0, value.length);
            fileSystem.setxattr(paths.inode(path), name, value, flags);
            return 0;
        });
    }

    @Override
    public int removexattr(String path, String name) {
        return guard.call(KernelCall.REMOVEXATTR, path, () -> {
            fileSystem.removexattr(paths.inode(path), name);
            return 0;
        });
    }
}
