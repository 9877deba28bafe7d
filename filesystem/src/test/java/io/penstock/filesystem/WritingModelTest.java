package io.penstock.filesystem;

import static io.penstock.filesystem.Mounted.O_APPEND;
import static io.penstock.filesystem.Mounted.O_EXCL;
import static io.penstock.filesystem.Mounted.O_RDWR;
import static io.penstock.filesystem.Mounted.O_TRUNC;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cache.PageCache;
import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import io.penstock.filesystem.ReferenceFiles.Failure;
import io.penstock.filesystem.ReferenceFiles.Request;
import io.penstock.filesystem.kernel.NotifiedKernel;
import io.penstock.filesystem.kernel.OpenFile;
import io.penstock.metadata.attributes.KeptAttributes.Keeping;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.testing.Fault;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.testing.TestTier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random calls that write, failed requests, lost responses, changes by other nodes, remounts and crashes, checked
 * against {@link ReferenceFiles}: after each step every name, every open file and every object must be as in the model.
 * Cached names stay valid until another node changes something. Names are few, so that they collide. Each run takes
 * other sequences: {@code -Dpenstock.sequences=N} takes N of them, and {@code -Dpenstock.seed=S} the one of that seed.
 */
@Timeout(1200)
class WritingModelTest {
    private static final List<String> PATHS = List.of("a", "b", "d/a");
    private static final int SLOTS = 3;
    private static final int STEPS = 14;
    private static final int SEQUENCES = TestTier.choose("penstock.sequences", 300, 10_000);

    // fallocate(2).
    private static final int KEEP_SIZE = 1;
    private static final int PUNCH_HOLE = 2;
    private static final int ZERO_RANGE = 0x10;

    /** A folder in memory, if there is one: an fsync there does not wait for a disk. */
    private static final Path MEMORY = Path.of("/dev/shm");

    @TempDir
    private static Path folder;

    private sealed interface Step {
        record Put(String key, int size) implements Step {}

        record Delete(String key) implements Step {}

        record Open(int slot, String path, int flags) implements Step {}

        record Create(int slot, String path, int flags) implements Step {}

        record Write(int slot, int position, int size) implements Step {}

        record Truncate(int slot, int size) implements Step {}

        record TruncatePath(String path, int size) implements Step {}

        record Fallocate(int slot, int mode, int offset, int length) implements Step {}

        record Copy(int fromSlot, int from, int slot, int position, int length) implements Step {}

        record Fsync(int slot) implements Step {}

        record Flush(int slot) implements Step {}

        record Close(int slot) implements Step {}

        record Unlink(String path) implements Step {}

        record Rename(String from, String to, boolean mustBeNew) implements Step {}

        record Remount() implements Step {}

        record Crash() implements Step {}

        /** A step in which a request to the store fails. */
        record Failing(Step step, Failure failure) implements Step {}
    }

    @Test
    void anySteps_areAsInTheReference() throws Exception {
        try (PageCache cache = Mounted.cache(folder.resolve("cache"))) {
            Seeded.checkOthers("WritingModelTest", SEQUENCES, random -> {
                // A few sequences work around the end of a block.
                int base = random.nextInt(200) == 0 ? (4 << 20) - 20 : 0;
                // Some use mostly one handle: this reaches states that need certain steps in their order.
                boolean narrow = random.nextInt(4) == 0;
                List<Step> steps = Stream.generate(
                                () -> narrow && random.nextInt(4) > 0 ? stepOfOneHandle(random) : step(random, base))
                        .limit(STEPS)
                        .toList();
                boolean byInode = random.nextBoolean();
                Keeping keeping = random.nextBoolean() ? Keeping.KEEP : Keeping.IGNORE;
                Throwable failure = run(cache, byInode, keeping, steps);
                if (failure != null) {
                    List<Step> shortest = shorten(cache, byInode, keeping, steps);
                    String kernel = byInode ? "by a kernel that goes by inodes, " : "";
                    throw new AssertionError(
                            kernel + keeping + ", after " + shortest + ": " + run(cache, byInode, keeping, shortest),
                            failure);
                }
            });
        }
    }

    /** Removes all steps that the failure does not need. */
    private static List<Step> shorten(PageCache cache, boolean byInode, Keeping keeping, List<Step> steps) {
        List<Step> shortest = new ArrayList<>(steps);
        for (int i = shortest.size() - 1; i >= 0; i--) {
            Step left = shortest.remove(i);
            if (run(cache, byInode, keeping, shortest) == null) {
                shortest.add(i, left);
            }
        }
        return shortest;
    }

