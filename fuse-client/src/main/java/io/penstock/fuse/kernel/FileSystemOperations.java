package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.Attributes;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.kernel.BackingFiles;
import io.penstock.filesystem.kernel.KernelCache;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.NoEntryException;
import io.penstock.fuse.kernel.Layouts.AccessIn;
import io.penstock.fuse.kernel.Layouts.BatchForgetIn;
import io.penstock.fuse.kernel.Layouts.ForgetIn;
import io.penstock.fuse.kernel.Layouts.ForgetOne;
import io.penstock.fuse.kernel.Layouts.GetxattrIn;
import io.penstock.fuse.kernel.Layouts.LseekIn;
import io.penstock.fuse.kernel.Layouts.OpenIn;
import io.penstock.fuse.kernel.Layouts.ReadIn;
import io.penstock.fuse.kernel.Layouts.ReleaseIn;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Passes requests to the file system and its results to the kernel. It decides nothing else. */
final class FileSystemOperations implements Operations {
    /** Room for every reply whose length is not in the request: a path and its structs. */
    private static final int SHORT_BODY = 4096;

    /** The mask of open(2)'s access mode; mode 0 is reading: include/uapi/asm-generic/fcntl.h. */
    private static final int O_ACCMODE = 3;

    private final FileSystem fileSystem;
    private final @Nullable BackingFiles backingFiles;
    private final Readahead readahead;
    private final Descriptors descriptors;
    private final ReplyWriter replies;
    private final ChangeOperations changes;

    /** Whether the file's data is known here: with the writeback cache the kernel may have unsent data. */
    private final boolean seeks;

    FileSystemOperations(FileSystem fileSystem, KernelConnection connection) {
        this.fileSystem = fileSystem;
        this.backingFiles = connection.backingFiles();
        this.readahead = connection.readahead();
        this.descriptors = connection.descriptors();
        boolean writesBack = connection.negotiated().writesBack();
        // Reads that bypass the kernel's pages (FOPEN_DIRECT_IO) would miss data that the kernel has not sent.
        boolean directWrites = connection.negotiated().dropsPagesOfDirectWrites() && !writesBack;
        this.replies = new ReplyWriter(connection.longestValid(), directWrites);
        this.changes = new ChangeOperations(fileSystem, replies, descriptors, writesBack);
        this.seeks = !writesBack;
    }

    @Override
    public int serveNow(Request request, Reply reply) throws ErrnoException {
        return switch (request.opcode()) {
            case LOOKUP -> lookupNow(request, reply);
            case GETATTR -> {
                Attributes known = fileSystem.getattrNow(request.node());
                yield known == null ? WOULD_WAIT : replies.attributes(reply, known);
            }
            case READ -> {
                int bytes = fileSystem.readNow(
                        handle(request), request.u64(ReadIn.OFFSET), body(request, reply), reply.loans());
                yield bytes == FileSystem.WOULD_WAIT ? WOULD_WAIT : bytes;
            }
            case OPEN -> {
                OpenFile file = isRead(request)
                        ? fileSystem.openNow(request.node(), request.u32(OpenIn.FLAGS), backingFiles)
                        : null;
                yield file == null ? WOULD_WAIT : opened(request, reply, file);
            }
            case WRITE -> changes.writeNow(request, reply);
            case OPENDIR -> {
                OpenFile directory = fileSystem.opendirNow(request.node());
                yield directory == null ? WOULD_WAIT : replies.openedDirectory(reply, directory);
            }
            case GETXATTR -> {
                byte[] value = fileSystem.getxattrNow(request.node(), request.string(GetxattrIn.SIZE));
                yield value == null ? WOULD_WAIT : attribute(request, reply, value);
            }
            case LISTXATTR -> {
                List<String> names = fileSystem.listxattrNow(request.node());
                yield names == null ? WOULD_WAIT : attributeNames(request, reply, names);
            }
            case FORGET, BATCH_FORGET, RELEASE, RELEASEDIR, STATFS, DESTROY -> serve(request, reply);
            case null, default -> WOULD_WAIT;
        };
    }

