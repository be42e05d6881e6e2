// Measures realistic callers: with a new or a repeated Idempotency-Key, through a proxy, over TLS, with our own client. It
// compares the server's CPU time per trigger with that of a plain one: CPU time depends less on other work on the machine
// than rates do, and tells how much a node can serve. Linux only: it reads /proc.

import { certificates } from '@jobcast/testkit/certificates'
import type { Timing } from './contenders.ts'
import { cpuMs } from './devices/process-use.ts'
import type { LoadOrder } from './load.ts'
import type { Loader } from './loader.ts'
import { median } from './numbers.ts'
import { type Manner, manners } from './requests.ts'
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from './table.ts'

const many = 64

type Measured = { callsPerSecond: number; cpuMicros: number; p50: number; p50Alone: number }
type MeasuredTarget = { port: number; apiKey: string; pid: number; end(): Promise<void> }
/** `flags` start a server with TLS. */
type StartServer = (flags?: string[]) => Promise<MeasuredTarget>
type CallerRow = {
  name: string
  start: () => Promise<MeasuredTarget>
  manner?: Manner
  order?: Pick<LoadOrder, 'hasTls' | 'byClient'>
}

const tlsFlags = ['--tls-cert', certificates.serverCert, '--tls-key', certificates.serverKey]

function callerRows(start: StartServer): CallerRow[] {
  return [
    ...manners.map((manner) => ({ name: manner, manner, start: () => start() })),
    { name: 'over TLS 1.3', start: () => start(tlsFlags), order: { hasTls: true } },
    {
      name: 'new key over TLS 1.3',
      manner: 'new key',
      start: () => start(tlsFlags),
      order: { hasTls: true },
    },
    { name: 'our own client', start: () => start(), order: { byClient: true } },
  ]
}

export async function callersSection(
  start: StartServer,
  loader: Loader,
  { rounds, ...timing }: Timing & { rounds: number },
): Promise<string> {
  const rows = callerRows(start)
  const measured = new Map<string, Measured[]>(rows.map(({ name }) => [name, []]))
  for (let round = 1; round <= rounds; round++) {
    for (const row of rows) {
      const result = await measure(row, loader, timing)
      measured.get(row.name)?.push(result)
      console.error(
        `${row.name}: ${result.cpuMicros.toFixed(0)} µs, ${result.callsPerSecond.toFixed(0)} calls/s`,
      )
    }
  }
  const plain = summarize(measured.get('plain') ?? [])
  const head = [
    'caller',
    'CPU µs',
    'of plain',
    'spread',
    'triggers/s',
    'of plain',
    'p50 ms',
    '1 caller: p50 ms',
  ]
  const table = formatTable(
    head,
    rows.map(({ name }) => {
      const { cpuMicros, spread, callsPerSecond, p50, p50Alone } = summarize(measured.get(name) ?? [])
      return [
        name,
        cpuMicros.toFixed(0),
        formatRatio(cpuMicros / plain.cpuMicros),
        formatSpread(spread),
        formatRate(callsPerSecond),
        formatRatio(callsPerSecond / plain.callsPerSecond),
        formatMs(p50),
        formatMs(p50Alone),
      ]
    }),
  )
  return `## Callers as they come: 1 device, ${many} callers\n\n${table}`
}

async function measure(
  { start, manner = 'plain', order = {} }: CallerRow,
  loader: Loader,
  { warmUpMs, measureMs }: Timing,
): Promise<Measured> {
  const { port, apiKey, pid, end } = await start()
  const work = { kind: 'trigger', devices: 1, manner } as const
  const run = (callers: number, ms: number) =>
    loader.run({ port, apiKey, work, callers, warmUpMs: 0, measureMs: ms, ...order })
  await run(many, warmUpMs)
  const before = cpuMs(pid)
  const { callsPerSecond, p50 } = await run(many, measureMs)
  const cpuMicros = ((cpuMs(pid) - before) * 1000) / ((callsPerSecond * measureMs) / 1000)
  const { p50: p50Alone } = await run(1, Math.min(1000, measureMs))
  await end()
  return { callsPerSecond, cpuMicros, p50, p50Alone }
}

function summarize(rounds: Measured[]): Measured & { spread: number } {
  const middle = (field: keyof Measured) => median(rounds.map((round) => round[field]))
  const costs = rounds.map(({ cpuMicros }) => cpuMicros)
  const cpuMicros = middle('cpuMicros')
  return {
    cpuMicros,
    callsPerSecond: middle('callsPerSecond'),
    p50: middle('p50'),
    p50Alone: middle('p50Alone'),
    spread: costs.length > 1 ? (Math.max(...costs) - Math.min(...costs)) / cpuMicros : Number.NaN,
  }
}
