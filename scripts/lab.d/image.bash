# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# The guest's kernel and initramfs: unpacked Debian packages, cached.
# Copyright (C) 2026 the nfs-atime-test authors
#
# Theory of operation. The guest boots from two cpio archives laid one after
# the other. The base archive holds what changes only with Debian: kernel
# modules, busybox and the NFS tools. It is made once per kernel version and
# kept in the cache. The overlay archive, made for each run, holds the program
# under test, the job and the guest's own scripts; where both have a file, the
# kernel keeps the overlay's. Nothing here needs root and nothing is installed:
# packages are fetched by apt-get download and opened by dpkg -x.
#
# Callers supply say TEXT (progress), die TEXT (ends the program) and the
# directories $cache (kept) and $work (of this run).
# shellcheck disable=SC2154

# Opened for the image only. What they link to is found among them first, then
# on this machine.
guest_packages=(nfs-kernel-server nfs-common rpcbind tcpdump libpcap0.8
    libnfsidmap1 libevent-core-2.1-7 libsqlite3-0 libwrap0 libtirpc3
    libkeyutils1 libdevmapper1.02.1 libgssapi-krb5-2 libkrb5-3 libk5crypto3
    libkrb5support0 libcom-err2 libselinux1 libmnl0 libbpf1 libcap2 libssl3
    netbase libtirpc-common strace libunwind8)

guest_modules=(virtio_pci virtio_blk nfs nfsv3 nfsv4 nfsd veth sch_netem brd
    loop crc32c_generic inet_diag tcp_diag)

# From the opened packages or this machine, with the libraries they link to.
guest_programs=(/usr/sbin/mount.nfs /usr/sbin/umount.nfs /usr/sbin/exportfs
    /usr/sbin/rpc.nfsd /usr/sbin/rpc.mountd /usr/sbin/nfsdcld
    /usr/sbin/rpcbind /usr/bin/tcpdump /usr/bin/ip /usr/sbin/tc
    /usr/sbin/mke2fs /usr/bin/setpriv /usr/bin/strace /usr/bin/ss)

