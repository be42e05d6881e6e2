// Loaded into the measured process with --import. Reports to the benchmark how long turns of its event loop took and what CPU it used.

import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'

/** In milliseconds, since the previous request. */
export type LoopReport = { p50: number; p99: number; most: number; cpu: number }

const resolutionMs = 1
const path = process.env.BENCH_LOOP

if (isMainThread && path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs })
  delay.enable()
  let cpu = process.cpuUsage()
  const server = createServer((_request, response) => {
    const { user, system } = process.cpuUsage(cpu)
    // A delay includes the interval at which it is measured.
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - resolutionMs)
    const report: LoopReport = {
      ...{ p50: ms(delay.percentile(50)), p99: ms(delay.percentile(99)), most: ms(delay.max) },
      cpu: (user + system) / 1000,
    }
    cpu = process.cpuUsage()
    delay.reset()
    response.end(JSON.stringify(report))
  })
  server.listen(path)
  server.unref()
}
