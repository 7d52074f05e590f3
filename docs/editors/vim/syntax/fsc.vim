" fsc's kernel language. The words come from the compiler's tables: tests/docs/editors.py FSC --bless writes them.
if exists("b:current_syntax")
  finish
endif

" words
syn keyword fscKeyword and as assert break class continue def elif else for from if import in is lambda not or pass
syn keyword fscKeyword raise return while
syn keyword fscUnused async await del except finally global nonlocal try with yield
syn keyword fscConstant False None True inf nan
syn keyword fscType bf16 bfloat16 float16 float32 float64 float8_e4m3fn float8_e5m2 float8e4nv float8e5 fp16 fp32 fp64
syn keyword fscType fp8e4nv fp8e5 i1 i16 i32 i64 i8 int1 int16 int32 int64 int8 u16 u32 u64 u8 uint16 uint32 uint64
syn keyword fscType uint8
syn keyword fscBuiltin contained abs acos acosh add advance arange argmax argmin asin asinh associative_scan assume atan
syn keyword fscBuiltin contained atan2 atanh atomic_add atomic_add_tensor_descriptor atomic_and
syn keyword fscBuiltin contained atomic_and_tensor_descriptor atomic_cas atomic_max atomic_max_tensor_descriptor
syn keyword fscBuiltin contained atomic_min atomic_min_tensor_descriptor atomic_or atomic_or_tensor_descriptor
syn keyword fscBuiltin contained atomic_xchg atomic_xor atomic_xor_tensor_descriptor bool brev broadcast broadcast_to
syn keyword fscBuiltin contained byte_perm cast cat cbrt cdiv ceil clamp clz condition constexpr copysign cos cosh cospi
syn keyword fscBuiltin contained cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled erf erfc
syn keyword fscBuiltin contained erfcinv erfcx erfinv exp exp10 exp2 expand_dims expect_zero expm1 fdim fdiv ffs finfo
syn keyword fscBuiltin contained finitef flip float floor fma fmax fmin fmod full gather gather_tensor_descriptor
syn keyword fscBuiltin contained gdc_launch_dependents gdc_wait getattr hadd hasattr histogram hypot iinfo ilogb
syn keyword fscBuiltin contained inline_asm_elementwise int interleave isfinited isinf isinstance isnan item join ldexp
syn keyword fscBuiltin contained len lgamma load load_tensor_descriptor log log10 log1p log2 logb logical_and logical_or
syn keyword fscBuiltin contained make_block_ptr make_tensor_descriptor map_elementwise max max_constancy max_contiguous
syn keyword fscBuiltin contained maximum min minimum mul mulhi multiple_of namedtuple nearbyint next_power_of_2
syn keyword fscBuiltin contained nextafter normcdf normcdfinv num_programs pair_uniform_to_normal permute philox
syn keyword fscBuiltin contained philox_impl pointer_type popc pow print program_id rand rand4x randint randint4x randn
syn keyword fscBuiltin contained randn4x range ravel rcbrt reduce reduce_or remainder reshape rhadd rhypot rint round
syn keyword fscBuiltin contained rsqrt sad scalbn scatter_tensor_descriptor sigmoid signbit sin sinh sinpi softmax sort
syn keyword fscBuiltin contained split sqrt sqrt_rn squeeze static_assert static_print static_range store
syn keyword fscBuiltin contained store_tensor_descriptor str sub sum swizzle2d tan tanh tensor tensor_descriptor to
syn keyword fscBuiltin contained to_tensor topk trans trunc tuple uint_to_uniform_float umulhi unsqueeze view where
syn keyword fscBuiltin contained xor_sum zeros zeros_like
syn keyword fscBuiltin contained max_shared num_regs num_sms occupancy warp_size
" end

syn match fscCall "\<\h\w*\ze\s*(" transparent contains=fscBuiltin,fscKeyword,fscType
syn match fscMember "\.\h\w*" transparent contains=fscCall,fscType,fscStorage
syn match fscStorage "\%(:\s*\|\*\|\<tl\.\|language\.\)\@16<=\%(constexpr\|dtype\|const\)\>\%(\s*(\)\@!"
syn match fscFunction "\%(\<def\s\+\)\@8<=\h\w*"
syn match fscDecorator "^\s*@\h[0-9A-Za-z_.]*"

syn match fscNumber "\<0[xX]\%(_\=\x\)\+\>\|\<0[oO]\%(_\=\o\)\+\>\|\<0[bB]\%(_\=[01]\)\+\>"
syn match fscNumber "\<\d\%(_\=\d\)*\>"
syn match fscNumber "\<\d[0-9_]*[eE][+-]\=\d[0-9_]*\>\|\<\d[0-9_]*\.\%(\d[0-9_]*\)\=\%([eE][+-]\=\d[0-9_]*\)\=\|\%(\w\)\@1<!\.\d[0-9_]*\%([eE][+-]\=\d[0-9_]*\)\="

syn match fscEscape contained "\\x\x\x\|\\[nrtabfv0\\'\"]\|\\$"
syn region fscString start=+\<[rRbBfFuU]\{1,2}"+ start=+"+ skip=+\\.+ end=+"\|$+ oneline contains=fscEscape,@Spell
syn region fscString start=+\<[rRbBfFuU]\{1,2}'+ start=+'+ skip=+\\.+ end=+'\|$+ oneline contains=fscEscape,@Spell
syn region fscString start=+\<[rRbBfFuU]\{1,2}\z("""\|'''\)+
  \ start=+\z("""\|'''\)+ skip=+\\.+ end=+\z1+ contains=fscEscape,@Spell
syn match fscComment "#.*$" contains=@Spell

hi def link fscKeyword Statement
hi def link fscUnused Error
hi def link fscConstant Constant
hi def link fscType Type
hi def link fscStorage StorageClass
hi def link fscBuiltin Function
hi def link fscFunction Identifier
hi def link fscDecorator PreProc
hi def link fscNumber Number
hi def link fscString String
hi def link fscEscape SpecialChar
hi def link fscComment Comment

let b:current_syntax = "fsc"
