# viz-pages: sample pages of `fsc viz` in build/…/pages. They are what tests/viz plays in a browser.
#
#   viz_page(NAME KERNEL WORDS...)   pages/NAME.html of dsl_examples/KERNEL.dsl

set(viz_pages)
function(viz_page name kernel)
    set(page ${PROJECT_BINARY_DIR}/pages/${name}.html)
    set(source ${PROJECT_SOURCE_DIR}/dsl_examples/${kernel}.dsl)
    add_custom_command(OUTPUT ${page}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/pages
        COMMAND fsc-tool viz ${source} ${ARGN} -o ${page}
        DEPENDS fsc-tool ${source} VERBATIM)
    set(viz_pages ${viz_pages} ${page} PARENT_SCOPE)
endfunction()

viz_page(softmax softmax "x=random:S:fp32[R,N]" y=out.npy BLOCK=B --num-warps=2
    --run "R=4 N=200 S=0 B=256" --run "R=4 N=200 S=1 B=256" --run "R=4 N=100 S=0 B=256" --run "R=4 N=100 S=1 B=256"
    --run "R=4 N=100 S=0 B=128" --run "R=12 N=100 S=0 B=128")
viz_page(softmax_tiled softmax_tiled "x=random:S:fp32[R,N]" y=out.npy BLOCK=B --num-warps=2
    --run "R=3 N=200 S=0 B=64" --run "R=3 N=200 S=1 B=64" --run "R=3 N=100 S=0 B=64" --run "R=3 N=200 S=0 B=128")
viz_page(softmax_columns softmax_columns "x=random:S:fp32[R,N]" y=out.npy ROWS=32 COLS=8 EACH=256 --num-warps=2
    --run "R=24 N=40 S=0" --run "R=24 N=40 S=1" --run "R=32 N=40 S=0" --run "R=24 N=20 S=0")
viz_page(layernorm layernorm "x=random:S:fp32[R,N]" "weight=random:5:fp32[N]" "bias=random:6:fp32[N]" y=y.npy mean=m.npy
    rstd=r.npy
    eps=1e-5 --num-warps=2 --run "R=4 N=100 S=0" --run "R=4 N=100 S=1" --run "R=4 N=200 S=0")
add_custom_target(viz-pages DEPENDS ${viz_pages})
