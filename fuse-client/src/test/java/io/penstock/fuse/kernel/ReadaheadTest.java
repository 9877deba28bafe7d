package io.penstock.fuse.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReadaheadTest {
    private static final long FAR = 4 << 20;

    private final List<Long> set = new ArrayList<>();

    private long setting(long bytes) {
        set.add(bytes);
        return bytes == 0 ? 128 << 10 : bytes;
    }

    @Test
    void choose_asFilesAreRead_setsTheValueWhereItChanges() {
        Readahead readahead = new Readahead(this::setting, FAR);
        readahead.choose(true);
        readahead.choose(false);
        readahead.choose(false);
        readahead.choose(true);
        assertThat(set).containsExactly(FAR, Readahead.CAUTIOUS, FAR);
        assertThat(readahead).hasToString("256 or 4096 KiB");
    }

    @Test
    void choose_whereTheValueCannotBeSet_leavesIt() {
        Readahead readahead = new Readahead(
                bytes -> {
                    set.add(bytes);
                    return 128 << 10;
                },
                FAR);
        readahead.choose(false);
        assertThat(set).containsExactly(FAR);
        assertThat(readahead).hasToString("128 KiB");
    }

    @Test
    void choose_whereTheValueIsRefusedLaterOn_leavesItFromThenOn() {
        Readahead readahead = new Readahead(
                bytes -> {
                    set.add(bytes);
                    return FAR;
                },
                FAR);
        readahead.choose(false);
        readahead.choose(true);
        readahead.choose(false);
        assertThat(set).containsExactly(FAR, Readahead.CAUTIOUS);
    }

    @Test
    void choose_withoutASettingOrWithASmallOne_leavesIt() {
        for (long far : new long[] {0, Readahead.CAUTIOUS}) {
            Readahead readahead = new Readahead(this::setting, far);
            readahead.choose(false);
            readahead.choose(true);
        }
        assertThat(set).containsExactly(0L, Readahead.CAUTIOUS);
    }
}
