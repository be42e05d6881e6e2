// Several nodes as real programs on one database: to be killed, paused, and cut off from each other.

import { setTimeout as delay } from 'node:timers/promises'
import type { Api } from '@jobcast/testkit/call-api'
import { openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import { createDatabase, execute, sharedPostgres } from '@jobcast/testkit/postgres-server'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { startProgram } from '@jobcast/testkit/spawn-server'
import { type Ending, newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { newSecretText } from '../../src/domain/access/secret-text.ts'

/** Where callers and devices reach one. */
export type Node = Api & { mqtt: string }

type SpawnedNodes = { databaseUrl: string; nodes: RestartingServer[]; beside: Node[] }

type SpawnNodesOptions = {
  /** A PostgreSQL of its own. */
  server?: string
  flags?: string[]
  env?: Record<string, string>
  /** Additional nodes in this process, which are never killed or paused; a separate process costs five times as much. */
  beside?: number
}

/** All know the same admin key. Resolves when all are ready. */
export async function spawnNodes(
  t: Ending,
  count: number,
  { server, flags = [], env: given = {}, beside = 0 }: SpawnNodesOptions = {},
): Promise<SpawnedNodes> {
  const databaseUrl = await createDatabase(server ?? (await sharedPostgres()))
  const adminKey = newSecretText('jc').text
  const env = { ...given, DATABASE_URL: databaseUrl, JOBCAST_ADMIN_KEY: adminKey }
  const nodes: RestartingServer[] = []
  for (let index = 0; index < count; index++) {
    const folder = newTemporaryFolder()
    const node = new RestartingServer(() => startProgram(folder, { flags, env }).ready)
    nodes.push(node)
    t.after(async () => {
      await wake(node)
      await node.end()
    })
    removeAfter(t, folder)
  }
  await Promise.all(nodes.map((node) => node.running()))
  const opened = Array.from({ length: beside }, () => openBeside(t, databaseUrl, adminKey))
  return { databaseUrl, nodes, beside: await Promise.all(opened) }
}

/** One more node of the database, in this process. */
export async function openBeside(
  t: Ending,
  databaseUrl: string,
  adminKey: string,
  options: ServerOptions = {},
): Promise<Node> {
  const open = await openServer(t, { ...options, databaseUrl, adminKey })
  return { ...open, mqtt: open.server.mqtt }
}

/** Suspends the process. */
const pause = (node: RestartingServer): Promise<void> => node.send('SIGSTOP')

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

/** Cuts the connections for hints, identified by their last statement; returns their number. */
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
export function until(what: string, isSo: () => Promise<boolean>, timeoutMs = 120_000): Promise<number> {
  return waitUntil(what, () => isSo().catch(() => false), { timeoutMs })
}

/** Of the nodes that there are by what the database says. */
export async function nodeNumbers(databaseUrl: string): Promise<number[]> {
  const rows = await execute(databaseUrl, 'SELECT node_no FROM node')
  return rows.map((row) => row.node_no as number)
}
