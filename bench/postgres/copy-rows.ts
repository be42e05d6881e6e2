// Limit: COPY of the same rows into the same table with the same indexes, from files that the server reads itself, in as
// many sessions as a node has commits in flight. No HTTP, no checks, no runs, no events.

import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Contender } from '../contenders.ts'
import { fleet } from '../fleet.ts'
import { removeFolder, temporaryFolder } from '../processes.ts'
import type { Databases } from './databases.ts'

const sessions = 2
/** Enough for the whole measurement; a session that finishes early still has a valid rate. */
const mostRows = 1_500_000

export function copyRows(name: string, databases: Databases): Contender {
  return {
    name,
    async measure({ devices }, { measureMs }) {
      const url = await databases.copy()
      const folder = temporaryFolder()
      const files = writeFiles(folder, devices, Math.min(2000, Math.ceil(mostRows / devices)))
      const clients = await Promise.all(Array.from({ length: sessions }, () => connect(url)))
      let calls = 0
      const waiting = files.values()
      const begun = performance.now()
      await Promise.all(
        clients.map(async (client) => {
          for (const file of waiting) {
            await client.query(`COPY execution (${columns}) FROM '${file}'`)
            calls++
            if (performance.now() - begun > measureMs) return
          }
        }),
      )
      const seconds = (performance.now() - begun) / 1000
      await Promise.all(clients.map((client) => client.end()))
      removeFolder(folder)
      await databases.drop(url)
      return { callsPerSecond: calls / seconds }
    },
  }
}

const columns = 'execution_id, run_id, owner_no, device_no, state, attempt, version_number'

function writeFiles(folder: string, rows: number, count: number): string[] {
  return Array.from({ length: count }, (_, call) => {
    const file = join(folder, `${call}.txt`)
    const lines = Array.from({ length: rows }, (__, row) => {
      const id = call * rows + row + 1
      return `${id}\t${call + 1}\t1\t${(id % fleet.length) + 1}\tPENDING\t1\t1\n`
    })
    writeFileSync(file, lines.join(''))
    chmodSync(file, 0o644)
    return file
  })
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  return client
}
