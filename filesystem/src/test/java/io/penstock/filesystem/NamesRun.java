package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_TRUNC;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.NamesStep.Failing;
import io.penstock.filesystem.NamesStep.Failure;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.metadata.attributes.FileKind;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ListRequest;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Takes the steps of one sequence, in a mount and in {@link ReferenceTree}, and compares them after each. */
final class NamesRun implements AutoCloseable {
    /** The number of files that can be open at a time. */
    static final int SLOTS = 2;

    private static final int RENAME_NOREPLACE = 1;

    private final PageCache cache;
    private final Path folder;
    private final boolean byInode;
    private Path staging;
    private Mounted m;
    private final ManualClock storeClock;
    private ReferenceTree reference = new ReferenceTree();
    private final Map<Integer, OpenFile> open = new HashMap<>();

    /** Whether a request fails in this step. */
    private @Nullable Failure failure;

    /** Makes every content different. */
    private int contents;

    /**
     * @param folder for staging folders
     * @param byInode whether the kernel knows files by inode: an inode is one version while it is open
     */
    NamesRun(PageCache cache, Path folder, boolean byInode) throws IOException {
        this.cache = cache;
        this.folder = folder;
        this.byInode = byInode;
        this.staging = newStaging();
        this.m = told(Mounted.keeping(cache, staging, null, Keeping.KEEP));
        this.storeClock = m.clock;
    }

    private Path newStaging() throws IOException {
        return Files.createTempDirectory(folder, "staging");
    }

    private Mounted told(Mounted mounted) {
        if (byInode) {
            mounted.fs.addListener(new NotifiedKernel());
        }
        return mounted;
    }

    /** The current tree: must not be changed. */
    ReferenceTree reference() {
        return reference;
    }

    /** Takes one step and compares everything. */
    void take(NamesStep step) throws Exception {
        if (step instanceof Failing(NamesStep failing, Failure fails)) {
            if (mayConflict(failing)) {
                return;
            }
            AtomicInteger before = new AtomicInteger(fails.after());
            m.faults.next(call -> isOf(call, fails) && before.getAndDecrement() <= 0, fault(fails));
            failure = fails;
            take(failing);
            m.faults.heal(); // it may have sent fewer requests
            failure = null;
            return;
        }
        switch (step) {
            case NamesStep.Put(String path) -> put(path);
            case NamesStep.PutDirectory(String path) -> putDirectory(path);
            case NamesStep.Delete(String path) -> delete(path);
            case NamesStep.Wait(boolean forTtl) -> {
                advance(forTtl ? Mounted.TTL : Duration.ofSeconds(1));
                check();
            }
            case NamesStep.Remount() -> remount();
            case NamesStep.Crash() -> crash();
            case NamesStep.Write(int slot, boolean append) -> write(slot, append);
            case NamesStep.Fsync(int slot) -> fsync(slot);
            case NamesStep.Read(int slot, String path) -> read(slot, path);
            case NamesStep.Fchmod(int slot, int mode) -> fchmod(slot, mode);
            case NamesStep.Truncate(String path, int size) -> truncate(path, size);
            case NamesStep.Chmod _, NamesStep.Chown _, NamesStep.Utimens _, NamesStep.SetExtended _ ->
                changeAttributes(step);
            default -> changeNames(step);
        }
    }

    /**
     * Whether a lost response leaves the name of a file that is being written without its object, or with another: then
     * its commit is a conflict. {@link WritingModelTest} covers those.
     */
    private boolean mayConflict(NamesStep step) {
        return switch (step) {
            case NamesStep.Unlink(String path) -> reference.slot(path) != null;
            case NamesStep.Rename(String _, String to, boolean _) -> reference.slot(to) != null;
            default -> false;
        };
    }

