/*
 * Holds the open files that a mount needs to survive its process, and starts another process when that one dies:
 *
 *     penstock-supervisor COMMAND [ARG...]
 *
 * Processes store files here as in systemd's file descriptor store, by sd_notify(3) and sd_listen_fds(3), so they need
 * no other code under systemd. Not in that protocol: X_PENSTOCK_MOUNT_POINT=PATH names the mount in messages, and is
 * unmounted when giving up, if X_PENSTOCK_DEVICE=MAJOR:MINOR is mounted there; PENSTOCK_RESTARTS and PENSTOCK_LAST_END
 * are for successors. The life of a process:
 *
 *     started --READY=1--> ready --dies--> its successor is started, at once or after a pause; or gives up: unmounts
 *        '-------------------'--after STOPPING=1, with nothing stored, or none ever ready--> exits with its status
 *
 * A standby is a second process of the same command that waits to be the next successor. Its descriptor PENSTOCK_STANDBY is
 * a pipe: a line with the time of the death (CLOCK_MONOTONIC, milliseconds) and PENSTOCK_LAST_END lets it continue. It has
 * the stored files, and reports X_PENSTOCK_WARM=1 when it waits. There is one while the process wants it
 * (X_PENSTOCK_STANDBY=1), and one for each X_PENSTOCK_UPGRADE=1, which replaces the process once it is warm. A descriptor
 * that comes with the latter is the standby's standard error, and says why it failed.
 *
 * X_PENSTOCK_NOTICES=1 comes with a socket (SOCK_SEQPACKET): a child of this program writes each message from there to the
 * stored penstock-device, and sends the error number, or 0. The kernel may delay such a write until a program has got a
 * reply. A thread that waits for it cannot be killed, and its process would not die.
 *
 * With PENSTOCK_MOUNT_POINT, PENSTOCK_SOURCE, PENSTOCK_MOUNT_FLAGS (of mount(2)) and PENSTOCK_USER=UID:GID, this program
 * mounts, and processes run as that user, without any rights. The first gets the device as penstock-mounted.
 *
 * This program must never wait for the mount, because only a successor could answer: it opens nothing there, and no
 * file of the mount becomes its own. It has one thread.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#ifndef STEADY_MILLIS /* tests shorten it */
#define STEADY_MILLIS 1000 /* a process that was ready this long did not die of the first requests */
#endif
#ifndef STANDBY_MILLIS
#define STANDBY_MILLIS 5000 /* from a ready process to its standby: others start, too; doubled after each that dies cold */
#endif
#ifndef UPGRADE_MILLIS
#define UPGRADE_MILLIS 60000 /* for a standby of another version to be warm */
#endif

enum {
	MOST_STORED = 8, /* a mount needs about four: its device, its tables, and written data */
	MOST_FAILED_STARTS = 8, /* in a row; the pauses between them are 6.3 s, which callers can bear */
	FIRST_PAUSE_MILLIS = 100, /* after the second death in a row, none of them steady; doubled after each further one */
	MOST_DOUBLED = 5, /* pauses of 3.2 s: callers can bear these too, if each process serves for a while */
	MOST_STANDBY_DOUBLED = 6, /* pauses of 5.3 minutes */
	QUIT_MILLIS = 2000, /* from SIGQUIT, which makes a JVM print its threads, to SIGKILL */
	WATCHDOG_SECONDS = 60, /* unless set; longer than a JVM waits for a slow disk, or for swapped memory */
	OOM_SCORE = 100, /* makes the kernel prefer the process to this program by a tenth of the memory */
	FIRST_DESCRIPTOR = 3, /* sd_listen_fds(3) */
	MOST_SENT = 253, /* descriptors in one message: the kernel's SCM_MAX_FD */
	MOST_MESSAGES = 1024, /* read in a row; more than a socket queues (net.unix.max_dgram_qlen) */
	MESSAGE_BYTES = 8192, /* a path and all the rest */
	NAME_BYTES = 256, /* as in systemd */
	NOTICE_BYTES = 8192 /* a name and a header */
};

