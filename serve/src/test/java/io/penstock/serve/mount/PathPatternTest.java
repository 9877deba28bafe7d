package io.penstock.serve.mount;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathPatternTest {
    private static List<String> names(String path) {
        return Arrays.asList(path.split("/", -1));
    }

    @ParameterizedTest
    @CsvSource({
        "a/b, a/b, true",
        "a/b, a/b/c, false",
        "a/b, a, false",
        "a/*.jpg, a/1.jpg, true",
        "*.jpg, a/1.jpg, false",
        "**/*.jpg, 1.jpg, true",
        "**/*.jpg, a/b/1.jpg, true",
        "a/**/b, a/b, true",
        "a/**/b, a/c/d/b, true",
        "a/**/b, b, false",
        "x[1].jpg, x[1].jpg, true",
        "[, [, true",
        "[, x, false"
    })
    void matches_aPath_asTheWalkGoesThere(String pattern, String path, boolean matches) {
        assertThat(new PathPattern(names(pattern), 0).matches(names(path), false))
                .isEqualTo(matches);
    }

    @Test
    void matches_orAbove_takesWhatIsInAFolderThatItMatches() {
        assertThat(new PathPattern(names("a*"), 0).matches(names("ab/c/d"), true))
                .isTrue();
        assertThat(new PathPattern(names("a*"), 0).matches(names("b/ab"), true)).isFalse();
    }

    @Test
    void isPattern_literalNames_areNone() {
        PathPattern path = new PathPattern(names("*/**/*"), 1);
        assertThat(path.isPattern(0)).isFalse();
        assertThat(path.isAllLevels(1)).isTrue();
        assertThat(path.matches(names("x/1"), false)).isFalse();
        assertThat(path.matches(names("*/1"), false)).isTrue();
        assertThat(path.upTo(0)).isEqualTo(new PathPattern(names("*"), 1));
    }

    @Test
    void replacing_aLink_goesOnFromItsTarget() {
        PathPattern path = new PathPattern(names("a/link/*"), 0);
        assertThat(path.replacing(1, names("to/[x]"))).isEqualTo(new PathPattern(names("to/[x]/*"), 2));
        PathPattern literal = new PathPattern(names("a/link/*"), 3);
        assertThat(literal.replacing(1, names("to"))).isEqualTo(new PathPattern(names("to/*"), 2));
    }
}
