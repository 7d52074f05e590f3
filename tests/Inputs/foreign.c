/* foreign.c - runs a kernel of the CPU, whose code is linked in, on what its input says (-Dkernel=NAME: its name).
 *
 * In: int64s: the grid, numbers of arguments and buffers; of each argument a buffer's index and an offset into it, or
 * -1 and a value in 8 bytes; then each buffer's size and its bytes. Out: the buffers' bytes. 2: the input is short.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIGNMENT = 4096, SCRATCH = 1 << 28 };

extern void kernel(void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch);

static void take(void *to, size_t bytes) {
    if (fread(to, 1, bytes, stdin) != bytes) exit(2);
}

static void *room(size_t bytes) {
    void *at = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
    if (!at) exit(3);
    return at;
}

int main(void) {
    int64_t head[5]; /* grid, arguments, buffers */
    take(head, sizeof head);
    size_t n = (size_t)head[3], num_buffers = (size_t)head[4];
    int64_t(*given)[2] = room(n * sizeof *given), *sizes = room(num_buffers * sizeof *sizes), pid[3];
    char **buffers = room(num_buffers * sizeof *buffers);
    void **args = room(n * sizeof *args), *scratch = room(SCRATCH);
    take(given, n * sizeof *given);
    for (size_t i = 0; i < num_buffers; i++) {
        take(&sizes[i], sizeof *sizes);
        buffers[i] = room((size_t)sizes[i]);
        take(buffers[i], (size_t)sizes[i]);
    }
    for (size_t i = 0; i < n; i++) {
        if (given[i][0] >= 0) given[i][1] += (int64_t)(intptr_t)buffers[given[i][0]];
        args[i] = &given[i][1];
    }
    for (pid[2] = 0; pid[2] < head[2]; pid[2]++)
        for (pid[1] = 0; pid[1] < head[1]; pid[1]++)
            for (pid[0] = 0; pid[0] < head[0]; pid[0]++) kernel(args, pid, head, scratch);
    for (size_t i = 0; i < num_buffers; i++) fwrite(buffers[i], 1, (size_t)sizes[i], stdout);
    return 0;
}
