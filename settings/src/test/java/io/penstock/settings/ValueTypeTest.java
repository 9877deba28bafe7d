package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValueTypeTest {
    @Test
    void size_atItsBounds_accepted() {
        ValueType<Long> size = ValueType.size(1024, 2048);
        assertThat(size.parse("1KiB")).isEqualTo(1024);
        assertThat(size.parse("2KiB")).isEqualTo(2048);
        assertThat(size.parse("1023B")).isNull();
        assertThat(size.parse("2049B")).isNull();
        assertThat(size.allowed()).endsWith("from 1KiB to 2KiB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "4097", "1.5", "many", ""})
    void integer_outOfBoundsOrNone_refused(String text) {
        assertThat(ValueType.integer(1, 4096).parse(text)).isNull();
    }

    @Test
    void mode_octal_bits() {
        assertThat(ValueType.mode().parse("0644")).isEqualTo(0644);
        assertThat(ValueType.mode().parse("755")).isEqualTo(0755);
        assertThat(ValueType.mode().print(0)).isEqualTo("0000");
        assertThat(ValueType.mode().parse("0888")).isNull();
        assertThat(ValueType.mode().parse("1777")).isNull();
    }

    @Test
    void choice_wordInAnyCase_isThatWord() {
        ValueType<String> choice = ValueType.choice("off", "verified", "trusting");
        assertThat(choice.parse("Verified")).isEqualTo("verified");
        assertThat(choice.parse("on")).isNull();
        assertThat(choice.allowed()).isEqualTo("off, verified or trusting");
    }

    @Test
    void server_withSlashAtTheEnd_withoutIt() {
        assertThat(ValueType.server().parse("http://127.0.0.1:9000/")).isEqualTo(URI.create("http://127.0.0.1:9000"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"127.0.0.1:9000", "ftp://host", "http://", "http://host/bucket", "http://u:p@host", "http://a b"
            })
    void server_noBareHttpAddress_refused(String text) {
        assertThat(ValueType.server().parse(text)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-1", "1e400", "1e-400", "1000000001", "free", ""})
    void price_noneThatCanBeReckonedWith_refused(String text) {
        assertThat(ValueType.price().parse(text)).isNull();
    }

    @Test
    void price_anyOther_isTakenAsItIs() {
        assertThat(ValueType.price().parse("0.0004")).isEqualTo("0.0004");
        assertThat(ValueType.price().parse("1e3")).isEqualTo("1E+3");
    }

    @Test
    void path_relativeOrBelowHome_absolute() {
        assertThat(ValueType.path().parse("a/../b")).isEqualTo(Path.of("b").toAbsolutePath());
        assertThat(Hosts.USER.path("~/cache")).isEqualTo(Path.of("/home/ann/cache"));
        assertThat(ValueType.path().parse("")).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1:9090", "[::1]:1", "0.0.0.0:65535", "node-1.example.com:80"})
    void address_hostAndPort_printedAsItWas(String text) {
        InetSocketAddress address = Objects.requireNonNull(ValueType.address().parse(text));

        assertThat(address.isUnresolved()).isTrue();
        assertThat(ValueType.address().print(address)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"9090", ":9090", "localhost", "localhost:0", "localhost:65536", "::1:9090", "http://a:9090", ""})
    void address_noHostAndPort_refused(String text) {
        assertThat(ValueType.address().parse(text)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost:4318", "ftp://host", "http://", "http://u:p@host", "http://a b", ""})
    void url_noHttpAddress_refused(String text) {
        assertThat(ValueType.url().parse(text)).isNull();
    }
}
