// Flags of npm run bench:bridge.

import { parseArgs } from 'node:util'
import { positive } from '../options.ts'

const parts = ['notices', 'reports', 'slow-broker'] as const
type Part = (typeof parts)[number]

export type Options = {
  devices: number
  only: readonly Part[]
  warmUpMs: number
  measureMs: number
  rounds: number
  out: string | undefined
}

const usage = `
  --devices N   connect so many (default and at most 10000)
  --only LIST   of ${parts.join(',')}
  --seconds N   measure so long each time (default 3, after a warm-up of 1)
  --rounds N    measure so many times, the medians count (default 5)
  --quick       1,000 devices, 1 s, 1 round: to see that it works, not for numbers
  --out FILE    write the tables to FILE as Markdown
`
/** The limit of one trigger. */
const mostDevices = 10_000

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
  return {
    devices: Math.min(devices, mostDevices),
    only: values.only?.split(',').map(readPart) ?? parts,
    warmUpMs: quick ? 500 : 1000,
    measureMs: positive('seconds', values.seconds ?? (quick ? '1' : '3')) * 1000,
    rounds: positive('rounds', values.rounds ?? (quick ? '1' : '5')),
    out: values.out,
  }
}

function readPart(text: string): Part {
  const part = parts.find((each) => each === text)
  if (part === undefined) throw new Error(`--only knows ${parts.join(', ')}, not "${text}"`)
  return part
}
