package io.penstock.listing;

import io.penstock.objectstore.KeyOrder;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The known form of keys, and the split of a range that follows from it. Keys are read as numbers: each depth is a
 * digit, and its values are the characters seen there. That gives distances, measured in pages of the range: the
 * distance by which its last page advanced.
 *
 * <ul>
 *   <li>A range with keys right after it is considered full, and is split in the middle.
 *   <li>Where nothing is known about its end (how far does {@code n00000999} count?), all scales are equally likely. It
 *       is split in the middle of the logarithms, so that few empty pages find the order of magnitude. Then each depth
 *       has one more value, for characters after all those seen.
 * </ul>
 *
 * <p>A wrong guess costs a request, never a key. Not thread-safe.
 */
final class KeySpace {
    /** Depths after the one where each page counts up: the digits within a page. */
    private static final int DIGITS_OF_A_PAGE = 4;

    /** Depths of a split key after the one where it differs from the range's position. */
    private static final int PRECISION = 3;

    /** In pages: the range itself will soon reach a closer split. */
    private static final double LEAST = 1;

    /** The maximum depth. */
    private static final double LEAST_SHARE = 1e-6;

    private final int prefixLength;
    private final List<Alphabet> depths = new ArrayList<>();
    private final Alphabet all = new Alphabet();

    /** @param prefixLength length of the common prefix of all keys, in chars: no split is sought in it */
    KeySpace(int prefixLength) {
        this.prefixLength = prefixLength;
    }

    /**
     * The part of a range that has not been listed yet.
     *
     * @param from where its last page began
     * @param to where that page ended: the position
     * @param end of the range; null for none
     * @param full whether there are keys right after its end
     * @param probed keys where it may soon be split, ascending
     */
    record Rest(String from, String to, @Nullable String end, boolean full, Collection<String> probed) {}

    /**
     * A split.
     *
     * @param key between the position and the end, and equal to neither
     * @param worth estimated size of the part that it splits off: a logarithm of pages
     */
    record Split(String key, double worth) {}

    /** Samples a key. */
    void learn(String key) {
        int depth = 0;
        for (int i = prefixLength; i < key.length(); depth++) {
            int character = key.codePointAt(i);
            if (depth == depths.size()) {
                depths.add(new Alphabet());
            }
            depths.get(depth).add(character);
            all.add(character);
            i += Character.charCount(character);
        }
    }

    /** The best split other than at the keys already probed; null if none is worth it. */
    @Nullable
    Split split(Rest rest) {
        Scale scale = new Scale(rest);
        List<BigInteger> marks = new ArrayList<>();
        // Keys before this one are on the page that is being listed.
        marks.add(scale.to.add(scale.page));
        for (String key : rest.probed) {
            BigInteger mark = scale.number(codes(key));
            if (mark.compareTo(marks.getLast()) > 0 && mark.compareTo(scale.end) < 0) {
                marks.add(mark);
            }
        }
        marks.add(scale.end);
        double widest = LEAST;
        BigInteger middle = null;
        for (int i = 1; i < marks.size(); i++) {
            double width = scale.width(marks.get(i - 1), marks.get(i));
            if (width >= widest) {
                widest = width;
                middle = scale.middle(marks.get(i - 1), marks.get(i));
            }
        }
        String key = middle == null ? null : scale.key(middle);
        if (key == null
                || KeyOrder.compare(key, rest.to) <= 0
                || (rest.end != null && KeyOrder.compare(key, rest.end) >= 0)
                || rest.probed.contains(key)) {
            return null;
        }
        return new Split(key, rest.full ? log2(widest + 1) : widest);
    }

    /** The estimated position of a key among all possible ones: 0 to 1. */
    double share(String key) {
        double share = 0;
        double width = 1;
        int[] codes = codes(key);
        for (int depth = 0; depth < Math.min(codes.length, depths.size()) && width > LEAST_SHARE; depth++) {
            int[] values = depths.get(depth).known();
            int index = Arrays.binarySearch(values, codes[depth]);
            width /= values.length;
            share += width * (index >= 0 ? index : -1 - index);
            if (index < 0) {
                break;
            }
        }
        return Math.min(1, share);
    }

    private int[] codes(String key) {
        return key.length() <= prefixLength
                ? new int[0]
                : key.substring(prefixLength).codePoints().toArray();
    }

    private static double log2(double x) {
        return Math.log(x) / Math.log(2);
    }

    /** Keys as numbers, within the depths that are relevant to one range. */
    private final class Scale {
        private final String position;
        private final int[] toCodes;
        private final boolean full;

        /** The first depth where the range's keys may differ, and the one after the last that is used. */
        private final int first;

        private final int last;

        /** The values of each depth: characters, ascending. */
        private final int[][] values;

        final BigInteger to;
        final BigInteger end;

        /** The distance by which the last page advanced. */
        final BigInteger page;

