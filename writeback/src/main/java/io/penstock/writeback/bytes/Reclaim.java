package io.penstock.writeback.bytes;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
import io.penstock.writeback.content.BlockSource;
import io.penstock.writeback.upload.WritebackLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stages blocks in the background, and finds memory for waiting writers. First it evicts staged blocks, oldest first;
 * then it stages others. If that is impossible because the disk is full or broken, or has been futile for a second, it
 * commits the file with the most memory, which continues over that version. If no file can be committed, because they
 * lost their names or their commits have just failed, writers are refused. So no writer waits forever unless the store
 * does not respond. These steps follow each other and never run at the same time.
 */
public final class Reclaim implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Reclaim.class);

    /** Enough to keep an NVMe disk busy with writes of one block each. */
    private static final int THREADS = 4;

    /** How long to wait after finding nothing to evict before looking again without a notification. */
    private static final long PAUSE_MILLIS = 1000;

    /**
     * How long nothing must have been evictable before a writer is refused: a full staging disk is tried again after a
     * second.
     */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final BlockMemory memory;

    /** All current files. */
    private final Supplier<? extends Stream<? extends Source>> files;

    private final LongSupplier nanoTime;

    private final ExecutorService stagers = Executors.newFixedThreadPool(
            THREADS, Thread.ofPlatform().daemon().name("penstock-stage-", 0).factory());

    /** Each block once: when a program keeps rewriting the end of one block, the threads would wait for each other. */
    private final Set<Block> queued = ConcurrentHashMap.newKeySet();

    private final Thread reclaimer =
            Thread.ofPlatform().daemon().name("penstock-reclaim").unstarted(this::run);

    /** All memory handed out, oldest first. */
    @GuardedBy("this")
    private final Map<BlockBuffer, Use> uses = new LinkedHashMap<>();

    @GuardedBy("this")
    private boolean wanted;

    /** Until the next look while writers wait. Confined to the reclaimer. */
    private long pauseMillis = PAUSE_MILLIS;

    @GuardedBy("this")
    private boolean closed;

    /** Whether nothing has been evictable since {@code fruitlessSince}, by the clock of nanoseconds. */
    @GuardedBy("this")
    private boolean fruitless;

    @GuardedBy("this")
    private long fruitlessSince;

    /** The result of an attempt to evict a block, best first. */
    public enum Eviction {
        FREED,
        /** It was written again or is being read: another attempt may free it. */
        BUSY,
        /** It cannot be staged now, or no longer owns its memory. */
        STUCK
    }

    /** A file with memory. */
    public interface Source {
        /** Writes the block's bytes that are only in memory to the staging disk. False if that is impossible now. */
        boolean stage(Block block) throws IOException;

        /** Evicts a block from memory, after staging it if needed and allowed. */
        Eviction evict(long block, boolean afterStaging);

        /** Whether the memory taken for this block no longer belongs to any block: then it becomes free soon. */
        boolean isLeaving(long block, BlockBuffer memory);

        /** The memory of a block has no user any more: {@link #freed} must follow. Called with the file's lock. */
        void unused(BlockBuffer memory);

        /** Commits the file to free its memory. False if no commit runs or will begin. */
        boolean commitToFreeMemory();

        /** {@link #commitToFreeMemory}, if that frees space on the staging disk and the disk lacks space. */
        boolean commitToFreeStaging();
    }

    /** @param block index of the block for which the memory was taken */
    private record Use(BlockBuffer buffer, Source file, long block) {}

    public Reclaim(WritebackLimits limits, Supplier<? extends Stream<? extends Source>> files, BlockSource system) {
        this(limits, files, system, System::nanoTime);
    }

    Reclaim(
            WritebackLimits limits,
            Supplier<? extends Stream<? extends Source>> files,
            BlockSource system,
            LongSupplier nanoTime) {
        this.memory = new BlockMemory(() -> limits.get().dirtyBytes(), this::wake, system);
        this.files = files;
        this.nanoTime = nanoTime;
        limits.whenChanged(() -> {
            memory.limitChanged();
            wake();
        });
        reclaimer.start();
    }

    public BlockMemory memory() {
        return memory;
    }

    /** The memory, from {@link BlockMemory#acquire}, belongs to a block from now on. */
    public BlockBuffer add(Source file, long block, ByteBuffer bytes) {
        BlockBuffer buffer = new BlockBuffer(bytes, memory.number(bytes), file::unused);
        synchronized (this) {
            uses.put(buffer, new Use(buffer, file, block));
        }
        return buffer;
    }

    /** The same for memory of a block that the former process left. */
    public BlockBuffer takeOver(Source file, long block, ByteBuffer bytes) {
        memory.take();
        return add(file, block, bytes);
    }

    void freed(BlockBuffer buffer) {
        synchronized (this) {
            uses.remove(buffer);
            fruitless = false;
        }
        memory.release(buffer.bytes());
    }

    /** Runs the work on a staging thread. */
    public Future<Boolean> staged(Callable<Boolean> work) throws IOException {
        try {
            return stagers.submit(work);
        } catch (RejectedExecutionException e) {
            throw new IOException("the mount is ending: nothing more is staged", e);
        }
    }

    /** Stages the block soon, unless that is queued or in progress: later writes are staged when needed. */
    public void stage(Source file, Block block) {
        if (!queued.add(block)) {
            return;
        }
        try {
            stagers.execute(() -> {
                try {
                    boolean _ = file.stage(block);
                } catch (IOException e) {
                    log.debug("A block stays in memory", e); // a change of the disk's state was logged
                } catch (RuntimeException | Error e) {
                    log.error("Staging a block failed unexpectedly", e);
                } finally {
                    queued.remove(block);
                }
            });
        } catch (RejectedExecutionException e) {
            log.trace("The mount is ending: nothing more is staged", e);
        }
    }

    /** A writer waits for memory, or more may be evictable than before. */
    synchronized void wake() {
        wanted = true;
        notifyAll();
    }

    private void run() {
        try {
            while (awaitWork()) {
                reclaim();
            }
        } catch (InterruptedException e) {
            log.trace("The mount is ending", e);
        }
    }

    private void reclaim() {
        pauseMillis = PAUSE_MILLIS;
        try {
            if (memory.waiting() == 0) {
                fruitful();
                return;
            }
            Eviction eviction = evict();
            if (eviction == Eviction.FREED) {
                fruitful();
                wake(); // more may be evictable
                return;
            }
            long fruitlessNanos = fruitlessNanos();
            if (eviction == Eviction.BUSY && fruitlessNanos < PATIENCE_NANOS / 2) {
                pauseMillis = 1;
            } else if (commitToFreeMemory()) {
                fruitful();
            } else if (fruitlessNanos >= PATIENCE_NANOS) {
                fruitful(); // the remaining writers have the same patience again
                memory.refuse();
            }
        } catch (RuntimeException | Error e) {
            log.error("Reclaiming memory failed unexpectedly, retrying in {} ms", PAUSE_MILLIS, e);
        }
    }

    private synchronized void fruitful() {
        fruitless = false;
    }

    /** How long nothing has been evictable. */
    private synchronized long fruitlessNanos() {
        long now = nanoTime.getAsLong();
        if (!fruitless) {
            fruitless = true;
            fruitlessSince = now;
        }
        return now - fruitlessSince;
    }

    /** False if this is closed. */
    private synchronized boolean awaitWork() throws InterruptedException {
        while (!wanted && !closed) {
            if (memory.waiting() > 0) {
                wait(pauseMillis);
                wanted = true;
            } else {
                wait();
            }
        }
        wanted = false;
        return !closed;
    }

    /**
     * The memory of all blocks at one moment.
     *
     * @param isOnItsWay whether a writer had memory that it had not yet given to a block
     */
    private record Taken(List<Use> uses, boolean isOnItsWay) {}

    private synchronized Taken taken() {
        return new Taken(new ArrayList<>(uses.values()), memory.usedBytes() > (long) uses.size() * Block.BLOCK_SIZE);
    }

    /** Evicts blocks until no writer waits for memory. Returns the best result. */
    private Eviction evict() {
        Eviction best = Eviction.STUCK;
        for (boolean afterStaging : new boolean[] {false, true}) {
            Taken taken = taken();
            if (taken.isOnItsWay && best == Eviction.STUCK) {
                best = Eviction.BUSY;
            }
            for (Use use : taken.uses) {
                if (memory.waiting() == 0) {
                    return Eviction.FREED;
                }
                Eviction eviction = use.file.evict(use.block, afterStaging);
                best = eviction.compareTo(best) < 0 ? eviction : best;
            }
            if (best == Eviction.STUCK && !taken.uses.equals(taken().uses)) {
                best = Eviction.BUSY; // others have freed some
            }
        }
        return best;
    }

    /**
     * Starts a commit, or finds one that runs or memory that is about to be freed. False if there is nothing to wait
     * for.
     */
    private boolean commitToFreeMemory() {
        List<Use> all = taken().uses;
        Map<Source, Integer> counts = new HashMap<>();
        for (Use use : all) {
            counts.merge(use.file, 1, Integer::sum);
        }
        List<Map.Entry<Source, Integer>> most = new ArrayList<>(counts.entrySet());
        most.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        return most.stream().anyMatch(entry -> entry.getKey().commitToFreeMemory())
                || all.stream().anyMatch(use -> use.file.isLeaving(use.block, use.buffer))
                || files.get().anyMatch(Source::commitToFreeStaging); // makes room for staging others
    }

    /** Ends the threads. Blocks not staged yet stay unstaged. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        stagers.shutdownNow();
        try {
            var _ = stagers.awaitTermination(1, TimeUnit.MINUTES);
            reclaimer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
