/* examples.c - calls of each command to copy: --help and the manual pages end with them. */
#include "tool/tool.h"

/* Calls to copy, a line each. */
static const struct {
    Command command;
    const char *lines;
} examples[] = {
    {.command = COMMAND_COMPILE,
     .lines = "fsc softmax.dsl -o - --readable --arch=sm_90\nfsc kernel.py --kernel add_kernel --signature "
              "\"*fp32:16, *fp32:16, *fp32:16, i32, 1024\"\nfsc --explain E0313\n"},
    {.command = COMMAND_RUN,
     .lines = "fsc run softmax.dsl 'x=random:0:fp32[1823,781]' --print y --device=cpu\n"
              "fsc run softmax.dsl x=in.npy y=out.npy\n"
              "fsc run softmax.dsl x=in.npy --expect y:ref.npy --rtol=1e-5\n"},
    {.command = COMMAND_TEST, .lines = "fsc test softmax.dsl\nfsc test *.dsl --device=cpu,emu\n"},
    {.command = COMMAND_BENCH,
     .lines = "fsc bench softmax.dsl --axis n_cols=256..12672:128 n_rows=4096 --dtype=fp32,fp16\n"
              "fsc bench softmax.dsl --axis n_cols=1000,4000 n_rows=4096 --against=before.csv --roof\n"},
    {.command = COMMAND_TUNE,
     .lines = "fsc tune softmax.dsl --axis n_cols=256..16384:*2 n_rows=4096 --num-warps 2,4,8,16\n"
              "fsc tune matmul.dsl --axis M=512..4096:*2 N=4096 K=4096 --variants BLOCK_M=64..256\n"},
    {.command = COMMAND_PROFILE, .lines = "fsc profile softmax.dsl 'x=random:0:fp32[64,781]' y=out.npy --gpu=h100\n"},
    {.command = COMMAND_VIZ, .lines = "fsc viz softmax.dsl 'x=random:0:fp32[4,40]' y=out.npy -o page.html\n"},
    {.command = COMMAND_EXPLORE,
     .lines = "fsc explore softmax.dsl\nfsc explore softmax.dsl 'x=random:0:fp32[4,200]' --num-warps=2 --port=8000\n"},
    {.command = COMMAND_INFO, .lines = "fsc info softmax.dsl --gpu=a100 n_rows=4096 n_cols=781\n"},
    {.command = COMMAND_DEVICES, .lines = "fsc devices\nfsc devices --json\n"},
    {.command = COMMAND_CACHE, .lines = "fsc cache list\nfsc cache clear\n"},
    {.command = COMMAND_LSP, .lines = "fsc lsp --arch=sm_90\n"},
    {.command = COMMAND_FMT, .lines = "fsc fmt --check *.dsl\n"},
};

const char *command_examples(Command command) {
    for (size_t i = 0; i < COUNT(examples); i++)
        if (examples[i].command == command) return examples[i].lines;
    return "";
}
