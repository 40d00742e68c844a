/* Faults of the disk, injected below a program: LD_PRELOAD=shim.so FAULT_PATH=... FAULT_AT=n FAULT_KIND=... program

   Counted are the calls that change files whose path contains FAULT_PATH: write, pwrite, ftruncate, fsync, fdatasync,
   rename. FAULT_KIND at call n:
       errno    fails with FAULT_ERRNO, once or, with FAULT_STICKY, from then on
       short    a write does half of what it was asked, from then on
       power    everything stops; what was written since a file's last sync is cut off or becomes zeros, at random
                (FAULT_SEED), and a rename that its folder's sync did not follow is undone
   FAULT_COUNT names a file that gets the number of calls at the end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST 4096
static struct { char path[512]; off_t synced; } files[MOST];
static int file_count, calls, fired;
static char undone_from[512], undone_to[512], undone_old[512];
static off_t undone_synced; /* of the file that the rename replaced */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value ? value : otherwise;
}

static int path_of(int descriptor, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, 511);
    if (length <= 0) return 0;
    path[length] = 0;
    const char *filter = getenv("FAULT_PATH");
    return filter && strstr(path, filter) != NULL;
}

static int place_of(const char *path) {
    for (int i = 0; i < file_count; i++)
        if (!strcmp(files[i].path, path)) return i;
    if (file_count == MOST) return -1;
    strcpy(files[file_count].path, path);
    files[file_count].synced = 0;
    return file_count++;
}

static int copy(const char *from, const char *to) {
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    char buffer[65536];
    size_t size;
    if (in && out)
        while ((size = fread(buffer, 1, sizeof buffer, in)) > 0) fwrite(buffer, 1, size, out);
    if (in) fclose(in);
    if (out) fclose(out);
    return in && out;
}

static void power_off(void) {
    srand(atoi(setting("FAULT_SEED", "1")));
    if (undone_to[0] && rand() % 2) {
        copy(undone_to, undone_from);
        if (undone_old[0]) copy(undone_old, undone_to); else unlink(undone_to);
        int from = place_of(undone_from), to = place_of(undone_to);
        if (from >= 0 && to >= 0) files[from].synced = files[to].synced;
        if (to >= 0) files[to].synced = undone_synced;
    }
    if (undone_old[0]) unlink(undone_old);
    for (int i = 0; i < file_count; i++) {
        struct stat facts;
        if (stat(files[i].path, &facts) || facts.st_size <= files[i].synced) continue;
        off_t kept = files[i].synced + rand() % (facts.st_size - files[i].synced + 1);
        if (rand() % 2) {
            if (truncate(files[i].path, kept)) continue;
        } else {
            int descriptor = open(files[i].path, O_WRONLY);
            char zero[4096] = {0};
            for (off_t at = kept; at < facts.st_size; at += sizeof zero) {
                size_t size = facts.st_size - at < (off_t)sizeof zero ? (size_t)(facts.st_size - at) : sizeof zero;
                ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, "pwrite");
                if (real(descriptor, zero, size, at) < 0) break;
            }
            close(descriptor);
        }
    }
    _exit(137);
}

/* 0: go on; 1: fail with errno; 2: a short write */
static int fault(int is_write) {
    const char *kind = setting("FAULT_KIND", "none");
    int now = __sync_add_and_fetch(&calls, 1), at = atoi(setting("FAULT_AT", "0"));
    if (!at || now < at) return 0;
    if (!strcmp(kind, "power")) {
        pthread_mutex_lock(&lock);
        power_off();
    }
    if (!strcmp(kind, "short")) return is_write ? 2 : 0;
    if (strcmp(kind, "errno") || (fired && !getenv("FAULT_STICKY"))) return 0;
    fired = 1;
    errno = atoi(setting("FAULT_ERRNO", "5"));
    return 1;
}

static ssize_t half(size_t size) { return size > 1 ? size / 2 : size; }

