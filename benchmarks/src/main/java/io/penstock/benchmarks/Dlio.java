package io.penstock.benchmarks;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * MLPerf's {@code dlio_benchmark}, 2.0.0: writes a data set, and loads it for accelerators that sleep instead of
 * computing. Each accelerator is an MPI process.
 */
final class Dlio {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Longer than any useful run. */
    private static final Duration LIMIT = Duration.ofHours(12);

    private final Path program;
    private final Path output;
    private final Path tools;

    /**
     * @param output a folder for its reports
     * @param tools an empty folder, searched first for the programs that DLIO calls. It has its own {@code tfrecord2idx},
     *     which does nothing: the indexes are for loaders by DALI alone, with which that program comes
     */
    Dlio(Path program, Path output, Path tools) throws IOException {
        this.program = program;
        this.output = output;
        this.tools = tools;
        Files.createSymbolicLink(tools.resolve("tfrecord2idx"), Path.of("/bin/true"));
    }

    /**
     * A run over one epoch.
     *
     * @param percent accelerator utilisation (AU)
     * @param enough whether MLPerf counts accelerators that are this busy
     * @param samplesPerSecond of all accelerators
     */
    record Result(double percent, boolean enough, double samplesPerSecond) {
        /** @param summary DLIO's summary.json */
        static Result parse(String summary) throws IOException {
            JsonNode metric = JSON.readTree(summary).path("metric");
            JsonNode percent = metric.path("train_au_mean_percentage");
            if (!percent.isNumber()) {
                throw new IOException("dlio_benchmark reported no utilisation: " + summary.strip());
            }
            return new Result(
                    percent.asDouble(),
                    metric.path("train_au_meet_expectation").asText().equals("success"),
                    metric.path("train_throughput_mean_samples_per_second").asDouble());
        }
    }

    /** The number of files of the model's data set in a folder for data sets. */
    static int files(Path data, TrainWorkload.Model model) throws IOException {
        Path folder = data.resolve(model.label()).resolve("train");
        if (!Files.isDirectory(folder)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(folder)) {
            return (int) all.filter(file -> file.toString().endsWith("." + model.format()))
                    .count();
        }
    }

    /** Reads all files of the model's data set. */
    static void readAll(Path data, TrainWorkload.Model model) throws IOException, InterruptedException {
        String folder = data.resolve(model.label()).toString();
        Programs.run(List.of("bash", "-c", "find \"$1\" -type f -exec cat {} + >/dev/null", "bash", folder), LIMIT);
    }

    /** Writes a data set of this many files. */
    void generate(TrainWorkload workload, Path data, int files) throws IOException, InterruptedException {
        System.err.printf("writing %,d files of %s%n", files, workload.model().label());
        Programs.run(
                command(workload, data, files, 1, List.of("workflow.generate_data=True", "workflow.train=False")),
                LIMIT);
    }

    /** Loads the data set for one epoch of this many steps. */
    Result train(TrainWorkload workload, Path data, int files, int accelerators, int steps)
            throws IOException, InterruptedException {
        Path summary = output.resolve("summary.json");
        Files.deleteIfExists(summary); // that of the last run
        Programs.run(
                command(
                        workload,
                        data,
                        files,
                        accelerators,
                        List.of("workflow.train=True", "train.epochs=1", "train.total_training_steps=" + steps)),
                LIMIT);
        return Result.parse(Files.readString(summary));
    }

    private List<String> command(TrainWorkload workload, Path data, int files, int accelerators, List<String> values) {
        List<String> command = new ArrayList<>(List.of("env", "PATH=" + tools + ":" + System.getenv("PATH")));
        if (accelerators > 1) {
            command.addAll(List.of(program.resolveSibling("mpiexec").toString(), "-n", Integer.toString(accelerators)));
        }
        command.add(program.toString());
        command.addAll(workload.configuration());
        List<String> all = new ArrayList<>(values);
        all.addAll(List.of(
                "workflow.checkpoint=False",
                "checkpoint.checkpoint_folder=" + output, // made in any case
                "dataset.data_folder=" + data.resolve(workload.model().label()),
                "dataset.num_files_train=" + files,
                "output.folder=" + output));
        all.forEach(value -> command.add("++workload." + value));
        command.add("hydra.run.dir=" + output);
        return command;
    }
}
