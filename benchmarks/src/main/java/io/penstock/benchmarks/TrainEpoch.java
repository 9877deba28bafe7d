package io.penstock.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * One epoch of accelerators that train together. Each takes a batch from its own loader, computes (it sleeps), and
 * waits for the others, as DLIO's processes do after each step. Used once.
 */
final class TrainEpoch {
    private final TrainWorkload workload;
    private final TrainPlan plan;

    // Written while all accelerators wait at the barrier, which publishes the values.
    private int steps;
    private long countedFrom;
    private long end;
    private boolean hopeless;

    TrainEpoch(TrainWorkload workload, TrainPlan plan) {
        this.workload = workload;
        this.plan = plan;
    }

    /**
     * Runs the epoch. Ends early once the required utilisation is out of reach.
     *
     * @param files of the whole data set, sorted
     * @param epoch determines the reading order
     * @param client the process that serves the files, if known
     */
    TrainRun run(List<Path> files, int epoch, int accelerators, OptionalLong client) throws Exception {
        List<TrainLoader> loaders = new ArrayList<>();
        long own = ProcessHandle.current().pid();
        long ownTicks = ticks(own);
        long clientTicks = client.isPresent() ? ticks(client.getAsLong()) : 0;
        long start = System.nanoTime();
        countedFrom = start;
        try {
            for (List<Path> share : shares(files, epoch, accelerators)) {
                loaders.add(
                        workload.model().access() == TrainAccess.TFRECORD
                                ? new TrainRecordLoader(workload.model(), share)
                                : new TrainBatchLoader(workload.model(), share));
            }
            train(loaders, new CyclicBarrier(accelerators, this::stepped));
            long nanos = end - start;
            long bytes = loaders.stream().mapToLong(TrainLoader::bytes).sum();
            double readerCores = cores(ticks(own) - ownTicks, nanos);
            OptionalDouble clientCores = client.isPresent()
                    ? OptionalDouble.of(cores(ticks(client.getAsLong()) - clientTicks, nanos))
                    : OptionalDouble.empty();
            long samples =
                    (long) accelerators * steps * workload.model().loading().batch();
            return new TrainRun(accelerators, utilisation(), bytes, samples, nanos, readerCores, clientCores);
        } finally {
            loaders.forEach(TrainLoader::close);
        }
    }

    private static long ticks(long pid) throws IOException {
        return ProcessUsage.of(pid).cpuTicks();
    }

    private static double cores(long ticks, long nanos) {
        return ticks / ProcessUsage.TICKS_PER_SECOND / (nanos / 1e9);
    }

    private List<List<Path>> shares(List<Path> files, int epoch, int accelerators) {
        TrainModel model = workload.model();
        List<Path> ordered = TrainOrder.ofEpoch(files, model.loading().order(), epoch);
        List<List<Path>> shares = new ArrayList<>();
        for (int i = 0; i < accelerators; i++) {
            if (model.access() == TrainAccess.TFRECORD) {
                shares.add(TrainOrder.shard(ordered, i, accelerators));
            } else {
                List<Path> block = TrainOrder.block(ordered, i, accelerators);
                shares.add(block.subList(0, Math.min(block.size(), plan.samples(model))));
            }
        }
        return shares;
    }

    private void train(List<TrainLoader> loaders, CyclicBarrier barrier)
            throws IOException, InterruptedException, ExecutionException {
        ExecutorService executor = Executors.newFixedThreadPool(loaders.size());
        try {
            CompletionService<Void> running = new ExecutorCompletionService<>(executor);
            loaders.forEach(loader -> running.submit(accelerator(loader, barrier)));
            for (int i = 0; i < loaders.size(); i++) {
                running.take().get();
            }
        } finally {
            // If one fails, the others would wait for it.
            executor.shutdownNow();
            executor.close();
        }
    }

    @SuppressWarnings("NullAway") // A task without a result.
    private Callable<Void> accelerator(TrainLoader loader, CyclicBarrier barrier) {
        return () -> {
            while (steps < plan.steps() && !hopeless) {
                loader.take();
                TimeUnit.NANOSECONDS.sleep(workload.stepNanos());
                try {
                    barrier.await();
                } catch (BrokenBarrierException e) {
                    return null; // Another one has failed, and reports the cause.
                }
            }
            return null;
        };
    }

    /** Runs at the barrier, after each step. */
    private void stepped() {
        end = System.nanoTime();
        steps++;
        if (steps == plan.excluded()) {
            countedFrom = end;
        }
        hopeless = steps > plan.excluded()
                && TrainUtilisation.isOutOfReach(
                        plan.counted(),
                        workload.stepNanos(),
                        end - countedFrom,
                        workload.model().requiredPercent());
    }

    private TrainUtilisation utilisation() {
        return new TrainUtilisation(steps - plan.excluded(), workload.stepNanos(), end - countedFrom);
    }
}
