package io.penstock.writeback;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.core.ObjectVersion;
import io.penstock.disk.DataFolder;
import io.penstock.objectstore.Call;
import io.penstock.objectstore.ForwardingObjectStore;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.RetryPolicy;
import io.penstock.objectstore.WriteCondition;
import io.penstock.testing.DelayingObjectStore;
import io.penstock.testing.Fault;
import io.penstock.testing.FaultyObjectStore;
import io.penstock.testing.Gate;
import io.penstock.testing.InMemoryObjectStore;
import io.penstock.testing.RecordingObjectStore;
import io.penstock.testing.Seeded;
import io.penstock.writeback.MountContext.CommittedPages;
import io.penstock.writeback.WatchedFiles.Operation;
import io.penstock.writeback.bytes.BaseContent;
import io.penstock.writeback.bytes.FileBytes;
import io.penstock.writeback.survivors.CopiedMemory;
import io.penstock.writeback.survivors.Outliving;
import io.penstock.writeback.survivors.SurvivorMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A language for the history of one written file: steps, gates that hold the store or the disk between two of them, a
 * crash, what the next mount finds, and what must hold then. Steps apply to the file last created, opened or found. A
 * scenario begins with an empty bucket, an empty staging disk, and the first file created or opened in a mount of them.
 */
final class FileScenario implements AutoCloseable {
    final InMemoryObjectStore bucket = new InMemoryObjectStore();
    final FaultyObjectStore faults = new FaultyObjectStore(bucket);
    final DelayingObjectStore delays = new DelayingObjectStore(faults);
    final RecordingObjectStore store = new RecordingObjectStore(delays);

    private final CommitTiming timing;
    private RetryPolicy retries = store.retries();
    private final List<FutureTask<Boolean>> behind = new ArrayList<>();
    private DataFolder disk = new CrashingFiles();
    private volatile WatchedFiles.Watcher watcher = (_, _) -> {};
    private volatile CommittedPages pages = (_, _) -> {};
    private @Nullable TestMount mount;

    /** Between the mount and its store: a dead process sends no more requests. */
    private FaultyObjectStore wire = new FaultyObjectStore(store);

    private @Nullable WrittenFile file;

    /** Null if the mount ends with its process. */
    private @Nullable Outliving outliving;

    FileScenario() {
        this(new CommitTiming(
                CommitTiming.DEFAULT.firstPause(),
                CommitTiming.DEFAULT.longestPause(),
                CommitTiming.DEFAULT.patience(),
                0));
    }

    FileScenario(CommitTiming timing) {
        this.timing = timing;
    }

    /** A step of the file. */
    interface Step {
        void of(WrittenFile file) throws Exception;
    }

    /** A step of something else. */
    interface Action {
        void run() throws Exception;
    }

    // ---- the environment

    /** Uses this disk instead of one whose machine can lose power. */
    FileScenario on(DataFolder folder) {
        disk = folder;
        return this;
    }

    /** The disk, which can lose unsynced data. */
    CrashingFiles files() {
        return (CrashingFiles) disk;
    }

    /** The mount survives its process. */
    FileScenario surviving() throws IOException {
        outliving = Outliving.begin(SurvivorMemory.create(), () -> {});
        return this;
    }

    /** Uses a store whose requests are retried like this. */
    FileScenario retrying(RetryPolicy as) {
        retries = as;
        return this;
    }

    /** Runs whenever a commit has succeeded and its pages are to be kept. */
    FileScenario onCommitted(CommittedPages told) {
        pages = told;
        return this;
    }

    /** Runs before every operation of the disk. */
    FileScenario onDisk(WatchedFiles.Watcher told) {
        watcher = told;
        return this;
    }

    /** Runs before the next operation of this kind on such a file. */
    FileScenario before(Operation operation, String end, Action action) {
        AtomicReference<Action> once = new AtomicReference<>(action);
        return onDisk((next, name) -> {
            if (next == operation && name.endsWith(end)) {
                once.getAndSet(() -> {}).run();
            }
        });
    }

    TestMount mount() {
        return requireNonNull(mount);
    }

    WrittenFile file() {
        return requireNonNull(file);
    }

    /** Mounts the content of the disk. Nothing begins automatically before {@link #start}. */
    FileScenario remount() throws Exception {
        unmount();
        wire = new FaultyObjectStore(store);
        WatchedFiles watched = new WatchedFiles(disk, (operation, name) -> watcher.before(operation, name));
        ObjectStore repeating = new ForwardingObjectStore(wire) {
            @Override
            public RetryPolicy retries() {
                return retries;
            }
        };
        mount = new TestMount(
                repeating,
                watched,
                TestConfig.withMemory(8),
                (version, content) -> pages.cache(version, content),
                Clock.systemUTC(),
                timing,
                outliving);
        return this;
    }

