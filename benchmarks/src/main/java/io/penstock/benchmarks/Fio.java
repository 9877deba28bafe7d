package io.penstock.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs fio: one reading thread per job, with combined figures. Only reads, whatever the shape. */
final class Fio {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Path reports;

    /** @param reports a folder for its reports */
    Fio(Path reports) {
        this.reports = reports;
    }

    /** The calls used for reading. */
    enum Calls {
        /** pread(2), one after another. */
        READ,
        /** Loads from a map of the file. */
        MAPPED,
        /** io_submit(2) with O_DIRECT, 16 at a time. */
        QUEUED;

        List<String> options() {
            return switch (this) {
                case READ -> List.of("--ioengine=psync");
                case MAPPED -> List.of("--ioengine=mmap");
                case QUEUED -> List.of("--ioengine=libaio", "--direct=1", "--iodepth=16");
            };
        }
    }

    /**
     * How to read.
     *
     * @param random in random order, no block twice, instead of sequentially
     * @param blockSize bytes per read call
     * @param kernelPages whether the kernel's cached pages of a file may be used; otherwise they are dropped first
     * @param seconds time limit; 0 to read everything once
     * @param bytesPerSecond limit for each job; 0 for none
     */
    record Shape(boolean random, int blockSize, boolean kernelPages, int seconds, Calls calls, long bytesPerSecond) {
        static Shape sequential(int blockSize) {
            return new Shape(false, blockSize, false, 0, Calls.READ, 0);
        }

        static Shape random(int blockSize, int seconds) {
            return new Shape(true, blockSize, false, seconds, Calls.READ, 0);
        }

        Shape withKernelPages() {
            return new Shape(random, blockSize, true, seconds, calls, bytesPerSecond);
        }

        Shape by(Calls others) {
            return new Shape(random, blockSize, kernelPages, seconds, others, bytesPerSecond);
        }

        Shape paced(long most) {
            return new Shape(random, blockSize, kernelPages, seconds, calls, most);
        }

        List<String> options() {
            List<String> options = new ArrayList<>(calls.options());
            options.addAll(List.of(
                    "--thread",
                    "--readonly",
                    "--group_reporting",
                    "--rw=" + (random ? "randread" : "read"),
                    "--bs=" + blockSize,
                    "--invalidate=" + (kernelPages ? 0 : 1)));
            if (seconds > 0) {
                options.add("--runtime=" + seconds);
            }
            if (bytesPerSecond > 0) {
                options.add("--rate=" + bytesPerSecond);
            }
            return options;
        }
    }

    /** What one thread reads: part of one file. */
    record Job(Path file, long offset, long size) {
        List<String> options(int number) {
            // fio separates file names by colons.
            return List.of(
                    "--name=job" + number,
                    "--filename=" + file.toString().replace(":", "\\:"),
                    "--offset=" + offset,
                    "--size=" + size);
        }
    }

    /** Runs all jobs at the same time. */
    Measurement run(Shape shape, List<Job> jobs) throws IOException, InterruptedException {
        Path report = reports.resolve("fio.json");
        Programs.run(command(shape, jobs, report));
        return parse(Files.readString(report));
    }

    static List<String> command(Shape shape, List<Job> jobs, Path report) {
        List<String> command =
                new ArrayList<>(List.of("fio", "--output-format=json", "--output=" + report, "--eta=never"));
        command.addAll(shape.options());
        for (int i = 0; i < jobs.size(); i++) {
            command.addAll(jobs.get(i).options(i));
        }
        return command;
    }

    /**
     * Parses the JSON report of a run that reported all jobs as one group.
     *
     * @throws IOException if it is not such a report, or if the run failed or read nothing
     */
    static Measurement parse(String text) throws IOException {
        // fio writes warnings to the same file, before the report.
        int start = text.indexOf('{');
        if (start < 0) {
            throw new IOException("fio wrote no report: " + text.strip());
        }
        JsonNode jobs = JSON.readTree(text.substring(start)).path("jobs");
        if (jobs.size() != 1) {
            throw new IOException("fio reported " + jobs.size() + " groups of jobs instead of one");
        }
        JsonNode job = jobs.get(0);
        if (job.path("error").asInt() != 0) {
            throw new IOException("fio failed with error " + job.path("error") + ": " + text.substring(0, start));
        }
        JsonNode read = job.path("read");
        long millis = read.path("runtime").asLong();
        if (millis == 0 || read.path("io_bytes").asLong() == 0) {
            throw new IOException("fio read nothing");
        }
        JsonNode percentiles = read.path("clat_ns").path("percentile");
        return new Measurement(
                read.path("io_bytes").asLong(),
                read.path("total_ios").asLong(),
                TimeUnit.MILLISECONDS.toNanos(millis),
                percentiles.path("50.000000").asLong(),
                percentiles.path("99.000000").asLong());
    }
}
