package io.penstock.metadata;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The characters that keys were seen to have at one depth, and those that go with them: who has counted to 3 will use
 * the other digits, and who writes digits and a, b or f writes hexadecimal. Not safe for use by several threads.
 */
final class Alphabet {
    /** Of more nobody needs to know: there are enough splits between these. */
    private static final int MOST = 200;

    /** Code points 0 to 127, for speed: most are seen many times. */
    private final boolean[] ascii = new boolean[128];

    private final TreeSet<Integer> seen = new TreeSet<>();

    /** What {@link #seen} comes to; out of date when {@link #changed}. */
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

    /** Those that are known or go with them, ascending: 1 or more. The caller's to read only. */
    int[] known() {
        if (changed) {
            characters = withTheirLike();
            changed = false;
        }
        return characters;
    }

    /**
     * The known ones, and some after them: what other depths have, and what is after all that. The last of them has
     * nearly nothing after it.
     *
     * @param elsewhere the characters of all depths
     */
    int[] andBeyond(Alphabet elsewhere) {
        int[] known = known();
        int last = known[known.length - 1];
        IntStream others = Arrays.stream(elsewhere.known()).filter(character -> character > last);
        // Of scripts with thousands of characters a page shows some, and the next ones are near.
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

    /** The character, or the next one if there is none of this number. */
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

    /** Leaves every other one. */
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
