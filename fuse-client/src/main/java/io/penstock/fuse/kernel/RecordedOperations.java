package io.penstock.fuse.kernel;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.core.NoWait;
import io.penstock.filesystem.FileSystem;
import io.penstock.filesystem.kernel.KernelCache;
import io.penstock.fuse.kernel.Layouts.Attr;
import io.penstock.fuse.kernel.Layouts.CreateIn;
import io.penstock.fuse.kernel.Layouts.Dirent;
import io.penstock.fuse.kernel.Layouts.EntryOut;
import io.penstock.fuse.kernel.Layouts.ForgetIn;
import io.penstock.fuse.kernel.Layouts.LinkIn;
import io.penstock.fuse.kernel.Layouts.MkdirIn;
import io.penstock.fuse.kernel.Layouts.MknodIn;
import io.penstock.fuse.kernel.Layouts.OpenOut;
import io.penstock.fuse.kernel.Layouts.ReadIn;
import io.penstock.fuse.kernel.Layouts.ReleaseIn;
import io.penstock.fuse.kernel.Layouts.Rename2In;
import io.penstock.fuse.kernel.Layouts.RenameIn;
import io.penstock.fuse.table.Effect;
import io.penstock.fuse.table.KernelTable;
import io.penstock.fuse.table.ListedName;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The operations of a mount that survives its process. Before a reply is sent, it is recorded what the kernel will hold
 * because of it. When the kernel sends a request again, whose reply it never got, the request is served again, and then
 * what the former process had recorded for it is taken back.
 */
final class RecordedOperations implements Operations {
    /** The bit of a request's unique number that says that it is sent again: FUSE_UNIQUE_RESEND. */
    private static final long RESENT = 1L << 63;

    // st_mode's type, as in stat(2).
    private static final int S_IFMT = 0170000;
    private static final int S_IFDIR = 0040000;

    /** The type of a directory's entry: DT_DIR of readdir(3). */
    private static final int DT_DIR = 4;

    /**
     * Those of which it can be seen later that they were executed: by what they left in the store, or, of a WRITE that
     * appends, by what was recorded of the file.
     */
    private static final Set<Opcode> CHANGES = EnumSet.of(
            Opcode.WRITE,
            Opcode.SETATTR,
            Opcode.CREATE,
            Opcode.MKNOD,
            Opcode.MKDIR,
            Opcode.UNLINK,
            Opcode.RMDIR,
            Opcode.RENAME,
            Opcode.RENAME2,
            Opcode.SYMLINK,
            Opcode.LINK,
            Opcode.SETXATTR,
            Opcode.REMOVEXATTR);

    private final Operations operations;
    private final FileSystem fileSystem;
    private final KernelTable table;
    private final long mount;

    /** What the former process recorded, by the numbers of its last requests. */
    private final Map<Long, List<Effect>> earlier;

    private final Attempts attempts;

    /** @param mount a random number of the mount */
    RecordedOperations(
            Operations operations,
            FileSystem fileSystem,
            KernelTable table,
            long mount,
            Map<Long, List<Effect>> earlier,
            Attempts attempts) {
        this.operations = operations;
        this.fileSystem = fileSystem;
        this.table = table;
        this.mount = mount;
        this.earlier = new ConcurrentHashMap<>(earlier);
        this.attempts = attempts;
    }

    @Override
    public Runnable connect(KernelCache kernel) {
        return operations.connect(kernel);
    }

    @Override
    public int bodyLimit(Request request) throws ErrnoException {
        return operations.bodyLimit(request);
    }

    @Override
    public int serve(Request request, Reply reply, boolean mayWait) throws ErrnoException {
        boolean isResent = (request.unique() & RESENT) != 0;
        boolean isOver = true;
        try {
            if (isResent) {
                attempts.begin(number(request));
            }
            int result = mayWait && CHANGES.contains(request.opcode())
                    ? new KernelRequest(mount, number(request), isResent)
                            .serve(() -> operations.serve(request, reply, true))
                    : operations.serve(request, reply, mayWait);
            isOver = result != NoWait.WOULD_WAIT;
            if (result > 0) {
                record(request, reply, result);
            } else if (result == 0 || result == NO_REPLY) {
                recordEnd(request);
            }
            return result;
        } finally {
            if (isOver && isResent) {
                takeBack(number(request)); // not before: a file that is created again stays open
            }
        }
    }

