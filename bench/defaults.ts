// Measures what each feature that is on by default costs a trigger of one device: each one alone in a loop, compared with
// the CPU time of the whole call in the real program. Linux only: it reads /proc.

import type { RateLimit } from '@jobcast/contract'
import { newSecretText } from '@jobcast/server'
import { noQuotas } from '../server/src/domain/access/quotas.ts'
import { hashSecret } from '../server/src/domain/access/secret-text.ts'
import { RateLimits, unlimited } from '../server/src/limits/rate-limits.ts'
import type { ServiceEvent } from '../server/src/observe/events.ts'
import { buildMetrics } from '../server/src/observe/metrics.ts'
import { requestLine } from '../server/src/observe/request-line.ts'
import { QuotaCounts } from '../server/src/state/quota-counts.ts'
import { RightSecrets } from '../server/src/state/right-secrets.ts'
import { cpuMs } from './devices/process-use.ts'
import { eventMicroseconds } from './event-cost.ts'
import { startJobcast } from './jobcast.ts'
import { openLoader } from './loader.ts'
import { median } from './numbers.ts'
import { removeFolder } from './processes.ts'
import { buildStored, copyStored } from './stored.ts'
import { formatTable } from './table.ts'

const rounds = 5
const callers = 64
const measureMs = 3000
const loops = 200_000

const answered = {
  kind: 'request-answered',
  requestId: 'mfx1-2s',
  method: 'POST',
  route: '/job/api/jobs/execute',
  status: 201,
  ms: 1.2345,
  keyId: 'aBcDeFgHiJ',
  ownerId: 'ow_1',
  runId: 1,
  triedKeyId: undefined,
  code: undefined,
  address: '127.0.0.1',
  userAgent: 'curl/8.5.0',
} satisfies ServiceEvent

/** CPU time in microseconds, which depends little on other work on the machine; median of the rounds. */
function timed(work: () => unknown): number {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const before = process.cpuUsage()
    for (let count = 0; count < loops; count++) work()
    const { user, system } = process.cpuUsage(before)
    if (round > 0) times.push((user + system) / loops)
  }
  return median(times)
}

async function partCosts(): Promise<[part: string, microseconds: number][]> {
  const secret = newSecretText('jc')
  const stored = hashSecret(secret.text)
  const secrets = new RightSecrets()
  const metrics = buildMetrics()
  const rates = { ...unlimited, key: 1_000_000_000, owner: 1_000_000_000 }
  const limits = new RateLimits(rates, () => performance.now())
  const quotas = { ...noQuotas, executions: 1_000_000_000 }
  const clock = { now: Date.now, elapsed: () => performance.now() }
  const counts = new QuotaCounts({ store: { countUsed: async () => 0 }, quotas, ...clock })
  await counts.reserve('executions', 1)
  const takeBoth = (): (RateLimit | undefined)[] => [
    limits.take('key', secret.id),
    limits.take('owner', 'ow_1'),
  ]
  return [
    [
      'the API key is checked',
      timed(() => secrets.idOf('jc', secret.text) && secrets.matches(secret.text, stored)),
    ],
    ['rate limits of the key and the owner', timed(takeBoth)],
    [
      'quota of unfinished executions',
      timed(() => {
        counts.reserve('executions', 1)
        counts.settle('executions', 1, 1, true)
      }),
    ],
    ['log line of the request', timed(() => requestLine('info', Date.now(), answered))],
    ['metrics of the request', timed(() => metrics.tell(answered))],
    ['event of the run, in the transaction', await eventMicroseconds()],
  ]
}

/** CPU time of all threads of the server. */
async function wholeCall(): Promise<number> {
  const stored = await buildStored(0)
  const loader = openLoader()
  const costs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const folder = copyStored(stored)
    const { port, apiKey, pid, end } = await startJobcast(folder)
    const work = { kind: 'trigger', devices: 1 } as const
    await loader.run({ port, apiKey, warmUpMs: 0, measureMs: 1000, work, callers })
    const before = cpuMs(pid)
    const { callsPerSecond } = await loader.run({ port, apiKey, warmUpMs: 0, measureMs, work, callers })
    costs.push(((cpuMs(pid) - before) * 1000) / ((callsPerSecond * measureMs) / 1000))
    await end()
    removeFolder(folder)
  }
  return median(costs)
}

const parts = await partCosts()
const whole = await wholeCall()
const row = (part: string, microseconds: number) => [
  part,
  microseconds.toFixed(2),
  `${((microseconds / whole) * 100).toFixed(1)} %`,
]
console.log(`A trigger of one device, ${callers} callers, embedded database; medians of ${rounds} rounds\n`)
console.log(
  formatTable(
    ['part', 'µs', 'of the call'],
    [...parts.map(([part, microseconds]) => row(part, microseconds)), row('the whole call, CPU time', whole)],
  ),
)
process.exit()
