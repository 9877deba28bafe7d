package io.penstock.writeback.survivors;

import io.penstock.core.NativeMemory;
import io.penstock.core.NativeMemory.Share;
import io.penstock.disk.MappedFile;
import io.penstock.writeback.content.Block;
import io.penstock.writeback.content.BlockSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory that outlives the process, because its supervisor has it open too: the blocks of written files, and two places
 * for their {@linkplain SurvivorLog log}. Safe for use by any number of threads.
 *
 * <pre>
 *   0: block 0 │ block 1 │ …     LOGS: first log     LOGS + LOG: second log     LOGS + 2 LOG: which log is current
 * </pre>
 */
public final class SurvivorMemory implements BlockSource, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(SurvivorMemory.class);

    /** Offsets: there is no memory between blocks and logs. */
    static final long LOGS = 1L << 40;

    static final long LOG = 1L << 40;

    private static final VarHandle INT = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

    private final MappedFile file;

    /** Has the number of the current log: 0 or 1. */
    private final ByteBuffer current;

    /** The numbers of blocks by the address of their mappings, which last as long as this. */
    private final Map<Long, Integer> numbers = new HashMap<>();

    private final Map<Integer, ByteBuffer> mapped = new HashMap<>();

    /** The numbers handed out. */
    private final BitSet used = new BitSet();

    private SurvivorMemory(MappedFile file) throws IOException {
        this.file = file;
        this.current = file.map(LOGS + 2 * LOG, Integer.BYTES).order(ByteOrder.nativeOrder());
    }

    /** New memory. */
    public static SurvivorMemory create() throws IOException {
        return of(MappedFile.inMemory("penstock-written"));
    }

    /** The memory of the mount's former process; the descriptor is closed with this. */
    public static SurvivorMemory of(int descriptor) throws IOException {
        return of(MappedFile.of(descriptor));
    }

    private static SurvivorMemory of(MappedFile file) throws IOException {
        try {
            return new SurvivorMemory(file);
        } catch (IOException e) {
            file.close();
            throw e;
        }
    }

    /** For the supervisor. */
    public int descriptor() {
        return file.descriptor();
    }

    MappedFile file() {
        return file;
    }

    // ---- logs

    /** Where the current log begins in the file. */
    long currentLog() {
        return LOGS + LOG * (int) INT.getAcquire(current, 0);
    }

    /** Where the other log begins. */
    long otherLog() {
        return LOGS + LOG * (1 - (int) INT.getAcquire(current, 0));
    }

    /** From now on the other log is current. */
    void switchLogs() {
        INT.setRelease(current, 0, 1 - (int) INT.getAcquire(current, 0));
    }

    /** Frees the memory of the log that is not current. */
    void freeOtherLog() {
        punch(otherLog(), LOG);
    }

    private void punch(long offset, long length) {
        try {
            file.punch(offset, length);
        } catch (IOException e) {
            log.debug("Memory is not freed", e);
        }
    }

    // ---- blocks

    @Override
    public synchronized ByteBuffer allocate() {
        int number = used.nextClearBit(0);
        used.set(number);
        try {
            return map(number);
        } catch (IOException e) {
            used.clear(number);
            throw new NativeMemory.UsedUpException(Share.BLOCKS, null);
        }
    }

    private ByteBuffer map(int number) throws IOException {
        ByteBuffer known = mapped.get(number);
        if (known != null) {
            return known;
        }
        ByteBuffer memory =
                NativeMemory.counted(Share.BLOCKS, file.map((long) number * Block.BLOCK_SIZE, Block.BLOCK_SIZE));
        mapped.put(number, memory);
        numbers.put(address(memory), number);
        return memory;
    }

    /** A block of the former process. From now on it is handed out. */
    public synchronized ByteBuffer takeOver(int number) {
        used.set(number);
        try {
            return map(number);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Frees what the former process had, and nobody has taken over. */
    public synchronized void freeOthers() {
        for (int from = 0; from >= 0; ) {
            int first = used.nextClearBit(from);
            int end = used.nextSetBit(first);
            punch(
                    (long) first * Block.BLOCK_SIZE,
                    (end < 0 ? LOGS : (long) end * Block.BLOCK_SIZE) - (long) first * Block.BLOCK_SIZE);
            from = end;
        }
        freeOtherLog();
    }

    @Override
    public synchronized void free(ByteBuffer memory) {
        int number = number(memory);
        punch((long) number * Block.BLOCK_SIZE, Block.BLOCK_SIZE);
        used.clear(number);
    }

    @Override
    public synchronized int number(ByteBuffer memory) {
        Integer number = numbers.get(address(memory));
        return number == null ? UNNUMBERED : number;
    }

    private static long address(ByteBuffer memory) {
        return MemorySegment.ofBuffer(memory.slice(0, 1)).address();
    }

    /** The memory that this process has mapped stays valid. */
    @Override
    public void close() {
        file.close();
    }
}