fetch_package() { # package version directory: prints the .deb's path
    local package=$1 version=$2 directory=$3 file
    file=$directory/${package}_${version//:/%3a}_amd64.deb
    if [[ ! -s $file ]]; then
        file=${file%_amd64.deb}_all.deb
    fi
    if [[ ! -s $file ]]; then
        (cd "$directory" &&
            apt-get -qq download "$package=$version" >/dev/null 2>apt.err) ||
            die "apt-get download $package=$version failed:" \
                "$(tail -n 1 "$directory/apt.err")"
        file=$(find "$directory" -name \
            "${package}_${version//:/%3a}_*.deb" | head -n 1)
    fi
    [[ -s $file ]] || die "no package file of $package $version"
    echo "$file"
}

candidate_versions() { # package...: prints "package version" lines
    { apt-cache show --no-all-versions "$@" 2>/dev/null || true; } |
        awk '/^Package: /{p=$2} /^Version: /{print p, $2}' | sort -u
}

# A kernel is a package name, or a path of a vmlinuz, of a .deb, or of a
# directory made by dpkg -x. Sets kernel_root (a directory with
# boot/vmlinuz-R and lib/modules/R) and kernel_release.
find_kernel() { # kernel
    local kernel=$1 version deb
    case $kernel in
    */vmlinuz-*) kernel_root=$(cd "$(dirname "$kernel")/.." && pwd) ;;
    *.deb)
        [[ -r $kernel ]] || die "cannot read $kernel"
        open_kernel_package "$kernel"
        ;;
    */*)
        [[ -d $kernel ]] || die "$kernel: no such directory"
        kernel_root=$(cd "$kernel" && pwd)
        ;;
    *)
        if [[ $kernel == linux-image-cloud-amd64 ||
            $kernel =~ ^linux-image-[0-9.]+-cloud-amd64$ ]]; then
            version=$(apt-cache depends --important "$kernel" 2>/dev/null |
                awk '/Depends: linux-image-/{print $2}' | head -n 1) || true
            kernel=${version:-$kernel}
        fi
        version=$(candidate_versions "$kernel" | awk '{v=$2} END{print v}')
        if [[ ! $version ]]; then
            update_package_lists
            version=$(candidate_versions "$kernel" | awk '{v=$2} END{print v}')
        fi
        [[ $version ]] || die "apt-cache knows no package $kernel; see" \
            "apt-cache search linux-image.*cloud-amd64"
        deb=$(fetch_package "$kernel" "$version" "$cache/packages")
        open_kernel_package "$deb"
        ;;
    esac
    if [[ $kernel == */vmlinuz-* ]]; then
        kernel_release=${kernel##*/vmlinuz-}
    else
        kernel_release=$(find "$kernel_root/boot" -name 'vmlinuz-*' \
            -printf '%f\n' 2>/dev/null | sort | tail -n 1)
        kernel_release=${kernel_release#vmlinuz-}
    fi
    [[ $kernel_release && -r $kernel_root/boot/vmlinuz-$kernel_release ]] ||
        die "$kernel: no readable boot/vmlinuz-* in it"
    modules_directory >/dev/null ||
        die "$kernel: no modules of $kernel_release beside it"
}

modules_directory() {
    local directory
    for directory in "$kernel_root"/{,usr/}lib/modules/"$kernel_release"; do
        if [[ -d $directory/kernel ]]; then
            echo "$directory"
            return 0
        fi
    done
    return 1
}

open_kernel_package() { # deb: sets kernel_root
    kernel_root=$cache/kernels/$(basename "$1" .deb)
    [[ -d $kernel_root ]] && return
    say "opening $(basename "$1")"
    rm -rf "$kernel_root.part"
    mkdir -p "$kernel_root.part"
    dpkg -x "$1" "$kernel_root.part" || die "cannot open $1"
    mv "$kernel_root.part" "$kernel_root"
}

update_package_lists() {
    local as_root=()
    [[ ${package_lists_updated:-} ]] && return
    package_lists_updated=yes
    ((EUID == 0)) || as_root=(sudo)
    say "apt-get update"
    "${as_root[@]}" apt-get -qq update >/dev/null 2>&1 || true
}

# Prints the modules' files in an order that satisfies modules.dep.
module_closure() { # modules.dep directory
    local module line
    for module in "${guest_modules[@]}"; do
        line=$(grep -E "(^|/)${module//_/[-_]}\.ko(\.[a-z]+)?:" "$1") || {
            # Built in, or unknown to this kernel: the guest finds out.
            continue
        }
        line=${line/:/ }
        # shellcheck disable=SC2086 # one word per file
        printf '%s\n' $line
    done | sort -u
}

add_modules() { # root of the image
    local source target file dep
    source=$(modules_directory)
    target=$1/lib/modules/$kernel_release
    mkdir -p "$target"
    dep=$source/modules.dep
    if [[ ! -s $dep ]]; then
        mkdir -p "$work/depmod/lib/modules"
        ln -sfn "$source" "$work/depmod/lib/modules/$kernel_release"
        /sbin/depmod -b "$work/depmod" -o "$work/depmod/out" \
            "$kernel_release" 2>/dev/null || /sbin/depmod -b \
            "$work/depmod" "$kernel_release" || die "depmod failed"
        dep=$work/depmod/out/lib/modules/$kernel_release/modules.dep
        [[ -s $dep ]] || dep=$source/modules.dep
    fi
    cp "$source"/modules.{builtin,builtin.modinfo,order} "$target" 2>/dev/null || true
    while read -r file; do
        mkdir -p "$target/$(dirname "$file")"
        cp "$source/$file" "$target/$file"
        case $file in
        *.xz) xz -d -f "$target/$file" ;;
        *.zst) zstd -q -d --rm -f "$target/$file" ;;
        *.gz) gzip -d -f "$target/$file" ;;
        esac
    done < <(module_closure "$dep")
    /sbin/depmod -b "$1" "$kernel_release" || die "depmod failed"
}

