"""Lets the kernel replay a journal: mounts and unmounts."""
import common

if __name__ == "__main__":
    job = common.job()
    with common.mounted(job["image"], job["mnt"], job["options"], journal=job.get("journal")):
        pass
    common.answer({})
