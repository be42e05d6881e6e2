// Flags of npm run bench:devices.

import { parseArgs } from 'node:util'
import { positive } from '../options.ts'
import { mostConnections as mostOfProcess } from './process-use.ts'

const parts = ['fan-out', 'memory', 'latency', 'updates', 'triggers'] as const
export type Part = (typeof parts)[number]

export type Options = {
  /** Connected devices, unless a measurement has its own smaller number. */
  devices: number
  /** Target for one node, or the limit of the system for one process. */
  mostConnections: number
  only: readonly Part[]
  warmUpMs: number
  measureMs: number
  rounds: number
  /** How long connections are held. */
  holdSeconds: number
  /** Wait before memory is measured. */
  settleMs: number
  /** Fan-outs that are not counted. */
  warmUps: number
  out: string | undefined
}

const usage = `
  --devices N   connect so many, and trigger all of them at once (default and at most 10000)
  --only LIST   of ${parts.join(',')}
  --seconds N   measure so long each time (default 3, after a warm-up of 1)
  --rounds N    measure so many times, the medians count (default 5)
  --quick       1,000 devices, 1 s, 1 round: to see that it works, not for numbers
  --out FILE    write the tables to FILE as Markdown
`

/** The limit of one trigger. */
const mostDevices = 10_000
const wantedConnections = 50_000

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      devices: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      out: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit()
  }
  const { quick } = values
  const devices = positive('devices', values.devices ?? (quick ? '1000' : String(mostDevices)))
  const mostConnections = Math.min(quick ? devices : wantedConnections, mostOfProcess())
  return {
    devices: Math.min(devices, mostDevices, mostConnections),
    mostConnections,
    only: values.only?.split(',').map(readPart) ?? parts,
    warmUpMs: quick ? 500 : 1000,
    measureMs: positive('seconds', values.seconds ?? (quick ? '1' : '3')) * 1000,
    rounds: positive('rounds', values.rounds ?? (quick ? '1' : '5')),
    holdSeconds: quick ? 3 : 60,
    settleMs: quick ? 500 : 3000,
    warmUps: quick ? 1 : 3,
    out: values.out,
  }
}

function readPart(text: string): Part {
  const part = parts.find((each) => each === text)
  if (part === undefined) throw new Error(`--only knows ${parts.join(', ')}, not "${text}"`)
  return part
}
