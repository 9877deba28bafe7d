package io.penstock.inventory;

import static java.nio.charset.StandardCharsets.UTF_8;

import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Reads a CSV file of S3 Inventory: gzip-compressed, without a header line, with URL-encoded keys. */
final class CsvRowReader implements RowReader {
    private static final int BUFFER = 64 << 10;
    private static final char REPLACEMENT = '\ufffd';

    private final Path path;

    /** The index of each column in a row. */
    private final Map<Column, Integer> places;

    private final CloseableIterator<CsvRecord> rows;
    private long number;

    private CsvRowReader(Path path, Map<Column, Integer> places, CloseableIterator<CsvRecord> rows) {
        this.path = path;
        this.places = places;
        this.rows = rows;
    }

    static CsvRowReader open(Path path, List<String> columns) throws IOException {
        Map<Column, Integer> places = new EnumMap<>(Column.class);
        for (Column column : Column.values()) {
            int place = columns.indexOf(column.inCsv);
            if (place >= 0) {
                places.put(column, place);
            }
        }
        Column.checkNeeded(places.keySet(), path);
        InputStream file = bytes(path);
        try {
            InputStream bytes = path.toString().endsWith(".gz") ? new GZIPInputStream(file, BUFFER) : file;
            // This decoder reports invalid UTF-8; a reader with a charset would replace it.
            CsvReader<CsvRecord> reader =
                    CsvReader.builder().ofCsvRecord(new InputStreamReader(bytes, UTF_8.newDecoder()));
            return new CsvRowReader(path, places, reader.iterator());
        } catch (IOException e) {
            file.close();
            throw IndexException.unreadable(path, e);
        }
    }

    private static InputStream bytes(Path path) throws IndexException {
        try {
            return Files.newInputStream(path);
        } catch (IOException e) {
            throw IndexException.unreadable(path, e);
        }
    }

    @Override
    public @Nullable InventoryRow next() throws IOException {
        number++;
        try {
            return rows.hasNext() ? row(rows.next()) : null;
        } catch (CsvParseException | UncheckedIOException | IllegalArgumentException | DateTimeException e) {
            throw IndexException.damaged(path, number, e);
        }
    }

    private InventoryRow row(CsvRecord record) {
        String size = text(record, Column.SIZE);
        String lastModified = text(record, Column.LAST_MODIFIED);
        return new InventoryRow(
                number,
                text(record, Column.BUCKET),
                decode(text(record, Column.KEY)),
                isTrueOrAbsent(text(record, Column.IS_LATEST)) && !isTrue(text(record, Column.IS_DELETE_MARKER)),
                size.isEmpty() ? null : Long.valueOf(size),
                lastModified.isEmpty() ? null : Instant.parse(lastModified),
                text(record, Column.ETAG),
                text(record, Column.STORAGE_CLASS));
    }

    /** Empty if there is no such column. */
    private String text(CsvRecord record, Column column) {
        Integer place = places.get(column);
        if (place == null) {
            return "";
        } else if (place >= record.getFieldCount()) {
            throw new IllegalArgumentException(
                    "it has " + record.getFieldCount() + " columns, and " + column.inCsv + " is column " + (place + 1));
        }
        return record.getField(place);
    }

    private static boolean isTrueOrAbsent(String text) {
        return text.isEmpty() || isTrue(text);
    }

    private static boolean isTrue(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "true" -> true;
            case "false", "" -> false;
            default -> throw new IllegalArgumentException("'" + text + "' is neither true nor false");
        };
    }

    private static String decode(String encoded) {
        String key = URLDecoder.decode(encoded, UTF_8);
        if (key.indexOf(REPLACEMENT) >= 0 && !encoded.toUpperCase(Locale.ROOT).contains("%EF%BF%BD")) {
            throw new IllegalArgumentException("the key '" + encoded + "' is not UTF-8");
        }
        return key;
    }

    @Override
    public void close() throws IOException {
        rows.close();
    }
}
