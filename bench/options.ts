// Flags of both commands.

import { parseArgs } from 'node:util'
import type { Cell } from './contenders.ts'

export type Options = {
  cells: Cell[]
  warmUpMs: number
  measureMs: number
  rounds: number
  /** Executions in the database before anything is measured; 0: the empty database only. */
  preload: number
  out: string | undefined
}

export const usage = `
  --seconds N   measure each cell so long (default 3, after a warm-up of 1)
  --rounds N    measure each cell so many times, the medians count (default 3)
  --quick       1 s, 1 round: to see that it works, not for numbers
  --cells LIST  only these, as devices x callers: 1x64,10000x8
  --preload N   show the table a second time with N executions stored before, and time a restart on them
  --out FILE    write the tables to FILE as Markdown
`

export function readOptions(args: string[], defaultCells: Cell[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      cells: { type: 'string' },
      preload: { type: 'string', default: '0' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit()
  }
  const seconds = positive('seconds', values.seconds ?? (values.quick ? '1' : '3'))
  const rounds = positive('rounds', values.rounds ?? (values.quick ? '1' : '3'))
  return {
    cells: values.cells?.split(',').map(readCell) ?? defaultCells,
    warmUpMs: values.quick ? 500 : 1000,
    measureMs: seconds * 1000,
    rounds: Math.ceil(rounds),
    preload: values.preload === '0' ? 0 : positive('preload', values.preload),
    out: values.out,
  }
}

function readCell(text: string): Cell {
  const [devices = '', callers = ''] = text.split('x')
  return { devices: positive('cells', devices), callers: positive('cells', callers) }
}

export function positive(name: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new Error(`--${name} is "${text}", not a number above 0`)
  return number
}
