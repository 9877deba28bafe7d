package io.penstock.cli;

import io.penstock.cache.PageCache;
import io.penstock.cli.config.ByteSizes;
import io.penstock.cli.config.ConfigurationException;
import io.penstock.cli.config.Host;
import io.penstock.core.ObjectVersion;
import io.penstock.objectstore.ObjectStore;
import io.penstock.objectstore.ObjectStoreException;
import io.penstock.objectstore.S3ObjectStore;
import io.penstock.prefetch.PageFetcher;
import io.penstock.writeback.KeptFile;
import io.penstock.writeback.Writeback;
import io.penstock.writeback.WrittenFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "recover",
        description = {
            "Shows and settles what was written to a bucket and could not be uploaded.",
            "",
            "A written file stays in the staging folder until it is uploaded. After a crash the next mount goes on by"
                    + " itself; what it cannot settle, such as a file whose object somebody else has changed meanwhile,"
                    + " waits for this command. The bucket must not be mounted with this cache folder meanwhile."
        },
        footer = {
            "",
            "Examples:",
            "  penstock recover my-bucket",
            "  penstock recover my-bucket --export /tmp/rescued",
            "  penstock recover my-bucket --commit checkpoints/step-1000.pt"
        })
final class RecoverCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "BUCKET[/PREFIX]", description = "What was mounted.")
    private String source;

    @Parameters(index = "1..*", paramLabel = "KEY", description = "The objects meant; all if none is named.")
    private List<String> keys = new ArrayList<>();

    @ArgGroup
    private What what = new What();

    @Mixin
    private ConfigurationArguments arguments;

    /** What to do; without any of these they are listed. */
    static final class What {
        @Option(names = "--list", description = "Show what there is; changes nothing. The default.")
        @SuppressWarnings("UnusedVariable") // What is done if no other is given.
        private boolean list;

        @Option(
                names = "--commit",
                description = "Upload it in place of what the bucket has, and what an earlier mount had not uploaded.")
        private boolean commit;

        @Option(names = "--export", paramLabel = "DIR", description = "Write it to files in this folder.")
        private @Nullable Path export;

        @Option(names = "--discard", description = "Remove it for good.")
        private boolean discard;
    }

    @Override
    public Integer call()
            throws RefusedException, ConfigurationException, ObjectStoreException, IOException, InterruptedException {
        Target target = Target.parse(source);
        MountPlan plan = MountPlan.of(
                target,
                Host.current().path("."), // Nothing is mounted.
                arguments.resolve(target.bucket(), spec.commandLine().getParseResult(), "-o"));
        try (ObjectStore store = S3ObjectStore.connect(plan.s3(), target.prefix());
                PageCache cache = PageCache.open(plan.cache());
                PageFetcher fetcher = new PageFetcher(store, cache, plan.namespace(), plan.readahead());
                Writeback writeback = MountedBucket.openWriteback(plan, store, cache, fetcher)) {
            return settle(writeback);
        } catch (IOException e) {
            throw new RefusedException(Reason.of(e));
        }
    }

    private int settle(Writeback writeback) throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        List<KeptFile> kept =
                writeback.kept().stream().filter(file -> isMeant(file.key())).toList();
        List<WrittenFile> waiting = writeback.recovered().stream()
                .filter(file -> isMeant(file.key()))
                .toList();
        if (kept.isEmpty() && waiting.isEmpty()) {
            out.println("Everything that was written is uploaded.");
            return ExitCode.DONE;
        }
        if (what.commit) {
            writeback.start(new NoListener());
        }
        boolean good = true;
        for (KeptFile file : kept) {
            good &= settle(file, out);
        }
        if (what.commit) {
            writeback.drain();
        }
        for (WrittenFile file : waiting) {
            boolean left = file.isDirty();
            good &= !what.commit || !left;
            out.println(describe(file.key(), file.size())
                    + (left ? ": waits for the next mount, or for --commit" : ": uploaded"));
        }
        out.flush();
        return good ? ExitCode.DONE : ExitCode.FAILED;
    }

    private boolean settle(KeptFile file, PrintWriter out) throws IOException, InterruptedException {
        String name = describe(file.key(), file.size());
        try {
            if (what.commit) {
                file.commit();
                out.println(name + ": uploaded");
            } else if (what.export != null) {
                out.println(name + ": written to " + file.export(Host.current().path(what.export.toString())));
            } else if (what.discard) {
                file.discard();
                out.println(name + ": removed");
            } else {
                out.println(name + ", written " + file.modified() + ": " + file.reason() + "; its bytes are in "
                        + file.where());
            }
            return true;
        } catch (ObjectStoreException | IOException e) {
            out.println(name + ": stays as it is: " + e.getMessage());
            return false;
        }
    }

    private boolean isMeant(String key) {
        return keys.isEmpty() || keys.contains(key);
    }

    private static String describe(String key, long size) {
        return "'" + key + "' (" + ByteSizes.print(size) + ")";
    }

    /** What is committed here shows at the next mount. */
    private static final class NoListener implements Writeback.Listener {
        @Override
        public void committed(WrittenFile file, ObjectVersion version) {}

        @Override
        public void givenUp(WrittenFile file) {}
    }
}
