// Several whole servers in this process, on one database of their own.

import { type OpenServer, openServer, type ServerOptions } from '@jobcast/testkit/open-server'
import { createDatabase, sharedPostgres } from '@jobcast/testkit/postgres-server'
import type { Ending } from '@jobcast/testkit/temporary-folder'
import { newSecretText } from '../../src/domain/access/secret-text.ts'

type OpenNodes = { databaseUrl: string; nodes: OpenServer[] }

/** All know the same admin key. */
export async function openNodes(
  t: Ending,
  count: number,
  options: ServerOptions = {},
  optionsOf?: (index: number, databaseUrl: string) => ServerOptions,
): Promise<OpenNodes> {
  const databaseUrl = await createDatabase(await sharedPostgres())
  const adminKey = newSecretText('jc').text
  const open = (_: unknown, index: number) =>
    openServer(t, { ...options, adminKey, databaseUrl, ...optionsOf?.(index, databaseUrl) })
  return { databaseUrl, nodes: await Promise.all(Array.from({ length: count }, open)) }
}
