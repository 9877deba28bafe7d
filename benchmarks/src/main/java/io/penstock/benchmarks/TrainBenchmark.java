package io.penstock.benchmarks;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;

/** Trains on a folder, and finds how many accelerators it can keep busy. One thread. */
final class TrainBenchmark {
    private final TrainTarget target;
    private final Options options;
    private final TrainTable table;

    /** Counts the epochs of this run, so that each has a different order. */
    private int epoch;

    /** Where the data comes from. */
    enum State {
        COLD,
        NVME,
        CHECKPOINTS
    }

    /**
     * How to measure.
     *
     * @param accelerators the only number to try; empty to find the greatest number that is kept busy
     * @param epochs of a run that is not cold
     * @param seconds of computing in each epoch, if there is enough data
     * @param excluded steps at the start that do not count; empty for as many as a loader reads ahead
     * @param checkpointScale how many times smaller than the real one a checkpoint is
     */
    record Options(
            Set<State> states,
            OptionalInt accelerators,
            int epochs,
            int seconds,
            OptionalInt excluded,
            int checkpointScale) {}

    TrainBenchmark(TrainTarget target, Options options, TrainTable table) {
        this.target = target;
        this.options = options;
        this.table = table;
    }

    void run(TrainWorkload workload, TrainData data) throws Exception {
        int limit = limit(workload, data);
        target.provide(data);
        if (options.states().contains(State.COLD)
                && (target.hasCold() || options.accelerators().isPresent())) {
            String name = target.hasCold() ? "cold" : "first epoch";
            measure(workload, data, limit, name, State.COLD);
        }
        if (options.states().contains(State.NVME)) {
            measure(workload, data, limit, target.hasCold() ? "from NVMe" : "later epochs", State.NVME);
        }
        if (options.states().contains(State.CHECKPOINTS)) {
            measure(
                    workload,
                    data,
                    limit,
                    target.hasCold()
                            ? "from NVMe, while checkpoints are written"
                            : "later epochs, while checkpoints are written",
                    State.CHECKPOINTS);
        }
        target.removeData(data);
    }

    private int limit(TrainWorkload workload, TrainData data) throws BenchException {
        int excluded = excluded(workload);
        int limit = TrainPlan.mostAccelerators(workload.model(), data.files(), excluded);
        int wanted = options.accelerators().orElse(1);
        if (limit < wanted) {
            int files = data.files();
            while (TrainPlan.mostAccelerators(workload.model(), files, excluded) < wanted) {
                files++;
            }
            throw new BenchException(String.format(
                    Locale.ROOT,
                    "--files %d: %d accelerator%s of %s need%s %d at least",
                    data.files(),
                    wanted,
                    wanted == 1 ? "" : "s",
                    workload.label(),
                    wanted == 1 ? "s" : "",
                    files));
        }
        return limit;
    }

    private int excluded(TrainWorkload workload) {
        return options.excluded().orElse(TrainPlan.excludedBy(workload.model()));
    }

    private void measure(TrainWorkload workload, TrainData data, int limit, String name, State state) throws Exception {
        System.err.printf("%s, %s%n", workload.label(), name);
        Map<Integer, TrainRun> runs = new HashMap<>();
        String beside = "";
        TrainSearch found;
        if (state == State.CHECKPOINTS) {
            target.warm(data);
            try (TrainCheckpoints checkpoints = new TrainCheckpoints(target.checkpoints(), options.checkpointScale())) {
                found = search(workload, data, limit, state, runs);
                beside = checkpoints.describe();
            }
        } else {
            found = search(workload, data, limit, state, runs);
        }
        TrainRun shown = Objects.requireNonNull(
                runs.get(options.accelerators().orElse(Math.max(found.most(), 1))), "was measured");
        table.add(new TrainTable.Line(workload, name, found, shown, beside));
    }

    private TrainSearch search(
            TrainWorkload workload, TrainData data, int limit, State state, Map<Integer, TrainRun> runs)
            throws Exception {
        TrainSearch.Probe probe = accelerators -> {
            TrainRun run = run(workload, data, accelerators, state);
            runs.put(accelerators, run);
            System.err.printf(
                    Locale.ROOT,
                    "  %3d accelerator%s: AU %5.1f %%, %,.0f MiB/s%n",
                    accelerators,
                    accelerators == 1 ? " " : "s",
                    run.utilisation().percent(),
                    run.mibPerSecond());
            return run.utilisation().percent() >= workload.model().requiredPercent();
        };
        if (options.accelerators().isPresent()) {
            int only = options.accelerators().getAsInt();
            return probe.keeps(only) ? new TrainSearch(only, true) : new TrainSearch(0, false);
        }
        return TrainSearch.find(limit, probe);
    }

    private TrainRun run(TrainWorkload workload, TrainData data, int accelerators, State state) throws Exception {
        if (state == State.COLD) {
            target.cold();
            return epoch(workload, data, accelerators);
        }
        TrainRun sum = null;
        for (int i = 0; i < options.epochs(); i++) {
            target.warm(data);
            TrainRun next = epoch(workload, data, accelerators);
            sum = sum == null ? next : sum.plus(next);
        }
        return Objects.requireNonNull(sum, "at least one epoch");
    }

    private TrainRun epoch(TrainWorkload workload, TrainData data, int accelerators) throws Exception {
        List<Path> files = target.files(data);
        TrainPlan plan = TrainPlan.of(workload, data.files(), accelerators, excluded(workload), options.seconds());
        return new TrainEpoch(workload, plan).run(files, epoch++, accelerators, target.client());
    }
}