static char **command, notify_name[16]; /* the latter with @ instead of the zero byte */
static int notify, signals, null; /* descriptors */
static struct {
	int fd;
	char name[NAME_BYTES];
} stored[MOST_STORED];
static int stored_count, restarts = -1, deaths, failed_starts; /* restarts: the first start is none; the others: in a row */
static long long watchdog_micros = WATCHDOG_SECONDS * 1000000LL; /* 0: off */
static char mount_point[PATH_MAX] = "a mount", last_end[64];
static unsigned device_major, device_minor; /* of the mount */
static bool was_ready, asked; /* was_ready: any process so far; asked: by SIGTERM or SIGINT, to end */
static pid_t process = -1; /* the current one; -1: none */
static bool stopping, silent; /* silent: gave no sign of life for the watchdog's time, and is being killed */
static long long ready_at; /* milliseconds; 0: not yet */
static long long due_at; /* when the next step is due: a restart, or SIGQUIT or SIGKILL to a silent process; 0: none */
static pid_t standby = -1; /* -1: none */
static int standby_line = -1, upgrade_reply = -1; /* descriptors; the latter: -1 unless the standby is for an upgrade */
static int cold_standbys; /* in a row that were never warm */
static bool wants_standby, upgrades; /* upgrades: the process is being killed for it */
static long long standby_at; /* when its start, or the end of an upgrade that takes too long, is due; 0: none */
static unsigned user, group; /* of processes; 0: this program's */
static const char *const mounted_name = "penstock-mounted";
static long long died_at; /* milliseconds; of the process before the current one, or when it was killed */

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t); /* cannot fail */
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Sets or removes a variable of the new process. */
static void set(const char *name, bool is_set, const char *format, ...)
{
	char text[MOST_STORED * NAME_BYTES];
	va_list values;
	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	if ((is_set ? setenv(name, text, 1) : unsetenv(name)) != 0)
		err(127, "%s", name);
}

/* In the new process: the stored descriptors become 3, 4, ..., and the next one a standby's pipe. All others close at exec. */
static void pass_descriptors(int line)
{
	char names[MOST_STORED * NAME_BYTES] = "";
	int spare[MOST_STORED], spare_line = fcntl(line, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR + MOST_STORED + 1);
	for (int i = 0; i < stored_count; i++) {
		spare[i] = fcntl(stored[i].fd, F_DUPFD_CLOEXEC, FIRST_DESCRIPTOR + MOST_STORED + 1);
		strcat(strcat(names, i > 0 ? ":" : ""), stored[i].name);
	}
	for (int i = 0; i < stored_count; i++)
		if (dup2(spare[i], FIRST_DESCRIPTOR + i) < 0)
			err(127, "cannot pass descriptors on");
	if (line >= 0 && dup2(spare_line, FIRST_DESCRIPTOR + stored_count) < 0)
		err(127, "cannot pass a pipe on");
	set("PENSTOCK_STANDBY", line >= 0, "%d", FIRST_DESCRIPTOR + stored_count);
	set("LISTEN_FDS", stored_count > 0, "%d", stored_count);
	set("LISTEN_PID", stored_count > 0, "%d", getpid());
	set("LISTEN_FDNAMES", stored_count > 0, "%s", names);
}

/* With the pipe as a standby; -1: none. */
static _Noreturn void become_command(pid_t supervisor, int line)
{
	char score[16] = "";
	int score_file = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	sigset_t none;
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL); /* fails for those that cannot be changed */
	sigemptyset(&none);
	if (read(score_file, score, sizeof score - 1) > 0) /* if not, both are equally likely to be killed */
		dprintf(score_file, "%d", atoi(score) + OOM_SCORE < 1000 ? atoi(score) + OOM_SCORE : 1000);
	if (user > 0 && (setgroups(0, NULL) != 0 || setgid(group) != 0 || setuid(user) != 0 ||
	                 prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0))
		err(127, "cannot become user %u", user);
	if (sigprocmask(SIG_SETMASK, &none, NULL) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) /* last: a new user resets it */
		err(127, "signals");
	if (getppid() != supervisor)
		_exit(128 + SIGTERM); /* it ended before that */
	if (line >= 0 && upgrade_reply >= 0)
		dup2(upgrade_reply, STDERR_FILENO);
	pass_descriptors(line);
	set("NOTIFY_SOCKET", true, "%s", notify_name);
	set("FDSTORE", true, "%d", MOST_STORED);
	set("WATCHDOG_USEC", watchdog_micros > 0, "%lld", watchdog_micros);
	set("WATCHDOG_PID", watchdog_micros > 0, "%d", getpid());
	set("PENSTOCK_RESTARTS", true, "%d", line >= 0 ? restarts + 1 : restarts); /* no other process will be between */
	set("PENSTOCK_LAST_END", line < 0, "%s", last_end);
	execvp(command[0], command);
	err(127, "%s", command[0]);
}

