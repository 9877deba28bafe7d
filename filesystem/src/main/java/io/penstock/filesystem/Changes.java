package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.OpenHandle.OpenObject;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.filesystem.names.LeftRenames;
import io.penstock.filesystem.names.MovingDirectories;
import io.penstock.filesystem.names.NameChanges;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.FileKind;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The calls that only a writable mount has: changes, and the attributes of the files that they create. Thread-safe. */
final class Changes {
    private final NameChanges names;
    private final FileChanges contents;
    private final OpenFileWrites writes;
    private final InodeTable inodes;
    private final OpenFiles files;
    private final Lookups lookups;
    private final AttributeView view;
    private final RecentLinks links;
    private final Kernels kernels;
    private final AttributeChanges attributes;

    /**
     * Ends the renames left by earlier runs, and takes over their other changes, which are committed in the background
     * from now on.
     */
    Changes(
            Writing writing,
            NodeResolver resolver,
            InodeTable inodes,
            SharedFiles shared,
            Kernels kernels,
            NamedInodes named,
            OpenFiles files,
            Lookups lookups,
            AttributeView view,
            RecentLinks links) {
        MovingDirectories moving = new MovingDirectories();
        this.names = new NameChanges(writing, inodes, resolver, shared, kernels, moving);
        this.writes = new OpenFileWrites(writing, shared.kept(), lookups);
        this.contents = new FileChanges(writing, inodes, resolver, shared, named, files, names, moving, writes);
        this.inodes = inodes;
        this.files = files;
        this.lookups = lookups;
        this.view = view;
        this.links = links;
        this.kernels = kernels;
        this.attributes = new AttributeChanges(writing, resolver, shared, lookups, contents, view, moving);
        Writeback writeback = writing.writeback();
        List<WrittenFile> moved = new LeftRenames(writing, shared.tree(), moving).end();
        writeback.endSuperseded();
        writeback.recovered().forEach(shared::recover);
        writeback.start(shared);
        moved.forEach(WrittenFile::resumeCommits);
    }

    /** Of directory entries. */
    NameChanges names() {
        return names;
    }

    /** Of files, by inode and by name. */
    FileChanges contents() {
        return contents;
    }

    /** Of the bytes of open files. */
    OpenFileWrites writes() {
        return writes;
    }

    /** Of attributes, including extended ones, where the mount keeps them. */
    AttributeChanges attributes() {
        return attributes;
    }

    CreatedFile create(long parent, String name, int mode, Creator creator, int flags) throws ErrnoException {
        SharedFile file =
                contents.create(parent, name, flags, attributes.ofNew(parent, FileKind.REGULAR, mode, creator));
        Attributes attributes = view.of(file.inode().number(), file, file.attributes(), Long.MAX_VALUE);
        try {
            return new CreatedFile(attributes, files.add(file, flags | OpenFlags.O_CREAT));
        } catch (ErrnoException e) {
            inodes.release(file.inode(), 1);
            throw e;
        }
    }

    Attributes mknod(long parent, String name, int mode, int device, Creator creator) throws ErrnoException {
        FileKind kind = FileKind.of(mode & Attributes.S_IFMT);
        if (kind == null || kind == FileKind.SYMLINK) {
            throw new ErrnoException(Errno.EINVAL, "mknod cannot make a file of mode %o".formatted(mode));
        }
        return make(parent, name, attributes.ofNew(parent, kind, mode, creator).withDevice(device));
    }

    Attributes symlink(String target, long parent, String name, Creator creator) throws ErrnoException {
        return make(parent, name, attributes.ofLink(parent, target, creator));
    }

    private Attributes make(long parent, String name, ObjectAttributes made) throws ErrnoException {
        if (made.kind() != FileKind.REGULAR) {
            names.makeEmpty(parent, name, made);
            return lookups.lookup(parent, name);
        }
        SharedFile file = contents.mknod(parent, name, made);
        return view.of(file.inode().number(), file, file.attributes(), 0);
    }

    Attributes mkdir(long parent, String name, int mode, Creator creator) throws ErrnoException {
        ObjectAttributes kept = attributes.ofNewDirectory(parent, mode, creator);
        Inode made = names.mkdir(parent, name, kept);
        return view.of(made.number(), requireNonNull(made.directory()), kept, 0);
    }

    /** Opens a file for writing, truncation or creation. */
    OpenFile open(long inode, int flags) throws ErrnoException {
        links.end(inode);
        return files.add(contents.open(inode, flags), flags);
    }

    /** @param open the handle of the request; null if it is by name */
    Attributes setattr(long inode, @Nullable OpenObject open, AttributeChange change) throws ErrnoException {
        attributes.check(inode, open, change);
        links.end(inode);
        Long size = change.size();
        if (size != null) {
            if (change.dropsSetIds() && open != null) {
                attributes.dropSetIds(open.file());
            } else if (change.dropsSetIds()) {
                attributes.dropSetIds(inode);
            }
            contents.truncate(inode, open, size);
        }
        if (change.isOfAttributes() && (size == null || change.mode() != null)) {
            attributes.set(inode, open, change);
        }
        Node node = open == null ? lookups.node(inode) : open.file();
        Instant written = change.written();
        if (written != null) {
            contents.touch(node, written);
        }
        return view.of(inode, node, lookups.kept(inode, node), 0);
    }

    Attributes link(long inode, long newParent, String newName) throws ErrnoException {
        ObjectVersion before = links.version(inode);
        names.link(inode, newParent, newName);
        long copy = lookups.lookup(newParent, newName).inode();
        links.linked(inode, before, copy);
        kernels.dropAttributes(inode); // of the file that has two links now
        return lookups.attributes(copy);
    }
}