    private static @Nullable Throwable run(PageCache cache, boolean byInode, Keeping keeping, List<Step> steps) {
        try (Run run = new Run(cache, byInode, keeping)) {
            for (Step step : steps) {
                run.apply(step);
                run.check();
            }
        } catch (Exception | AssertionError e) {
            return e;
        }
        return null;
    }

    private static Step stepOfOneHandle(RandomGenerator random) {
        return switch (random.nextInt(7)) {
            case 0, 1 -> new Step.Write(0, random.nextInt(30), random.nextInt(1, 20));
            case 2 -> new Step.Fsync(0);
            case 3, 4 -> new Step.Failing(new Step.Flush(0), failure(random, Request.PUT));
            case 5 -> new Step.Create(0, PATHS.getFirst(), O_RDWR);
            default -> new Step.Crash();
        };
    }

    private static Step step(RandomGenerator random, int base) {
        String path = PATHS.get(random.nextInt(PATHS.size()));
        int slot = random.nextInt(SLOTS);
        int position = (random.nextInt(4) == 0 ? 0 : base) + random.nextInt(30);
        int size = random.nextInt(1, 20);
        return switch (random.nextInt(34)) {
            case 0, 1 -> new Step.Put(path, base + size);
            case 2 -> new Step.Delete(path);
            case 3, 4 -> new Step.Open(slot, path, 0);
            case 5, 6 -> new Step.Open(slot, path, O_RDWR);
            case 7 -> new Step.Open(slot, path, O_RDWR | (random.nextBoolean() ? O_APPEND : O_TRUNC));
            case 8, 9 -> new Step.Create(slot, path, O_RDWR);
            case 10 -> new Step.Create(slot, path, O_RDWR | (random.nextBoolean() ? O_EXCL : O_TRUNC | O_APPEND));
            case 11, 12, 13 -> new Step.Write(slot, position, size);
            case 14 -> new Step.Truncate(slot, position);
            case 15 -> new Step.TruncatePath(path, random.nextInt(3) == 0 ? 0 : position);
            case 16 -> new Step.Fallocate(slot, mode(random), position, size);
            case 17 -> new Step.Fsync(slot);
            case 18 -> new Step.Flush(slot);
            case 19, 20, 21 -> new Step.Close(slot);
            case 22 -> new Step.Unlink(path);
            case 23, 24 -> new Step.Rename(path, PATHS.get(random.nextInt(PATHS.size())), random.nextInt(4) == 0);
            case 25 -> new Step.Copy(random.nextInt(SLOTS), 0, slot, 0, Integer.MAX_VALUE);
            case 26 -> new Step.Copy(random.nextInt(SLOTS), base + random.nextInt(20), slot, position, size);
            case 27 -> new Step.Remount();
            case 28, 29 -> new Step.Crash();
            case 30, 31 -> new Step.Failing(new Step.Flush(slot), failure(random, Request.PUT));
            case 32 -> new Step.Failing(new Step.Close(slot), failure(random, Request.PUT));
            default -> failingChange(random, path, position);
        };
    }

    private static Step failingChange(RandomGenerator random, String path, int position) {
        String to = PATHS.get(random.nextInt(PATHS.size()));
        return switch (random.nextInt(4)) {
            case 0 -> new Step.Failing(new Step.TruncatePath(path, position), failure(random, Request.PUT));
            case 1 -> new Step.Failing(new Step.Unlink(path), failure(random, Request.DELETE));
            default -> {
                Request[] requests = Request.values();
                Failure failure = failure(random, requests[random.nextInt(requests.length)]);
                yield new Step.Failing(new Step.Rename(path, to, random.nextInt(4) == 0), failure);
            }
        };
    }

    private static Failure failure(RandomGenerator random, Request request) {
        return switch (random.nextInt(3)) {
            case 0 -> new Failure(request, false, Errno.EIO);
            case 1 -> new Failure(request, false, Errno.EACCES);
            default -> new Failure(request, true, Errno.EIO);
        };
    }