#define WRITE(name, parameters, arguments, count)                        \
    ssize_t name parameters {                                            \
        static ssize_t(*real) parameters;                                \
        if (!real) real = dlsym(RTLD_NEXT, #name);                       \
        char path[512];                                                  \
        if (!path_of(descriptor, path)) return real arguments;           \
        int what = fault(1);                                             \
        if (what == 1) return -1;                                        \
        if (what == 2) count = half(count);                              \
        pthread_mutex_lock(&lock);                                       \
        place_of(path);                                                  \
        pthread_mutex_unlock(&lock);                                     \
        return real arguments;                                           \
    }
WRITE(write, (int descriptor, const void *data, size_t size), (descriptor, data, size), size)
WRITE(pwrite, (int descriptor, const void *data, size_t size, off_t at), (descriptor, data, size, at), size)
WRITE(pwrite64, (int descriptor, const void *data, size_t size, off64_t at), (descriptor, data, size, at), size)

#define SYNC(name)                                                       \
    int name(int descriptor) {                                           \
        static int (*real)(int);                                         \
        if (!real) real = dlsym(RTLD_NEXT, #name);                       \
        char path[512];                                                  \
        if (!path_of(descriptor, path)) return real(descriptor);         \
        if (fault(0)) return -1;                                         \
        struct stat facts;                                               \
        int result = real(descriptor);                                   \
        pthread_mutex_lock(&lock);                                       \
        if (!fstat(descriptor, &facts)) {                                \
            int place = place_of(path);                                  \
            if (S_ISDIR(facts.st_mode)) {                                \
                if (undone_old[0]) unlink(undone_old);                   \
                undone_to[0] = undone_old[0] = 0;                        \
            } else if (place >= 0) files[place].synced = facts.st_size;  \
        }                                                                \
        pthread_mutex_unlock(&lock);                                     \
        return result;                                                   \
    }
SYNC(fsync)
SYNC(fdatasync)

#define CUT(name, offset)                                                \
    int name(int descriptor, offset size) {                              \
        static int (*real)(int, offset);                                 \
        if (!real) real = dlsym(RTLD_NEXT, #name);                       \
        char path[512];                                                  \
        if (path_of(descriptor, path)) {                                 \
            if (fault(0)) return -1;                                     \
            pthread_mutex_lock(&lock);                                   \
            int place = place_of(path);                                  \
            if (place >= 0 && files[place].synced > size) files[place].synced = size; \
            pthread_mutex_unlock(&lock);                                 \
        }                                                                \
        return real(descriptor, size);                                   \
    }
CUT(ftruncate, off_t)
CUT(ftruncate64, off64_t)

int rename(const char *from, const char *to) {
    static int (*real)(const char *, const char *);
    if (!real) real = dlsym(RTLD_NEXT, "rename");
    const char *filter = getenv("FAULT_PATH");
    if (!filter || !strstr(to, filter)) return real(from, to);
    if (fault(0)) return -1;
    pthread_mutex_lock(&lock);
    if (!strcmp(setting("FAULT_KIND", ""), "power")) {
        snprintf(undone_from, sizeof undone_from, "%s", from);
        snprintf(undone_to, sizeof undone_to, "%s", to);
        undone_old[0] = 0;
        if (!access(to, F_OK)) {
            snprintf(undone_old, sizeof undone_old, "%.500s.before", to);
            copy(to, undone_old);
        }
    }
    int old = place_of(from), new = place_of(to);
    undone_synced = new >= 0 ? files[new].synced : 0;
    if (old >= 0 && new >= 0) files[new].synced = files[old].synced;
    if (old >= 0) files[old].path[0] = 0;
    pthread_mutex_unlock(&lock);
    return real(from, to);
}

__attribute__((destructor)) static void report(void) {
    const char *target = getenv("FAULT_COUNT");
    FILE *file = target ? fopen(target, "w") : NULL;
    if (file) {
        fprintf(file, "%d\n", calls);
        fclose(file);
    }
}

/* A program may leave without its destructors. */
void _exit(int status) {
    report();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
