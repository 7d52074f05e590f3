" Kernels for fsc; Vim by itself takes .dsl files for another language. A .py file with Triton's stays Python.
au BufRead,BufNewFile *.dsl set filetype=fsc