    private static boolean isOf(Call call, Failure failure) {
        boolean isMarker = (call instanceof Call.Put put && put.key().endsWith("/"))
                || (call instanceof Call.Copy copy && copy.key().endsWith("/"));
        return call.isWrite() == failure.write() && !(isMarker && failure.errno() == Errno.EACCES);
    }

    private static Fault fault(Failure failure) {
        Fault.Kind kind = failure.errno() == Errno.EACCES
                ? ObjectStoreException.AccessDenied::new
                : ObjectStoreException.Unavailable::new;
        return failure.lost() ? Fault.failAfterwards(kind) : Fault.fail(kind);
    }

    // ---- calls

    /** A call of the mount. */
    private interface Checked {
        void run() throws Exception;
    }

    /** The same in the model. */
    private interface Modelled {
        @Nullable
        Errno change(ReferenceTree tree);
    }

    /**
     * Makes a call. It ends as in the model. But if a request fails, the call may fail for that reason: then everything
     * is as before, or as if it had not failed.
     *
     * @param others other possible outcomes of a call that fails
     */
    private void call(Modelled modelled, Checked call, Modelled... others) throws Exception {
        ReferenceTree after = reference.copy();
        Errno expected = modelled.change(after);
        Errno actual = errno(call);
        boolean fails = failure != null && actual != null && actual != expected;
        m.faults.heal();
        m.drain();
        if (!fails) {
            assertThat(actual).isEqualTo(expected);
            reference = after;
            check();
        } else {
            assertThat(actual).isIn(Errno.EIO, Errno.EACCES);
            List<ReferenceTree> states = states(after, others);
            states.forEach(ReferenceTree::doubt);
            settle(states);
        }
    }

    /** Like the kernel, which walks the path once more on ESTALE. */
    private static @Nullable Errno errno(Checked call) throws Exception {
        Errno errno = errnoOnce(call);
        return errno == Errno.ESTALE ? errnoOnce(call) : errno;
    }

    private static @Nullable Errno errnoOnce(Checked call) throws Exception {
        try {
            call.run();
            return null;
        } catch (ErrnoException e) {
            return e.errno();
        }
    }

    /** The possible outcomes of a call that fails. */
    private List<ReferenceTree> states(ReferenceTree after, Modelled... others) {
        List<ReferenceTree> states = new ArrayList<>(List.of(reference, after));
        for (Modelled other : others) {
            ReferenceTree state = reference.copy();
            if (other.change(state) == null) {
                states.add(state);
            }
        }
        return states;
    }

    /** Finds out which of these states it is in. */
    private void settle(List<ReferenceTree> states) throws Exception {
        for (ReferenceTree state : states) {
            for (String path : state.all()) {
                Errno _ = errno(() -> m.lookup(path)); // it may be in doubt until the next lookup
            }
        }
        List<String> differences = new ArrayList<>();
        for (ReferenceTree state : states) {
            try {
                reference = state;
                check();
                return;
            } catch (AssertionError | ErrnoException e) {
                differences.add(e.getMessage());
            }
        }
        throw new AssertionError("it is in none of the states in which it may be: " + differences);
    }

    private void check() throws Exception {
        new NamesCheck(m, reference, byInode).check(open);
    }

    // ---- names