/* Without harm to the process. An upgrade has failed then. */
static void end_standby(const char *why)
{
	if (standby > 0) {
		kill(standby, SIGKILL); /* it has begun nothing; it is reaped when it has ended */
		close(standby_line);
		standby = -1;
	}
	if (upgrade_reply >= 0) {
		dprintf(upgrade_reply, "%s\n", why);
		close(upgrade_reply);
		upgrade_reply = -1;
	}
	standby_at = 0;
	if (wants_standby && ready_at > 0 && !stopping && !asked)
		standby_at = now() + ((long long)STANDBY_MILLIS << cold_standbys);
}

static void start_standby(void)
{
	pid_t supervisor = getpid();
	int ends[2];
	standby_at = upgrade_reply >= 0 ? now() + UPGRADE_MILLIS : 0;
	if (cold_standbys < MOST_STANDBY_DOUBLED)
		cold_standbys++;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		end_standby("no pipe for a new process");
		return;
	}
	standby = fork();
	if (standby == 0)
		become_command(supervisor, ends[0]);
	close(ends[0]);
	standby_line = ends[1];
	if (standby < 0) {
		close(standby_line);
		end_standby("no new process could be started");
	}
}

static void upgrade(int reply)
{
	if (upgrade_reply >= 0 || stopping || asked || ready_at == 0 || stored_count == 0) {
		dprintf(reply, "%s\n", upgrade_reply >= 0 ? "another upgrade is in progress" : "the mount is ending");
		close(reply);
		return;
	}
	end_standby(""); /* it may be of the former version */
	upgrade_reply = reply;
	start_standby();
}

static void standby_is_warm(void)
{
	cold_standbys = 0;
	if (upgrade_reply < 0 || stopping || silent || ready_at == 0 || process < 0)
		return;
	standby_at = 0;
	upgrades = true;
	died_at = now();
	kill(process, SIGKILL);
}

/* A child that writes what it receives to the device. It keeps no other file open, and ends with its process. */
static void start_notices(int line)
{
	pid_t supervisor = getpid(), child = fork();
	if (child == 0) {
		char notice[NOTICE_BYTES];
		int device = -1, others[] = {notify, signals, null, standby_line, upgrade_reply};
		ssize_t length;
		for (size_t i = 0; i < sizeof others / sizeof *others; i++)
			if (others[i] >= 0)
				close(others[i]);
		for (int i = 0; i < stored_count; i++)
			if (strcmp(stored[i].name, "penstock-device") == 0)
				device = stored[i].fd;
			else
				close(stored[i].fd);
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != supervisor)
			_exit(1);
		while ((length = recv(line, notice, sizeof notice, 0)) > 0) {
			int error = write(device, notice, (size_t)length) < 0 ? errno : 0;
			if (send(line, &error, sizeof error, MSG_NOSIGNAL) < 0)
				break;
		}
		_exit(0);
	}
	close(line); /* if there is no child, the process sees that */
}

static void remove_stored(const char *name)
{
	int kept = 0;
	for (int i = 0; i < stored_count; i++)
		if (strcmp(stored[i].name, name) == 0)
			close(stored[i].fd);
		else
			stored[kept++] = stored[i];
	stored_count = kept;
}

static void store(const char *name, const int *descriptors, int count)
{
	remove_stored(name);
	for (int i = 0; i < count; i++)
		if (stored_count < MOST_STORED) {
			stored[stored_count].fd = descriptors[i];
			strcpy(stored[stored_count++].name, name);
		} else {
			close(descriptors[i]);
			syslog(LOG_WARNING, "%s: no room to store %s; %d are stored", mount_point, name, stored_count);
		}
}

/* Whether no other mount is on top. Asks for nothing that only a server knows. */
static bool is_at_mount_point(void)
{
	struct statx top;
	return statx(AT_FDCWD, mount_point, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0, &top) == 0 &&
	       top.stx_dev_major == device_major && top.stx_dev_minor == device_minor;
}

