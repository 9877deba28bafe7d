package io.penstock.benchmarks;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Shared by all scenarios of a benchmark: mounts, the disk, and a place for results. One thread. */
class Rig {
    private final BenchFolder folder;
    private final Measurements results;
    /** Figures for which the tables have no column, one a round. */
    private final Map<String, List<String>> notes = new LinkedHashMap<>();

    Rig(BenchFolder folder, Measurements results) {
        this.folder = folder;
        this.results = results;
    }

    BenchFolder folder() {
        return folder;
    }

    Scratch scratch() {
        return folder.run().scratch();
    }

    /** Mounts with an empty cache, ready to be measured. */
    MountProcess mount(String... options) throws Exception {
        return folder.mount(options);
    }

    void unmount(MountProcess mount) throws Exception {
        folder.unmount(mount);
    }

    /** Measures work on a mount. */
    void served(String name, MountProcess mount, Sample.Work work) throws Exception {
        served(name, List.of(mount), work);
    }

    /** Measures work on several mounts. */
    void served(String name, List<MountProcess> mounts, Sample.Work work) throws Exception {
        add(name, measure(mounts.stream().map(MountProcess::pid).toList(), work));
    }

    /** Measures requests that this JVM makes itself. */
    void raw(String name, Sample.Work work) throws Exception {
        add(name, measure(List.of(ProcessHandle.current().pid()), work));
    }

    /** Measures work that only the kernel serves. */
    void bare(String name, Sample.Work work) throws Exception {
        KernelCaches.sync();
        add(name, new Sample(work.run(), null));
    }

    /** Measures work that these processes serve, without adding it to the results. */
    Sample measure(List<Long> pids, Sample.Work work) throws Exception {
        KernelCaches.sync();
        return ProcessUsage.measure(pids, work);
    }

    void add(String name, Sample sample) {
        results.add(name, sample);
    }

    void note(String what, String figure) {
        notes.computeIfAbsent(what, _ -> new ArrayList<>()).add(figure);
    }

    /** A line a note. */
    String notes() {
        StringBuilder text = new StringBuilder();
        notes.forEach((what, figures) -> text.append('\n')
                .append(what)
                .append(": ")
                .append(String.join(", ", figures))
                .append(".\n"));
        return text.toString();
    }
}
