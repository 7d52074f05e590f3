# RUN: fsc --device-debug --emit=tile %s -o - | FileCheck %s
# RUN: fsc --emit=tile %s -o - | FileCheck %s --check-prefix=OFF
# RUN: fsc --device-debug --emit=simt --verify-each %s -o - | FileCheck %s --check-prefix=SIMT
# RUN: fsc --device-debug --emit=tile %s -o %t.ir && fsc %t.ir --emit=tile -o - | FileCheck %s
# Prints and assertions are ops with --device-debug; without it what was computed for them is gone, too.
# OFF-NOT: print
# OFF-NOT: assert
# OFF-NOT: fmul
# SIMT: print %{{.*}} {text = "x: ", as = fp16}
@kernel(grid=(1,))
def k(x: *fp16, n: u8):
    i = arange(0, 16)
    v = load(x + i)
    # CHECK: %[[F:.*]] = fpext %{{.*}} : tile<16xfp32>
    # CHECK: print %[[F]] {text = "x: ", as = fp16}
    device_print("x", v)
    # CHECK: print %n {text = "a \"b\"\n\\ : (operand 0) ", as = unsigned}
    # CHECK-NEXT: print %i {text = "a \"b\"\n\\ : (operand 1) ", as = signed}
    device_print("a \"b\"\n\\ : ", n, i)
    # CHECK: %[[B:.*]] = bitcast %{{.*}} : tile<16xi16>
    # CHECK-NEXT: print %[[B]] {text = "", as = hex16}
    tl.device_print("", v * 2, hex=True)
    # CHECK-NEXT: print {text = "no value", as = signed}
    print("no value")
    # CHECK: assert %{{.*}} {text = "n is odd"}
    device_assert(n % 2, "n is odd")
    # CHECK: or
    # CHECK-NEXT: assert %{{.*}} {text = "small: 16"}
    device_assert(v < 4, f"small: {i.numel}", mask=i != 3)
    # CHECK-NEXT: assert %{{.*}} {text = "never"}
    device_assert(False, "never")
    # CHECK-NEXT: %[[C:.*]] = icmp
    # CHECK-NEXT: assert %[[C]] {text = "assertion failed"}
    assert n
    # CHECK-NOT: assert
    device_assert(True)
    assert 1 == 1