    private void changeNames(NamesStep step) throws Exception {
        switch (step) {
            case NamesStep.Save save -> save(save);
            case NamesStep.Create(int slot, String path, int mode) -> create(slot, path, mode);
            case NamesStep.Open(int slot, String path) -> open(slot, path);
            case NamesStep.Close(int slot) -> close(slot);
            case NamesStep.Mkdir(String path, int mode, Creator creator) ->
                make(
                        path,
                        ReferenceEntry.of(Attributes.S_IFDIR | mode, creator, ""),
                        (parent, name) -> m.fs.mkdir(parent, name, mode, creator));
            case NamesStep.Symlink(String path, String target) ->
                make(
                        path,
                        ReferenceEntry.of(FileKind.SYMLINK.typeBits() | 0777, Mounted.CREATOR, target),
                        (parent, name) -> m.fs.symlink(target, parent, name, Mounted.CREATOR));
            case NamesStep.Mknod(String path, int mode) ->
                make(
                        path,
                        ReferenceEntry.of(mode, Mounted.CREATOR, ""),
                        (parent, name) -> m.fs.mknod(parent, name, mode, 0, Mounted.CREATOR));
            case NamesStep.Link(String from, String to) -> link(from, to);
            case NamesStep.Unlink(String path) ->
                call(tree -> tree.unlink(path), () -> m.fs.unlink(parent(path), name(path)));
            case NamesStep.Rmdir(String path) ->
                call(tree -> tree.rmdir(path), () -> m.fs.rmdir(parent(path), name(path)));
            case NamesStep.Rename(String from, String to, boolean mustBeNew) -> rename(from, to, mustBeNew);
            default -> throw new IllegalArgumentException(step.toString());
        }
    }

    private interface Making {
        Attributes make(long parent, String name) throws ErrnoException;
    }

    private void make(String path, ReferenceEntry entry, Making making) throws Exception {
        call(tree -> tree.make(path, entry), () -> forget(making.make(parent(path), name(path))));
    }

    private void forget(Attributes lookedUp) {
        m.fs.forget(lookedUp.inode(), 1);
    }

    /** Like the kernel, which looks nothing up in anything but directories. */
    private long parent(String path) throws ErrnoException {
        String parent = ReferenceTree.parent(path);
        if (parent.isEmpty()) {
            return FileSystem.ROOT;
        }
        Attributes found = m.lookup(parent);
        if (!found.isDirectory()) {
            throw new ErrnoException(Errno.ENOTDIR, parent + " is no directory");
        }
        return found.inode();
    }

