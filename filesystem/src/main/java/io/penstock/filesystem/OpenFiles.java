package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenFile.PageCachePolicy;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.Places.Standing;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.Inode.Place;
import io.penstock.metadata.LiveFile;
import io.penstock.metadata.Node;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.StoredObject;
import java.nio.ByteBuffer;

/** Opens files, and reads and closes them by handle. Safe for use by any number of threads. */
final class OpenFiles {
    private final Places places;
    private final SharedFiles files;
    private final HandleTable handles;

    OpenFiles(Places places, SharedFiles files, HandleTable handles) {
        this.places = places;
        this.files = files;
        this.handles = handles;
    }

    /** What the handles of the inode's current content share, with one more, which must leave. */
    SharedFile join(long number, boolean write) throws ErrnoException {
        Inode inode = places.inode(number);
        while (true) {
            Node node = places.node(number);
            SharedFile file = switch (node) {
                case Directory _ -> throw new ErrnoException(Errno.EISDIR, inode + " is a directory");
                case FileEntry(StoredObject object) -> files.join(inode, object.version(), write);
                case LiveFile live -> files.join(inode, live, write);
            };
            if (file != null && isCurrent(file, node)) {
                return file;
            } else if (file != null) {
                file.leave(write);
            }
        }
    }

    /** Whether the name did not come to stand for something else while it was joined, by a commit or a removal here. */
    private boolean isCurrent(SharedFile file, Node node) throws ErrnoException {
        Standing now = places.standingNow(file.inode().number());
        return now == null
                || now.node().equals(node)
                || now.node().equals(file)
                || (now.node() instanceof FileEntry(StoredObject object) && file.isOf(object.version()));
    }

    /** A handle of a file that was joined. */
    OpenFile add(SharedFile file, int flags) {
        PageCachePolicy policy = files.kernelPages().open(file.inode().number(), file.tag());
        boolean cached = policy != PageCachePolicy.BYPASS;
        return new OpenFile(handles.add(new OpenObject(file, flags, cached)), policy);
    }

    int read(long handle, long position, ByteBuffer to) throws ErrnoException {
        OpenObject open = handles.object(handle);
        confirm(open);
        return Errnos.call(() -> {
            try {
                return open.file().read(position, to);
            } catch (ObjectStoreException.NotFound | ObjectStoreException.PreconditionFailed e) {
                forget(open.file());
                throw e;
            }
        });
    }

    /** What is known of its name is wrong. */
    private void forget(SharedFile file) {
        Place place = file.inode().place();
        ObjectVersion version = file.stored();
        if (place != null && version != null) {
            files.tree().invalidate(place.parent(), place.name(), version);
        }
    }

    int readNow(long handle, long position, ByteBuffer to) throws ErrnoException {
        OpenObject open = handles.object(handle);
        confirm(open);
        return open.file().readNow(position, to);
    }

    private void confirm(OpenObject open) {
        if (open.isCached() && open.firstRead()) {
            files.kernelPages().confirm(open.inode().number());
        }
    }

    void close(OpenObject open) {
        if (open.isCached()) {
            files.kernelPages().close(open.inode().number());
        }
        open.file().leave(open);
    }
}
