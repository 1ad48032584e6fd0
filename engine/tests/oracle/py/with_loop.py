"""Runs a command that wants a block device in place of a file.

mke2fs refuses an external journal in a file. The word JOURNAL in the command
stands for a loop device over the journal's file.
"""
import subprocess
import sys

import common

if __name__ == "__main__":
    job = common.job()
    with common.loop_device(job["journal"]) as device:
        words = [word.replace("JOURNAL", device) for word in job["command"]]
        subprocess.run(words, check=True, stdout=sys.stderr)
    common.answer({})
