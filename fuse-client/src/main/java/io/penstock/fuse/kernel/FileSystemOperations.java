package io.penstock.fuse.kernel;

import static io.penstock.core.NoWait.WOULD_WAIT;
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
import io.penstock.fuse.kernel.Layouts.ForgetIn;
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
    public int serve(Request request, Reply reply, boolean mayWait) throws ErrnoException {
        return switch (request.opcode()) {
            case LOOKUP -> lookup(request, reply, mayWait);
            case GETATTR -> {
                long node = request.node();
                Attributes known = mayWait ? fileSystem.getattr(node) : fileSystem.getattrNow(node);
                yield known == null ? WOULD_WAIT : replies.attributes(reply, known);
            }
            case READ ->
                fileSystem.read(
                        handle(request), request.u64(ReadIn.OFFSET), body(request, reply), reply.loans(), mayWait);
            case WRITE -> changes.write(request, reply, mayWait);
            case OPEN -> open(request, reply, mayWait);
            case OPENDIR -> {
                long node = request.node();
                OpenFile directory = mayWait ? fileSystem.opendir(node) : fileSystem.opendirNow(node);
                yield directory == null ? WOULD_WAIT : replies.openedDirectory(reply, directory);
            }
            case GETXATTR -> {
                String name = request.string(GetxattrIn.SIZE);
                byte[] value = mayWait
                        ? fileSystem.getxattr(request.node(), name)
                        : fileSystem.getxattrNow(request.node(), name);
                yield value == null ? WOULD_WAIT : attribute(request, reply, value);
            }
            case LISTXATTR -> {
                long node = request.node();
                List<String> names = mayWait ? fileSystem.listxattr(node) : fileSystem.listxattrNow(node);
                yield names == null ? WOULD_WAIT : attributeNames(request, reply, names);
            }
            case RELEASE -> {
                fileSystem.release(request.u64(ReleaseIn.FH));
                descriptors.released(request.u64(ReleaseIn.FH));
                yield 0;
            }
            case RELEASEDIR -> {
                fileSystem.releasedir(request.u64(ReleaseIn.FH));
                yield 0;
            }
            case FORGET -> {
                fileSystem.forget(request.node(), request.u64(ForgetIn.NLOOKUP));
                yield NO_REPLY;
            }
            case BATCH_FORGET -> {
                request.forEachForgotten(fileSystem::forget);
                yield NO_REPLY;
            }
            case STATFS -> replies.statfs(reply, fileSystem.statfs());
            case DESTROY -> 0; // unmounted: the session ends with the device
            default -> mayWait ? serveWaiting(request, reply) : WOULD_WAIT;
        };
    }

    /** Requests that may always have to wait. */
    private int serveWaiting(Request request, Reply reply) throws ErrnoException {
        return switch (request.opcode()) {
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
            case ACCESS -> {
                fileSystem.access(request.node(), request.u32(AccessIn.MASK), request.uid(), request.gid());
                yield 0;
            }
            // After ENOSYS the kernel treats everything up to the file's end as data, and does not ask again.
            case LSEEK -> seeks ? seek(request, reply) : -Errno.ENOSYS.number();
            case READLINK -> replies.link(reply, fileSystem.readlink(request.node()));
            default -> changes.serve(request, reply);
        };
    }

    @Override
    public Runnable connect(KernelCache kernel) {
        return fileSystem.addListener(kernel);
    }

    @Override
    public int bodyLimit(Request request) throws ErrnoException {
        return switch (request.opcode()) {
            case READ, READDIR, READDIRPLUS -> request.size(ReadIn.SIZE_FIELD);
            case GETXATTR, LISTXATTR -> Math.max(SHORT_BODY, request.size(GetxattrIn.SIZE_FIELD));
            default -> SHORT_BODY;
        };
    }

    private int lookup(Request request, Reply reply, boolean mayWait) throws ErrnoException {
        try {
            String name = request.string(0);
            Attributes known =
                    mayWait ? fileSystem.lookup(request.node(), name) : fileSystem.lookupNow(request.node(), name);
            return known == null ? WOULD_WAIT : replies.entry(reply, known);
        } catch (NoEntryException absent) { // a negative entry, so that the kernel caches it
            return replies.noEntry(reply, absent.validNanos());
        }
    }

    private int open(Request request, Reply reply, boolean mayWait) throws ErrnoException {
        int flags = request.u32(OpenIn.FLAGS);
        OpenFile file = mayWait
                ? fileSystem.open(request.node(), flags, backingFiles)
                : fileSystem.openNow(request.node(), flags, backingFiles);
        if (file == null) {
            return WOULD_WAIT;
        }
        if ((flags & O_ACCMODE) != 0) {
            descriptors.opened(file.handle(), request.pid());
        }
        if ((request.u32(OpenIn.OPEN_FLAGS) & OpenIn.FUSE_OPEN_KILL_SUIDGID) != 0) {
            fileSystem.dropSetIds(file.handle());
        }
        readahead.choose(file.streamed());
        return replies.opened(reply, file, flags);
    }

    private int seek(Request request, Reply reply) throws ErrnoException {
        long found =
                fileSystem.lseek(request.u64(LseekIn.FH), request.u64(LseekIn.OFFSET), request.u32(LseekIn.WHENCE));
        return replies.position(reply, found);
    }

    private int attribute(Request request, Reply reply, byte[] value) throws ErrnoException {
        return replies.value(reply, value, request.size(GetxattrIn.SIZE_FIELD));
    }

    private int attributeNames(Request request, Reply reply, List<String> names) throws ErrnoException {
        String list = names.stream().map(name -> name + '\0').collect(Collectors.joining());
        return attribute(request, reply, list.getBytes(UTF_8));
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
            throw new ErrnoException(Errno.EINVAL, "the request exceeds the size that INIT allows: " + size + " bytes");
        }
        return size;
    }
}
