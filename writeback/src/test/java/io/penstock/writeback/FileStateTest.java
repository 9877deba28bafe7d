package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The transitions of a file's state that no caller waits for. */
final class FileStateTest {
    private final FileState state = new FileState("key", Instant.EPOCH);

    {
        state.created(null);
    }

    @AfterEach
    void check() {
        state.checkInvariants();
    }

    @Test
    void want_whileHeld_isDueOnceItIsNot() {
        state.hold();
        assertThat(state.want(Pacing.DEFAULT.atOnce())).isFalse();
        assertThat(state.takeNext()).isNull();
        state.resume();
        assertThat(state.takeNext()).isNotNull();
        assertThat(state.takeNext()).isNull();
    }

    /** Else writers that wait for memory would wait for a commit that never begins. */
    @Test
    void detach_whileACommitIsWanted_wantsNone() {
        state.hold();
        assertThat(state.want(Pacing.DEFAULT.atOnce())).isFalse();
        assertThat(state.isCommitUnderWay()).isTrue();
        state.withdraw();
        state.detach();
        assertThat(state.isCommitUnderWay()).isFalse();
        assertThat(state.isDirty()).isFalse();
    }

    @Test
    void resume_whileWithdrawn_isHeldNoMoreOnceReinstated() {
        state.hold();
        state.withdraw();
        assertThat(state.isHeld()).isTrue();
        state.resume();
        state.reinstate();
        assertThat(state.isHeld()).isFalse();
        assertThat(state.hasName()).isTrue();
        assertThat(state.isUndecided()).isFalse();
    }

    @Test
    void reinstate_afterDetach_changesNothing() {
        state.withdraw();
        state.detach();
        state.reinstate();
        assertThat(state.hasName()).isFalse();
    }
}
