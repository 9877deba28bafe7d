package io.penstock.writeback.bytes;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockBuffer;
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
 * Stages blocks in the background, and gets memory for waiting writers: first staged blocks are evicted, oldest
 * first; then others are staged; and where that cannot be, because the disk is full or broken, or has been in vain for
 * a second, the file that has most of the memory is committed as it is, and goes on over that version. Where no file can
 * be, because they have lost their names or their commits have failed a moment ago, writers are refused. So no writer
 * waits for ever, unless the store does not answer. It is long because these steps follow each other: no two of them
 * run at once.
 */
public final class Reclaim implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Reclaim.class);

    /** Enough to keep an NVMe busy with writes of a block each. */
    private static final int THREADS = 4;

    /** How long to wait, where there was nothing to evict, before looking again without being told to. */
    private static final long PAUSE_MILLIS = 1000;

    /**
     * How long there must have been nothing to evict before a writer is refused: staging that is full is tried again
     * after a second.
     */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final BlockMemory memory;

    /** All files that are there now. */
    private final Supplier<? extends Stream<? extends Source>> files;

    private final LongSupplier nanoTime;

    private final ExecutorService stagers = Executors.newFixedThreadPool(
            THREADS, Thread.ofPlatform().daemon().name("penstock-stage-", 0).factory());

    /** Each once: a program may write the end of one block over and over, and its threads would wait for each other. */
    private final Set<Block> queued = ConcurrentHashMap.newKeySet();

    private final Thread reclaimer =
            Thread.ofPlatform().daemon().name("penstock-reclaim").unstarted(this::run);

    /** All memory that is handed out, oldest first. */
    @GuardedBy("this")
    private final Map<BlockBuffer, Use> uses = new LinkedHashMap<>();

    @GuardedBy("this")
    private boolean wanted;

    /** Until the next look, if writers wait. Confined to the reclaimer. */
    private long pauseMillis = PAUSE_MILLIS;

    @GuardedBy("this")
    private boolean closed;

    /** Whether there has been nothing to evict since a time, by the clock of nanoseconds. */
    @GuardedBy("this")
    private boolean fruitless;

    @GuardedBy("this")
    private long fruitlessSince;

    /** The result of an attempt to evict a block, the best first. */
    public enum Eviction {
        FREED,
        /** It was written again meanwhile, or its bytes are being read: another attempt may free it. */
        BUSY,
        /** It cannot be staged now, or its memory is not its own any more. */
        STUCK
    }

    /** A file that has memory. */
    public interface Source {
        /** Writes the block's bytes that are in memory only to the staging disk. False if that cannot be now. */
        boolean stage(Block block) throws IOException;

        /** Evicts a block from memory, after staging it if need be and allowed. */
        Eviction evict(long block, boolean afterStaging);

        /** Whether the memory, taken for this block, belongs to no block any more: it comes free by itself soon. */
        boolean isLeaving(long block, BlockBuffer memory);

        /** Commits the file to free its memory. False if no commit runs or is to begin. */
        boolean commitToFreeMemory();

        /** {@link #commitToFreeMemory}, if that frees space on the staging disk, and space is what it lacks. */
        boolean commitToFreeStaging();
    }

    /** @param block index of the block that the memory was taken for */
    private record Use(BlockBuffer buffer, Source file, long block) {}

    public Reclaim(WritebackLimits limits, Supplier<? extends Stream<? extends Source>> files) {
        this(limits, files, System::nanoTime);
    }

    Reclaim(WritebackLimits limits, Supplier<? extends Stream<? extends Source>> files, LongSupplier nanoTime) {
        this.memory = new BlockMemory(() -> limits.get().dirtyBytes(), this::wake);
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

    /** The memory, as {@link BlockMemory#acquire} gave it, is a block's from now on. */
    public BlockBuffer add(Source file, long block, ByteBuffer bytes) {
        BlockBuffer buffer = new BlockBuffer(bytes, this::freed);
        synchronized (this) {
            uses.put(buffer, new Use(buffer, file, block));
        }
        return buffer;
    }

    private void freed(BlockBuffer buffer) {
        synchronized (this) {
            uses.remove(buffer);
            fruitless = false;
        }
        memory.release(buffer.bytes());
    }

    /** Has it done by a thread that stages. */
    public Future<Boolean> staged(Callable<Boolean> work) throws IOException {
        try {
            return stagers.submit(work);
        } catch (RejectedExecutionException e) {
            throw new IOException("the mount ends: nothing is staged any more", e);
        }
    }

    /** Has the block staged soon, unless that is queued or under way: what is written meanwhile is staged when it has to be. */
    public void stage(Source file, Block block) {
        if (!queued.add(block)) {
            return;
        }
        try {
            stagers.execute(() -> {
                try {
                    boolean _ = file.stage(block);
                } catch (IOException e) {
                    log.debug("A block stays in memory", e); // the disk's state was logged when it changed
                } catch (RuntimeException | Error e) {
                    log.error("Unforeseen while a block was staged", e);
                } finally {
                    queued.remove(block);
                }
            });
        } catch (RejectedExecutionException e) {
            log.trace("The mount ends: nothing is staged any more", e);
        }
    }

    /** A writer waits for memory, or there may be more to evict than before. */
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
            log.trace("The mount ends", e);
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
                wake(); // there may be more
                return;
            }
            long fruitlessNanos = fruitlessNanos();
            if (eviction == Eviction.BUSY && fruitlessNanos < PATIENCE_NANOS / 2) {
                pauseMillis = 1;
            } else if (commitToFreeMemory()) {
                fruitful();
            } else if (fruitlessNanos >= PATIENCE_NANOS) {
                fruitful(); // the writers that are left have as much patience again
                memory.refuse();
            }
        } catch (RuntimeException | Error e) {
            log.error("Unforeseen while memory was reclaimed: again in {} ms", PAUSE_MILLIS, e);
        }
    }

    private synchronized void fruitful() {
        fruitless = false;
    }

    /** How long there has been nothing to evict. */
    private synchronized long fruitlessNanos() {
        long now = nanoTime.getAsLong();
        if (!fruitless) {
            fruitless = true;
            fruitlessSince = now;
        }
        return now - fruitlessSince;
    }

    /** False if it is closed. */
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
     * @param isOnItsWay whether a writer had memory that it had not given to a block yet
     */
    private record Taken(List<Use> uses, boolean isOnItsWay) {}

    private synchronized Taken taken() {
        return new Taken(new ArrayList<>(uses.values()), memory.usedBytes() > (long) uses.size() * Block.BLOCK_SIZE);
    }

    /** Evicts blocks until no writer waits for memory. The best that came of one. */
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

    /** Has a file committed, or finds that one is, or that memory is on its way. False if there is nothing to wait for. */
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
                || files.get().anyMatch(Source::commitToFreeStaging); // so that others can be staged
    }

    /** Ends the threads; blocks that are not staged yet stay so. */
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
