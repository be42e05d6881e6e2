// Flags of both commands.

import { parseArgs } from 'node:util'
import type { Cell } from './contenders.ts'

export type Options = {
  cells: Cell[]
  warmUpMs: number
  measureMs: number
  rounds: number
  /** The contenders to measure besides Jobcast; undefined means all. */
  beside: readonly string[] | undefined
  /** Undefined means all. */
  parts: readonly string[] | undefined
  /** Executions in the database before the measurements; 0 means only the empty database. */
  preload: number
  /** How much longer a sync takes on the slower disk; undefined if there is none. */
  slowSyncMs: number | undefined
  out: string | undefined
}

const usage = `
  --seconds N   measure each cell so long (default 3, after a warm-up of 1)
  --rounds N    measure each cell so many times, the medians count (default 5)
  --quick       1 s, 1 round: to see that it works, not for numbers
  --cells LIST  only these, as devices x callers: 1x64,10000x8; 1x64k has a new Idempotency-Key in each call
  --beside LIST only these beside Jobcast, as the tables name them: sketch,nothing stored
  --parts LIST  only these parts, as the command's README names them: triggers,restart
  --preload N   show the table a second time with N executions stored before, and time a restart on them
  --slow-sync N with npm run bench: also with every sync N ms slower, as a part of the rate without; needs cc
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
      beside: { type: 'string' },
      parts: { type: 'string' },
      preload: { type: 'string', default: '0' },
      'slow-sync': { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit()
  }
  const seconds = positive('seconds', values.seconds ?? (values.quick ? '1' : '3'))
  const rounds = positive('rounds', values.rounds ?? (values.quick ? '1' : '5'))
  return {
    cells: values.cells?.split(',').map(readCell) ?? defaultCells,
    warmUpMs: values.quick ? 500 : 1000,
    measureMs: seconds * 1000,
    rounds: Math.ceil(rounds),
    beside: values.beside?.split(','),
    parts: values.parts?.split(','),
    preload: values.preload === '0' ? 0 : positive('preload', values.preload),
    slowSyncMs: values['slow-sync'] === undefined ? undefined : positive('slow-sync', values['slow-sync']),
    out: values.out,
  }
}

/** The wanted ones, in the order of `all`. Throws for an unknown name. */
export function pick<Of extends { name: string }>(all: Of[], wanted: readonly string[] | undefined): Of[] {
  const unknown = wanted?.find((name) => all.every((each) => each.name !== name))
  if (unknown !== undefined)
    throw new Error(`"${unknown}" is none of ${all.map(({ name }) => name).join(', ')}`)
  return wanted === undefined ? all : all.filter(({ name }) => wanted.includes(name))
}

function readCell(text: string): Cell {
  const hasKeys = text.endsWith('k')
  const [devices = '', callers = ''] = (hasKeys ? text.slice(0, -1) : text).split('x')
  const cell = { devices: positive('cells', devices), callers: positive('cells', callers) }
  return hasKeys ? { ...cell, hasKeys } : cell
}

export function positive(name: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new Error(`--${name} is "${text}", not a number above 0`)
  return number
}
