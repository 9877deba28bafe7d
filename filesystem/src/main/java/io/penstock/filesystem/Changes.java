package io.penstock.filesystem;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.metadata.Directory;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a mount that can be written does beyond one that cannot: changes, and what is to be shown of what they made. Safe
 * for use by any number of threads.
 */
final class Changes {
    private final NameChanges names;
    private final FileChanges contents;
    private final Places places;
    private final InodeTable inodes;
    private final OpenFiles files;
    private final Lookups lookups;
    private final AttributeView view;

    /** Takes over what earlier runs left; it is committed behind from now on. */
    Changes(
            Writing writing,
            Places places,
            InodeTable inodes,
            SharedFiles shared,
            Kernels kernels,
            NamedInodes named,
            OpenFiles files,
            Lookups lookups,
            AttributeView view) {
        this.names = new NameChanges(writing, inodes, places, shared, kernels);
        this.contents = new FileChanges(writing, inodes, places, shared, named, files, names);
        this.places = places;
        this.inodes = inodes;
        this.files = files;
        this.lookups = lookups;
        this.view = view;
        writing.writeback().recovered().forEach(shared::recover);
        writing.writeback().start(shared);
    }

    /** Of directories' entries. */
    NameChanges names() {
        return names;
    }

    /** Of what files hold. */
    FileChanges contents() {
        return contents;
    }

    CreatedFile create(long parent, String name, int flags) throws ErrnoException {
        SharedFile file = contents.create(parent, name, flags);
        Attributes attributes = view.of(file.inode().number(), file, Long.MAX_VALUE);
        try {
            return new CreatedFile(attributes, files.add(file, flags | OpenFlags.O_CREAT));
        } catch (ErrnoException e) {
            inodes.release(file.inode(), 1);
            throw e;
        }
    }

    Attributes mknod(long parent, String name, int mode) throws ErrnoException {
        int type = mode & Attributes.S_IFMT;
        if (type != 0 && type != Attributes.S_IFREG) {
            throw new ErrnoException(Errno.EPERM, "a bucket holds files and directories only");
        }
        SharedFile file = contents.mknod(parent, name);
        return view.of(file.inode().number(), file, 0);
    }

    Attributes mkdir(long parent, String name) throws ErrnoException {
        Directory made = names.mkdir(parent, name);
        Inode inode = inodes.acquire(places.directory(parent), name, made);
        return view.of(inode.number(), made, 0);
    }

    /** Opens a file to be written, truncated or created. */
    OpenFile open(long inode, int flags) throws ErrnoException {
        return files.add(contents.open(inode, flags), flags);
    }

    /** @param open through which it is asked; null if by name */
    Attributes setattr(long inode, @Nullable OpenObject open, AttributeChange change) throws ErrnoException {
        Integer mode = change.mode();
        if (mode != null) {
            view.checkMode(open == null ? lookups.node(inode) : open.file(), mode);
        }
        Long size = change.size();
        if (size != null) {
            contents.truncate(inode, open, size);
        }
        Node node = open == null ? lookups.node(inode) : open.file();
        Instant modified = change.modified();
        if (modified != null) {
            contents.touch(node, modified);
        }
        return view.of(inode, node, 0);
    }

    /** What cannot be done in any mount, as this one could be written. */
    ErrnoException refusal(Errno errno, String message) {
        return new ErrnoException(errno, message);
    }
}
