//! Drives by name, every number with its source.

use super::{DiskSpec, SeekCurve, Zone};
use std::sync::Arc;

/// What the numbers of the two drives of DiskSim rest on.
const DISKSIM: &str = "DiskSim 4's validated parameters: seek curve and zones measured on \
    the drive (shared/devices); command and wire times are what DiskSim's response times \
    leave over seek, rotation and transfer";

/// Names of the drives that are built in.
pub const NAMES: [&str; 3] = ["barracuda", "cheetah9lp", "7200"];

/// A drive by its name.
pub fn drive(name: &str) -> Option<DiskSpec> {
    match name {
        "barracuda" => Some(barracuda()),
        "cheetah9lp" => Some(cheetah()),
        "7200" => Some(modern()),
        _ => None,
    }
}

/// Seagate Barracuda ST32171W, 1996.
fn barracuda() -> DiskSpec {
    DiskSpec {
        name: "barracuda".into(),
        words: "Seagate Barracuda ST32171W: 2.1 GB, 7200 rpm, 5172 cylinders".into(),
        source: DISKSIM.into(),
        rpm: 7200,
        // 5 surfaces of the zones below make the 2.1 GB of the name.
        heads: 5,
        zones: zones(&BARRACUDA_ZONES),
        // The drive's capacity, 2.1 GB: DiskSim's block count.
        shown: Some(4_110_000),
        track_buffer: false,
        seek: SeekCurve::Measured(BARRACUDA_SEEK.into()),
        // Track skew (37 of 186 sectors, 1.66 ms) less what cylinder skew (2.33 ms) leaves
        // over a seek of one cylinder (1.94 ms).
        head_switch: 1_270_000,
        // 11.63 ms a request less 10.80 ms of seek, rotation and transfer, SPTF in the drive.
        command: 830_000,
        // Set so that the rotational wait of SPTF is DiskSim's at depth 4 and 32.
        late: 125_000,
        // What requests that the host schedules take more: 1.445 ms less 0.83 ms.
        wire: 615_000,
    }
}

/// Seagate Cheetah 9LP ST39102LW, 1998.
fn cheetah() -> DiskSpec {
    DiskSpec {
        name: "cheetah9lp".into(),
        words: "Seagate Cheetah 9LP ST39102LW: 9.1 GB, 10045 rpm, 6962 cylinders".into(),
        source: DISKSIM.into(),
        rpm: 10045,
        // 12 surfaces of the zones below make the 9.1 GB of the name.
        heads: 12,
        zones: zones(&CHEETAH_ZONES),
        // The drive's capacity, 9.1 GB (data sheet).
        shown: Some(17_783_240),
        track_buffer: false,
        seek: SeekCurve::Measured(CHEETAH_SEEK.into()),
        // An assumption: as a seek of one cylinder.
        head_switch: 831_000,
        // An assumption: electronics twice as fast as the Barracuda's.
        command: 415_000,
        late: 55_000,
        wire: 307_000,
    }
}

/// A desktop disk of about 2010: 8.5 ms mean read seek, 138 MB/s at the outer edge, 79
/// random reads of 4 KiB a second at depth one (shared/devices).
fn modern() -> DiskSpec {
    // 138 MB/s at 120 turns a second are 2246 sectors a track; inner tracks hold about
    // half, as drives of the time do (an assumption, with 8 zones between).
    let zone = |i: u32| Zone {
        first: i * 16_000,
        last: i * 16_000 + 15_999,
        sectors: 2246 - i * 160,
        track_skew: (2246 - i * 160) / 8,
        cylinder_skew: (2246 - i * 160) / 7,
    };
    DiskSpec {
        name: "7200".into(),
        words: "a 7200 rpm desktop disk of about 2010: 500 GB, 8.5 ms mean seek".into(),
        source: "shared/devices, \"a modern 7200 rpm drive\"; zones and skew are assumptions"
            .into(),
        rpm: 7200,
        heads: 4,
        zones: (0..8).map(zone).collect(),
        shown: None,
        // The curve's parts meet at 32000 cylinders; 0.8 ms track to track, 16 ms in full
        // (usual data sheets), 8.5 ms in the mean.
        track_buffer: false,
        seek: SeekCurve::Formula {
            a: 738_000,
            b: 42_000,
            knee: 32_000,
            c: 5_691_188,
            e: 80,
        },
        head_switch: 800_000,
        command: 30_000,
        late: 0,
        wire: 20_000,
    }
}

fn zones(rows: &[[u32; 5]]) -> Arc<[Zone]> {
    rows.iter()
        .map(|&[first, last, sectors, track_skew, cylinder_skew]| Zone {
            first,
            last,
            sectors,
            track_skew,
            cylinder_skew,
        })
        .collect()
}

/// First and last cylinder, sectors of a track, skew of a track and of a cylinder in sectors.
#[rustfmt::skip]
const BARRACUDA_ZONES: [[u32; 5]; 11] = [
    [0, 1127, 186, 37, 52],
    [1129, 2352, 185, 37, 52],
    [2354, 2761, 177, 35, 49],
    [2763, 3098, 170, 34, 47],
    [3100, 3387, 163, 32, 46],
    [3389, 3700, 157, 31, 44],
    [3702, 4013, 148, 29, 41],
    [4015, 4326, 141, 28, 39],
    [4328, 4615, 135, 27, 38],
    [4617, 4928, 126, 25, 35],
    [4930, 5171, 119, 23, 33],
];

