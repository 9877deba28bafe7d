package io.penstock.cli.config;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** How many letters must change to turn one word into another: Levenshtein's distance. */
final class EditDistance {
    private EditDistance() {}

    /** The nearest word, if it is near enough to be meant: up to a third of its letters may differ. */
    static Optional<String> nearest(String word, List<String> known) {
        return known.stream()
                .filter(candidate -> between(word, candidate) <= Math.max(2, candidate.length() / 3))
                .min(Comparator.comparingInt(candidate -> between(word, candidate)));
    }

    /** The end of a message about an unknown word. */
    static String suggestion(String word, List<String> known) {
        return nearest(word, known)
                .map(candidate -> "; did you mean " + candidate + "?")
                .orElse("");
    }

    static int between(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int column = 0; column <= to.length(); column++) {
            row[column] = column;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int substituted = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(substituted, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
