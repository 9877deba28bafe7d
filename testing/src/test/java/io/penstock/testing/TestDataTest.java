package io.penstock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

final class TestDataTest {
    @Test
    void bytes_anyRange_areThoseOfTheWhole() {
        TestData data = TestData.of("key", 1000);
        byte[] all = data.bytes();

        Seeded.check(500, random -> {
            int offset = random.nextInt(1000);
            int length = random.nextInt(1000 - offset);
            assertThat(data.bytes(offset, length)).isEqualTo(Arrays.copyOfRange(all, offset, offset + length));
        });
    }

    @Test
    void verify_oneByteWrong_namesItsOffset() {
        TestData data = TestData.of("key", 1L << 40);
        byte[] bytes = data.bytes(1L << 39, 100);
        data.verify(1L << 39, ByteBuffer.wrap(bytes));
        bytes[42]++;

        assertThatThrownBy(() -> data.verify(1L << 39, ByteBuffer.wrap(bytes)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("offset " + ((1L << 39) + 42));
    }

    @Test
    void verify_bytesOfAnotherPlaceNameOrGeneration_fails() {
        TestData data = TestData.of("key", 1000);
        ByteBuffer elsewhere = ByteBuffer.wrap(data.bytes(8, 100));
        ByteBuffer otherName = ByteBuffer.wrap(TestData.of("kez", 1000).bytes(0, 100));
        ByteBuffer otherGeneration = ByteBuffer.wrap(new TestData("key", 1000, 1).bytes(0, 100));

        for (ByteBuffer wrong : new ByteBuffer[] {elsewhere, otherName, otherGeneration}) {
            assertThatThrownBy(() -> data.verify(0, wrong)).isInstanceOf(AssertionError.class);
        }
    }
}
