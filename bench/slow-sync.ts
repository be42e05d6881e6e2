// Simulates a slower disk: a preloaded library that waits before each sync. Needs a C compiler.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { overHttp, startOnCopy } from './contenders.ts'
import type { Loader } from './loader.ts'
import { measureCells } from './measure-cells.ts'
import type { Options } from './options.ts'
import { temporaryFolder } from './processes.ts'
import type { Stored } from './stored.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from './table.ts'

const source = (ms: number) => `#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slow(const char *name, int file) {
  usleep(${Math.round(ms * 1000)});
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(file);
}
int fsync(int file) { return slow("fsync", file); }
int fdatasync(int file) { return slow("fdatasync", file); }
`

/** The environment of a process whose syncs take this much longer. */
function slowSyncs(ms: number): Record<string, string> {
  const folder = temporaryFolder()
  const [code, library] = [join(folder, 'slow-sync.c'), join(folder, 'slow-sync.so')]
  writeFileSync(code, source(ms))
  execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, code, '-ldl'], { stdio: 'inherit' })
  return { LD_PRELOAD: library }
}

/** Jobcast on this disk and on the slower one, in turns. */
export async function slowSyncTable(
  stored: Stored,
  loader: Loader,
  options: Options & { slowSyncMs: number },
): Promise<string> {
  const env = slowSyncs(options.slowSyncMs)
  const [asItIs, slower] = ['Jobcast', `${options.slowSyncMs} ms slower`]
  const contenders = [
    overHttp(asItIs, loader, () => startOnCopy(stored)),
    overHttp(slower, loader, () => startOnCopy(stored, { env })),
  ]
  const results = await measureCells(options.cells, contenders, options)
  const head = ['devices', 'callers', 'triggers/s', 'spread', `${slower} /s`, 'p50 ms', 'spread', '**part**']
  const rows = results.map(({ cell, of }) => {
    const [before, after] = [of(asItIs), of(slower)]
    return [
      ...[formatRate(cell.devices), String(cell.callers)],
      ...[formatRate(before.callsPerSecond), formatSpread(before.spread)],
      ...[formatRate(after.callsPerSecond), formatMs(after.p50), formatSpread(after.spread)],
      `**${formatRatio(after.callsPerSecond / before.callsPerSecond)}**`,
    ]
  })
  return formatTable(head, rows)
}
