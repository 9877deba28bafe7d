package io.penstock.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.core.Errno;
import io.penstock.core.ErrnoException;
import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import org.junit.jupiter.api.Test;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;

class UpcallsTest {
    @Test
    void guarded_answer_passes() {
        assertThat(Upcalls.guarded("read", () -> 4096)).isEqualTo(4096);
    }

    @Test
    void guarded_errnoException_isItsNumberNegated() {
        assertThat(Upcalls.guarded("read", () -> {
                    throw new ErrnoException(Errno.ESTALE, "changed");
                }))
                .isEqualTo(-116);
    }

    @Test
    void guarded_anythingElse_isEio() {
        assertThat(Upcalls.guarded("read", () -> {
                    throw new IllegalStateException("on purpose");
                }))
                .isEqualTo(-5);
        assertThat(Upcalls.guarded("read", () -> {
                    throw new StackOverflowError("on purpose");
                }))
                .isEqualTo(-5);
    }

    @Test
    void offsets_ofTheOperationTable_areWhereJnrFuseHasTheSame() {
        FuseOperations table = new FuseOperations(Runtime.getSystemRuntime());

        assertThat(Upcalls.GETATTR).isEqualTo(table.getattr.offset());
        assertThat(Upcalls.READ).isEqualTo(table.read.offset());
        // jnr-fuse has the flags as padding: they are the word between their neighbours.
        assertThat(Upcalls.FLAGS).isEqualTo(table.bmap.offset() + Long.BYTES);
        assertThat(table.ioctl.offset()).isEqualTo(Upcalls.FLAGS + Long.BYTES);
    }

    @Test
    void offsets_ofTheOpenFile_areWhereJnrFuseHasTheSame() {
        FuseFileInfo file = FuseFileInfo.of(jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), 64, true));

        assertThat(Upcalls.FILE_HANDLE).isEqualTo(file.fh.offset());
        Struct.getMemory(file).putLong(Upcalls.FILE_HANDLE, 0x1234_5678_9ABC_DEF0L);
        assertThat(file.fh.longValue()).isEqualTo(0x1234_5678_9ABC_DEF0L);
    }
}
