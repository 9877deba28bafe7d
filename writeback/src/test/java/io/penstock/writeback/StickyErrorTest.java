package io.penstock.writeback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;

final class StickyErrorTest {
    private final StickyError error = new StickyError();

    @Test
    void report_ofWhatWasSet_throwsItOnce() throws Exception {
        error.set(new IOException("first"));
        error.set(new IOException("second"));
        assertThatThrownBy(error::report).hasMessage("first");
        error.report();
        assertThat(error.isSet()).isFalse();
    }

    @Test
    void report_ofWhatWasSetForGood_throwsItUntilItIsCleared() throws Exception {
        error.setForGood(new IOException("last"));
        assertThatThrownBy(error::report).hasMessage("last");
        assertThatThrownBy(error::report).hasMessage("last");
        error.clear();
        error.set(new IOException("another"));
        assertThatThrownBy(error::report).hasMessage("another");
        error.report();
    }
}
