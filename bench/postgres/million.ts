// Measures one call for a million devices, while other callers trigger one device each.

import { setTimeout as sleep } from 'node:timers/promises'
import { runCaller } from '../caller.ts'
import { residentKb } from '../devices/process-use.ts'
import { jobName } from '../fleet.ts'
import type { Jobcast } from '../jobcast.ts'
import { percentile } from '../numbers.ts'
import { buildRequests, inTurn } from '../requests.ts'
import { formatMs, formatTable } from '../table.ts'
import { type Databases, execute, startNode } from './databases.ts'

const devices = 1_000_000
const callers = 8
const warmUpMs = 2000

// Inserted directly: through the API it would take minutes, and it is not measured.
const PUT_DEVICES = `
  INSERT INTO device (owner_no, device_id, device_name, tags, created_at, updated_at)
  SELECT 1, 'many-' || lpad(number::text, 7, '0'), 'Many ' || number, '[]', 0, 0
  FROM generate_series(1, ${devices}) AS number`

export async function millionSection(databases: Databases): Promise<string> {
  console.error('one call for a million devices')
  const url = await databases.copy()
  await execute(url, PUT_DEVICES)
  await execute(url, 'VACUUM ANALYZE device')
  const node = await startNode(url, '--max-devices', String(devices))
  const others = callMeanwhile(node)
  await sleep(warmUpMs)
  const before = residentKb(node.pid)
  const memory = watchMemory(node.pid)
  others.begin()
  const call = await triggerAll(node)
  const times = await others.end()
  const peak = memory.end()
  const { rows } = await execute(url, 'SELECT count(*)::int AS count FROM execution WHERE run_id = $1', [
    call.runId,
  ])
  await node.end()
  await databases.drop(url)
  if (rows[0].count !== devices) throw new Error(`${rows[0].count} executions instead of ${devices}`)
  const table = formatTable(
    ['', ''],
    [
      [
        'from the request to the whole answer',
        `**${(call.ms / 1000).toFixed(1)} s** (60 is the most we accept)`,
      ],
      ['the answer', `${Math.round(call.bytes / 1e6)} MB`],
      ['other callers meanwhile, p50', `${formatMs(percentile(times, 0.5))} ms`],
      [
        'other callers meanwhile, p99',
        `**${formatMs(percentile(times, 0.99))} ms** (1000 is the most we accept)`,
      ],
      ['other callers meanwhile, most', `${formatMs(percentile(times, 1))} ms, ${times.length} calls`],
      ['resident memory of the node, before', `${Math.round(before / 1024)} MB`],
      ['resident memory of the node, most', `${Math.round(peak / 1024)} MB`],
    ],
  )
  return `## 1,000,000 executions from one call, beside ${callers} callers with 1 device\n\n${table}`
}

async function triggerAll({ port, apiKey }: Jobcast): Promise<{ ms: number; bytes: number; runId: number }> {
  const deviceIds = Array.from(
    { length: devices },
    (_, index) => `many-${String(index + 1).padStart(7, '0')}`,
  )
  const body = JSON.stringify({ jobName, deviceIds })
  const begun = performance.now()
  const reply = await fetch(`http://127.0.0.1:${port}/job/api/jobs/execute`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body,
  })
  let bytes = 0
  for await (const chunk of reply.body ?? []) bytes += chunk.length
  if (reply.status !== 201) throw new Error(`the call for ${devices} devices was answered ${reply.status}`)
  const runId = Number(reply.headers.get('location')?.split('/').at(-1))
  return { ms: performance.now() - begun, bytes, runId }
}

function callMeanwhile({ port, apiKey }: Jobcast) {
  const requests = buildRequests({ kind: 'trigger', devices: 1 }, apiKey)
  const times: number[] = []
  let isTimed = false
  let isOver = false
  const onAnswer = (ms: number) => {
    if (isTimed) times.push(ms)
    return !isOver
  }
  const all = Promise.all(
    Array.from({ length: callers }, (_, first) =>
      runCaller({ port, next: inTurn(requests, first), onAnswer }),
    ),
  )
  all.catch(() => undefined)
  return {
    begin() {
      isTimed = true
    },
    async end() {
      isOver = true
      await all
      return times.sort((a, b) => a - b)
    },
  }
}

function watchMemory(pid: number): { end(): number } {
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, residentKb(pid))
  }, 100)
  return {
    end() {
      clearInterval(timer)
      return most
    },
  }
}