    /** The number that the request keeps when it is sent again. */
    private static long number(Request request) {
        return request.unique() & ~RESENT;
    }

    private void takeBack(long number) {
        List<Effect> effects = earlier.remove(number);
        if (effects == null) {
            return;
        }
        for (Effect effect : effects) {
            table.takenBack(number, effect);
            switch (effect) {
                case Effect.Lookups(long node, long count) -> fileSystem.forget(node, count);
                case Effect.Opened(long handle) -> fileSystem.release(handle);
            }
        }
    }

    private void record(Request request, Reply reply, int length) throws ErrnoException {
        switch (request.opcode()) {
            case LOOKUP, SYMLINK -> lookedUp(request, reply, 0);
            case MKNOD -> lookedUp(request, reply, MknodIn.SIZE);
            case MKDIR -> lookedUp(request, reply, MkdirIn.SIZE);
            case LINK -> lookedUp(request, reply, LinkIn.SIZE);
            case CREATE -> {
                lookedUp(request, reply, CreateIn.SIZE);
                opened(request, reply, EntryOut.SIZE);
            }
            case OPEN -> opened(request, reply, 0);
            case OPENDIR -> {
                // A kernel that returns names from its copy asks later at an offset of which nothing is recorded.
                reply.u32(OpenOut.OPEN_FLAGS, OpenOut.FOPEN_KEEP_CACHE);
                table.openedDirectory(number(request), reply.u64(OpenOut.FH), request.node());
            }
            case READDIR -> listed(request, reply, length, 0);
            case READDIRPLUS -> listed(request, reply, length, EntryOut.SIZE);
            default -> {}
        }
    }

    /** @param name its offset in the request */
    private void lookedUp(Request request, Reply reply, int name) throws ErrnoException {
        long node = reply.u64(EntryOut.NODEID);
        if (node != 0) {
            boolean isDirectory = (reply.u32(EntryOut.ATTR + Attr.MODE) & S_IFMT) == S_IFDIR;
            table.lookedUp(number(request), node, request.node(), request.nameBytes(name), isDirectory, 1);
        }
    }

    /** @param at the offset of the reply to an open */
    private void opened(Request request, Reply reply, int at) throws ErrnoException {
        table.opened(number(request), fileSystem.openFile(reply.u64(at + OpenOut.FH)));
    }

    /** @param skipped bytes before each directory entry: those of a lookup's reply */
    private void listed(Request request, Reply reply, int length, int skipped) throws ErrnoException {
        List<ListedName> names = new ArrayList<>();
        for (int at = 0; at < length; ) {
            int dirent = at + skipped;
            byte[] name = new byte[reply.u32(dirent + Dirent.NAMELEN)];
            reply.copy(dirent + Dirent.NAME, name);
            names.add(new ListedName(
                    reply.u64(dirent + Dirent.OFF),
                    skipped == 0 ? 0 : reply.u64(at + EntryOut.NODEID),
                    reply.u32(dirent + Dirent.TYPE) == DT_DIR,
                    name));
            at = DirectoryWriter.end(dirent, name.length);
        }
        table.listed(number(request), request.u64(ReadIn.FH), request.node(), names);
    }

    private void recordEnd(Request request) throws ErrnoException {
        switch (request.opcode()) {
            case RELEASE, RELEASEDIR -> table.released(request.u64(ReleaseIn.FH));
            case FORGET -> table.forgotten(request.node(), request.u64(ForgetIn.NLOOKUP));
            case BATCH_FORGET -> request.forEachForgotten(table::forgotten);
            case UNLINK, RMDIR -> table.removed(request.node(), request.nameBytes(0));
            case RENAME -> moved(request, RenameIn.SIZE, request.u64(RenameIn.NEWDIR));
            case RENAME2 -> moved(request, Rename2In.SIZE, request.u64(Rename2In.NEWDIR));
            default -> {}
        }
    }

    /** @param names the offset of both in the request */
    private void moved(Request request, int names, long newParent) throws ErrnoException {
        byte[] newName = request.nameBytes(request.endOfString(names) + 1);
        table.moved(request.node(), request.nameBytes(names), newParent, newName);
        // Files that were moved are read as copies.
        fileSystem.openFiles(newParent, new String(newName, UTF_8)).forEach(table::changed);
    }
}