/* Leaves no dead mount behind. With its last descriptor closed, nobody waits for an answer, fusermount included. */
static void unmount(void)
{
	while (stored_count > 0)
		close(stored[--stored_count].fd);
	if (*mount_point != '/' || !is_at_mount_point())
		return;
	umount2(mount_point, MNT_FORCE | UMOUNT_NOFOLLOW); /* ends all waiting, also that of notices, which keep the device open */
	if (umount2(mount_point, MNT_DETACH | UMOUNT_NOFOLLOW) == 0 || errno == EINVAL)
		return; /* EINVAL: it is no longer mounted */
	int error = errno;
	if (error != EPERM || setenv("AT", mount_point, 1) != 0 ||
	    system("fusermount3 -u -z -- \"$AT\" || fusermount -u -z -- \"$AT\"") != 0)
		syslog(LOG_ERR, "cannot unmount %s: %s", mount_point, strerror(error));
}

/* For processes that may not. */
static void mount_device(void)
{
	const char *at = getenv("PENSTOCK_MOUNT_POINT"), *source = getenv("PENSTOCK_SOURCE"), *ids = getenv("PENSTOCK_USER");
	unsigned long flags = strtoul(getenv("PENSTOCK_MOUNT_FLAGS") ? getenv("PENSTOCK_MOUNT_FLAGS") : "6", NULL, 10);
	char options[128];
	struct statx root;
	int device;
	if (!at)
		return;
	if (!source || !ids || sscanf(ids, "%u:%u", &user, &group) != 2 || user == 0 || strlen(at) >= sizeof mount_point)
		errx(2, "PENSTOCK_MOUNT_POINT needs PENSTOCK_SOURCE, and PENSTOCK_USER=UID:GID");
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u,default_permissions,allow_other", device,
	         user, group);
	if (device < 0 || mount(source, at, "fuse.penstock", flags, options) != 0)
		err(1, "cannot mount at %s", at);
	store(mounted_name, &device, 1);
	strcpy(mount_point, at);
	if (statx(AT_FDCWD, at, AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC, 0, &root) == 0) {
		device_major = root.stx_dev_major;
		device_minor = root.stx_dev_minor;
		snprintf(options, sizeof options, "/sys/class/bdi/%u:%u/read_ahead_kb", device_major, device_minor);
		if (chown(options, user, group) != 0) /* it sets the kernel's readahead */
			syslog(LOG_INFO, "%s: the kernel's readahead stays as it is", at);
	}
	unsetenv("PENSTOCK_MOUNT_POINT"); /* processes need none of these */
	unsetenv("PENSTOCK_SOURCE");
	unsetenv("PENSTOCK_MOUNT_FLAGS");
}

/* The process has ended, and all its messages have been read. */
static void ended(int status)
{
	bool is_last = stopping || stored_count == 0 || !was_ready;
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	if (upgrades)
		strcpy(last_end, "upgrade");
	else if (silent)
		snprintf(last_end, sizeof last_end, "no sign of life for %g s", (double)watchdog_micros / 1e6);
	else
		snprintf(last_end, sizeof last_end, WIFSIGNALED(status) ? "signal %d" : "exit status %d", number);
	process = -1;
	asked |= ready_at == 0 && number == (WIFSIGNALED(status) ? SIGTERM : 128 + SIGTERM); /* told to end by others */
	if (asked || is_last)
		end_standby("the mount has ended");
	if ((asked && !is_last) || (is_last && upgrades) || (is_last && user > 0))
		unmount();
	if (asked || is_last)
		exit(WIFSIGNALED(status) ? 128 + number : number);
	standby_at = 0;
	if (upgrades) { /* no death that could repeat itself */
		upgrades = false;
		due_at = now();
		return;
	}
	died_at = now();
	deaths = ready_at > 0 && now() - ready_at >= STEADY_MILLIS ? 1 : deaths + 1;
	failed_starts = ready_at > 0 ? 0 : failed_starts + 1;
	if (failed_starts >= MOST_FAILED_STARTS) {
		end_standby("the mount has ended");
		unmount();
		syslog(LOG_ERR, "%d processes of %s in a row died before they served it (%s); gave up", failed_starts,
		       mount_point, last_end);
		exit(1);
	}
	if (deaths > 1)
		due_at = now() + (FIRST_PAUSE_MILLIS << (deaths - 2 < MOST_DOUBLED ? deaths - 2 : MOST_DOUBLED));
	else
		due_at = now();
}

