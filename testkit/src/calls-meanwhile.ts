// Calls of an owner, one after the other, in their own thread: so their times are those of the server, however busy the test
// is with its devices. This file is both the thread's program and its interface.

import { once } from 'node:events'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Api, buildApi } from './call-api.ts'

type OwnerCall = { method: string; path: string; body?: object }
type Order = { http: string; adminKey: string; calls: OwnerCall[] }

type CallTimes = { ms: number[]; failures: string[] }

/** Calls until it is stopped; `stop` returns how long each call took, and the unsuccessful responses. */
export async function startCalls(
  { http, adminKey }: Pick<Api, 'http' | 'adminKey'>,
  calls: OwnerCall[],
): Promise<{ stop: () => Promise<CallTimes> }> {
  const order: Order = { http, adminKey, calls }
  const worker = new Worker(new URL(import.meta.url), { workerData: { order } })
  await once(worker, 'message')
  return {
    async stop() {
      const answer = once(worker, 'message')
      worker.postMessage('stop')
      const [times] = await answer
      await worker.terminate()
      return times
    },
  }
}

async function callUntilStopped({ http, adminKey, calls }: Order): Promise<void> {
  const api = buildApi(http, adminKey)
  const times: CallTimes = { ms: [], failures: [] }
  let isOver = false
  parentPort?.once('message', () => {
    isOver = true
  })
  parentPort?.postMessage('started')
  while (!isOver) {
    for (const { method, path, body } of calls) {
      const begun = performance.now()
      const outcome = await api
        .call(method, path, body ? { body } : {})
        .then(({ status, text }) => (status < 300 ? undefined : text), String)
      times.ms.push(performance.now() - begun)
      if (outcome !== undefined) times.failures.push(`${method} ${path}: ${outcome}`)
    }
  }
  parentPort?.postMessage(times)
}

if (!isMainThread && workerData?.order) void callUntilStopped(workerData.order)
