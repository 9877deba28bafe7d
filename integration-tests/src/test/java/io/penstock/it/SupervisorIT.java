package io.penstock.it;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.testing.TestTier;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The supervisor with small Python programs as the process of a mount; what they share is in supervised.py. */
@Timeout(120)
final class SupervisorIT {
    /** The name of the output must follow. */
    static final String COMPILE = "cc -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -O2 "
            + "../supervisor/penstock-supervisor.c ";

    private static final Duration LIMIT = Duration.ofSeconds(100);

    @TempDir
    private static Path programs;

    private static String python = "";
    private static String shared = "";

    @TempDir
    private Path scratch;

    @BeforeAll
    static void compile() throws IOException {
        Path here = Path.of("").toAbsolutePath();
        assumeTrue(Program.shell(here, "type -P cc").exit() == 0, "no cc: bin/penstock builds no supervisor either");
        Program.shell(
                        here,
                        COMPILE + "-o \"$1\"/plain && " + COMPILE + "-DSTEADY_MILLIS=0 -o \"$1\"/steady && " + COMPILE
                                + "-g -DSTANDBY_MILLIS=1 -DSTEADY_MILLIS=0 -DUPGRADE_MILLIS=500 -o \"$1\"/standby",
                        programs)
                .orThrow();
        // Not each compiler comes with the libraries for this.
        Program.shell(
                        here,
                        COMPILE + "-g -fsanitize=address,undefined -fno-sanitize-recover=all -o \"$1\"/checked"
                                + " || cp \"$1\"/plain \"$1\"/checked",
                        programs)
                .orThrow();
        // What PATH has may be a script that takes longer to start than a whole test.
        python = Program.shell(here, "python3 -c 'import sys; print(sys.executable)'")
                .orThrow()
                .strip();
        try (InputStream in = Objects.requireNonNull(SupervisorIT.class.getResourceAsStream("supervised.py"))) {
            shared = new String(in.readAllBytes(), UTF_8);
        }
    }

    private List<String> command(String program, String script, Object... arguments) {
        List<String> command = new ArrayList<>(List.of(programs.resolve(program).toString(), python, "-I", "-S", "-c"));
        command.addAll(List.of(shared + script, scratch.resolve("log").toString()));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        return command;
    }

    private int run(String script) {
        return run(List.of(), "checked", script);
    }

    /** @param by the beginning of the command line, which becomes the supervisor */
    private int run(List<String> by, String program, String script) {
        List<String> command = new ArrayList<>(by);
        command.addAll(command(program, script));
        return Program.run(scratch, LIMIT, command).exit();
    }

    /** What the processes have said. */
    private List<String> said() throws IOException {
        Path log = scratch.resolve("log");
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }

    private Process start(String script) throws Exception {
        return start("checked", script);
    }

    private Process start(String program, String script) throws Exception {
        Process supervisor = new ProcessBuilder(command(program, script))
                .redirectErrorStream(true)
                .redirectOutput(scratch.resolve("out").toFile())
                .start();
        Await.until("the process has started", () -> said().contains("ready"));
        return supervisor;
    }