    private static String name(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    private void link(String from, String to) throws Exception {
        if (reference.isDirectory(from) && reference.find(to) != null) {
            return; // which of two errors it is depends on the kernel's knowledge
        }
        call(tree -> tree.link(from, to), () -> {
            long inode = m.lookup(from).inode();
            forget(m.fs.link(inode, parent(to), name(to)));
        });
    }

    private void rename(String from, String to, boolean asked) throws Exception {
        boolean areRelated = from.equals(to) || ReferenceTree.isWithin(from, to) || ReferenceTree.isWithin(to, from);
        boolean mustBeNew = asked && !areRelated; // the kernel itself answers those
        call(
                tree -> tree.rename(from, to, mustBeNew),
                () -> m.fs.rename(parent(from), name(from), parent(to), name(to), mustBeNew ? RENAME_NOREPLACE : 0),
                tree -> tree.copyFile(from, to),
                tree -> {
                    Errno errno = tree.copyFile(from, to);
                    tree.openAt(from, to);
                    return errno;
                },
                tree -> tree.leaveCopies(from, to, keys(), _ -> true),
                tree -> tree.leaveCopies(from, to, keys(), _ -> false),
                tree -> tree.leaveCopies(from, to, keys(), directory -> keys().contains(directory + "/")));
        for (String path : reference.takeUnshown()) {
            delete(path);
        }
    }

    private Set<String> keys() {
        try {
            return m.bucket.list(ListRequest.of("", "")).objects().stream()
                    .map(object -> object.version().key())
                    .collect(Collectors.toSet());
        } catch (ObjectStoreException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- content

    private String newContent() {
        return "<" + ++contents + ">";
    }

    /** Whether the kernel lets a program open the path for writing: not a link or a FIFO, and here, not twice. */
    private boolean isToBeOpened(String path) {
        ReferenceEntry entry = reference.find(path);
        boolean isOther = entry != null && !entry.isRegular() && !entry.isDirectory();
        return !isOther && reference.slot(path) == null;
    }

    private void save(NamesStep.Save save) throws Exception {
        if (!isToBeOpened(save.path())) {
            return;
        }
        String content = save.empty() ? "" : newContent();
        ReferenceEntry entry = ReferenceEntry.of(Attributes.S_IFREG | save.mode(), save.creator(), "");
        int slot = SLOTS;
        call(
                tree -> {
                    Errno errno = tree.create(slot, save.path(), entry);
                    if (errno == null) {
                        tree.write(slot, 0, content);
                        tree.close(slot);
                    }
                    return errno;
                },
                () -> {
                    OpenFile file = m.create(save.path(), save.mode(), save.creator(), O_RDWR | O_TRUNC);
                    try {
                        m.write(file, 0, content);
                    } finally {
                        m.close(file);
                    }
                });
    }

    private void create(int slot, String path, int mode) throws Exception {
        close(slot);
        if (isToBeOpened(path)) {
            ReferenceEntry entry = ReferenceEntry.of(Attributes.S_IFREG | mode, Mounted.CREATOR, "");
            call(
                    tree -> tree.create(slot, path, entry),
                    () -> open.put(slot, m.create(path, mode, Mounted.CREATOR, O_RDWR | O_TRUNC)));
        }
    }

    private void open(int slot, String path) throws Exception {
        close(slot);
        if (isToBeOpened(path)) {
            call(tree -> tree.open(slot, path, true), () -> open.put(slot, m.open(path, O_RDWR)));
        }
    }

    private void read(int slot, String path) throws Exception {
        close(slot);
        ReferenceEntry entry = reference.find(path);
        if (entry == null || entry.isRegular() || entry.isDirectory()) {
            call(tree -> tree.open(slot, path, false), () -> open.put(slot, m.open(path)));
        }
    }

    private void truncate(String path, int size) throws Exception {
        ReferenceEntry entry = reference.find(path);
        boolean isChange = entry == null || entry.content().length() != size;
        if (isToBeOpened(path) && isChange) {
            call(tree -> tree.truncate(path, size), () -> m.truncate(path, null, size));
        }
    }

    private void write(int slot, boolean append) throws Exception {
        ReferenceOpen file = reference.open.get(slot);
        OpenFile handle = open.get(slot);
        if (file != null && file.writes() && handle != null) {
            int position = append ? file.now().content().length() : 0;
            String content = newContent();
            m.write(handle, position, content);
            reference.write(slot, position, content);
            check();
        }
    }

    private void fsync(int slot) throws Exception {
        OpenFile handle = open.get(slot);
        if (handle != null) {
            m.fs.fsync(handle.handle());
            reference.fsync(slot);
            check();
        }
    }

    private void close(int slot) throws Exception {
        OpenFile handle = open.remove(slot);
        if (handle != null) {
            call(
                    tree -> {
                        tree.close(slot);
                        return null;
                    },
                    () -> m.close(handle));
        }
    }

    // ---- attributes

    private void changeAttributes(NamesStep step) throws Exception {
        switch (step) {
            case NamesStep.Chmod(String path, int mode) ->
                setattr(
                        path,
                        entry -> entry.withMode(mode),
                        new AttributeChange(mode, null, null, null, null, null, null));
            case NamesStep.Chown(String path, Creator owner) ->
                setattr(
                        path,
                        entry -> entry.withOwner(owner.uid(), owner.gid()),
                        new AttributeChange(null, owner.uid(), owner.gid(), null, null, null, null));
            case NamesStep.Utimens(String path, var accessed, var modified) ->
                setattr(
                        path,
                        entry -> entry.withTimes(accessed, modified),
                        new AttributeChange(null, null, null, null, accessed, modified, null));
            case NamesStep.SetExtended(String path, String name, String value, int flags) ->
                setExtended(path, name, value, flags);
            default -> throw new IllegalArgumentException(step.toString());
        }
    }

    private void fchmod(int slot, int mode) throws Exception {
        OpenFile handle = open.get(slot);
        ReferenceOpen file = reference.open.get(slot);
        if (handle != null && file != null && !file.byOthers()) {
            AttributeChange change = new AttributeChange(mode, null, null, null, null, null, null);
            call(
                    tree -> tree.change(slot, entry -> entry.withMode(mode)),
                    () -> m.fs.setattr(m.fs.inodeOf(handle.handle()), handle.handle(), change));
        }
    }

    private void setattr(String path, UnaryOperator<ReferenceEntry> change, AttributeChange asked) throws Exception {
        ReferenceEntry entry = reference.find(path);
        if (entry != null && entry.isLink() && asked.mode() != null) {
            return; // the kernel refuses it
        }
        call(
                tree -> tree.change(path, change),
                () -> m.fs.setattr(m.lookup(path).inode(), null, asked));
    }

    private void setExtended(String path, String name, @Nullable String value, int flags) throws Exception {
        ReferenceEntry entry = reference.find(path);
        if (entry != null && !entry.isRegular() && !entry.isDirectory()) {
            return; // the kernel refuses it
        }
        call(tree -> tree.setExtended(path, name, value, flags), () -> {
            long inode = m.lookup(path).inode();
            if (value == null) {
                m.fs.removexattr(inode, name);
            } else {
                m.fs.setxattr(inode, name, value.getBytes(UTF_8), flags);
            }
        });
    }

    // ---- outside events

    /** Whether no file is open for writing at the path, above it or below: other tests cover others' changes there. */
    private boolean isLeftAlone(String path) {
        String top = path.split("/", 2)[0];
        Predicate<String> isBelow = each -> each.equals(top) || ReferenceTree.isWithin(each, top);
        return reference.open.values().stream()
                .noneMatch(file -> file.writes() && file.path() != null && isBelow.test(file.path()));
    }

    private void put(String path) throws Exception {
        if (isLeftAlone(path)) {
            String content = newContent();
            m.bucket.put(path, content);
            reference.changedElsewhere(path);
            reference.objects.put(path, ReferenceEntry.foreign(content));
            waitForTtl();
        }
    }

    private void putDirectory(String path) throws Exception {
        if (isLeftAlone(path) && !reference.markers.containsKey(path)) {
            m.bucket.put(path + "/", "");
            reference.changedElsewhere(path);
            reference.marked(path);
            waitForTtl();
        }
    }

    private void delete(String path) throws Exception {
        boolean isFile = reference.objects.containsKey(path);
        boolean isEmpty = reference.isDirectory(path) && reference.list(path).isEmpty();
        if (isLeftAlone(path) && (isFile || isEmpty)) {
            m.bucket.delete(isFile ? path : path + "/");
            reference.changedElsewhere(path);
            (isFile ? reference.objects : reference.markers).remove(path);
            waitForTtl();
        }
    }

    private void waitForTtl() throws Exception {
        advance(Mounted.TTL);
        check();
    }

    /** Both this mount's clock and the store's, which is the clock of the first mount. */
    private void advance(Duration time) {
        m.clock.advance(time);
        if (!storeClock.equals(m.clock)) {
            storeClock.advance(time);
        }
        if (time.compareTo(Mounted.TTL) >= 0) {
            reference.ttlPassed();
        }
    }

    private void remount() throws Exception {
        for (int slot = 0; slot < SLOTS; slot++) {
            close(slot);
        }
        m.close();
        m = told(Mounted.after(m, cache, staging));
        m.drain();
        reference.remounted();
        check();
    }

    private void crash() throws Exception {
        open.clear();
        Path before = staging;
        staging = newStaging();
        m = told(m.crash(cache, staging));
        Mounted.deleteAll(before);
        m.drain();
        ReferenceTree after = reference.copy();
        after.crash();
        reference.commitAttributes(); // perhaps
        reference.crash();
        settle(List.of(after, reference));
    }

    @Override
    public void close() {
        open.values().forEach(file -> m.fs.release(file.handle()));
        m.close();
        try {
            Mounted.deleteAll(staging);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