        Scale(Rest rest) {
            position = rest.to;
            full = rest.full;
            int[] from = codes(rest.from);
            toCodes = codes(rest.to);
            int[] endCodes = rest.end == null ? new int[0] : codes(rest.end);
            first = common(toCodes, endCodes);
            last = Math.min(depths.size(), Math.max(first, common(from, toCodes)) + DIGITS_OF_A_PAGE);
            values = new int[Math.max(0, last - first)][];
            for (int depth = first; depth < last; depth++) {
                Alphabet alphabet = depths.get(depth);
                values[depth - first] = goesBeyond(depth) ? alphabet.andBeyond(all) : alphabet.known();
            }
            to = number(toCodes);
            end = rest.end == null ? top() : number(endCodes);
            BigInteger advance = common(from, toCodes) < first ? to : to.subtract(number(from));
            page = advance.max(BigInteger.ONE);
        }

        /** If all keys share a run of characters, they differ only after it: one request there instead of many. */
        private boolean goesBeyond(int depth) {
            return !full && !(isFixed(depth) && depth + 1 < last && isFixed(depth + 1));
        }

        private boolean isFixed(int depth) {
            return depths.get(depth).known().length == 1;
        }

        private BigInteger top() {
            BigInteger top = BigInteger.ONE;
            for (int[] characters : values) {
                top = top.multiply(BigInteger.valueOf(characters.length));
            }
            return top;
        }

        /** Monotonic in the key. A character without a value is treated as the end of the one before it. */
        BigInteger number(int[] key) {
            BigInteger number = BigInteger.ZERO;
            boolean least = false;
            boolean most = false;
            for (int i = 0; i < values.length; i++) {
                int digit = 0;
                least |= first + i >= key.length;
                if (most) {
                    digit = values[i].length - 1;
                } else if (!least) {
                    int index = Arrays.binarySearch(values[i], key[first + i]);
                    int below = index >= 0 ? index + 1 : -1 - index;
                    digit = Math.max(0, below - 1);
                    least = below == 0;
                    most = index < 0 && below > 0;
                }
                number = number.multiply(BigInteger.valueOf(values[i].length)).add(BigInteger.valueOf(digit));
            }
            return number;
        }

        /** The shortest key close enough to the number; null if it equals the position. */
        @Nullable
        String key(BigInteger number) {
            int[] digits = new int[values.length];
            BigInteger rest = number;
            for (int i = values.length - 1; i >= 0; i--) {
                BigInteger[] parts = rest.divideAndRemainder(BigInteger.valueOf(values[i].length));
                digits[i] = parts[1].intValue();
                rest = parts[0];
            }
            StringBuilder key = new StringBuilder(position.substring(0, prefixLength));
            for (int i = 0; i < first; i++) {
                key.appendCodePoint(toCodes[i]);
            }
            int departed = -1;
            int meaningful = key.length();
            for (int i = 0; i < values.length && (departed < 0 || i < departed + PRECISION); i++) {
                int character = values[i][digits[i]];
                key.appendCodePoint(character);
                if (departed < 0 && (first + i >= toCodes.length || character != toCodes[first + i])) {
                    departed = i;
                    meaningful = key.length();
                } else if (digits[i] > 0) {
                    meaningful = key.length();
                }
            }
            key.setLength(meaningful);
            return departed < 0 ? null : key.toString();
        }

        /** In pages, or powers of 2 of pages. */
        double width(BigInteger a, BigInteger b) {
            return a.compareTo(b) >= 0 ? 0 : full ? ratio(b.subtract(a)) : logarithm(b) - logarithm(a);
        }

        BigInteger middle(BigInteger a, BigInteger b) {
            if (full) {
                return a.add(b).shiftRight(1);
            }
            return to.add(power((logarithm(a) + logarithm(b)) / 2));
        }

        /** Distance in pages from the position. */
        private double logarithm(BigInteger number) {
            BigInteger distance = number.subtract(to).max(page);
            return log2OfBig(distance) - log2OfBig(page);
        }

        private BigInteger power(double logarithm) {
            double bits = logarithm + log2OfBig(page);
            int shift = Math.max(0, (int) bits - 52);
            long mantissa = (long) Math.exp((bits - shift) * Math.log(2));
            return BigInteger.valueOf(mantissa).shiftLeft(shift);
        }

        private double ratio(BigInteger distance) {
            return Math.exp((log2OfBig(distance) - log2OfBig(page)) * Math.log(2));
        }
    }

    private static int common(int[] a, int[] b) {
        int length = Math.min(a.length, b.length);
        int at = 0;
        while (at < length && a[at] == b[at]) {
            at++;
        }
        return at;
    }

    private static double log2OfBig(BigInteger x) {
        int shift = Math.max(0, x.bitLength() - 60);
        return shift + log2(x.shiftRight(shift).doubleValue());
    }
}
