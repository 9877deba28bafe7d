package io.penstock.filesystem;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.objectstore.ListRequest;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Compares everything that a mount shows, and all objects of its bucket, with {@link ReferenceTree}. */
final class NamesCheck {
    private static final String ROOT_MARKER = ".penstock/";
    private static final Instant RECENT = Instant.parse("2020-01-01T00:00:00Z");

    private final Mounted m;
    private final ReferenceTree reference;
    private final boolean byInode;

    /** The number of directories read: each with another batch size than the last. */
    private int batches;

    /** @param reference is notified of directories that the mount marks, and of files that it commits early */
    NamesCheck(Mounted m, ReferenceTree reference, boolean byInode) {
        this.m = m;
        this.byInode = byInode;
        this.reference = reference;
    }

    void check(Map<Integer, OpenFile> open) throws Exception {
        m.fs.checkInvariants();
        for (String path : reference.hidden()) {
            if (!m.lookup(path).isDirectory()) {
                reference.shownAsFile(path);
            }
        }
        checkBucket();
        checkDirectory("");
        for (Map.Entry<Integer, OpenFile> handle : open.entrySet()) {
            checkHandle(handle.getKey(), handle.getValue());
        }
    }

    // ---- the bucket

    private void checkBucket() throws Exception {
        Map<String, String> files = new TreeMap<>();
        Set<String> markers = new TreeSet<>();
        for (var object : m.bucket.list(ListRequest.of("", "")).objects()) {
            String key = object.version().key();
            if (!key.endsWith("/")) {
                files.put(key, String.valueOf(m.stored(key)));
            } else if (!key.equals(ROOT_MARKER)) {
                markers.add(key.substring(0, key.length() - 1));
            }
        }
        for (String marker : markers) {
            assertThat(reference.isDirectory(marker))
                    .as("directory of the object " + marker + "/")
                    .isTrue();
            reference.marked(marker);
        }
        assertThat(markers).as("directories that have objects").isEqualTo(reference.markers.keySet());
        for (int slot : Set.copyOf(reference.open.keySet())) {
            ReferenceOpen file = requireNonNull(reference.open.get(slot));
            if (file.dirty() && isCommitted(file, files)) {
                reference.commit(slot);
            }
        }
        Map<String, String> expected = new TreeMap<>();
        reference.objects.forEach((path, entry) -> expected.put(path, entry.stored()));
        assertThat(files).as("objects").isEqualTo(expected);
        assertThat(m.bucket.openUploads()).as("uploads").isEmpty();
    }

    /** Whether content that differs from before shows that the file was committed before it had to be. */
    private boolean isCommitted(ReferenceOpen file, Map<String, String> files) {
        ReferenceEntry before = reference.objects.get(requireNonNull(file.path()));
        String written = file.now().stored();
        return written.equals(files.get(file.path())) && (before == null || !written.equals(before.stored()));
    }

    // ---- names and attributes

    private void checkDirectory(String path) throws Exception {
        Map<String, Integer> shown = kinds(path);
        for (String hidden : reference.hidden()) {
            String name = hidden.substring(hidden.lastIndexOf('/') + 1);
            if (child(path, name).equals(hidden)
                    && shown.getOrDefault(name, Attributes.S_IFDIR) != Attributes.S_IFDIR) {
                reference.shownAsFile(hidden);
            }
        }
        Map<String, Integer> kinds = new TreeMap<>();
        for (String name : reference.list(path)) {
            kinds.put(name, entry(child(path, name)).mode() & Attributes.S_IFMT);
        }
        assertThat(shown).as("names in '" + path + "'").isEqualTo(kinds);
        for (String name : List.of("a", "b")) {
            if (kinds.containsKey(name)) {
                checkEntry(child(path, name));
            } else {
                Mounted.assertErrno(Errno.ENOENT, () -> m.lookup(child(path, name)));
            }
        }
    }

    private static String child(String path, String name) {
        return path.isEmpty() ? name : path + "/" + name;
    }

    private ReferenceEntry entry(String path) {
        ReferenceEntry entry = reference.find(path);
        if (entry == null) {
            throw new IllegalStateException("the model lists '" + path + "' and has no such name");
        }
        return entry;
    }

