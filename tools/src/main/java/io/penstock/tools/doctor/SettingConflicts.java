package io.penstock.tools.doctor;

import io.penstock.objectstore.UploadedPart;
import io.penstock.settings.ByteSizes;
import io.penstock.settings.Configuration;
import io.penstock.settings.Origin;
import io.penstock.settings.Setting;
import io.penstock.settings.Settings;
import io.penstock.settings.WriteSettings;
import java.time.Duration;
import java.util.List;

/** Settings that are allowed, but defeat each other. */
final class SettingConflicts {
    private SettingConflicts() {}

    static void check(Configuration settings, Findings findings) {
        connections(settings, findings);
        names(settings, findings);
        reading(settings, findings);
        if (settings.get(Settings.READ_ONLY)) {
            unused(settings, findings);
        } else {
            writing(settings, findings);
        }
        if (findings.isEmpty()) {
            findings.ok("no settings conflict");
        }
    }

    private static void connections(Configuration settings, Findings findings) {
        int connections = settings.get(Settings.CONNECTIONS);
        int reads = settings.get(Settings.READ_CONCURRENCY);
        int writes = settings.get(Settings.READ_ONLY) ? 0 : settings.get(WriteSettings.UPLOAD_CONCURRENCY);
        if (reads > connections) {
            findings.warning(
                    "readahead.concurrency is " + reads + ", but s3.connections is " + connections,
                    "Requests wait for a connection, and demand reads queue behind readahead",
                    "Raise s3.connections to " + (reads + writes) + " or more, or remove it");
        } else if (reads + writes > connections) {
            findings.note(
                    "readahead.concurrency and upload.concurrency add up to " + (reads + writes)
                            + " requests, but s3.connections is " + connections,
                    "Reads and uploads take connections from each other when both are busy",
                    "Raise s3.connections to " + (reads + writes) + " or more, or remove it");
        }
        Duration deadline = settings.get(Settings.RETRY_DEADLINE);
        Duration silence = settings.get(Settings.READ_TIMEOUT);
        if (silence.compareTo(deadline) >= 0) {
            findings.warning(
                    "s3.read-timeout, " + settings.show(Settings.READ_TIMEOUT) + ", is not below s3.retry-deadline, "
                            + settings.show(Settings.RETRY_DEADLINE),
                    "If a connection breaks silently, its request is not retried and the read fails",
                    "Raise s3.retry-deadline to several times s3.read-timeout");
        }
    }

    private static void names(Configuration settings, Findings findings) {
        if (settings.get(Settings.METADATA_TTL).isZero()) {
            findings.warning(
                    "metadata.ttl is 0",
                    "Each lookup costs a request, and the kernel caches neither names nor sizes",
                    "Set metadata.ttl to 1s or more; an open file keeps its version in any case");
        }
        if (settings.get(Settings.PRELOAD).equals("on")
                && settings.get(Settings.REFRESH).isZero()) {
            findings.note(
                    "metadata.preload is on, but metadata.refresh is 0",
                    "The listing of the whole bucket is used for metadata.ttl only, "
                            + settings.show(Settings.METADATA_TTL),
                    "Set metadata.refresh to the age that names may reach, such as 1h");
        }
        if (settings.get(Settings.ANONYMOUS) && !settings.get(Settings.READ_ONLY)) {
            findings.note(
                    "s3.anonymous is set without read-only",
                    "Most buckets refuse writes without credentials, and programs notice only at close",
                    "Set read-only");
        }
    }

    private static void reading(Configuration settings, Findings findings) {
        long window = settings.get(Settings.MAX_WINDOW);
        long range = settings.get(Settings.RANGE_SIZE);
        if (window == 0) {
            findings.warning(
                    "readahead.max-window is 0",
                    "Sequential readers wait for each request",
                    "Remove it, or set it to 128MiB");
        } else if (range > window) {
            findings.note(
                    "readahead.range-size, " + ByteSizes.print(range) + ", is above readahead.max-window, "
                            + ByteSizes.print(window),
                    "A stream never has two requests in flight",
                    "Lower readahead.range-size to a quarter of the window or less");
        }
    }

    private static void unused(Configuration settings, Findings findings) {
        for (Setting<?> setting : List.of(WriteSettings.WRITEBACK_CACHE, WriteSettings.CLOSE, WriteSettings.STAGING)) {
            if (!(settings.origin(setting) instanceof Origin.Default)) {
                findings.note(setting + " is set together with read-only", "It has no effect", "Remove one of them");
            }
        }
    }

    private static void writing(Configuration settings, Findings findings) {
        boolean wantsPassthrough = !settings.get(Settings.PASSTHROUGH).equals("off")
                && !(settings.origin(Settings.PASSTHROUGH) instanceof Origin.Default);
        if (settings.get(WriteSettings.WRITEBACK_CACHE) && wantsPassthrough) {
            findings.warning(
                    "fuse.passthrough is set, but fuse.writeback-cache disables it",
                    "Cached files are read through Penstock, not directly by the kernel",
                    "Remove fuse.writeback-cache unless programs write a few KiB at a time");
        }
        int perFile = settings.get(WriteSettings.UPLOAD_CONCURRENCY_PER_FILE);
        int all = settings.get(WriteSettings.UPLOAD_CONCURRENCY);
        if (perFile > all) {
            findings.note(
                    "upload.concurrency-per-file, " + perFile + ", is above upload.concurrency, " + all,
                    "It has no effect, and one file can hold up all others",
                    "Raise upload.concurrency, or lower upload.concurrency-per-file");
        }
        long sent = UploadedPart.MAX_NUMBER * settings.get(WriteSettings.PART_SIZE);
        if (settings.get(WriteSettings.PARTS).equals("equal") && sent < settings.get(WriteSettings.LARGEST_OBJECT)) {
            findings.note(
                    "with upload.parts=equal, 10,000 parts of upload.part-size hold " + ByteSizes.about(sent),
                    "A new file larger than that is uploaded again when it is closed",
                    "Set upload.part-size to a ten-thousandth of your largest file");
        }
    }
}
