/* libpems-cgm.a has copies of some sources of libpems, so that it needs no
   library. They are compiled with this file included before all, since a
   static library's names are the program's: here they begin with pems_cgm_. */
#ifndef PEMS_CGM_NAMES_H
#define PEMS_CGM_NAMES_H

#define losers_merge pems_cgm_losers_merge
#define losers_pieces pems_cgm_losers_pieces
#define losers_pieces_work pems_cgm_losers_pieces_work
#define losers_skip pems_cgm_losers_skip
#define losers_work pems_cgm_losers_work
#define multiselect pems_cgm_multiselect
#define multiselect_from pems_cgm_multiselect_from
#define pems_record_check pems_cgm_record_check
#define pems_record_key_bytes pems_cgm_record_key_bytes
#define record_compare pems_cgm_record_compare
#define record_in_order pems_cgm_record_in_order
#define record_ordered pems_cgm_record_ordered
#define record_order pems_cgm_record_order
#define record_order_compare pems_cgm_record_order_compare
#define record_prefix pems_cgm_record_prefix
#define record_prefix_decides pems_cgm_record_prefix_decides
#define record_rank pems_cgm_record_rank

#endif
