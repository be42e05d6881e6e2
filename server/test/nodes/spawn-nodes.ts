// Several nodes as real programs on one database: to be killed, paused, and cut off from each other.

import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { newSecretText } from '../../src/domain/secret-text.ts'

/** `numbers`: by which the nodes know each other at first, if they were started in turn. */
export type SpawnedNodes = { databaseUrl: string; nodes: RestartingServer[]; numbers: number[] }

export type SpawnNodesOptions = {
  /** A PostgreSQL of its own. */
  server?: string
  flags?: string[]
  /** One after the other, which takes longer. */
  inTurn?: boolean
}

/** All know the same admin key. Resolves when all are ready. */
export async function spawnNodes(
  t: Pick<TestContext, 'after'>,
  count: number,
  { server, flags = [], inTurn = false }: SpawnNodesOptions = {},
): Promise<SpawnedNodes> {
  const databaseUrl = await createDatabase(server ?? (await sharedPostgres()))
  const env = { DATABASE_URL: databaseUrl, JOBCAST_ADMIN_KEY: newSecretText('jc').text }
  const nodes: RestartingServer[] = []
  const numbers: number[] = []
  for (let index = 0; index < count; index++) {
    const folder = newTemporaryFolder()
    const node = new RestartingServer(() => startProgram(folder, { flags, env }).ready)
    nodes.push(node)
    t.after(async () => {
      await wake(node)
      await node.end()
    })
    removeAfter(t, folder)
    if (!inTurn) continue
    await node.running()
    numbers.push(...(await nodeNumbers(databaseUrl)).filter((nodeNo) => !numbers.includes(nodeNo)))
  }
  await Promise.all(nodes.map((node) => node.running()))
  return { databaseUrl, nodes, numbers }
}

/** As if its machine stood still. */
export const pause = (node: RestartingServer): Promise<void> => node.send('SIGSTOP')

export const wake = (node: RestartingServer): Promise<void> => node.send('SIGCONT')

/**
 * For so long at least, and until what happens meanwhile has happened. How long is what such a test varies: a silence
 * has no event at its end.
 */
export async function standStill(
  node: RestartingServer,
  ms: number,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  const minimum = delay(ms)
  await pause(node)
  await Promise.all([minimum, meanwhile()])
  await wake(node)
}

/** Cuts the connections over which nodes hear each other, known by what was said on them last; gives how many. */
export async function cutHearing(databaseUrl: string): Promise<number> {
  const rows = await execute(
    databaseUrl,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND application_name LIKE 'jobcast node %'
       AND query ~ 'LISTEN|pg_notify|pg_try_advisory_lock|pg_advisory_unlock'`,
  )
  return rows.length
}

/** Resolves once it is so; `what` is said if it never is. A database that is away says nothing. */
export function until(what: string, isSo: () => Promise<boolean>, timeoutMs = 60_000): Promise<number> {
  return waitUntil(what, () => isSo().catch(() => false), { timeoutMs, intervalMs: 50 })
}

/** Of the nodes that there are by what the database says. */
export async function nodeNumbers(databaseUrl: string): Promise<number[]> {
  const rows = await execute(databaseUrl, 'SELECT node_no FROM node')
  return rows.map((row) => row.node_no as number)
}
