package io.penstock.filesystem;

import static java.util.Objects.requireNonNull;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.core.KernelRequest;
import io.penstock.core.ObjectVersion;
import io.penstock.filesystem.files.SharedFile;
import io.penstock.filesystem.files.SharedFiles;
import io.penstock.filesystem.kernel.Kernels;
import io.penstock.filesystem.names.Exclusive;
import io.penstock.filesystem.names.MovingDirectories;
import io.penstock.filesystem.names.NameChanges;
import io.penstock.filesystem.names.NamedInodes;
import io.penstock.filesystem.names.NodeResolver;
import io.penstock.filesystem.names.Writing;
import io.penstock.metadata.Directory;
import io.penstock.metadata.FileEntry;
import io.penstock.metadata.Inode;
import io.penstock.metadata.InodeTable;
import io.penstock.metadata.Node;
import io.penstock.metadata.attributes.AttributeHeaders;
import io.penstock.metadata.attributes.FileKind;
import io.penstock.metadata.attributes.KeptAttributes;
import io.penstock.metadata.attributes.ObjectAttributes;
import io.penstock.objectstore.ObjectProperties;
import io.penstock.objectstore.OperationId;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Creates files, directories and links, with their attributes. Thread-safe. */
final class NewFiles {
    private final Writing writing;
    private final Writeback writeback;
    private final Exclusive exclusive;
    private final InstantSource clock;
    private final InodeTable inodes;
    private final NodeResolver resolver;
    private final SharedFiles files;
    private final KeptAttributes kept;
    private final NamedInodes named;
    private final OpenFiles open;
    private final NameChanges names;
    private final MovingDirectories moving;
    private final Kernels kernels;
    private final Lookups lookups;
    private final AttributeView view;
    private final RecentLinks links;

    NewFiles(
            Writing writing,
            InodeTable inodes,
            NodeResolver resolver,
            SharedFiles files,
            NamedInodes named,
            OpenFiles open,
            NameChanges names,
            MovingDirectories moving,
            Kernels kernels,
            Lookups lookups,
            AttributeView view,
            RecentLinks links) {
        this.writing = writing;
        this.writeback = writing.writeback();
        this.exclusive = writing.exclusive();
        this.clock = writing.clock();
        this.inodes = inodes;
        this.resolver = resolver;
        this.files = files;
        this.kept = files.kept();
        this.named = named;
        this.open = open;
        this.names = names;
        this.moving = moving;
        this.kernels = kernels;
        this.lookups = lookups;
        this.view = view;
        this.links = links;
    }

    CreatedFile create(long parent, String name, int mode, Creator creator, int flags) throws ErrnoException {
        SharedFile file = create(parent, name, flags, attributes(parent, FileKind.REGULAR, mode, creator));
        Attributes attributes = view.of(file.inode().number(), file, file.attributes(), Long.MAX_VALUE);
        try {
            return new CreatedFile(attributes, open.add(file, flags | OpenFlags.O_CREAT));
        } catch (ErrnoException e) {
            inodes.release(file.inode(), 1);
            throw e;
        }
    }

    /** The new file, joined to write and with its inode looked up. */
    private SharedFile create(long parent, String name, int flags, ObjectAttributes attributes) throws ErrnoException {
        return moving.in(() -> List.of(resolver.directory(parent)), () -> createHere(parent, name, flags, attributes));
    }

    private SharedFile createHere(long parent, String name, int flags, ObjectAttributes attributes)
            throws ErrnoException {
        boolean mustBeNew = (flags & OpenFlags.O_EXCL) != 0;
        Directory directory = resolver.existingDirectory(parent);
        NodeResolver.checkNew(directory, name, "");
        boolean byStore = mustBeNew && exclusive == Exclusive.STORE;
        Node there = resolver.find(directory, name);
        SharedFile known = there instanceof SharedFile written ? createdBefore(written, directory.key(name)) : null;
        if (known != null) {
            return known;
        }
        ObjectVersion before = there instanceof FileEntry ? writing.madeBefore(directory.key(name)) : null;
        if (there != null && before == null) {
            // The kernel took the name for absent, so it has checked no permission: after ESTALE it looks it up again.
            throw new ErrnoException(
                    mustBeNew ? Errno.EEXIST : Errno.ESTALE, "'" + directory.key(name) + "' already exists");
        }
        names.awaitRemoval(directory, name);
        files.unheard().report(directory.key(name), null);
        named.makeRoom(directory, name);
        WrittenFile content = byStore
                ? writeback.open(names.makeFile(directory, name, ObjectAttributes.NONE))
                : before != null ? writeback.open(before) : writeback.create(directory.key(name), null);
        SharedFile made = files.create(directory, name, content, attributes);
        files.times().set(directory, clock.instant());
        return made;
    }

