package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The transitions of a file's state. */
final class FileStateTest {
    private final FileState state = new FileState("key", Instant.EPOCH, 1);

    {
        state.created(null);
    }

    @AfterEach
    void check() {
        state.checkInvariants();
    }

    /** The part of the table in docs/CONCURRENCY.md about names: a state, and the result of each command. */
    @ParameterizedTest
    @CsvSource({
        "'',            hold,      HELD",
        "'',            resume,    NAMED",
        "'',            withdraw,  WITHDRAWN(NAMED)",
        "'',            reinstate, NAMED",
        "'',            end,       ENDED(NAMED)",
        "hold,          hold,      HELD",
        "hold,          resume,    NAMED",
        "hold,          withdraw,  WITHDRAWN(HELD)",
        "hold,          reinstate, HELD",
        "withdraw,      hold,      WITHDRAWN(HELD)",
        "withdraw,      resume,    WITHDRAWN(NAMED)",
        "withdraw,      withdraw,  WITHDRAWN(NAMED)",
        "withdraw,      reinstate, NAMED",
        "withdraw,      detach,    DETACHED",
        "hold withdraw, resume,    WITHDRAWN(NAMED)",
        "hold withdraw, reinstate, HELD",
        "hold withdraw, detach,    DETACHED",
        "detach,        hold,      DETACHED",
        "detach,        resume,    DETACHED",
        "detach,        withdraw,  DETACHED",
        "detach,        reinstate, DETACHED",
        "detach,        end,       ENDED(DETACHED)",
        "end,           hold,      ENDED(NAMED)",
        "end,           resume,    ENDED(NAMED)",
        "end,           withdraw,  ENDED(NAMED)",
        "end,           reinstate, ENDED(NAMED)",
        "end,           detach,    ENDED(NAMED)"
    })
    void name_isMovedByEachCommandAsTheTableSays(String before, String command, String after) {
        for (String each : before.isEmpty() ? new String[0] : before.split(" ")) {
            make(each);
        }

        make(command);

        assertThat(words(state.name())).isEqualTo(after);
    }

    private void make(String command) {
        switch (command) {
            case "hold" -> state.hold();
            case "resume" -> state.resume();
            case "withdraw" -> state.withdraw();
            case "reinstate" -> state.reinstate();
            case "detach" -> state.detach();
            case "end" -> state.end();
            default -> throw new IllegalArgumentException(command);
        }
    }

    private static String words(FileState.Name name) {
        return switch (name) {
            case FileState.Name.Named() -> "NAMED";
            case FileState.Name.Held() -> "HELD";
            case FileState.Name.Withdrawn(FileState.Name of) -> "WITHDRAWN(" + words(of) + ")";
            case FileState.Name.Detached() -> "DETACHED";
            case FileState.Name.Ended(FileState.Name of) -> "ENDED(" + words(of) + ")";
        };
    }

    @Test
    void want_whileHeld_isDueOnceItIsNot() {
        state.hold();
        assertThat(state.want(CommitTiming.DEFAULT.immediate())).isFalse();
        assertThat(state.takeNext()).isNull();
        state.resume();
        assertThat(state.takeNext()).isNotNull();
        assertThat(state.takeNext()).isNull();
    }

    /** Otherwise writers that wait for memory would wait for a commit that never begins. */
    @Test
    void detach_whileACommitIsWanted_wantsNone() {
        state.hold();
        assertThat(state.want(CommitTiming.DEFAULT.immediate())).isFalse();
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

    /** As at the end of a mount: a name not yet removed is found again. */
    @Test
    void withdraw_ofAChangedFile_isFoundAgainUntilItIsDetached() {
        state.withdraw();
        assertThat(state.isDirty()).isFalse();
        assertThat(state.isFoundAgain()).isTrue();
        state.detach();
        assertThat(state.isFoundAgain()).isFalse();
    }

    @Test
    void reinstate_afterDetach_changesNothing() {
        state.withdraw();
        state.detach();
        state.reinstate();
        assertThat(state.hasName()).isFalse();
    }
}
