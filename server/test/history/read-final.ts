// Reads the final state from the API: every run, execution, history and event.

import assert from 'node:assert/strict'
import type { Execution, JobcastEvent, Run, Transition } from '@jobcast/contract'
import type { Api } from '@jobcast/testkit/call-api'
import { EventListener } from '@jobcast/testkit/event-listener'
import type { Final } from './history.ts'

const callsAtOnce = 8

/** Undefined while a run is unfinished, or is created meanwhile. */
export async function readFinal(api: Api, webhookAfter: number): Promise<Final | undefined> {
  const unfinished = await api.call('GET', '/job/api/runs?finished=false&limit=1')
  if (unfinished.status !== 200 || unfinished.json.items.length > 0) return undefined
  const runs = await readAll<Run>(api, '/job/api/runs')
  const log = await readLog(api, runs.length)
  if (log === undefined) return undefined
  const executions = await readAll<Execution>(api, '/job/api/executions')
  const transitions = new Map<number, Transition[]>()
  const left = executions.map(({ jobExecutionId }) => jobExecutionId)
  const read = async () => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const reply = await api.call('GET', `/job/api/executions/${id}/history`)
      assert.equal(reply.status, 200, reply.text)
      transitions.set(id, reply.json.items)
    }
  }
  await Promise.all(Array.from({ length: callsAtOnce }, read))
  return { runs, executions, transitions, log, webhookAfter }
}

async function readAll<T>(api: Api, path: string): Promise<T[]> {
  const all: T[] = []
  let cursor = ''
  do {
    const reply = await api.call(
      'GET',
      `${path}?limit=200${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    assert.equal(reply.status, 200, reply.text)
    all.push(...reply.json.items)
    cursor = reply.json.nextCursor ?? ''
  } while (cursor !== '')
  return all
}

/** In one go, from its beginning up to the end of as many runs. */
async function readLog(api: Api, runs: number): Promise<JobcastEvent[] | undefined> {
  const listener = await EventListener.open(api.http, api.adminKey, { query: '?after=0' })
  const count = (type: string) => listener.events.filter((event) => event.type === type).length
  await listener.until(() => count('run.created') >= runs && count('run.finished') >= runs)
  listener.close()
  await listener.ended
  return count('run.created') === runs ? listener.events : undefined
}
