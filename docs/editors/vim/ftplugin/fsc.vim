" Editing kernels: four spaces, comments with #.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1
setlocal expandtab shiftwidth=4 softtabstop=4 autoindent comments=b:# commentstring=#\ %s
let b:undo_ftplugin = "setlocal expandtab< shiftwidth< softtabstop< autoindent< comments< commentstring<"
