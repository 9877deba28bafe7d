package io.penstock.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testing.Seeded;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ETagsTest {
    private static final String HASH = "0123456789abcdef0123456789abcdef";

    @ParameterizedTest
    @ValueSource(strings = {HASH, HASH + "-12", "x", "gateway é"})
    void toInventory_ordinary_hasNoQuotes(String inner) {
        assertThat(ETags.toInventory('"' + inner + '"')).isEqualTo(inner);
        assertThat(ETags.fromInventory(inner)).isEqualTo('"' + inner + '"');
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "W/\"x\",W/\"x\"",
                "\"\",\"\"",
                "\",\"",
                "\"\"\",\"\"\"",
                "\"a\"b\",\"a\"b\"",
                "\"a,\"a",
                "a\",a\"",
                "a,` a`",
                "` a`,`  a`",
                "`\" a\"`,`\" a\"`"
            })
    void toInventory_odd_isLiteralAndComesBack(String etag, String inInventory) {
        assertThat(ETags.toInventory(etag)).isEqualTo(inInventory);
        assertThat(ETags.fromInventory(inInventory)).isEqualTo(etag);
    }

    @Test
    void fromInventory_ofAny_isWhatItWas() {
        Seeded.check(2_000, random -> {
            StringBuilder etag = new StringBuilder();
            for (int i = random.nextInt(1, 8); i > 0; i--) {
                etag.append("\"\" aW/-".charAt(random.nextInt(7)));
            }
            String inInventory = ETags.toInventory(etag.toString());
            assertThat(inInventory).isNotEmpty();
            assertThat(ETags.fromInventory(inInventory)).isEqualTo(etag.toString());
        });
    }
}
