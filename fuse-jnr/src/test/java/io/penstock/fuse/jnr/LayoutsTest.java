package io.penstock.fuse.jnr;

import static org.assertj.core.api.Assertions.assertThat;

import jnr.ffi.Runtime;
import jnr.ffi.Struct;
import org.junit.jupiter.api.Test;
import ru.serce.jnrfuse.struct.FuseFileInfo;
import ru.serce.jnrfuse.struct.FuseOperations;

class LayoutsTest {
    @Test
    void offsets_ofTheOperationTable_areWhereJnrFuseHasTheSame() {
        FuseOperations table = new FuseOperations(Runtime.getSystemRuntime());

        assertThat(Upcalls.GETATTR).isEqualTo(table.getattr.offset());
        assertThat(Upcalls.READ).isEqualTo(table.read.offset());
        assertThat(Upcalls.FSYNCDIR).isEqualTo(table.fsyncdir.offset());
        // jnr-fuse declares the flags as padding: they are the word between these neighbors.
        assertThat(Upcalls.FLAGS).isEqualTo(table.bmap.offset() + Long.BYTES);
        assertThat(table.ioctl.offset()).isEqualTo(Upcalls.FLAGS + Long.BYTES);
    }

    @Test
    void offsets_ofTheOpenFile_areWhereJnrFuseHasTheSame() {
        FuseFileInfo file = FuseFileInfo.of(jnr.ffi.Memory.allocateDirect(Runtime.getSystemRuntime(), 64, true));

        assertThat(FileInfo.HANDLE).isEqualTo(file.fh.offset());
        Struct.getMemory(file).putLong(FileInfo.HANDLE, 0x1234_5678_9ABC_DEF0L);
        assertThat(file.fh.longValue()).isEqualTo(0x1234_5678_9ABC_DEF0L);
    }
}
