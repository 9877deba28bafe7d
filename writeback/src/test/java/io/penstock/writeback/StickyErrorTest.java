package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.Test;

final class StickyErrorTest {
    private final FileState state = new FileState("key", Instant.EPOCH, 1);
    private final StickyError error = new StickyError(state);

    @Test
    void report_ofWhatWasSet_throwsItOnce() throws Exception {
        error.set(new IOException("first"));
        error.set(new IOException("second"));
        assertThatThrownBy(() -> error.report(true)).hasMessage("first");
        error.report(true);
        assertThat(error.isSet()).isFalse();
    }

    @Test
    void report_ofWhatWasSetForGood_throwsItUntilItIsCleared() throws Exception {
        error.setPermanent(new IOException("last"));
        assertThatThrownBy(() -> error.report(true)).hasMessage("last");
        assertThatThrownBy(() -> error.report(true)).hasMessage("last");
        error.clear();
        error.set(new IOException("another"));
        assertThatThrownBy(() -> error.report(true)).hasMessage("another");
        error.report(true);
    }

    @Test
    void unheard_untilItIsReported_andAgainAfterAChange() throws Exception {
        state.created(null);
        error.set(new IOException("of a commit that is tried again"));
        assertThat(error.unheard()).isNull();
        error.clear();
        error.setPermanent(new IOException("last"));
        assertThatThrownBy(() -> error.report(false)).hasMessage("last");
        assertThat(error.unheard()).hasMessage("last");
        assertThatThrownBy(() -> error.report(true)).hasMessage("last");
        assertThat(error.unheard()).isNull();

        state.changed(Instant.EPOCH);
        assertThat(error.unheard()).hasMessage("last");
    }
}