static void start(void)
{
	pid_t supervisor = getpid();
	stopping = silent = false;
	ready_at = due_at = 0;
	restarts++;
	if (standby > 0) { /* also one that is not warm yet: another would not be sooner */
		process = standby;
		standby = -1;
		dprintf(standby_line, "%lld %s\n", died_at, last_end);
		close(standby_line);
		if (upgrade_reply >= 0)
			close(upgrade_reply);
		upgrade_reply = -1;
	} else if ((process = fork()) == 0) {
		become_command(supervisor, -1);
	}
	if (process < 0 && restarts == 0)
		err(1, "fork");
	if (process < 0)
		due_at = now() + FIRST_PAUSE_MILLIS; /* memory or processes may be short for a moment */
	else if (restarts > 0)
		syslog(LOG_WARNING, "the process of %s died (%s); started its successor", mount_point, last_end);
}

/* A message of the process. The descriptors are this program's now. */
static void obey(char *text, const int *descriptors, int count)
{
	char name[NAME_BYTES] = "stored"; /* as in systemd */
	bool ready = false, alive = false, stores = false, removes = false, had_stopped = stopping;
	int number, reply = -1, notices = -1;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		ready |= strcmp(line, "READY=1") == 0;
		alive |= strcmp(line, "WATCHDOG=1") == 0;
		stopping |= strcmp(line, "STOPPING=1") == 0;
		stores |= strcmp(line, "FDSTORE=1") == 0;
		removes |= strcmp(line, "FDSTOREREMOVE=1") == 0;
		sscanf(line, "FDNAME=%255[^:]", name);
		if (user == 0) { /* others must not name what this program unmounts */
			sscanf(line, "X_PENSTOCK_MOUNT_POINT=%4095[^\n]", mount_point);
			sscanf(line, "X_PENSTOCK_DEVICE=%u:%u", &device_major, &device_minor);
		}
		if (sscanf(line, "X_PENSTOCK_STANDBY=%d", &number) == 1)
			wants_standby = number != 0;
		if (strcmp(line, "X_PENSTOCK_UPGRADE=1") == 0 && count > 0)
			reply = descriptors[--count];
		if (strcmp(line, "X_PENSTOCK_NOTICES=1") == 0 && count > 0)
			notices = descriptors[--count];
	}
	was_ready |= ready;
	if (ready)
		remove_stored(mounted_name); /* it keeps its own */
	if (ready && ready_at == 0) {
		ready_at = now();
		if (wants_standby)
			standby_at = now() + STANDBY_MILLIS;
	}
	if (stopping && !silent)
		due_at = 0;
	else if ((ready || alive) && ready_at > 0 && watchdog_micros > 0 && !silent && stored_count > 0)
		due_at = now() + watchdog_micros / 1000;
	if ((standby > 0 || standby_at > 0) && ((stopping && !had_stopped) || stores || removes))
		end_standby(stopping ? "the mount is ending" : "the mount has changed what it leaves to another process");
	if (removes)
		remove_stored(name);
	if (stores)
		store(name, descriptors, count);
	for (int i = 0; i < count && !stores; i++)
		close(descriptors[i]);
	if (reply >= 0)
		upgrade(reply);
	if (notices >= 0)
		start_notices(notices);
}

static void read_messages(void)
{
	static char text[MESSAGE_BYTES];
	enum { SENDER_BYTES = CMSG_SPACE(sizeof(struct ucred)) };
	_Alignas(struct cmsghdr) char control[SENDER_BYTES + CMSG_SPACE(MOST_SENT * sizeof(int))];
	struct iovec content = {text, sizeof text - 1};
	for (int i = 0; i < MOST_MESSAGES; i++) {
		struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control};
		struct cmsghdr *part;
		struct ucred sender = {.pid = 0};
		int descriptors[MOST_SENT], count = 0;
		/* First with room for the sender only: the kernel drops descriptors of strangers. Closing one here could wait
		   for the mount, if it is a file there. */
		message.msg_controllen = SENDER_BYTES;
		if (recvmsg(notify, &message, MSG_PEEK) < 0)
			return; /* EAGAIN */
		if ((part = CMSG_FIRSTHDR(&message)) && part->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(part), sizeof sender);
		message.msg_controllen = sender.pid == process ? sizeof control : SENDER_BYTES;
		ssize_t length = recvmsg(notify, &message, MSG_CMSG_CLOEXEC);
		if (length < 0 || sender.pid <= 0 || (sender.pid != process && sender.pid != standby))
			continue;
		if (sender.pid == standby) {
			text[length] = '\0';
			if (strcmp(text, "X_PENSTOCK_WARM=1") == 0)
				standby_is_warm();
			continue;
		}
		if ((part = CMSG_NXTHDR(&message, CMSG_FIRSTHDR(&message))) && part->cmsg_type == SCM_RIGHTS) {
			count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(descriptors, CMSG_DATA(part), (size_t)count * sizeof(int));
		}
		text[message.msg_flags & MSG_TRUNC ? 0 : length] = '\0';
		obey(text, descriptors, count);
	}
}

