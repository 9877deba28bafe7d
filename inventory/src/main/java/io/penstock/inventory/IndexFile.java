package io.penstock.inventory;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A file of rows. */
sealed interface IndexFile {
    Path path();

    /** @throws IndexException if it is damaged, or lacks a required column */
    RowReader open() throws IOException;

    /** @param columns by their names in CSV, including those that are not read */
    record Csv(Path path, List<String> columns) implements IndexFile {
        @Override
        public RowReader open() throws IOException {
            return CsvRowReader.open(path, columns);
        }
    }

    record Parquet(Path path) implements IndexFile {
        @Override
        public RowReader open() throws IOException {
            return ParquetRowReader.open(path);
        }
    }
}
