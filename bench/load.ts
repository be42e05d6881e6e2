// The load process: handles one request of its parent at a time, and responds with the measurements.

import { runCaller } from './caller.ts'
import { runClient } from './client-caller.ts'
import { percentile } from './numbers.ts'
import { buildCalls, type Work } from './requests.ts'

export type LoadOrder = {
  port: number
  apiKey: string
  work: Work
  callers: number
  warmUpMs: number
  measureMs: number
  /** Over TLS 1.3. */
  hasTls?: boolean
  /** Uses our own client instead of bare sockets. */
  byClient?: boolean
}

export type LoadResult = {
  callsPerSecond: number
  p50: number
  p99: number
  /** Mean size of a response, including its head. */
  answerBytes: number
  /** Cores that this process kept busy. */
  cores: number
}

// A slow contender is measured until every caller has some responses, up to a limit.
const minAnswersPerCaller = 3
const maxMeasureMs = 60_000

async function runLoad(order: LoadOrder): Promise<LoadResult> {
  const { port, apiKey, work, callers, hasTls, byClient = false, ...timing } = order
  const from = performance.now() + timing.warmUpMs
  const until = from + timing.measureMs
  const times: number[] = []
  let result: LoadResult | undefined
  let bytes = 0
  let cpuBefore: NodeJS.CpuUsage | undefined

  const onAnswer = (ms: number, size: number) => {
    const now = performance.now()
    if (result !== undefined) return false
    if (now < from) return true
    cpuBefore ??= process.cpuUsage()
    times.push(ms)
    bytes += size
    const enough = now >= until && times.length >= callers * minAnswersPerCaller
    if (enough || now >= from + maxMeasureMs) result = summarize(times, bytes, (now - from) / 1000, cpuBefore)
    return result === undefined
  }
  await Promise.all(
    byClient
      ? Array.from({ length: callers }, (_, caller) => runClient({ port, apiKey, work, caller, onAnswer }))
      : buildCalls(work, apiKey, callers).map((next) => runCaller({ port, next, hasTls, onAnswer })),
  )
  return result as unknown as LoadResult
}

function summarize(times: number[], bytes: number, seconds: number, cpuBefore: NodeJS.CpuUsage): LoadResult {
  const { user, system } = process.cpuUsage(cpuBefore)
  times.sort((a, b) => a - b)
  return {
    callsPerSecond: times.length / seconds,
    p50: percentile(times, 0.5),
    p99: percentile(times, 0.99),
    answerBytes: bytes / times.length,
    cores: (user + system) / 1e6 / seconds,
  }
}

process.on('message', async (order: LoadOrder) => {
  try {
    process.send?.({ result: await runLoad(order) })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.message : String(error) })
  }
})
process.on('disconnect', () => process.exit())
