package io.penstock.tools.bench;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
import io.penstock.tools.measure.Measurement;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** All rows so far, in the order of measurement. Each is shown when it is measured. Confined to one thread. */
final class Results {
    private final Output output;
    private final List<Row> rows = new ArrayList<>();

    Results(Output output) {
        this.output = output;
    }

    /** The work to measure. */
    @FunctionalInterface
    interface Work<T> {
        T run() throws IOException, RefusedException, ObjectStoreException, InterruptedException;
    }

    /** Does the work, and compares its rate with earlier rows. */
    Row measure(Location location, Step step, Work<Measurement> work)
            throws RefusedException, ObjectStoreException, InterruptedException {
        return measureRate(location, step, () -> step.rate(work.run()));
    }

    /**
     * Does the work, which returns the rate in the unit of the step, and compares it with earlier rows.
     *
     * @throws RefusedException if a file system call fails; it says during which work, where and why
     */
    Row measureRate(Location location, Step step, Work<Double> work)
            throws RefusedException, ObjectStoreException, InterruptedException {
        output.begin(step);
        double rate;
        try {
            rate = work.run();
        } catch (IOException e) {
            throw new RefusedException(location.name() + ", " + step.label() + ": " + Reason.of(e));
        }
        Row ceiling = step.ceilings().stream()
                .map(this::best)
                .flatMap(Optional::stream)
                .findFirst()
                .orElse(null);
        Row row = new Row(location, step, rate, ceiling);
        rows.add(row);
        output.row(row);
        return row;
    }

    private Optional<Row> best(List<Step> steps) {
        return rows.stream().filter(row -> steps.contains(row.step())).max(Comparator.comparingDouble(Row::rate));
    }

    /** The best rate of a step; NaN if it was not measured. */
    double rate(Step step) {
        return best(List.of(step)).map(Row::rate).orElse(Double.NaN);
    }

    List<Row> rows() {
        return List.copyOf(rows);
    }
}
