/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * NFSv4 attributes: bitmap4 and fattr4, RFC 8881 section 3.3.7 and 5.
 */
#ifndef NAT_CAPTURE_NFS4_ATTR_H
#define NAT_CAPTURE_NFS4_ATTR_H

#include "capture/rpc_decode.h"

/* A bitmap4 of any number of words, passed over. */
void
nfs4_skip_bitmap(struct xdrc *x);

/* A fattr4 passed over. */
void
nfs4_skip_fattr(struct xdrc *x);

/*
 * They consume a whole fattr4. A value that cannot be read ends the look
 * inside and is noted in decode->inner; the cursor stands behind the fattr4
 * all the same.
 */
void
nfs4_read_sattr(struct rpc_decode *decode, struct nfs_sattr *sattr);
void
nfs4_read_attr(struct rpc_decode *decode, struct nfs_attr *attr);

/* The same of an entry of READDIR: its file handle, when it is among the
 * attributes. */
void
nfs4_read_entry_attr(struct rpc_decode *decode, struct nfs_entry *entry);

#endif