# Copies the libraries that ldd lists for a file into an image's root.
add_libraries() { # root file
    local line library
    while read -r line; do
        case $line in
        *'not found'*)
            die "$2 needs ${line%% *}, which neither this machine nor" \
                "the image's packages have"
            ;;
        *'=> /'*)
            library=${line#*=> }
            library=${library% (*}
            ;;
        /*) library=${line% (*} ;;
        *) continue ;;
        esac
        add_library "$1" "$library"
    done < <(LD_LIBRARY_PATH=${guest_tree:-/nonexistent}/usr/lib/x86_64-linux-gnu:${guest_tree:-/nonexistent}/lib/x86_64-linux-gnu \
        ldd "$2" 2>/dev/null || true)
}

add_library() { # root library
    local name=${2##*/}
    case $2 in
    */ld-linux*)
        mkdir -p "$1/lib64"
        [[ -e $1/lib64/$name ]] || cp -L "$2" "$1/lib64/$name"
        ;;
    *)
        mkdir -p "$1/lib/x86_64-linux-gnu"
        [[ -e $1/lib/x86_64-linux-gnu/$name ]] ||
            cp -L "$2" "$1/lib/x86_64-linux-gnu/$name"
        ;;
    esac
}

add_program() { # root path-in-the-guest
    local source=
    for source in "$guest_tree$2" "$guest_tree${2#/usr}" "$2" "${2#/usr}"; do
        [[ -x $source ]] && break
        source=
    done
    [[ $source ]] || die "no $2 for the guest's image"
    mkdir -p "$1${2%/*}"
    cp -L "$source" "$1$2"
    add_libraries "$1" "$source"
}

# Root file system that all runs share.
make_base() { # root
    local root=$1 applet file
    mkdir -p "$root"/{bin,dev,etc,proc,sys,tmp,run,root,mnt,srv,results} \
        "$root"/usr/{bin,sbin,lib} "$root"/var/{lib/nfs,log} "$root/job"
    ln -s usr/sbin "$root/sbin"
    ln -s ../run "$root/var/run"
    cp /bin/busybox "$root/bin/busybox"
    # The real ip, tc, mke2fs and setpriv, where they are in the image, win
    # over applets of the same name.
    while read -r applet; do
        case $applet in
        busybox | ip | tc | mke2fs | setpriv | dpkg* | rpm*) continue ;;
        esac
        ln -sf /bin/busybox "$root/bin/$applet"
    done < <(/bin/busybox --list)
    for file in "${guest_programs[@]}"; do
        add_program "$root" "$file"
    done
    ln -s mount.nfs "$root/usr/sbin/mount.nfs4"
    ln -s umount.nfs "$root/usr/sbin/umount.nfs4"
    for file in services protocols rpc netconfig; do
        cp "$guest_tree/etc/$file" "$root/etc/$file" 2>/dev/null ||
            cp "/etc/$file" "$root/etc/$file" ||
            die "no /etc/$file for the guest's image"
    done
    add_modules "$root"
}

# The same bytes from the same files, whenever it is made: a guest that counts
# instructions would notice the difference.
pack() { # root archive
    find "$1" -exec touch -h -d @0 {} +
    (cd "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
        cpio -0 -o -H newc -R 0:0 --reproducible --quiet) >"$2" ||
        die "cannot write $2"
}

# Sets base_archive, made or found in the cache.
base_image() {
    local key versions line
    key=$({
        echo "$kernel_root $kernel_release"
        cat "${BASH_SOURCE[0]}"
        dpkg-query -W busybox-static iproute2 e2fsprogs libc6 util-linux
    } | sha256sum | cut -c 1-16)
    base_archive=$cache/base-$kernel_release-$key.cpio
    [[ -s $base_archive ]] && return
    say "making the guest's base image for $kernel_release (once)"
    guest_tree=$cache/tree-$key.part
    rm -rf "$guest_tree" "$work/base"
    mkdir -p "$guest_tree" "$cache/packages"
    versions=$(candidate_versions "${guest_packages[@]}")
    for line in "${guest_packages[@]}"; do
        if ! grep -q "^$line " <<<"$versions"; then
            update_package_lists
            versions=$(candidate_versions "${guest_packages[@]}")
            break
        fi
    done
    while read -r line; do
        # shellcheck disable=SC2086 # "package version"
        dpkg -x "$(fetch_package $line "$cache/packages")" "$guest_tree" ||
            die "cannot open package $line"
    done <<<"$versions"
    make_base "$work/base"
    rm -f "$cache/base-$kernel_release"-*.cpio
    pack "$work/base" "$base_archive.part"
    mv "$base_archive.part" "$base_archive"
    rm -rf "$guest_tree" "$work/base"
    guest_tree=
}