    FileScenario start() {
        mount().start();
        return this;
    }

    private Writeback writeback() throws Exception {
        if (mount == null) {
            remount().start();
        }
        return mount().writeback;
    }

    FileScenario unmount() {
        if (mount != null) {
            mount.close();
            mount = null;
        }
        return this;
    }

    @Override
    public void close() {
        unmount();
    }

    // ---- steps

    FileScenario create(String key) throws Exception {
        file = writeback().create(key, null);
        return this;
    }

    /** Puts an object and opens its file. */
    FileScenario open(String key, String content) throws Exception {
        return open(key, content.getBytes(UTF_8));
    }

    FileScenario open(String key, byte[] content) throws Exception {
        file = writeback().open(bucket.put(key, content));
        return this;
    }

    /** Puts an object, then opens and truncates its file. */
    FileScenario truncate(String key, String content) throws Exception {
        file = writeback().create(key, bucket.put(key, content));
        return this;
    }

    FileScenario write(long position, String text) throws Exception {
        return write(position, text.getBytes(UTF_8));
    }

    FileScenario write(long position, byte[] bytes) throws Exception {
        assertThat(file().write(position, ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
        return this;
    }

    FileScenario append(String text) throws Exception {
        file().append(ByteBuffer.wrap(text.getBytes(UTF_8)));
        return this;
    }

    /** {@code then(WrittenFile::fsync, WrittenFile::release)}. */
    FileScenario then(Step... steps) throws Exception {
        for (Step step : steps) {
            step.of(file());
        }
        return this;
    }

    /** Begins the step on another thread. {@link #ends} or {@link #endsWith} follows. */
    FileScenario behind(Step step) {
        WrittenFile of = file();
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            step.of(of);
            return true;
        });
        behind.add(task);
        Thread.startVirtualThread(task);
        return this;
    }

    /** The store has copied the object to this key, and a rename continues. */
    FileScenario renamed(ObjectVersion from, String to) throws Exception {
        file().moved(bucket.copy(from, to, WriteCondition.ALWAYS));
        file().resumeCommits();
        bucket.delete(from.key());
        return this;
    }

    // ---- gates and waits

    /** Holds such calls. Returns once the step has led to one; the step continues in the background. */
    Gate held(Class<? extends Call> which, Step step) throws InterruptedException {
        return held(delays.hold(which::isInstance), step);
    }

    /** The same at a gate of {@link #delays}. */
    Gate held(Gate gate, Step step) throws InterruptedException {
        behind(step);
        gate.awaitHeld(1);
        return gate;
    }

    /** Holds the disk before operations of this kind on such files, at most this many, until it is closed. */
    DiskGate heldDisk(Operation operation, String end, int most) {
        DiskGate gate = new DiskGate(operation, end, most);
        onDisk(gate);
        return gate;
    }

    /** Holds operations of the disk. */
    static final class DiskGate implements WatchedFiles.Watcher, AutoCloseable {
        private final Operation operation;
        private final String end;
        private final AtomicInteger left;
        private final Semaphore held = new Semaphore(0);
        private final CountDownLatch open = new CountDownLatch(1);

        DiskGate(Operation operation, String end, int most) {
            this.operation = operation;
            this.end = end;
            this.left = new AtomicInteger(most);
        }

        @Override
        public void before(Operation next, String name) throws InterruptedException {
            if (next == operation && name.endsWith(end) && left.getAndDecrement() > 0) {
                held.release();
                open.await();
            }
        }

        /** Waits until this many are held. */
        void awaitHeld(int operations) throws InterruptedException {
            held.acquire(operations);
        }

        /** Lets all operations through. */
        void open() {
            open.countDown();
        }

        @Override
        public void close() {
            open();
        }
    }

    /** Waits until a thread waits on the file's condition. */
    FileScenario awaitWaiter() {
        FileBytes bytes = file().bytes();
        boolean waits = false;
        while (!waits && !behind.getLast().isDone()) {
            bytes.lock().lock();
            try {
                waits = bytes.lock().hasWaiters(bytes.progress());
            } finally {
                bytes.lock().unlock();
            }
        }
        return this;
    }

