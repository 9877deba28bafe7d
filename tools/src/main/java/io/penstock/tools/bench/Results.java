package io.penstock.tools.bench;

import io.penstock.objectstore.ObjectStoreException;
import io.penstock.settings.process.Reason;
import io.penstock.settings.process.RefusedException;
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
    interface Work {
        Done run() throws IOException, RefusedException, ObjectStoreException, InterruptedException;
    }

    /**
     * Does the work, and compares it with earlier rows.
     *
     * @throws RefusedException if a file system call fails; it says during which work, where and why
     */
    Row measure(Place place, Step step, Work work) throws RefusedException, ObjectStoreException, InterruptedException {
        output.begin(step);
        Done done;
        try {
            done = work.run();
        } catch (IOException e) {
            throw new RefusedException(place.name() + ", " + step.label() + ": " + Reason.of(e));
        }
        Row ceiling = step.ceilings().stream()
                .map(this::best)
                .flatMap(Optional::stream)
                .findFirst()
                .orElse(null);
        Row row = new Row(place, step, done.perSecond(), ceiling);
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
