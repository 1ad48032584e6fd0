//! Makes the images of the recipes and asks what is in them.

use super::cache::{available, blank, cached, skipped};
use super::debugfs::Debugfs;
use super::groups::dumpe2fs;
use super::kernel;
use super::recipe::{Recipe, Source, Step};
use super::recipes::RECIPES;
use super::stat::stats;
use super::tools::{limited, output, run, succeed};
use super::truth::{Truth, merged};
use super::walk::truth_by_debugfs;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

const UUID: &str = "f51ab000-0000-4000-8000-00000000f51a";
/// What makes and describes images, besides the programs for the kernel.
const SOURCES: &str = concat!(
    include_str!("image.rs"),
    include_str!("walk.rs"),
    include_str!("stat.rs"),
    include_str!("groups.rs"),
);
/// EXT4_ENCRYPT_FL.
const ENCRYPTED: u32 = 0x800;
/// Three thousand of the files are in one directory.
const INODES: &str = "8000";

/// A recipe's image and the truth about it. The image is shared: copy it
/// ([`super::scratch_copy`]) to change it.
#[derive(Debug)]
pub struct Image {
    pub recipe: &'static Recipe,
    pub path: PathBuf,
    pub journal: Option<PathBuf>,
    pub truth: Truth,
}

pub fn image_named(name: &str) -> Option<Image> {
    match RECIPES.iter().find(|recipe| recipe.name == name) {
        Some(recipe) => image(recipe),
        None => panic!("no recipe is called {name}"),
    }
}

/// The image of one recipe; panics when it can be made here but was not.
pub fn image(recipe: &'static Recipe) -> Option<Image> {
    if let Err(why) = available() {
        return skipped(&why);
    }
    Some(made(recipe).unwrap_or_else(|why| panic!("{why}")))
}

/// Every image, those not in the cache made two at a time.
pub fn images() -> Option<Vec<Image>> {
    if let Err(why) = available() {
        return skipped(&why);
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let take = || RECIPES.get(next.fetch_add(1, Ordering::Relaxed));
        let built = std::iter::from_fn(take).map(folder);
        built.filter_map(Result::err).collect::<Vec<_>>()
    };
    let failed = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.map(|worker| worker.join().expect("a worker does not panic"))
    });
    let failed = failed.concat();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    RECIPES.iter().map(image).collect()
}

fn folder(recipe: &Recipe) -> Result<PathBuf, String> {
    let description = format!("{recipe:?} {SOURCES}");
    cached(recipe.name, &description, |folder| build(recipe, folder))
}

fn made(recipe: &'static Recipe) -> Result<Image, String> {
    let folder = folder(recipe)?;
    let truth = fs::read(folder.join("truth.json")).map_err(|error| error.to_string())?;
    Ok(Image {
        recipe,
        path: folder.join("image.img"),
        journal: recipe.external_journal.then(|| folder.join("journal.img")),
        truth: serde_json::from_slice(&truth).map_err(|error| error.to_string())?,
    })
}

fn build(recipe: &Recipe, folder: &Path) -> Result<(), String> {
    let image = folder.join("image.img");
    let request = request(recipe, folder);
    blank(&image, recipe.mib << 20)?;
    let notes = match recipe.source {
        Source::Staged => fill(&request)?,
        Source::Debugfs => {
            mkfs(recipe, folder)?;
            Vec::new()
        }
        Source::Kernel | Source::KernelBefore => {
            mkfs(recipe, folder)?;
            steps(recipe, recipe.before, &image)?;
            fill(&request)?
        }
    };
    let before = (recipe.source == Source::KernelBefore).then(|| walked(&request));
    steps(recipe, recipe.after, &image)?;
    let mut truth = match (before, recipe.source) {
        (Some(before), _) => before?,
        (None, Source::Kernel) => walked(&request)?,
        (None, _) => truth_by_debugfs(&image)?,
    };
    complete(&mut truth, &image)?;
    truth.notes.extend(notes);
    let text = serde_json::to_vec(&truth).map_err(|error| error.to_string())?;
    fs::write(folder.join("truth.json"), text).map_err(|error| error.to_string())
}

fn request(recipe: &Recipe, folder: &Path) -> Value {
    let mount = folder.join("mnt");
    // Its absence would show at once in the mount.
    let _ = fs::create_dir(&mount);
    let journal = recipe.external_journal.then(|| folder.join("journal.img"));
    let staged = recipe.source == Source::Staged;
    json!({
        "image": folder.join("image.img"),
        "journal": journal,
        "mnt": mount,
        "options": recipe.mount,
        "block_size": recipe.block_size,
        "standard": recipe.standard,
        "extra": recipe.extra,
        "stage": staged.then(|| mkfs_words(recipe)),
    })
}

