package io.penstock.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PrintableTest {
    @Test
    void text_controlCharacters_areEscaped() {
        assertThat(Printable.text("a\n\u001b[31m\u009b\u2028\u202e🚀é"))
                .isEqualTo("a\\u000a\\u001b[31m\\u009b\\u2028\\u202e🚀é");
    }

    @Test
    void text_ordinary_isTheSame() {
        String text = "data/größe 🚀.bin";
        assertThat(Printable.text(text)).isSameAs(text);
    }
}
