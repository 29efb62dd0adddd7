/*
 * Loaded into a process with LD_PRELOAD. Records what the process flushes below one folder, ends the
 * process at a given step, and lets a test hold or refuse what it asks of the disk. Native code such as
 * SQLite is seen as well as JavaScript, on every thread. recorded-disk.ts describes the record and the
 * environment variables.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long steps_left = -1;
static const char *folder, *record, *counted;

__attribute__((constructor)) static void read_plan(void) {
  folder = getenv("RECORDED_DISK_FOLDER");
  record = getenv("RECORDED_DISK_RECORD");
  counted = getenv("RECORDED_DISK_COUNTED");
  const char *steps = getenv("RECORDED_DISK_STEPS");
  if (steps != NULL && *steps != 0) steps_left = atol(steps);
  if (record == NULL) folder = NULL;
}

static int is_recorded(const char *path) {
  size_t length = folder == NULL ? 0 : strlen(folder);
  return length > 0 && strncmp(path, folder, length) == 0 &&
         (path[length] == '/' || path[length] == 0);
}

static int path_of(int descriptor, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_recorded(path);
}

/* The number of steps comes with the environment, or later in a file `steps` of the record. */
static void load_steps(void) {
  char file[PATH_MAX], text[32];
  snprintf(file, sizeof file, "%s/steps", record);
  int source = open(file, O_RDONLY);
  if (source < 0) return;
  ssize_t length = read(source, text, sizeof text - 1);
  close(source);
  text[length < 0 ? 0 : length] = 0;
  if (length > 0) steps_left = atol(text);
}

/* A step is the moment before or after something is done to a recorded file or folder. */
static void step(const char *path) {
  const char *name = strrchr(path, '/');
  if (counted != NULL && *counted != 0 && (name == NULL || strcmp(name + 1, counted) != 0)) return;
  pthread_mutex_lock(&turn);
  if (steps_left < 0) load_steps();
  if (steps_left > 0 && --steps_left == 0) kill(getpid(), SIGKILL);
  pthread_mutex_unlock(&turn);
}

static void record_file(const char *kind, unsigned long inode, char *file) {
  snprintf(file, PATH_MAX, "%s/%s-%lu", record, kind, inode);
}

static int exists(const char *name) {
  char file[PATH_MAX];
  snprintf(file, sizeof file, "%s/%s", record, name);
  return access(file, F_OK) == 0;
}

/* Whether the record has a file `fail` that is empty or holds the end of the path. */
static int must_fail(const char *path) {
  char file[PATH_MAX], end[PATH_MAX];
  snprintf(file, sizeof file, "%s/fail", record);
  int chosen = open(file, O_RDONLY);
  if (chosen < 0) return 0;
  ssize_t length = read(chosen, end, sizeof end - 1);
  close(chosen);
  size_t path_length = strlen(path);
  return length <= 0 || ((size_t)length <= path_length &&
                         strncmp(path + path_length - length, end, length) == 0);
}

/* Waits until the test writes to the FIFO `hold` of the record. */
static void wait_while_held(void) {
  char file[PATH_MAX], byte;
  snprintf(file, sizeof file, "%s/hold", record);
  int fifo = open(file, O_RDONLY);
  if (fifo < 0) return;
  while (read(fifo, &byte, 1) > 0) continue;
  close(fifo);
}

/* Copied before the flush, so that nothing counts as flushed that was written while it was under way. */
static void copy_content(int descriptor, const struct stat *found, const char *to) {
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", descriptor);
  int source = open(from, O_RDONLY), target = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  off_t at = 0;
  while (at < found->st_size && sendfile(target, source, &at, found->st_size - at) > 0) continue;
  close(source);
  close(target);
}

static void copy_names(const char *path, const char *to) {
  FILE *target = fopen(to, "w");
  DIR *entries = opendir(path);
  struct dirent *entry;
  while (entries != NULL && (entry = readdir(entries)) != NULL)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      fprintf(target, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
  if (entries != NULL) closedir(entries);
  fclose(target);
}

static int flush(int descriptor, int (*really)(int)) {
  char path[PATH_MAX], file[PATH_MAX], unfinished[PATH_MAX + 8];
  struct stat found;
  if (!path_of(descriptor, path) || fstat(descriptor, &found) != 0) return really(descriptor);
  step(path);
  if (exists("hold")) wait_while_held();
  if (must_fail(path)) {
    errno = EIO;
    return -1;
  }
  int is_folder = S_ISDIR(found.st_mode);
  record_file(is_folder ? "names" : "content", found.st_ino, file);
  snprintf(unfinished, sizeof unfinished, "%s.new", file);
  pthread_mutex_lock(&turn);
  if (is_folder) copy_names(path, unfinished);
  else copy_content(descriptor, &found, unfinished);
  int result = really(descriptor);
  if (result == 0) REAL(rename)(unfinished, file);
  pthread_mutex_unlock(&turn);
  step(path);
  return result;
}

int fsync(int descriptor) { return flush(descriptor, REAL(fsync)); }
int fdatasync(int descriptor) { return flush(descriptor, REAL(fdatasync)); }

static int is_refused(int descriptor) {
  char path[PATH_MAX];
  if (!path_of(descriptor, path)) return 0;
  step(path);
  if (!exists("full")) return 0;
  errno = ENOSPC;
  return 1;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t at) {
  return is_refused(descriptor) ? -1 : REAL(pwrite64)(descriptor, bytes, count, at);
}
ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t at) {
  return is_refused(descriptor) ? -1 : REAL(pwrite)(descriptor, bytes, count, at);
}
ssize_t write(int descriptor, const void *bytes, size_t count) {
  return is_refused(descriptor) ? -1 : REAL(write)(descriptor, bytes, count);
}

static int around(int (*really)(const char *, const char *), const char *from, const char *to) {
  if (!is_recorded(to)) return really(from, to);
  step(to);
  int result = really(from, to);
  step(to);
  return result;
}

int rename(const char *from, const char *to) { return around(REAL(rename), from, to); }
int link(const char *from, const char *to) { return around(REAL(link), from, to); }

static int remove_step(int (*really)(const char *), const char *path) {
  if (!is_recorded(path)) return really(path);
  step(path);
  int result = really(path);
  step(path);
  return result;
}

int unlink(const char *path) { return remove_step(REAL(unlink), path); }
int rmdir(const char *path) { return remove_step(REAL(rmdir), path); }
