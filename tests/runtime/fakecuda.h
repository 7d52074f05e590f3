/* fakecuda.h - what the tests say to the fake driver (fakecuda.c), which the runtime loads in the driver's place. */
#ifndef FAKECUDA_H
#define FAKECUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_PARAMS = 96, FAKE_MAPS = 4, FAKE_ELF = 128 /* bytes of an ELF file's headers */ };

/* What cuTensorMapEncodeTiled was given, as the fake driver writes it into a map's 128 bytes. */
typedef struct FakeMap {
    uint64_t magic; /* FAKE_MAP */
    uint64_t base, strides[4];
    uint32_t extents[5], box[5]; /* extents: 2^32 as 0 */
    uint8_t type, rank, swizzle, promotion;
} FakeMap;

#define FAKE_MAP UINT64_C(0x70616d2065736e65)

/* What a launch has behind its parameters. */
typedef struct FakeBehind {
    FakeMap maps[FAKE_MAPS]; /* the first FakeState.maps ones, … */
    uint64_t words[3];       /* … and then FakeState.behind words */
} FakeBehind;

/* As tests/python/test_fake.py has it, too; likewise the first members of FakeState. */
typedef struct FakeLaunch {
    char entry[64];
    unsigned grid[3], block[3], shared;
    unsigned cluster;  /* 0: neither a cluster nor cooperative; 1: cooperative */
    unsigned overlaps; /* 1: may begin before the launch ahead has ended */
    void *stream;
    uint64_t params[FAKE_PARAMS]; /* the first FakeState.params ones, 8 bytes each */
} FakeLaunch;

/* What the tests set and look at. */
typedef struct FakeState {
    int devices;      /* that there are; 2 */
    int params;       /* how many parameters a launch copies; 0 */
    int blocks;       /* what the occupancy call gives; 3 */
    int delay;        /* milliseconds that loading a module takes; 0 */
    int generation;   /* of contexts: a new one at an old address has another id; 0 */
    size_t memory;    /* bytes of device memory that there are */
    int version;      /* of CUDA, that the driver supports; 13000 */
    int ptx;          /* the newest PTX that it takes; 90: 9.0 */
    int registers;    /* of each thread of every kernel; 64 */
    int threads;      /* the most a block of every kernel can have; 1024 */
    int pageable;     /* the devices reach the host's pages; 0 */
    bool lost;        /* an error killed the context */
    int live;         /* everything handed out and not given back */
    int launches;     /* done */
    int retained;     /* primary contexts retained and not released */
    int modules;      /* loaded and not unloaded */
    int cubins;       /* modules that were loaded from ELF files */
    size_t allocated; /* bytes of device memory in use */
    int maps, behind; /* how many tensor maps behind its parameters a launch copies, and words behind them; 0 */
    int asked, spills; /* registers and bytes of spills where the PTX asks for blocks by .minnctapersm; 0 */
} FakeState;

extern FakeState fake;

void fake_reset(void);                                /* as new: no failures, no counts, no context */
void fake_fail(const char *call, int nth, int error); /* the nth call from now (1: the next) gives error */
int fake_calls(const char *call);                     /* how often it was called since the reset */
FakeLaunch fake_launch(int index);
FakeBehind fake_behind(int index); /* of the same launch */
void fake_set_current(int device);     /* makes a context of the caller's own current; -1: none */
bool fake_current_is_own(void);        /* the caller's context is current again */
int fake_depth(void);                  /* contexts on this thread's stack */
/* The rows of cuda_error.def; false past the end. */
bool fake_error_at(int index, int *error, const char **name, bool *is_fatal);
int fake_attribute(const char *entry); /* dynamic shared bytes that cuFuncSetAttribute set, or -1 */

#endif
