libpemsem_la_SOURCES += \
  src/em/kernel/digits_sort.h \
  src/em/kernel/kernel.h \
  src/em/kernel/kernel_compiled.c \
  src/em/kernel/kernel_digits.c \
  src/em/kernel/kernel_pointer.c \
  src/em/kernel/kernel_tree.c \
  src/em/kernel/kernel_word.c \
  src/em/kernel/kernels.c \
  src/em/kernel/kernels.h \
  src/em/kernel/losers.c \
  src/em/kernel/losers.h \
  src/em/kernel/multiselect.c \
  src/em/kernel/multiselect.h \
  src/em/kernel/pairs.c \
  src/em/kernel/pairs.h \
  src/em/kernel/parts.h \
  src/em/kernel/permute.c \
  src/em/kernel/permute.h \
  src/em/kernel/radix.c \
  src/em/kernel/radix.h \
  src/em/kernel/radix_words.h \
  src/em/kernel/record.c \
  src/em/kernel/record.h \
  src/em/kernel/tournament.c \
  src/em/kernel/tournament.h \
  src/em/kernel/vqsort.c \
  src/em/kernel/vqsort.h \
  src/em/kernel/word.c \
  src/em/kernel/word.h \
  src/em/kernel/word_count.h \
  src/em/kernel/word_cut.h \
  src/em/kernel/word_form.h \
  src/em/kernel/word_merge.h \
  src/em/kernel/word_sort.h \
  src/em/kernel/word_tree.h \
  src/em/kernel/word_u128.c \
  src/em/kernel/word_u16.c \
  src/em/kernel/word_u32.c \
  src/em/kernel/word_u64.c \
  src/em/kernel/word_u8.c \
  src/em/kernel/word_value.h

libpems_cgm_a_SOURCES += \
  src/em/kernel/losers.c \
  src/em/kernel/losers.h \
  src/em/kernel/multiselect.c \
  src/em/kernel/multiselect.h \
  src/em/kernel/record.c \
  src/em/kernel/record.h

UNIT_TESTS += \
  tests/unit/em/kernel/test_kernel_compiled \
  tests/unit/em/kernel/test_kernel_digits \
  tests/unit/em/kernel/test_kernel_pointer \
  tests/unit/em/kernel/test_kernel_tree \
  tests/unit/em/kernel/test_kernel_word \
  tests/unit/em/kernel/test_kernels \
  tests/unit/em/kernel/test_losers \
  tests/unit/em/kernel/test_multiselect \
  tests/unit/em/kernel/test_pairs \
  tests/unit/em/kernel/test_permute \
  tests/unit/em/kernel/test_radix \
  tests/unit/em/kernel/test_record \
  tests/unit/em/kernel/test_tournament \
  tests/unit/em/kernel/test_vqsort

# Highway's sorts, once for every set of instructions. C++, but linked as C: it
# needs nothing of C++'s library.
if HAVE_HWY
noinst_LTLIBRARIES += libvqsort_avx2.la libvqsort_avx512.la
libpemsem_la_LIBADD += libvqsort_avx2.la libvqsort_avx512.la
endif
libvqsort_avx2_la_SOURCES = src/em/kernel/vqsort.cc
libvqsort_avx2_la_CPPFLAGS = -I$(top_srcdir)/src -DVQSORT_VARIANT=avx2 \
  -DVQSORT_TARGET=HWY_AVX2
libvqsort_avx2_la_CXXFLAGS = $(HWY_CXXFLAGS) $(AVX2_CXXFLAGS)
libvqsort_avx512_la_SOURCES = src/em/kernel/vqsort.cc
libvqsort_avx512_la_CPPFLAGS = -I$(top_srcdir)/src -DVQSORT_VARIANT=avx512 \
  -DVQSORT_TARGET=HWY_AVX3
libvqsort_avx512_la_CXXFLAGS = $(HWY_CXXFLAGS) $(AVX512_CXXFLAGS)

# What has instructions of its own is not mixed with the rest in the link, which
# takes minutes and, with debugging information, is too much for GCC 12.
$(libvqsort_avx2_la_OBJECTS) $(libvqsort_avx512_la_OBJECTS): \
override CXXFLAGS += -fno-lto
EXTRA_DIST += src/em/kernel/README.md