    /**
     * The file, joined to write and with its inode looked up, if a former process has created it for the same request
     * of the kernel. Null if it has not, or if the file is ending.
     */
    private @Nullable SharedFile createdBefore(SharedFile file, String key) throws ErrnoException {
        WrittenFile content = file.written();
        boolean isCreated = KernelRequest.mayBeDone()
                && content != null
                && (Objects.equals(content.creation(), OperationId.ofRequest(key)) || writing.madeBefore(key) != null);
        SharedFile joined = isCreated ? files.join(file.inode(), file, true) : null;
        if (joined != null) {
            inodes.acquire(joined.inode());
            files.kernel().lookedUp(joined.inode(), joined);
        }
        return joined;
    }

    Attributes mknod(long parent, String name, int mode, int device, Creator creator) throws ErrnoException {
        FileKind kind = FileKind.of(mode & Attributes.S_IFMT);
        if (kind == null || kind == FileKind.SYMLINK) {
            throw new ErrnoException(Errno.EINVAL, "mknod cannot make a file of mode %o".formatted(mode));
        }
        return makeEmpty(parent, name, attributes(parent, kind, mode, creator).withDevice(device));
    }

    Attributes symlink(String target, long parent, String name, Creator creator) throws ErrnoException {
        ObjectAttributes link =
                attributes(parent, FileKind.SYMLINK, 0, 0, creator).withTarget(target);
        if (ObjectProperties.metadataBytes(AttributeHeaders.of(link)) > AttributeHeaders.MOST_BYTES) {
            throw new ErrnoException(Errno.ENAMETOOLONG, "the target is too long for an object's metadata: " + target);
        }
        return makeEmpty(parent, name, link);
    }

    /** An object that has only attributes. */
    private Attributes makeEmpty(long parent, String name, ObjectAttributes attributes) throws ErrnoException {
        names.makeEmpty(parent, name, attributes);
        return lookups.lookup(parent, name);
    }

    Attributes mkdir(long parent, String name, int mode, Creator creator) throws ErrnoException {
        int inherited = parentsGroup(parent) == null ? 0 : AttributeChanges.SET_GROUP;
        int permissions = (mode & AttributeChanges.PERMISSION_BITS) | inherited;
        ObjectAttributes attributes =
                attributes(parent, FileKind.REGULAR, permissions, view.config().dirMode(), creator);
        Inode made = names.mkdir(parent, name, attributes);
        return view.of(made.number(), requireNonNull(made.directory()), attributes, 0);
    }

    Attributes link(long inode, long newParent, String newName) throws ErrnoException {
        ObjectVersion before = links.version(inode);
        names.link(inode, newParent, newName);
        long copy = lookups.lookup(newParent, newName).inode();
        links.linked(inode, before, copy);
        kernels.dropAttributes(inode); // of the file that has two links now
        return lookups.attributes(copy);
    }

    // ---- attributes

    /** @param mode type and permission bits, after the program's umask */
    private ObjectAttributes attributes(long parent, FileKind kind, int mode, Creator creator) throws ErrnoException {
        return attributes(
                parent,
                kind,
                mode & AttributeChanges.PERMISSION_BITS,
                view.config().fileMode(),
                creator);
    }

    /** @param usual permissions that need not be kept */
    private ObjectAttributes attributes(long parent, FileKind kind, int permissions, int usual, Creator creator)
            throws ErrnoException {
        if (!kept.areKept()) {
            if (kind != FileKind.REGULAR) {
                throw new ErrnoException(
                        Errno.EPERM, "metadata.attributes is ignore: a bucket holds files and directories only");
            }
            return ObjectAttributes.NONE;
        }
        Integer group = parentsGroup(parent);
        return ObjectAttributes.ofNew(
                kind,
                permissions == usual ? null : permissions,
                creator.uid() == view.config().uid() ? null : creator.uid(),
                group != null ? group : creator.gid() == view.config().gid() ? null : creator.gid());
    }

    /** The group of files created in the directory, by its set-group-ID bit: null if they get their creator's. */
    private @Nullable Integer parentsGroup(long parent) throws ErrnoException {
        ObjectAttributes attributes = kept.last(resolver.directory(parent));
        Integer permissions = attributes.permissions();
        if (permissions == null || (permissions & AttributeChanges.SET_GROUP) == 0) {
            return null;
        }
        return attributes.gid() == null ? (Integer) view.config().gid() : attributes.gid();
    }
}