    @Override
    public int serve(Request request, Reply reply) throws ErrnoException {
        return switch (request.opcode()) {
            case LOOKUP -> lookup(request, reply);
            case GETATTR -> replies.attributes(reply, fileSystem.getattr(request.node()));
            case READ ->
                fileSystem.read(handle(request), request.u64(ReadIn.OFFSET), body(request, reply), reply.loans());
            case OPEN -> {
                OpenFile file = fileSystem.open(request.node(), request.u32(OpenIn.FLAGS), backingFiles);
                if (!isRead(request)) {
                    descriptors.opened(file.handle(), request.pid());
                }
                if ((request.u32(OpenIn.OPEN_FLAGS) & OpenIn.FUSE_OPEN_KILL_SUIDGID) != 0) {
                    fileSystem.dropSetIds(file.handle());
                }
                yield opened(request, reply, file);
            }
            case RELEASE -> {
                fileSystem.release(request.u64(ReleaseIn.FH));
                descriptors.released(request.u64(ReleaseIn.FH));
                yield 0;
            }
            case OPENDIR -> replies.openedDirectory(reply, fileSystem.opendir(request.node()));
            case READDIR -> {
                var entries = new DirectoryWriter(replies, reply, room(request, reply), false);
                fileSystem.readdir(handle(request), request.u64(ReadIn.OFFSET), entries);
                yield entries.length();
            }
            case READDIRPLUS -> {
                var entries = new DirectoryWriter(replies, reply, room(request, reply), true);
                fileSystem.readdirplus(handle(request), request.u64(ReadIn.OFFSET), entries);
                yield entries.length();
            }
            case RELEASEDIR -> {
                fileSystem.releasedir(request.u64(ReleaseIn.FH));
                yield 0;
            }
            case FORGET -> {
                fileSystem.forget(request.node(), request.u64(ForgetIn.NLOOKUP));
                yield NO_REPLY;
            }
            case BATCH_FORGET -> batchForget(request);
            case STATFS -> replies.statfs(reply, fileSystem.statfs());
            case ACCESS -> {
                fileSystem.access(request.node(), request.u32(AccessIn.MASK), request.uid(), request.gid());
                yield 0;
            }
            case GETXATTR ->
                attribute(request, reply, fileSystem.getxattr(request.node(), request.string(GetxattrIn.SIZE)));
            case LISTXATTR -> attributeNames(request, reply, fileSystem.listxattr(request.node()));
            // After ENOSYS the kernel treats everything up to the file's end as data, and does not ask again.
            case LSEEK -> seeks ? seek(request, reply) : -Errno.ENOSYS.number();
            case READLINK -> replies.link(reply, fileSystem.readlink(request.node()));
            case DESTROY -> 0; // unmounted: the session ends with the device
            case null, default -> changes.serve(request, reply);
        };
    }

    @Override
    public Runnable connect(KernelCache kernel) {
        return fileSystem.tell(kernel);
    }

    @Override
    public int bodyLimit(Request request) throws ErrnoException {
        return switch (request.opcode()) {
            case READ, READDIR, READDIRPLUS -> request.size(ReadIn.SIZE_FIELD);
            case GETXATTR, LISTXATTR -> Math.max(SHORT_BODY, request.size(GetxattrIn.SIZE_FIELD));
            case null, default -> SHORT_BODY;
        };
    }

    private int lookupNow(Request request, Reply reply) throws ErrnoException {
        try {
            Attributes known = fileSystem.lookupNow(request.node(), request.string(0));
            return known == null ? WOULD_WAIT : replies.entry(reply, known);
        } catch (ErrnoException e) {
            return absent(e, reply);
        }
    }

    private int lookup(Request request, Reply reply) throws ErrnoException {
        try {
            return replies.entry(reply, fileSystem.lookup(request.node(), request.string(0)));
        } catch (ErrnoException e) {
            return absent(e, reply);
        }
    }

    /** A negative entry, so that the kernel caches it. */
    private int absent(ErrnoException e, Reply reply) throws ErrnoException {
        if (e instanceof NoEntryException absent) {
            return replies.noEntry(reply, absent.validNanos());
        }
        throw e;
    }

    private int opened(Request request, Reply reply, OpenFile file) throws ErrnoException {
        readahead.choose(file.streamed());
        return replies.opened(reply, file, request.u32(OpenIn.FLAGS));
    }

    private int seek(Request request, Reply reply) throws ErrnoException {
        long found =
                fileSystem.lseek(request.u64(LseekIn.FH), request.u64(LseekIn.OFFSET), request.u32(LseekIn.WHENCE));
        return replies.position(reply, found);
    }

    private int batchForget(Request request) throws ErrnoException {
        int count = request.size(BatchForgetIn.COUNT);
        for (int i = 0, at = BatchForgetIn.SIZE; i < count; i++, at += ForgetOne.SIZE) {
            fileSystem.forget(request.u64(at + ForgetOne.NODEID), request.u64(at + ForgetOne.NLOOKUP));
        }
        return NO_REPLY;
    }

    private int attribute(Request request, Reply reply, byte[] value) throws ErrnoException {
        return replies.value(reply, value, request.size(GetxattrIn.SIZE_FIELD));
    }

    private int attributeNames(Request request, Reply reply, List<String> names) throws ErrnoException {
        String list = names.stream().map(name -> name + '\0').collect(Collectors.joining());
        return attribute(request, reply, list.getBytes(UTF_8));
    }

    private static boolean isRead(Request request) throws ErrnoException {
        return (request.u32(OpenIn.FLAGS) & O_ACCMODE) == 0;
    }

    private static long handle(Request request) throws ErrnoException {
        return request.u64(ReadIn.FH);
    }

    private static ByteBuffer body(Request request, Reply reply) throws ErrnoException {
        return reply.body(room(request, reply));
    }

    private static int room(Request request, Reply reply) throws ErrnoException {
        int size = request.size(ReadIn.SIZE_FIELD);
        if (size > reply.capacity()) {
            throw new ErrnoException(Errno.EINVAL, "more was asked for than INIT allows: " + size + " bytes");
        }
        return size;
    }
}
