package io.penstock.writeback.survivors;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.disk.DamagedLogException;
import io.penstock.disk.MappedLog;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process of another version looks at the memory before it replaces the one that writes there. */
class SurvivorsCheckTest {
    private SurvivorMemory memory;
    private MappedLog log;

    @BeforeEach
    void create() throws Exception {
        memory = SurvivorMemory.create();
        log = MappedLog.create(memory.file(), memory.currentLog());
    }

    @AfterEach
    void close() {
        memory.close();
    }

    private void append(byte kind) throws Exception {
        log.append(ByteBuffer.allocate(1 + Long.BYTES).put(kind).putLong(7).flip());
    }

    @Test
    void check_whileAnotherWrites_leavesItsMemory() throws Exception {
        append(SurvivorLog.LAST);
        Survivors.check(memory.descriptor());
        append(SurvivorLog.ENDED);
        Survivors.check(memory.descriptor());
    }

    @Test
    void check_recordOfAnotherVersion_isRefused() throws Exception {
        append((byte) 99);
        assertThatThrownBy(() -> Survivors.check(memory.descriptor())).isInstanceOf(DamagedLogException.class);
    }
}
