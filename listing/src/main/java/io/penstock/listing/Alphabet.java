package io.penstock.listing;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The characters seen in keys at one depth, and characters that usually occur with them: a counter that reached 3 will
 * use the other digits, and a key with digits and a, b or f is hexadecimal. Not thread-safe.
 */
final class Alphabet {
    /** The maximum number of characters: enough for the splits between them. */
    private static final int MOST = 200;

    /** Code points 0 to 127, for speed: most characters occur many times. */
    private final boolean[] ascii = new boolean[128];

    private final TreeSet<Integer> seen = new TreeSet<>();

    /** The characters derived from {@link #seen}; out of date when {@link #changed}. */
    private int[] characters = {};

    private boolean changed;

    void add(int character) {
        if (character < ascii.length) {
            if (ascii[character]) {
                return;
            }
            ascii[character] = true;
        }
        if (valid(character) == character && seen.add(character)) {
            changed = true;
            if (seen.size() > MOST) {
                thinOut();
            }
        }
    }

    /**
     * The known characters and those that occur with them, ascending; 1 or more. The caller must not change the array.
     */
    int[] known() {
        if (changed) {
            characters = withTheirLike();
            changed = false;
        }
        return characters;
    }

    /**
     * The known characters and some after them: those of other depths, and one after all of these. Hardly any key comes
     * after the last of them.
     *
     * @param elsewhere the characters of all depths
     */
    int[] andBeyond(Alphabet elsewhere) {
        int[] known = known();
        int last = known[known.length - 1];
        IntStream others = Arrays.stream(elsewhere.known()).filter(character -> character > last);
        // A page shows some of a script's thousands of characters, and the next ones are close.
        int nearby = last < ascii.length ? 0 : 16 + 4 * known.length;
        IntStream near = IntStream.range(0, nearby).map(i -> valid(last + 1 + i * (i + 1) / 2));
        IntStream end = IntStream.of(valid(1 + Math.max(last, elsewhere.seen.last())));
        return Stream.of(Arrays.stream(known), others, near, end)
                .flatMapToInt(characters -> characters)
                .filter(character -> character <= Character.MAX_CODE_POINT)
                .sorted()
                .distinct()
                .toArray();
    }

    /** The character with this number, or the next one if there is none. */
    private static int valid(int character) {
        boolean surrogate = character >= Character.MIN_SURROGATE && character <= Character.MAX_SURROGATE;
        return surrogate ? Character.MAX_SURROGATE + 1 : character;
    }

    private int[] withTheirLike() {
        TreeSet<Integer> all = new TreeSet<>(seen);
        if (hasAny('0', '9')) {
            addAll(all, '0', '9');
            if (hasAny('a', 'f') && !hasAny('g', 'z')) {
                addAll(all, 'a', 'f');
            }
            if (hasAny('A', 'F') && !hasAny('G', 'Z')) {
                addAll(all, 'A', 'F');
            }
        }
        return all.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Drops every second character. */
    private void thinOut() {
        boolean leave = false;
        for (Iterator<Integer> all = seen.iterator(); all.hasNext(); leave = !leave) {
            all.next();
            if (!leave) {
                all.remove();
            }
        }
    }

    private boolean hasAny(int first, int last) {
        return IntStream.rangeClosed(first, last).anyMatch(character -> ascii[character]);
    }

    private static void addAll(Set<Integer> all, int first, int last) {
        IntStream.rangeClosed(first, last).forEach(all::add);
    }
}
