package io.penstock.tools.bench;

import io.penstock.tools.measure.Measurement;
import java.util.List;
import java.util.Locale;

/** A measured step, with its label and the unit of its rate. Its name in JSON must not change. */
enum Step {
    BUCKET_UPLOAD("sent in parts, 16 at once", Unit.MIB),
    BUCKET_RANGES_1("read by ranges, 1 at once", Unit.MIB),
    BUCKET_RANGES_16("read by ranges, 16 at once", Unit.MIB),
    BUCKET_RANGES_64("read by ranges, 64 at once", Unit.MIB),
    BUCKET_SMALL_PUT("small objects sent", Unit.FILES),
    BUCKET_SMALL_GET("small objects read, 64 at once", Unit.FILES),

    DISK_WRITE_DIRECT("written with direct I/O", Unit.MIB),
    DISK_READ_DIRECT("read with direct I/O", Unit.MIB),
    DISK_RANDOM_4K("random direct reads of 4 KiB", Unit.READS),
    DISK_LARGE_WRITE("large file written", Unit.MIB),
    DISK_LARGE_READ("large file read", Unit.MIB),
    DISK_SMALL_WRITE("small files written", Unit.FILES),
    DISK_SMALL_READ("small files read", Unit.FILES),
    DISK_STAT("stat of a small file", Unit.FILES),

    LARGE_WRITE("large file written", Unit.MIB),
    /** From the bucket. */
    LARGE_READ_COLD("large file read cold", Unit.MIB),
    /** From wherever the folder's file system has it. */
    LARGE_READ_FIRST("large file read", Unit.MIB),
    LARGE_READ_AGAIN("large file read again", Unit.MIB),
    SMALL_WRITE("small files written", Unit.FILES),
    SMALL_READ_COLD("small files read cold", Unit.FILES),
    SMALL_READ_FIRST("small files read", Unit.FILES),
    SMALL_READ_AGAIN("small files read again", Unit.FILES),
    STAT("stat of a small file", Unit.FILES);

    private final String label;
    private final Unit unit;

    /** The unit of a rate. */
    private enum Unit {
        MIB("MiB/s"),
        FILES("files/s"),
        READS("reads/s");

        private final String text;

        Unit(String text) {
            this.text = text;
        }
    }

    Step(String label, Unit unit) {
        this.label = label;
        this.unit = unit;
    }

    /** {@code large_read_cold}. */
    String jsonName() {
        return name().toLowerCase(Locale.ROOT);
    }

    String label() {
        return label;
    }

    String unit() {
        return unit.text;
    }

    /** In its unit. */
    double rate(Measurement run) {
        return unit == Unit.MIB ? run.mibPerSecond() : run.operationsPerSecond();
    }

    /** The steps to compare it with, in order of preference: the best of the first list of which any was measured. */
    List<List<Step>> ceilings() {
        return switch (this) {
            case LARGE_WRITE -> List.of(List.of(BUCKET_UPLOAD), List.of(DISK_LARGE_WRITE));
            case LARGE_READ_COLD, LARGE_READ_FIRST ->
                List.of(List.of(BUCKET_RANGES_1, BUCKET_RANGES_16, BUCKET_RANGES_64), List.of(DISK_LARGE_READ));
            case LARGE_READ_AGAIN -> List.of(List.of(DISK_LARGE_READ));
            case SMALL_WRITE -> List.of(List.of(BUCKET_SMALL_PUT), List.of(DISK_SMALL_WRITE));
            case SMALL_READ_COLD, SMALL_READ_FIRST -> List.of(List.of(BUCKET_SMALL_GET), List.of(DISK_SMALL_READ));
            case SMALL_READ_AGAIN -> List.of(List.of(DISK_SMALL_READ));
            case STAT -> List.of(List.of(DISK_STAT));
            default -> List.of();
        };
    }
}
