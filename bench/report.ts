// The results of a run: printed, and written as Markdown to the file given by --out.

import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { dirname } from 'node:path'
import type { Options } from './options.ts'

/** The load average before this run: above 0.5, other work on the machine affects the figures. */
const loadBefore = loadavg()[0] ?? 0

export function publish(
  title: string,
  sections: string[],
  { out, measureMs, rounds }: Pick<Options, 'out' | 'measureMs' | 'rounds'>,
): void {
  const head = [
    `# ${title}, ${new Date().toISOString().slice(0, 10)}`,
    `${availableParallelism()} cores, Node ${process.versions.node}. ` +
      `Each figure is the median of ${rounds} round${rounds === 1 ? '' : 's'} of ${measureMs / 1000} s. ` +
      `Load average before the run: ${loadBefore.toFixed(1)}.`,
  ]
  const text = `${[...head, ...sections].join('\n\n')}\n`
  console.log(text)
  if (out === undefined) return
  mkdirSync(dirname(out), { recursive: true })
  writeFileSync(out, text)
}
