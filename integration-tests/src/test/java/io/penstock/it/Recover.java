package io.penstock.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code penstock recover} for files left by mounts under {@code scratch}, as a user would run it. */
record Recover(S3Server server, String source, Path scratch) {
    /** The list, which must have waiting files. */
    String waiting(String... arguments) {
        Program.Result list = run(arguments);
        assertThat(list.exit()).as(list.out()).isEqualTo(3);
        return list.out();
    }

    /** Fails if the output has a stack trace. */
    Program.Result run(String... arguments) {
        List<Object> command = new ArrayList<>(List.of(server.accessKey(), server.secretKey()));
        command.addAll(MountedBucket.penstock());
        command.addAll(List.of("recover", source));
        command.addAll(List.of(arguments));
        command.addAll(List.of("--endpoint", server.endpoint(), "--region", "us-east-1", "--path-style"));
        command.addAll(List.of("--cache", scratch.resolve("cache")));
        Program.Result result = Program.shell(
                scratch,
                "export AWS_ACCESS_KEY_ID=$1 AWS_SECRET_ACCESS_KEY=$2; shift 2; exec \"$@\"",
                command.toArray());
        assertThat(result.out()).doesNotContain("\tat ", "Exception", "internal error");
        return result;
    }
}