fn mkfs_words(recipe: &Recipe) -> Vec<String> {
    let words = format!(
        "mke2fs -q -F -U {UUID} -E hash_seed={UUID} -b {}",
        recipe.block_size
    );
    let mut words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let own: Vec<String> = recipe.mkfs.split_whitespace().map(str::to_owned).collect();
    if !own.iter().any(|word| word == "-N") {
        words.extend(["-N".to_owned(), INODES.to_owned()]);
    }
    words.extend(own);
    words
}

fn mkfs(recipe: &Recipe, folder: &Path) -> Result<(), String> {
    let mut words = mkfs_words(recipe);
    let image = folder.join("image.img");
    let image = image.to_str().ok_or("the checkout's path is not UTF-8")?;
    if !recipe.external_journal {
        words.push(image.to_owned());
        return run(&words[0], &words[1..]).map(drop);
    }
    let journal = folder.join("journal.img");
    blank(&journal, 16 << 20)?;
    let size = recipe.block_size.to_string();
    let make = ["-q", "-F", "-O", "journal_dev", "-b", &size].map(std::ffi::OsStr::new);
    run("mke2fs", &[&make[..], &[journal.as_os_str()]].concat())?;
    words.extend([
        "-J".to_owned(),
        "device=JOURNAL".to_owned(),
        image.to_owned(),
    ]);
    let request = json!({ "journal": journal, "command": words });
    kernel::ask::<Value>("with_loop.py", &request).map(drop)
}

fn fill(request: &Value) -> Result<Vec<String>, String> {
    #[derive(serde::Deserialize)]
    struct Filled {
        notes: Vec<String>,
    }
    kernel::ask::<Filled>("fill.py", request).map(|filled| filled.notes)
}

fn walked(request: &Value) -> Result<Truth, String> {
    let mut truth: Truth = kernel::ask("walk.py", request)?;
    for extents in truth.extents.values_mut() {
        *extents = merged(std::mem::take(extents));
    }
    Ok(truth)
}

fn steps(recipe: &Recipe, steps: &[Step], image: &Path) -> Result<(), String> {
    for step in steps {
        match step {
            Step::Tune(words) => {
                let words: Vec<&str> = words.split_whitespace().collect();
                succeed(limited(60, "tune2fs", &words).arg(image))?;
            }
            Step::Debugfs(commands) => {
                Debugfs::writing(image).ask(&expanded(commands))?;
            }
            Step::Fsck(words) => {
                let words: Vec<&str> = words.split_whitespace().collect();
                let done = output(limited(60, "e2fsck", &words).arg("-fy").arg(image))?;
                if !matches!(done.status.code(), Some(0 | 1)) {
                    let said = String::from_utf8_lossy(&done.stdout).into_owned();
                    return Err(format!("{}: e2fsck -fy: {said}", recipe.name));
                }
            }
        }
    }
    Ok(())
}

/// The word FILES stands for four hundred commands that each make a file.
fn expanded(commands: &[&str]) -> Vec<String> {
    let files = (0..400).map(|number| format!("symlink Name-{number:03}-with-Ä-and-ß target"));
    let mut out = Vec::new();
    for command in commands {
        match *command {
            "FILES" => out.extend(files.clone()),
            other => out.push(other.to_owned()),
        }
    }
    out
}

/// Adds to what the kernel said what it does not say.
pub fn complete(truth: &mut Truth, image: &Path) -> Result<(), String> {
    (truth.header, truth.groups) = dumpe2fs(image)?;
    let inodes: Vec<u32> = truth.inodes.keys().copied().collect();
    let found = stats(image, &inodes)?;
    let raw: BTreeMap<u32, _> = inodes.into_iter().zip(found).collect();
    for (ino, entry) in &mut truth.inodes {
        let stat = &raw[ino];
        entry.flags = stat.entry.flags;
        entry.sectors = stat.entry.sectors;
        entry.project = stat.entry.project;
        entry.generation = stat.entry.generation;
        entry.file_acl = stat.entry.file_acl;
        if entry.flags & ENCRYPTED != 0 {
            // Of a symlink the kernel gives the length of what it shows.
            entry.size = stat.entry.size;
        }
        if entry.is_file() || entry.is_dir() {
            truth
                .extents
                .entry(*ino)
                .or_insert_with(|| stat.extents.clone());
        }
    }
    Ok(())
}