static void read_signals(void)
{
	struct signalfd_siginfo sent;
	while (read(signals, &sent, sizeof sent) == sizeof sent) {
		if (sent.ssi_signo == SIGCHLD)
			continue;
		asked |= sent.ssi_signo != SIGHUP; /* which makes a mount read its configuration again */
		if (process > 0)
			kill(process, (int)sent.ssi_signo);
	}
	if (asked && standby > 0)
		end_standby("the mount is ending");
	if (asked && process < 0) {
		unmount();
		exit(0);
	}
}

static void prepare(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof address;
	sigset_t handled;
	const char *micros = getenv("PENSTOCK_WATCHDOG_USEC");
	if (micros && sscanf(micros, "%lld", &watchdog_micros) != 1)
		errx(2, "PENSTOCK_WATCHDOG_USEC=%s: expected a number of microseconds", micros);
	syscall(SYS_close_range, FIRST_DESCRIPTOR, ~0U, 0); /* the caller's; not before Linux 5.9 */
	while ((null = open("/dev/null", O_RDWR)) >= 0 && null < FIRST_DESCRIPTOR)
		; /* no descriptor of this program becomes a standard one */
	notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (null < 0 || fcntl(null, F_SETFD, FD_CLOEXEC) != 0 || chdir("/") != 0 ||
	    setsockopt(notify, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) != 0 ||
	    bind(notify, (struct sockaddr *)&address, sizeof address.sun_family) != 0 || /* the kernel chooses a name */
	    getsockname(notify, (struct sockaddr *)&address, &length) != 0)
		err(1, "descriptors");
	length -= (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1;
	snprintf(notify_name, sizeof notify_name, "@%.*s", (int)length, address.sun_path + 1);
	signal(SIGCHLD, SIG_DFL); /* if it is ignored, no end can be seen */
	signal(SIGUSR1, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&handled);
	for (const int *number = (int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0}; *number; number++)
		sigaddset(&handled, *number);
	signals = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals < 0 || sigprocmask(SIG_BLOCK, &handled, NULL) != 0)
		err(1, "signals");
	openlog("penstock", LOG_PID, LOG_DAEMON);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: penstock-supervisor COMMAND [ARG...]");
	command = argv + 1;
	prepare();
	mount_device();
	start();
	/* Only the process has the caller's output: whoever reads it to its end does not wait for this program. */
	for (int fd = 0; fd < FIRST_DESCRIPTOR; fd++)
		dup2(null, fd);
	for (;;) {
		struct pollfd inputs[] = {{notify, POLLIN, 0}, {signals, POLLIN, 0}};
		siginfo_t end = {.si_pid = 0};
		char why[64];
		long long next = due_at == 0 || (standby_at > 0 && standby_at < due_at) ? standby_at : due_at, left = next - now();
		int status, wait = next == 0 ? -1 : left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
		poll(inputs, 2, wait); /* EINTR: everything is tried anyway */
		read_messages();
		read_signals();
		while (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid > 0) {
			read_messages(); /* the last ones: none can follow, and its id is not used again yet */
			if (end.si_pid == standby) {
				snprintf(why, sizeof why, end.si_code == CLD_EXITED ? "the new process ended (exit status %d)" :
				         "the new process ended (signal %d)", end.si_status);
				end_standby(why);
			}
			if (waitpid(end.si_pid, &status, 0) == process)
				ended(status);
			end.si_pid = 0;
		}
		if (standby_at > 0 && standby_at <= now()) {
			if (standby > 0)
				end_standby("the new process was not ready to take over in time");
			else
				start_standby();
		}
		if (due_at == 0 || due_at > now())
			continue;
		if (process < 0) {
			start();
		} else {
			kill(process, silent ? SIGKILL : SIGQUIT);
			due_at = silent ? 0 : now() + QUIT_MILLIS;
			silent = true;
		}
	}
}