/// Cylinders and the time of a seek over so many, µs.
#[rustfmt::skip]
const BARRACUDA_SEEK: &[(u32, u32)] = &[
    (1, 1943), (2, 1956), (3, 1933), (4, 2175), (5, 2176), (6, 2334),
    (7, 2344), (8, 2326), (9, 2328), (10, 2351), (12, 2358), (14, 2549),
    (16, 2534), (18, 2549), (20, 2548), (25, 2556), (30, 3549), (35, 3721),
    (40, 3743), (45, 3754), (50, 3768), (60, 3939), (70, 4141), (80, 4138),
    (90, 4140), (100, 4158), (125, 4514), (150, 4729), (175, 4929), (200, 5307),
    (225, 5342), (250, 5485), (275, 5533), (300, 5523), (325, 5524), (350, 5526),
    (375, 5717), (400, 5711), (425, 5901), (450, 5758), (475, 5943), (500, 6137),
    (600, 6333), (700, 6730), (800, 7322), (900, 7915), (1000, 8114), (1100, 8507),
    (1200, 8702), (1300, 8727), (1400, 8858), (1500, 9117), (1600, 9461), (1700, 9479),
    (1800, 9888), (1900, 10086), (2000, 10092), (2100, 10487), (2200, 10851), (2300, 10884),
    (2400, 11270), (2500, 11284), (2600, 11658), (2700, 11873), (2800, 12053), (2900, 12244),
    (3000, 12471), (3100, 12640), (3200, 12845), (3300, 13025), (3400, 13268), (3500, 13447),
    (3600, 13625), (3700, 14006), (3800, 14215), (3900, 14215), (4000, 14615), (4100, 14794),
    (4200, 15002), (4300, 15231), (4400, 15405), (4500, 15623), (4600, 15831), (4700, 16031),
    (4800, 16193), (4900, 16419), (4986, 16679),
];

/// First and last cylinder, sectors of a track, skew of a track and of a cylinder in sectors.
#[rustfmt::skip]
const CHEETAH_ZONES: [[u32; 5]; 11] = [
    [0, 846, 254, 97, 133],
    [848, 1643, 245, 97, 133],
    [1645, 2392, 238, 97, 117],
    [2394, 3096, 227, 97, 116],
    [3098, 3757, 217, 97, 108],
    [3759, 4379, 209, 97, 108],
    [4381, 4964, 201, 97, 108],
    [4966, 5515, 189, 88, 94],
    [5516, 6031, 181, 88, 93],
    [6032, 6517, 174, 88, 93],
    [6518, 6961, 167, 88, 80],
];

/// Cylinders and the time of a seek over so many, µs.
#[rustfmt::skip]
const CHEETAH_SEEK: &[(u32, u32)] = &[
    (1, 831), (2, 1003), (3, 1089), (4, 1092), (5, 1268), (6, 1263),
    (7, 1271), (8, 1439), (9, 1433), (10, 1448), (12, 1449), (14, 1447),
    (16, 1453), (18, 1533), (20, 1534), (25, 1625), (30, 1624), (35, 1712),
    (40, 1715), (45, 1765), (50, 1804), (60, 1893), (70, 1945), (80, 1983),
    (90, 2072), (100, 2145), (125, 2161), (150, 2259), (175, 2510), (200, 2517),
    (225, 2519), (250, 2607), (275, 2701), (300, 2699), (325, 2841), (350, 2874),
    (375, 2962), (400, 3051), (425, 3014), (450, 3104), (475, 3098), (500, 3230),
    (600, 3399), (700, 3638), (800, 3823), (900, 3995), (1000, 4118), (1100, 4271),
    (1200, 4397), (1300, 4427), (1400, 4573), (1500, 4757), (1600, 4833), (1700, 4930),
    (1800, 4993), (1900, 5190), (2000, 5282), (2100, 5428), (2200, 5541), (2300, 5624),
    (2400, 5726), (2500, 5815), (2600, 5963), (2700, 6082), (2800, 6163), (2900, 6245),
    (3000, 6345), (3100, 6423), (3200, 6665), (3300, 6737), (3400, 6847), (3500, 6887),
    (3600, 6977), (3700, 7068), (3800, 7164), (3900, 7328), (4000, 7419), (4100, 7507),
    (4200, 7649), (4300, 7691), (4400, 7831), (4500, 7959), (4600, 8087), (4700, 8135),
    (4800, 8223), (4900, 8311), (5000, 8492), (5100, 8626), (5200, 8659), (5300, 8805),
    (5400, 8987), (5500, 8962), (5600, 9106), (5700, 9201), (5800, 9296), (5900, 9524),
    (6000, 9698), (6100, 9702), (6200, 9830), (6300, 9878), (6400, 10009), (6500, 10147),
    (6600, 10230), (6700, 10363), (6800, 10540), (6894, 10627),
];
