use super::cluster;
use super::extent::Extent;
use super::indirect;

fn extent(lblk: u32, len: u32, start: u64) -> Extent {
    Extent {
        lblk,
        len,
        start,
        unwritten: false,
    }
}

/// Linux 6.18: the longest that `ftruncate` made files on ext2, in blocks.
#[test]
fn block_maps_reach_as_far_as_linux_lets_them() {
    assert_eq!(indirect::max_blocks(1024, false), 16_843_020);
    assert_eq!(indirect::max_blocks(2048, false), 134_480_396);
    assert_eq!(indirect::max_blocks(4096, false), 536_346_110);
    assert_eq!(indirect::max_blocks(1024, true), 16_843_020);
    assert_eq!(indirect::max_blocks(4096, true), 1_074_791_436);
}

#[test]
fn blocks_go_where_a_neighbour_has_their_cluster() {
    // Blocks 3 to 5 of the file are in the cluster from 160 on.
    let left = Some(extent(3, 3, 163));
    assert_eq!(cluster::implied(16, left, None, 8, 20), Some((168, 8)));
    assert_eq!(cluster::implied(16, left, None, 16, 20), None);
    let right = Some(extent(30, 10, 94));
    assert_eq!(cluster::implied(16, None, right, 17, 13), Some((81, 13)));
    assert_eq!(cluster::implied(16, left, right, 20, 2), Some((84, 2)));
}

#[test]
fn new_clusters_end_before_one_that_is_there() {
    let right = Some(extent(40, 10, 200));
    assert_eq!(cluster::clip(16, right, 3, 37), 29);
    assert_eq!(cluster::clip(16, None, 3, 37), 37);
}