    /** Waits until the store has this many bytes. */
    FileScenario awaitUploaded(long bytes) {
        while (mount().uploads.uploadedBytes() < bytes) {
            Thread.onSpinWait();
        }
        return this;
    }

    /** Everything begun {@link #behind} succeeds. */
    FileScenario ends() throws Exception {
        for (FutureTask<Boolean> task : behind) {
            assertThat(task.get()).isTrue();
        }
        behind.clear();
        return this;
    }

    /** Everything begun {@link #behind} fails with this exception. */
    FileScenario endsWith(Class<? extends Exception> failure) {
        behind.forEach(task -> assertThatThrownBy(task::get).hasCauseInstanceOf(failure));
        behind.clear();
        return this;
    }

    /** The next such call fails: {@code fails(Call.Put.class, Fault.fail(Unavailable::new))}. */
    FileScenario fails(Class<? extends Call> which, Fault fault) {
        faults.next(which::isInstance, fault);
        return this;
    }

    FileScenario failsWith(Class<? extends Exception> failure, Step step) {
        assertThatThrownBy(() -> step.of(file())).isInstanceOf(failure);
        return this;
    }

    // ---- the end of a process

    /** The machine loses power. A process that still runs writes to nothing. */
    FileScenario losePower(long seed) {
        disk = files().crash(Seeded.random(seed));
        return this;
    }

    /** The same, and the process has died. */
    FileScenario crash(long seed) {
        losePower(seed);
        wire.always(_ -> true, Fault.fail(ObjectStoreException.Unavailable::new));
        watcher = (_, _) -> {};
        return unmount();
    }

    /** The process dies, and the next one continues: the step's file is that of the same number, with one handle. */
    FileScenario kill() throws Exception {
        long number = file().number();
        Outliving before = requireNonNull(outliving);
        CrashingFiles[] left = new CrashingFiles[1];
        file().bytes().locked(() -> {
            outliving = CopiedMemory.of(before);
            left[0] = files().kill();
        });
        wire.always(_ -> true, Fault.fail(ObjectStoreException.Unavailable::new));
        watcher = (_, _) -> {};
        pages = (_, _) -> {};
        TestMount former = mount();
        Thread.startVirtualThread(former::close); // it may wait for what this test holds
        mount = null;
        disk = left[0];
        remount();
        file = mount().writeback.survivors().stream()
                .filter(survivor -> survivor.number() == number)
                .findFirst()
                .orElseThrow();
        assertThat(file.retain()).isTrue();
        return this;
    }

    /** Mounts what is left. Nothing is committed before {@link #start}. */
    FileScenario find() throws Exception {
        remount();
        file = mount().writeback.recovered().getFirst();
        return this;
    }

    /** Mounts what is left, and waits until everything that can be committed is. */
    FileScenario recover() throws Exception {
        return remount().start().settles();
    }

    // ---- what must hold

    /** Every released file is committed or abandoned, and the process keeps nothing of it. */
    FileScenario settles() throws InterruptedException {
        mount().assertNothingLeaks();
        return this;
    }

    /** The handle is released, and everything is committed or abandoned. */
    FileScenario releases() throws InterruptedException {
        file().release();
        return settles();
    }

    String stored(String key) throws Exception {
        return new String(bytes(key), UTF_8);
    }

    byte[] bytes(String key) throws Exception {
        ObjectVersion version = bucket.head(key).version();
        ByteBuffer to = ByteBuffer.allocate(Math.toIntExact(version.size()));
        try (BaseContent.Reader reader = new StoredBase(bucket).open(version)) {
            reader.read(0, to);
        }
        return to.array();
    }

    FileScenario expect(String key, String content) throws Exception {
        assertThat(stored(key)).as(key).isEqualTo(content);
        return this;
    }

    /** The notifications that the listener of this mount received. */
    FileScenario expectTold(String... told) {
        assertThat(mount().told).containsExactly(told);
        return this;
    }

    /** This many files of this mount were abandoned. */
    FileScenario expectFailed(int files) {
        assertThat(mount().writeback.statistics().failedFiles()).isEqualTo(files);
        return this;
    }

    /** The files kept for {@code penstock recover}. */
    FileScenario expectKept(String... keys) {
        assertThat(mount().writeback.failed()).extracting(RecoverableFile::key).containsExactly(keys);
        return this;
    }

    /** Whether the disk has files after unmounting. */
    FileScenario expectOnDisk(boolean some) {
        unmount();
        assertThat(files().names().isEmpty()).as("nothing is staged").isNotEqualTo(some);
        assertThat(files().opened()).as("open files").isZero();
        return this;
    }
}
