// A fleet registered in a store, with tags and attributes: half of the devices are kiosks, and one in 10,000 is a canary.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDatabase, execute, startPostgres } from '@jobcast/testkit/postgres-server'
import { steadyInstant } from '../server/src/domain/common/instants.ts'
import type { Store } from '../server/src/domain/common/ports/store.ts'
import { openPostgresStore } from '../server/src/store/postgres/postgres-store.ts'
import { openSqliteStore } from '../server/src/store/sqlite/sqlite-store.ts'
import { removeFolder, temporaryFolder } from './processes.ts'

export const ownerNo = 1
const devicesAtOnce = 2000
const sites = 100
const versions = ['2.2.9', '2.3.0', '2.3.4', '2.4.0', '2.4.1']

export type RegisteredStore = {
  store: Store
  /** CPU time of the store in milliseconds, on PostgreSQL including the database. */
  cpu: () => number
  close(): Promise<void>
}

export const momentAt = (at: number) => ({
  at,
  clock: steadyInstant(at),
  chance: 0,
  cancelDeadlineMs: 60_000,
})

export const nameOf = (index: number) => `device-${String(index).padStart(7, '0')}`

export async function openRegistered(devices: number, isPostgres: boolean): Promise<RegisteredStore> {
  const opened = isPostgres ? await openOnPostgres() : openOnSqlite()
  await register(opened.store, devices)
  return opened
}

function openOnSqlite(): RegisteredStore {
  const folder = temporaryFolder()
  const onLost = (error: Error) => {
    throw error
  }
  const store = openSqliteStore({ folder, onLost })
  const close = async () => {
    await store.close()
    removeFolder(folder)
  }
  return { store, cpu: ownCpu, close }
}

async function openOnPostgres(): Promise<RegisteredStore> {
  const postgres = await startPostgres()
  const url = await createDatabase(postgres.url)
  const [row] = await execute(url, 'SHOW data_directory')
  const pidFile = readFileSync(join(String(row?.data_directory), 'postmaster.pid'), 'utf8')
  const pid = Number(pidFile.split('\n', 1)[0])
  const store = await openPostgresStore({ url })
  const close = async () => {
    await store.close()
    await postgres.stop()
  }
  return { store, cpu: () => ownCpu() + treeCpu(pid), close }
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const msPerTick = 10

/** CPU time of a process and its children, including ended ones. */
export function treeCpu(pid: number): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.reduce((sum, each) => {
    try {
      const [, fields = ''] = readFileSync(`/proc/${each}/stat`, 'utf8').split(') ')
      const values = fields.split(' ').map(Number)
      const [user = 0, system = 0, ofEnded = 0, systemOfEnded = 0] = values.slice(11, 15)
      if (Number(each) === pid) return sum + (user + system + ofEnded + systemOfEnded) * msPerTick
      return values[1] === pid ? sum + (user + system) * msPerTick : sum
    } catch {
      // The process has ended meanwhile.
      return sum
    }
  }, 0)
}

async function register(store: Store, devices: number): Promise<void> {
  const policies = { expireAfterSeconds: null, timeoutSeconds: null, deadlineSeconds: null, retry: null }
  await store.createOwner({ ownerId: 'ow_1', ownerName: 'default', createdAt: 0 })
  const content = { description: '', document: {}, ...policies }
  await store.putJob({ ownerNo, jobName: 'update', content, at: 0 })
  for (let start = 0; start < devices; start += devicesAtOnce) {
    const count = Math.min(devicesAtOnce, devices - start)
    await store.putDevices(
      Array.from({ length: count }, (_, offset) => {
        const index = start + offset
        const tags = [index % 2 === 0 ? 'kiosk' : 'gate', ...(index % 10_000 === 0 ? ['canary'] : [])]
        const attributes = {
          site: `site-${index % sites}`,
          fw: versions[(index >> 3) % versions.length] as string,
          slot: index % 1000,
        }
        return { ownerNo, deviceId: nameOf(index), deviceName: `Device ${index}`, tags, attributes, at: 0 }
      }),
    )
  }
}