    private static int mode(RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> 0;
            case 1 -> PUNCH_HOLE | KEEP_SIZE;
            case 2 -> ZERO_RANGE;
            default -> ZERO_RANGE | KEEP_SIZE;
        };
    }

    private record Open(OpenFile file, ReferenceFiles.Handle reference) {}

    private static final class Run implements AutoCloseable {
        private final PageCache cache;
        private final boolean byInode;
        private final Keeping keeping;
        private Path staging = newStaging();
        private final InMemoryObjectStore bucket = new InMemoryObjectStore();
        private final ReferenceFiles reference = new ReferenceFiles();
        private final Map<Integer, Open> open = new HashMap<>();
        private Mounted m;

        /** Makes every write different. */
        private int writes;

        /** @param byInode whether the kernel knows files by inode: an inode is one version while it is open */
        Run(PageCache cache, boolean byInode, Keeping keeping) throws ErrnoException, IOException {
            this.cache = cache;
            this.byInode = byInode;
            this.keeping = keeping;
            this.m = told(Mounted.keeping(cache, staging, bucket, keeping));
            m.mkdir("d");
        }

        private static Path newStaging() throws IOException {
            return Files.createTempDirectory(Files.isWritable(MEMORY) ? MEMORY : folder, "staging");
        }

        private Mounted told(Mounted mounted) {
            if (byInode) {
                mounted.fs.addListener(new NotifiedKernel());
            }
            return mounted;
        }

        void apply(Step step) throws Exception {
            switch (step) {
                case Step.Put(String key, int size) -> {
                    byte[] bytes = bytes(size);
                    bucket.put(key, bytes);
                    m.clock.advance(Mounted.TTL);
                    reference.store.put(key, new ReferenceFiles.Version(bytes));
                }
                case Step.Delete(String key) -> {
                    bucket.delete(key);
                    m.clock.advance(Mounted.TTL);
                    reference.store.remove(key);
                }
                case Step.Open(int slot, String path, int flags) -> open(slot, path, flags);
                case Step.Create(int slot, String path, int flags) -> create(slot, path, flags);
                case Step.TruncatePath(String path, int size) ->
                    expect(
                            reference.truncate(path, size),
                            () -> heard(() -> {
                                m.truncate(path, null, size);
                                return true;
                            }));
                case Step.Unlink(String path) -> expect(reference.unlink(path), () -> m.unlink(path));
                case Step.Rename(String from, String to, boolean mustBeNew) ->
                    expect(reference.rename(from, to, mustBeNew), () -> m.rename(from, to, mustBeNew ? 1 : 0));
                case Step.Remount() -> {
                    for (int slot = 0; slot < SLOTS; slot++) {
                        close(slot);
                    }
                    m.close();
                    m = told(Mounted.keeping(cache, staging, bucket, keeping));
                }
                case Step.Crash() -> {
                    open.clear();
                    Path before = staging;
                    staging = newStaging();
                    m = told(m.crash(cache, staging));
                    Mounted.deleteAll(before);
                    reference.crash();
                }
                case Step.Failing(Step failing, Failure failure) -> {
                    m.faults.next(call -> isOf(call, failure.request()), fault(failure));
                    reference.fail(failure);
                    apply(failing);
                    m.faults.heal();
                    reference.heal();
                }
                case Step.Close(int slot) -> close(slot);
                case Step.Write(int slot, int _, int _) when open.containsKey(slot) -> change(step, open.get(slot));
                case Step.Truncate(int slot, int _) when open.containsKey(slot) -> change(step, open.get(slot));
                case Step.Fallocate(int slot, int _, int _, int _)
                when open.containsKey(slot) -> change(step, open.get(slot));
                case Step.Copy copy
                when open.containsKey(copy.slot) && open.containsKey(copy.fromSlot) ->
                    copy(copy, open.get(copy.fromSlot), open.get(copy.slot));
                case Step.Fsync(int slot) when open.containsKey(slot) -> fsync(open.get(slot));
                case Step.Flush(int slot) when open.containsKey(slot) -> flush(open.get(slot));
                case Step.Write _, Step.Truncate _, Step.Fallocate _, Step.Copy _, Step.Fsync _, Step.Flush _ -> {}
            }
            m.drain();
        }

        private static boolean isOf(Call call, Request request) {
            return switch (request) {
                case PUT ->
                    (call instanceof Call.Put put && !isMarker(put.key()))
                            || (call instanceof Call.Copy copy && isOntoItself(copy) && !isMarker(copy.key()));
                case COPY -> call instanceof Call.Copy copy && !isOntoItself(copy);
                case DELETE -> call instanceof Call.Delete;
            };
        }

        /** Marks a directory as having kept attributes: {@link KeptAttributesTest} covers its failures. */
        private static boolean isMarker(String key) {
            return key.endsWith("/");
        }

        /** Content that was changed and equals the base version again is committed in the same way. */
        private static boolean isOntoItself(Call.Copy copy) {
            return copy.source().equals(copy.key());
        }

        private static Fault fault(Failure failure) {
            if (failure.lost()) {
                return Fault.failAfterwards(ObjectStoreException.Unavailable::new);
            }
            return failure.errno() == Errno.EACCES
                    ? Fault.fail(ObjectStoreException.AccessDenied::new)
                    : Fault.fail(ObjectStoreException.Unavailable::new);
        }

        /** Repeats a call that reported the error of an earlier close: {@link UnheardErrorsTest} covers those. */
        private static <T> T heard(Callable<T> call) throws Exception {
            try {
                return call.call();
            } catch (ErrnoException e) {
                if (String.valueOf(e.getMessage()).startsWith("an earlier close of ")) {
                    return call.call();
                }
                throw e;
            }
        }

        private void open(int slot, String path, int flags) throws Exception {
            close(slot);
            boolean write = (flags & O_RDWR) != 0;
            var handle = reference.open(path, write, (flags & O_APPEND) != 0, (flags & O_TRUNC) != 0);
            if (handle == null) {
                expect(Errno.ENOENT, () -> heard(() -> m.open(path, flags)));
            } else {
                open.put(slot, new Open(heard(() -> m.open(path, flags)), handle));
            }
        }

        private void create(int slot, String path, int flags) throws Exception {
            close(slot);
            boolean append = (flags & O_APPEND) != 0;
            if (reference.content(path) == null) {
                open.put(slot, new Open(heard(() -> m.create(path, flags)), reference.create(path, append)));
            } else if ((flags & O_EXCL) != 0) {
                expect(Errno.EEXIST, () -> heard(() -> m.create(path, flags)));
            } else {
                OpenFile file = heard(() -> m.create(path, flags));
                var handle = reference.open(path, true, append, (flags & O_TRUNC) != 0);
                assertThat(handle).isNotNull();
                open.put(slot, new Open(file, handle));
            }
        }

        private void change(Step step, Open file) throws Exception {
            long handle = file.file.handle();
            if (!file.reference.writes) {
                expect(Errno.EBADF, () -> m.fs.write(handle, 0, ByteBuffer.allocate(1), 0, false, true));
                return;
            }
            switch (step) {
                case Step.Write(int _, int position, int size) -> {
                    byte[] bytes = bytes(size);
                    boolean patient = position % 2 == 0;
                    if (patient
                            || m.fs.write(handle, position, ByteBuffer.wrap(bytes), m.flags(file.file), false, false)
                                    != size) {
                        m.fs.write(handle, position, ByteBuffer.wrap(bytes), m.flags(file.file), false, true);
                    }
                    reference.write(file.reference, position, bytes);
                }
                case Step.Truncate(int _, int size) -> {
                    AttributeChange change = new AttributeChange(null, null, null, (long) size, null, null, null);
                    m.fs.setattr(m.fs.inodeOf(handle), handle, change);
                    reference.truncate(file.reference, size);
                }
                case Step.Fallocate(int _, int mode, int offset, int length) -> {
                    m.fs.fallocate(handle, mode, offset, length);
                    boolean grow = (mode & KEEP_SIZE) == 0;
                    if (mode == 0) {
                        reference.grow(file.reference, offset + length);
                    } else {
                        reference.zero(file.reference, offset, offset + length, grow);
                    }
                }
                default -> throw new IllegalArgumentException(step.toString());
            }
        }

        private void copy(Step.Copy step, Open from, Open to) throws Exception {
            ReferenceFiles.File source = from.reference.file;
            Checked call = () ->
                    m.fs.copyFileRange(from.file.handle(), step.from, to.file.handle(), step.position, step.length);
            if (!to.reference.writes) {
                expect(Errno.EBADF, call);
            } else if (!reference.mayBeStale(source) && !(source.written && source.path == null)) {
                expect(reference.copy(source, step.from, to.reference, step.position, step.length), call);
            }
        }

        /** The content may be visible afterwards, or not; it cannot be if another node has changed the object. */
        private void fsync(Open file) throws Exception {
            ReferenceFiles.File written = file.reference.file;
            m.drainCalls();
            try {
                m.fs.fsync(file.file.handle());
            } catch (ErrnoException e) {
                assertThat(e.errno()).isEqualTo(Errno.ESTALE);
                assertThat(reference.commit(written)).isEqualTo(Errno.ESTALE);
                return;
            }
            String path = written.path;
            boolean sent = !m.store.writes().isEmpty(); // the previous content may have been the same
            if (sent && path != null && written.dirty && equal(written.content, m.bytes(path))) {
                reference.committed(written);
            } else {
                reference.synced(written);
            }
        }

        private void flush(Open file) throws Exception {
            expect(reference.flush(file.reference), () -> m.fs.flush(file.file.handle()));
        }

        private void close(int slot) throws Exception {
            Open file = open.remove(slot);
            if (file != null) {
                try {
                    flush(file);
                } finally {
                    m.fs.release(file.file.handle());
                    reference.release(file.reference);
                }
                m.drain();
            }
        }

        private byte[] bytes(int size) {
            byte[] bytes = new byte[size];
            Arrays.fill(bytes, (byte) (++writes % 127 + 1));
            return bytes;
        }

        /** Reads everything again. */
        void check() throws Exception {
            m.fs.checkInvariants();
            List<String> names = new ArrayList<>();
            for (String path : PATHS) {
                byte[] expected = reference.content(path);
                if (expected == null) {
                    expect(Errno.ENOENT, () -> m.lookup(path));
                } else {
                    names.add(path);
                    Attributes attributes = m.lookup(path);
                    assertThat(attributes.size()).as("size of " + path).isEqualTo(expected.length);
                    checkContent(path, expected);
                }
                byte[] stored = m.bytes(path);
                var version = reference.store.get(path);
                assertThat(equal(version == null ? null : version.bytes(), stored))
                        .as("object " + path + ", which is " + ReferenceText.of(stored) + " and not "
                                + ReferenceText.of(version == null ? null : version.bytes()))
                        .isTrue();
            }
            List<String> listed = new ArrayList<>();
            for (String name : m.ls(FileSystem.ROOT, 2)) {
                if (!name.equals("d")) {
                    listed.add(name);
                }
            }
            m.ls(m.lookup("d").inode(), 1).forEach(name -> listed.add("d/" + name));
            assertThat(listed).as("names").containsExactlyInAnyOrderElementsOf(names);
            for (Open file : open.values()) {
                ReferenceFiles.File shared = file.reference.file;
                checkRead("handle of " + shared.key, file.file, shared.content, reference.mayBeStale(shared));
                if (byInode) {
                    assertThat(m.fs.getattr(m.fs.inodeOf(file.file.handle())).size())
                            .as("size of what is open of " + shared.key)
                            .isEqualTo(shared.content.length);
                }
            }
        }

        private void checkContent(String path, byte[] expected) throws Exception {
            OpenFile file = m.open(path);
            try {
                var handle = reference.open(path, false, false, false);
                assertThat(handle).isNotNull();
                checkRead(path, file, expected, reference.mayBeStale(handle.file));
                reference.release(handle);
            } finally {
                m.fs.release(file.handle());
            }
        }

        private void checkRead(String what, OpenFile file, byte[] expected, boolean mayBeStale) throws ErrnoException {
            ByteBuffer to = ByteBuffer.allocate(expected.length + 10);
            try {
                int bytes = m.fs.read(file.handle(), 0, to, null, true);
                byte[] read = Arrays.copyOf(to.array(), bytes);
                assertThat(equal(expected, read))
                        .as(what + " reads " + ReferenceText.of(read) + " and not " + ReferenceText.of(expected))
                        .isTrue();
            } catch (ErrnoException e) {
                assertThat(e.errno()).as(what + ": " + e.getMessage()).isEqualTo(Errno.ESTALE);
                assertThat(mayBeStale)
                        .as(what + " is not stale: " + e.getMessage())
                        .isTrue();
            }
        }

        private static boolean equal(byte @Nullable [] a, byte @Nullable [] b) {
            return Arrays.equals(a, b);
        }

        private static void expect(@Nullable Errno expected, Checked call) throws Exception {
            Errno actual = null;
            String message = "";
            try {
                call.run();
            } catch (ErrnoException e) {
                actual = e.errno();
                message = String.valueOf(e.getMessage());
            }
            assertThat(actual).as(message).isEqualTo(expected);
        }

        @Override
        public void close() {
            for (int slot = 0; slot < SLOTS; slot++) {
                Open file = open.remove(slot);
                if (file != null) {
                    m.fs.release(file.file.handle());
                }
            }
            m.close();
            try {
                Mounted.deleteAll(staging);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A call that succeeds or fails. */
    @FunctionalInterface
    private interface Checked {
        void run() throws Exception;
    }

    /** Content in messages: the bytes of one write are shown as one number and their length. */
    private static final class ReferenceText {
        static String of(byte @Nullable [] bytes) {
            if (bytes == null) {
                return "absent";
            }
            StringBuilder text = new StringBuilder("[");
            for (int i = 0, end; i < bytes.length; i = end) {
                end = i;
                while (end < bytes.length && bytes[end] == bytes[i]) {
                    end++;
                }
                text.append(i == 0 ? "" : " ").append(bytes[i]).append('x').append(end - i);
            }
            return text.append(']').toString();
        }
    }
}