    private Map<String, Integer> kinds(String path) throws ErrnoException {
        Map<String, Integer> kinds = new HashMap<>();
        long inode = path.isEmpty() ? FileSystem.ROOT : m.lookup(path).inode();
        long handle = m.fs.opendir(inode).handle();
        try {
            int batch = batches++ % 3 + 1;
            long[] offset = {-1, 0};
            while (offset[0] != offset[1]) {
                offset[0] = offset[1];
                int[] room = {batch};
                m.fs.readdir(handle, offset[0], (name, attributes, next) -> {
                    if (room[0]-- == 0) {
                        return false;
                    }
                    if (!name.equals(".") && !name.equals("..")) {
                        assertThat(kinds.put(name, attributes.mode() & Attributes.S_IFMT))
                                .as(name + " is listed twice")
                                .isNull();
                    }
                    offset[1] = next;
                    return true;
                });
            }
        } finally {
            m.fs.releasedir(handle);
        }
        return kinds;
    }

    private void checkEntry(String path) throws Exception {
        ReferenceEntry entry = entry(path);
        Attributes shown = m.lookup(path);
        checkAttributes(path, entry, shown);
        checkExtended(path, entry, shown.inode());
        if (entry.isDirectory()) {
            checkDirectory(path);
        } else if (entry.isLink()) {
            assertThat(m.fs.readlink(shown.inode())).as("target of " + path).isEqualTo(entry.content());
        } else if (entry.isRegular()) {
            OpenFile file = m.open(path);
            try {
                assertThat(read(file)).as("content of " + path).isEqualTo(entry.content());
            } finally {
                m.fs.release(file.handle());
            }
        }
    }

    private void checkAttributes(String path, ReferenceEntry entry, Attributes shown) {
        assertThat("%o %d:%d".formatted(shown.mode(), shown.uid(), shown.gid()))
                .as("mode and owner of " + path)
                .isEqualTo("%o %d:%d".formatted(entry.mode(), entry.uid(), entry.gid()));
        if (!entry.isDirectory()) {
            assertThat(shown.size())
                    .as("size of " + path)
                    .isEqualTo(entry.content().getBytes(UTF_8).length);
        }
        checkTimes(path, entry, shown);
    }

    private void checkTimes(String path, ReferenceEntry entry, Attributes shown) {
        Boolean touched = entry.isDirectory() ? reference.isTouched(path) : (Boolean) false;
        if (touched != null && !touched && entry.modified() != null) {
            assertThat(shown.modified()).as("mtime of " + path).isEqualTo(entry.modified());
        } else if (touched != null) {
            assertThat(shown.modified()).as("mtime of " + path).isAfter(RECENT);
        }
        if (entry.accessed() != null) {
            assertThat(shown.accessed()).as("atime of " + path).isEqualTo(entry.accessed());
        } else {
            assertThat(shown.accessed()).as("atime of " + path).isEqualTo(shown.modified());
        }
    }

    private void checkExtended(String path, ReferenceEntry entry, long inode) throws ErrnoException {
        Map<String, String> shown = new HashMap<>();
        for (String name : m.fs.listxattr(inode)) {
            shown.put(name, new String(m.fs.getxattr(inode, name), UTF_8));
        }
        assertThat(shown).as("extended attributes of " + path).isEqualTo(entry.extended());
    }

    // ---- open files

    private void checkHandle(int slot, OpenFile open) throws ErrnoException {
        ReferenceOpen file = requireNonNull(reference.open.get(slot));
        ReferenceEntry entry = reference.opened(slot);
        String path = file.path();
        if (file.byOthers() && path == null && entry.content().isEmpty()) {
            return; // All empty objects are one version: if its name has one again, the handle may show that one.
        }
        String what = path == null ? "a removed file" : "what is open of " + path;
        long inode = m.fs.inodeOf(open.handle());
        if (!file.byOthers()) {
            Attributes shown = m.fs.getattr(inode);
            checkAttributes(what, entry, shown);
            // A fresh link shows two for some seconds.
            assertThat(shown.links()).as("links of " + what).isBetween(path == null ? 0 : 1, path == null ? 0 : 2);
        } else if (byInode && !entry.content().isEmpty()) {
            // The attributes of a replaced version are not kept, and may be the new one's.
            assertThat(m.fs.getattr(inode).size())
                    .as("size of " + what)
                    .isEqualTo(entry.content().length());
        }
        if (path != null) {
            assertThat(m.lookup(path).inode()).as("inode of " + what).isEqualTo(inode);
        }
        try {
            assertThat(read(open)).as("content of " + what).isEqualTo(entry.content());
        } catch (ErrnoException e) {
            assertThat(e.errno()).as(what + ": " + e.getMessage()).isEqualTo(Errno.ESTALE);
            assertThat(path).as("path of what is stale").isNull();
        }
    }

    private String read(OpenFile file) throws ErrnoException {
        ByteBuffer to = ByteBuffer.allocate(1000);
        int bytes = m.fs.read(file.handle(), 0, to, null, true);
        return new String(to.array(), 0, bytes, UTF_8);
    }
}
