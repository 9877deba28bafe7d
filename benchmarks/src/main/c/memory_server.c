/*
 * What a FUSE binding is measured against: one file "f" answered from memory, and as many empty files as there are
 * numbers, by libfuse 3's low-level interface with ten threads, each with a queue of its own. bin/bench bridge and
 * bin/bench tree compile it:
 *     cc -O2 memory_server.c -o memory_server $(pkg-config --cflags --libs fuse3)
 *     ./memory_server MOUNTPOINT BYTES
 */
#define FUSE_USE_VERSION 314
#include <errno.h>
#include <fuse_lowlevel.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_NODE = 2, FIRST_NUMBERED = 1 << 16, PERIOD = 1 << 20, LARGEST_REQUEST = 1 << 20 };

static const double believed = 60; /* seconds, as metadata.ttl */
static off_t file_size;
static char content[PERIOD + LARGEST_REQUEST]; /* any request that starts in the first part ends in it */

static struct stat attributes(fuse_ino_t node)
{
	struct stat st = {.st_ino = node};

	if (node == FUSE_ROOT_ID) {
		st.st_mode = S_IFDIR | 0755;
		st.st_nlink = 1;
	} else {
		st.st_mode = S_IFREG | 0644;
		st.st_nlink = 1;
		st.st_size = node == FILE_NODE ? file_size : 0;
	}
	return st;
}

static void init(void *unused, struct fuse_conn_info *connection)
{
	(void)unused;
	connection->max_background = 64;
	connection->congestion_threshold = 48;
	connection->max_readahead = LARGEST_REQUEST;
}

/* 0 if there is no such file */
static fuse_ino_t node_of(const char *name)
{
	char *end;

	if (strcmp(name, "f") == 0)
		return FILE_NODE;
	fuse_ino_t number = strtoul(name, &end, 10);
	return *name >= '0' && *name <= '9' && *end == '\0' ? FIRST_NUMBERED + number : 0;
}

static void lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	fuse_ino_t node = parent == FUSE_ROOT_ID ? node_of(name) : 0;
	if (node == 0) {
		fuse_reply_err(request, ENOENT);
		return;
	}
	struct fuse_entry_param entry = {.ino = node, .attr_timeout = believed, .entry_timeout = believed};
	entry.attr = attributes(node);
	fuse_reply_entry(request, &entry);
}

static void getattr(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *file)
{
	(void)file;
	struct stat st = attributes(node);
	fuse_reply_attr(request, &st, believed);
}

static void open_file(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *file)
{
	(void)node;
	file->keep_cache = 1;
	file->noflush = 1;
	fuse_reply_open(request, file);
}

static void release(fuse_req_t request, fuse_ino_t node, struct fuse_file_info *file)
{
	(void)node;
	(void)file;
	fuse_reply_err(request, 0);
}

static void read_file(fuse_req_t request, fuse_ino_t node, size_t size, off_t offset, struct fuse_file_info *file)
{
	(void)node;
	(void)file;
	if (offset >= file_size) {
		size = 0;
	} else if ((off_t)size > file_size - offset) {
		size = file_size - offset;
	}
	fuse_reply_buf(request, content + offset % PERIOD, size);
}

static const struct fuse_lowlevel_ops operations = {
	.init = init,
	.lookup = lookup,
	.getattr = getattr,
	.open = open_file,
	.release = release,
	.read = read_file,
};

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s MOUNTPOINT BYTES\n", argv[0]);
		return 64;
	}
	file_size = atoll(argv[2]);
	for (size_t i = 0; i < sizeof content; i++)
		content[i] = (char)rand();

	char *options[] = {argv[0], "-o", "fsname=memory,ro,default_permissions"};
	struct fuse_args args = FUSE_ARGS_INIT(3, options);
	struct fuse_session *session = fuse_session_new(&args, &operations, sizeof operations, NULL);
	if (!session || fuse_set_signal_handlers(session) != 0 || fuse_session_mount(session, argv[1]) != 0)
		return 1;
	struct fuse_loop_config *loop = fuse_loop_cfg_create();
	fuse_loop_cfg_set_clone_fd(loop, 1);
	fuse_loop_cfg_set_max_threads(loop, 10);
	int status = fuse_session_loop_mt(session, loop);
	fuse_session_unmount(session);
	fuse_session_destroy(session);
	return status == 0 ? 0 : 1;
}