    private static int end(Process supervisor) throws InterruptedException {
        assertThat(supervisor.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        return supervisor.exitValue();
    }

    @Test
    void restart_afterKill_passesOpenFilesOnByName() throws Exception {
        int status = run("""
            if RESTARTS == 0:
                memory = os.memfd_create('m')
                os.write(memory, b'written')
                ours, theirs = os.pipe()
                os.write(theirs, b'sent')
                store('memory', memory)
                store('pipe', ours)
                notify('READY=1')
                die()
            got = stored()
            say('%d, %s, %s' % (RESTARTS, LAST_END, sorted(got)))
            say(os.pread(got['memory'], 100, 0) + os.read(got['pipe'], 100))
            end(7)
            """);

        assertThat(said()).containsExactly("1, signal 9, ['memory', 'pipe']", "b'writtensent'");
        assertThat(status).isEqualTo(7);
    }

    @Test
    void process_ofADirtyCaller_startsClean() throws Exception {
        int status = run(
                List.of(
                        "bash",
                        "-c",
                        "trap '' HUP TERM CHLD; export LISTEN_FDS=3 WATCHDOG_PID=1; exec \"$@\" 9</dev/zero 2>&-",
                        "bash"),
                "plain",
                """
                if RESTARTS == 0:
                    store('first', 0)
                    notify('READY=1')
                    os._exit(3)
                say(LAST_END)
                files = {fd: os.path.realpath('/proc/self/fd/%d' % fd) for fd in range(50) if is_open(fd)}
                say(files)
                with open('/proc/self/status') as status:
                    masks = {line[:6]: int(line[7:], 16) for line in status if line[:6] in ('SigBlk', 'SigIgn')}
                say('blocked %x, ignored %x' % (masks['SigBlk'], masks['SigIgn'] & (1 << 0 | 1 << 14 | 1 << 16)))
                scores = [int(open('/proc/%d/oom_score_adj' % pid).read()) for pid in (os.getpid(), os.getppid())]
                say(scores[0] == min(1000, scores[1] + 100))
                say(os.getcwd() + ' ' + os.environ['FDSTORE'] + ' ' + os.environ['WATCHDOG_USEC'])
                say(os.environ['WATCHDOG_PID'] == str(os.getpid()))
                end(0)
                """);

        assertThat(said())
                .containsExactly(
                        "exit status 3",
                        "{0: '/dev/null', 1: '/dev/null', 2: '/dev/null', 3: '/dev/null'}",
                        "blocked 0, ignored 0",
                        "True",
                        "/ 8 60000000",
                        "True");
        assertThat(status).isZero();
    }

    @Test
    void store_replacedRemovedOrFull_closesFiles() throws Exception {
        int status = run("""
            def pipe_stored_as(name, before=()):
                ours, theirs = os.pipe()
                store(name, *before, theirs)
                os.close(theirs)
                return ours
            first = pipe_stored_as('same')
            second = pipe_stored_as('same')
            await_close(first)
            say('replaced')
            notify('FDSTOREREMOVE=1\\nFDNAME=same')
            await_close(second)
            say('removed')
            await_close(pipe_stored_as('nine', before=[0] * 8))
            say('eight of nine')
            await_close(pipe_stored_as('tenth'))
            say('still eight')
            ours, theirs = os.pipe()
            notify('BARRIER=1', theirs)
            os.close(theirs)
            await_close(ours)
            say('not to be stored')
            end(0)
            """);

        assertThat(said()).containsExactly("replaced", "removed", "eight of nine", "still eight", "not to be stored");
        assertThat(status).isZero();
    }

    @Test
    void messages_ofStrangers_changeNothing() throws Exception {
        int status = run("""
            if RESTARTS > 0:
                say(sorted(stored()))
                end(0)
            store('mine', 0)
            if os.fork() == 0:
                ours, theirs = os.pipe()
                notify('FDSTORE=1\\nFDNAME=foreign\\nSTOPPING=1', theirs)
                notify('FDSTOREREMOVE=1\\nFDNAME=mine')
                os.close(theirs)
                await_close(ours)
                say('closed')
                os._exit(0)
            os.wait()
            notify('READY=1')
            die()
            """);

        assertThat(said()).containsExactly("closed", "['mine']");
        assertThat(status).isZero();
    }

    @ParameterizedTest
    @CsvSource(delimiter = ':', textBlock = """
        5 : store('x', 0); os._exit(5)
        137 : store('x', 0); die()
        4 : notify('READY=1'); os._exit(4)
        6 : store('x', 0); notify('READY=1'); end(6)
        """)
    void end_notADeathWhileReady_isTheSupervisors(int expected, String script) throws Exception {
        int status = run("say('started'); " + script);

        assertThat(said()).containsExactly("started");
        assertThat(status).isEqualTo(expected);
    }

    /** In namespaces where the test's own socket is /dev/log, and a mount that its own users may unmount. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void starts_eightFailed_unmountsItsOwnMountAndGivesUp(int othersOnTop) throws Exception {
        assumeTrue(Program.shell(scratch, "unshare -rm true").exit() == 0, "users may not have namespaces here");
        Path logged = Files.writeString(scratch.resolve("logged.py"), """
            import select, socket, subprocess, sys
            log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            log.bind('/dev/log')
            supervisor = subprocess.Popen(sys.argv[1:])
            while supervisor.poll() is None or select.select([log], [], [], 0)[0]:
                if select.select([log], [], [], 0.1)[0]:
                    print(log.recv(9999).decode().split(': ', 1)[1])
            print('exit status', supervisor.returncode)
            """);
        String mounts = "mkdir dev 'mnt x' && touch dev/null && mount --bind /dev/null dev/null"
                + " && mount --rbind dev /dev && mount -t tmpfs tmpfs 'mnt x' && \"$@\""
                + " && grep -c 'mnt.040x' /proc/self/mounts";
        List<String> command = new ArrayList<>(List.of("unshare", "-rm", "bash", "-c", mounts, "bash", python));
        command.add(logged.toString());
        Path mountPoint = scratch.resolve("mnt x");
        command.addAll(command("checked", """
            if RESTARTS == 0:
                store('x', 0)
                of = os.stat(sys.argv[2]).st_dev
                device = os.major(of), os.minor(of) - int(sys.argv[3])
                notify('READY=1\\nX_PENSTOCK_MOUNT_POINT=%s\\nX_PENSTOCK_DEVICE=%d:%d' % (sys.argv[2], *device))
            say(RESTARTS)
            os._exit(3)
            """, mountPoint, othersOnTop));
        String out = Program.run(scratch, LIMIT, command).out();

        assertThat(said()).containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8");
        assertThat(out.lines())
                .startsWith("the process of " + mountPoint + " died (exit status 3); started its successor")
                .endsWith(
                        "8 processes of " + mountPoint
                                + " in a row died before they served it (exit status 3); gave up",
                        "exit status 1",
                        Integer.toString(othersOnTop));
    }

    @Test
    void watchdog_silentProcess_isReplaced() throws Exception {
        int status = run(List.of("env", "PENSTOCK_WATCHDOG_USEC=300000"), "checked", """
            if RESTARTS > 0:
                say(LAST_END)
                say(os.environ['WATCHDOG_USEC'])
                end(0)
            signal.signal(signal.SIGQUIT, lambda *_: say('asked for its threads'))
            store('x', 0)
            notify('READY=1')
            while True:
                time.sleep(1)
            """);

        assertThat(said()).containsExactly("asked for its threads", "no sign of life for 0.3 s", "300000");
        assertThat(status).isZero();
    }

    /** A process that this machine leaves without a processor for too long may be killed. */
    @Test
    void watchdog_processThatSpeaksOrStops_isSpared() throws Exception {
        int status = run(List.of("env", "PENSTOCK_WATCHDOG_USEC=500000"), "checked", """
            begin = last = time.monotonic()
            def killed(*_):
                say('killed' if time.monotonic() - last < 0.2 else 'stalled')
                end(8)
            signal.signal(signal.SIGQUIT, killed)
            store('x', 0)
            notify('READY=1')
            while last - begin < 0.8:
                time.sleep(0.01)
                notify('WATCHDOG=1')
                last = time.monotonic()
            notify('STOPPING=1')
            time.sleep(0.7)
            say('spared')
            """);

        assertThat(said()).hasSize(1).isSubsetOf("spared", "stalled");
        assertThat(status).isIn(0, 8);
    }

    @Test
    void supervisor_killed_itsProcessIsAskedToEnd() throws Exception {
        Process supervisor = start("""
            def terminated(*_):
                say('asked to end')
                os._exit(0)
            signal.signal(signal.SIGTERM, terminated)
            store('x', 0)
            notify('READY=1')
            say('ready')
            while True:
                time.sleep(1)
            """);
        supervisor.destroyForcibly();

        Await.until("the process has ended", () -> said().contains("asked to end"));
    }

    @Test
    void signals_toTheSupervisor_arePassedOn() throws Exception {
        Process supervisor = start("""
            signal.signal(signal.SIGHUP, lambda *_: say('hangup'))
            signal.signal(signal.SIGTERM, lambda *_: end(9))
            store('x', 0)
            notify('READY=1')
            say('ready')
            while True:
                time.sleep(1)
            """);
        Program.shell(scratch, "kill -USR1 $1; kill -HUP $1", supervisor.pid()).orThrow();
        Await.until("it was passed on", () -> said().contains("hangup"));
        supervisor.destroy();

        assertThat(end(supervisor)).isEqualTo(9);
        assertThat(said()).containsExactly("ready", "hangup");
    }

    @Test
    void sigterm_thatKillsTheProcess_startsNoOther() throws Exception {
        Process supervisor = start("""
            store('x', 0)
            notify('READY=1')
            say('ready')
            time.sleep(100)
            """);
        supervisor.destroy();

        assertThat(end(supervisor)).isEqualTo(143);
        assertThat(said()).containsExactly("ready");
    }

    /** At the fifth death the pause is 0.8 s. If the signal comes later than that, it is for the sixth process. */
    @Test
    void sigterm_duringAPause_startsNoOther() throws Exception {
        int status = run("""
            if RESTARTS == 5:
                time.sleep(100)
            store('x', 0)
            notify('READY=1')
            if RESTARTS == 4:
                this, supervisor = os.getpid(), os.getppid()
                if os.fork() == 0:
                    while os.path.exists('/proc/%d' % this):
                        time.sleep(0.005)
                    say('no process')
                    os.kill(supervisor, signal.SIGTERM)
                    os._exit(0)
            die()
            """);

        assertThat(said()).containsExactly("no process");
        assertThat(status).isIn(0, 143);
    }

    @Test
    void output_ofTheCaller_isTheProcesssAlone() throws Exception {
        Process supervisor = new ProcessBuilder(command("checked", """
            store('x', 0)
            notify('READY=1')
            os.write(1, b'mounted')
            os.close(1)
            os.close(2)
            while not os.path.exists(sys.argv[1]):
                time.sleep(0.01)
            end(0)
            """))
                .redirectErrorStream(true)
                .start();

        assertThat(new String(supervisor.getInputStream().readAllBytes(), UTF_8))
                .isEqualTo("mounted");
        assertThat(supervisor.isAlive()).isTrue();
        Files.createFile(scratch.resolve("log"));
        assertThat(end(supervisor)).isZero();
    }

    /** Of a standby that is warm, and of one that is not yet. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void standby_afterKill_becomesTheProcess(boolean isWarm) throws Exception {
        int status = run(List.of(), "standby", """
            if RESTARTS == 0:
                store('memory', os.memfd_create('m'))
                notify('READY=1\\nX_PENSTOCK_STANDBY=1')
                await_said('warm')
                die()
            say('%%s, %%d, %%s' %% (is_standby(), RESTARTS, sorted(stored())))
            say('warm')
            if %s:
                notify('X_PENSTOCK_WARM=1')
            millis, end_of_former = turn()
            say(end_of_former)
            say(0 <= time.monotonic() * 1000 - millis < 10000)
            say([name for name in os.environ if name.startswith('PENSTOCK_LAST')])
            notify('READY=1\\nX_PENSTOCK_STANDBY=0')
            end(7)
            """.formatted(isWarm ? "True" : "False"));

        assertThat(said()).containsExactly("True, 1, ['memory']", "warm", "signal 9", "True", "[]");
        assertThat(status).isEqualTo(7);
    }

    @Test
    void standby_thatDies_isReplacedAndDoesNotHarmTheProcess() throws Exception {
        int status = run(List.of(), "standby", """
            if is_standby():
                say('standby')
                if len(said('standby')) < 3:
                    os._exit(3) if len(said('standby')) == 1 else die()
                notify('X_PENSTOCK_WARM=1')
                say('warm')
                turn()
                say('%d, %s' % (RESTARTS, os.environ['PENSTOCK_STANDBY']))
                end(0)
            store('x', 0)
            notify('READY=1\\nX_PENSTOCK_STANDBY=1')
            await_said('warm')
            say('serves')
            die()
            """);

        assertThat(said()).containsExactly("standby", "standby", "standby", "warm", "serves", "1, 4");
        assertThat(status).isZero();
    }

    /** It dies before it is ready, after which a process is started as without a standby. */
    @Test
    void standby_thatDiesAfterItsTurn_isSucceeded() throws Exception {
        int status = run(List.of(), "standby", """
            if is_standby():
                say('warm')
                turn()
                die()
            if RESTARTS == 2:
                say(LAST_END)
                end(0)
            store('x', 0)
            notify('READY=1\\nX_PENSTOCK_STANDBY=1')
            await_said('warm')
            os._exit(5)
            """);

        assertThat(said()).containsExactly("warm", "signal 9");
        assertThat(status).isZero();
    }

    /** Neither by SIGTERM, nor when the mount ends by itself, nor when the files change. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "os.kill(os.getppid(), signal.SIGTERM)",
                "notify('STOPPING=1')",
                "notify('FDSTOREREMOVE=1\\nFDNAME=x')"
            })
    void standby_ofAMountThatEnds_isEnded(String cause) throws Exception {
        int status = run(List.of(), "standby", """
            if is_standby():
                say(os.getpid())
                turn()
                say('continues')
            signal.signal(signal.SIGTERM, lambda *_: None)
            store('x', 0)
            notify('READY=1\\nX_PENSTOCK_STANDBY=1')
            while not said(''):
                time.sleep(0.01)
            notify('X_PENSTOCK_STANDBY=0')
            %s
            while os.path.exists('/proc/%%s' %% said('')[0]):
                time.sleep(0.01)
            os._exit(6)
            """.formatted(cause));

        assertThat(said()).hasSize(1);
        assertThat(status).isEqualTo(6);
    }

    @Test
    void standby_ofAKilledSupervisor_ends() throws Exception {
        Process supervisor = start("standby", """
            if is_standby():
                notify('X_PENSTOCK_WARM=1')
                signal.signal(signal.SIGTERM, lambda *_: None)
                say('ready')
                turn()
            signal.signal(signal.SIGTERM, lambda *_: None)
            store('x', 0)
            notify('READY=1\\nX_PENSTOCK_STANDBY=1')
            time.sleep(100)
            """);
        supervisor.destroyForcibly();

        Await.until("the standby has seen the end of its pipe", () -> said().contains("not needed"));
    }

    @Test
    void notices_areWrittenByAChild() throws Exception {
        int status = run("""
            import socket
            device, theirs = os.pipe()
            store('penstock-device', theirs)
            os.close(theirs)
            notify('READY=1')
            mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            notify('X_PENSTOCK_NOTICES=1', its.fileno())
            its.close()
            mine.send(b'notice')
            say(mine.recv(99))
            say(os.read(device, 99))
            os.close(device)
            mine.send(b'refused')
            say(mine.recv(99))
            end(5)
            """);

        assertThat(said()).containsExactly("b'\\x00\\x00\\x00\\x00'", "b'notice'", "b' \\x00\\x00\\x00'"); // EPIPE
        assertThat(status).isEqualTo(5);
    }

    /** Only the successor makes room for the notice. */
    @Test
    void notices_thatWait_keepNoProcessFromDying() throws Exception {
        int status = run("""
            import fcntl, socket
            if RESTARTS == 0:
                ours, theirs = os.pipe()
                os.write(theirs, bytes(fcntl.fcntl(theirs, fcntl.F_GETPIPE_SZ)))
                store('penstock-device', theirs)
                store('kernel', ours)
                os.close(ours)
                os.close(theirs)
                notify('READY=1')
                mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                notify('X_PENSTOCK_NOTICES=1', its.fileno())
                mine.send(b'notice')
                die()
            kernel = stored()['kernel']
            notify('READY=1')
            while not (part := os.read(kernel, 1 << 20)).endswith(b'notice'):
                pass
            say(RESTARTS)
            end(6)
            """);

        assertThat(said()).containsExactly("1");
        assertThat(status).isEqualTo(6);
    }

    @Test
    void upgrade_warmProcess_replacesTheOther() throws Exception {
        int status = run(List.of(), "plain", """
            if RESTARTS == 0:
                store('x', 0)
                notify('READY=1')
                ours, theirs = os.pipe()
                notify('X_PENSTOCK_UPGRADE=1', theirs)
                time.sleep(100)
            say('standby %s' % is_standby())
            notify('X_PENSTOCK_WARM=1')
            say(turn()[1])
            notify('READY=1')
            end(4)
            """);

        assertThat(said()).containsExactly("standby True", "upgrade");
        assertThat(status).isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ':', quoteCharacter = '"', textBlock = """
        time.sleep(100) : the new process was not ready to take over in time
        os.write(2, b'why, '); os._exit(3) : why, the new process ended (exit status 3)
        die() : the new process ended (signal 9)
        """)
    void upgrade_processThatDoesNotGetWarm_changesNothing(String standby, String why) throws Exception {
        int status = run(List.of(), "standby", """
            if is_standby():
                %s
            store('x', 0)
            notify('READY=1')
            for attempt in range(2):
                ours, theirs = os.pipe()
                notify('X_PENSTOCK_UPGRADE=1', theirs)
                os.close(theirs)
                if attempt == 0:
                    second, theirs = os.pipe()
                    notify('X_PENSTOCK_UPGRADE=1', theirs)
                    os.close(theirs)
                    say(os.read(second, 999))
                said_by_both = b''
                while part := os.read(ours, 999):
                    said_by_both += part
                say(said_by_both)
            end(0)
            """.formatted(standby));

        assertThat(said())
                .containsExactly("b'another upgrade is in progress\\n'", "b'" + why + "\\n'", "b'" + why + "\\n'");
        assertThat(status).isZero();
    }

    @Test
    void restarts_many_leakNoFilesAndNoMemory() throws Exception {
        int restarts = TestTier.choose(30, 1000);
        int status = run(List.of(), "steady", """
            MANY = %d
            if RESTARTS == 0:
                store('first', os.memfd_create('f'), os.memfd_create('g'))
            store('again', os.memfd_create('a'))
            if RESTARTS in (10, MANY):
                supervisor = '/proc/%%d/' %% os.getppid()
                with open(supervisor + 'status') as status:
                    memory, = [line for line in status if line.startswith('VmRSS')]
                say(memory.split()[1])
                say(len(os.listdir(supervisor + 'fd')))
            if RESTARTS == MANY:
                end(0)
            notify('READY=1')
            die()
            """.formatted(restarts));

        assertThat(status).isZero();
        List<Integer> sizes = said().stream().map(Integer::valueOf).toList();
        assertThat(sizes).hasSize(4);
        assertThat(sizes.get(2))
                .as("KiB")
                .isLessThanOrEqualTo(sizes.get(0) + 16)
                .isLessThan(4096);
        assertThat(sizes.get(3)).as("files").isEqualTo(sizes.get(1));
    }
}
