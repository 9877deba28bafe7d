package io.penstock.settings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class UnknownNameTest {
    @ParameterizedTest
    @CsvSource({"cache, cache, 0", "cache, cahce, 2", "cache, cach, 1", "'', abc, 3", "kitten, sitting, 3"})
    void distance_ofWords_lettersToChange(String from, String to, int distance) {
        assertThat(UnknownName.distance(from, to)).isEqualTo(distance);
        assertThat(UnknownName.distance(to, from)).isEqualTo(distance);
    }

    @Test
    void nearest_nothingNear_none() {
        assertThat(UnknownName.nearest("frobnicate", List.of("cache", "uid"))).isEmpty();
        assertThat(UnknownName.suggestion("frobnicate", List.of("cache"))).isEmpty();
    }

    @Test
    void nearest_severalNear_theNearest() {
        assertThat(UnknownName.nearest("cahce.dir", List.of("cache.size", "cache.dir")))
                .hasValue("cache.dir");
    }

    /** Each option in the table for users of other clients. */
    static Stream<String> elsewhere() throws IOException {
        String page = Files.readString(Path.of("../docs/OPERATIONS.md"));
        String table = page.substring(page.indexOf("## Coming from"), page.indexOf("## Commands"));
        return table.lines()
                .filter(row -> row.startsWith("|"))
                .map(row -> row.substring(0, row.lastIndexOf('|', row.length() - 2)))
                .flatMap(row -> Pattern.compile("`(?:--|-o )([\\w-]+)[^`]*`( of )?")
                        .matcher(row)
                        .results()
                        .filter(option -> option.group(2) == null)
                        .map(option -> option.group(1)));
    }

    @ParameterizedTest
    @MethodSource("elsewhere")
    void hint_optionOfAnotherClient_namesOurs(String option) {
        List<String> ours =
                Settings.ALL.stream().flatMap(each -> each.names().stream()).toList();
        String dashed = option.replace('_', '-');
        if (!ours.contains(dashed) && !dashed.equals("foreground")) {
            assertThat(UnknownName.hint("--" + option, "--", List.of())).isNotEmpty();
        }
    }

    /** So that no hint leads to another error. */
    @ParameterizedTest
    @MethodSource("elsewhere")
    void hint_optionOfAnotherClient_namesOneThatExists(String option) {
        Matcher hint =
                Pattern.compile("; use --([a-z0-9-]+).*").matcher(UnknownName.hint("--" + option, "--", List.of()));
        if (hint.matches()) {
            assertThat(Settings.ALL).anyMatch(each -> each.names().contains(hint.group(1)));
        }
    }
}
