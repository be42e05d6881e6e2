// The service as real programs, with an address that stays while the program behind it is killed and started again:
// one node on SQLite, or three nodes on a PostgreSQL of their own. And the faults that it is given.

import type { TestContext } from 'node:test'
import { type CuttingProxy, openCuttingProxy } from '@jobcast/testkit/cutting-proxy'
import { type PostgresServer, startPostgres } from '@jobcast/testkit/postgres-server'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import type { Random } from '@jobcast/testkit/seeded-random'
import { type SpawnedServer, startProgram } from '@jobcast/testkit/spawn-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { newSecretText } from '../../src/domain/access/secret-text.ts'
import { cutHearing, spawnNodes, standStill, wake } from '../nodes/spawn-nodes.ts'
import type { NodeAddress } from '../nodes/working-device.ts'

export type Cleanup = Pick<TestContext, 'after'>
export type StoreName = 'sqlite' | 'pg'
export type Fault = 'kill' | 'pause' | 'crash' | 'cut' | 'cut-database'

const flags = ['--webhook-allow', '127.0.0.1', '--log-level', 'warn']
const secretsKey = { JOBCAST_SECRETS_KEY: Buffer.alloc(32, 'history').toString('base64') }
const longestPauseMs = 2500
/** The others count a node as gone after ten seconds. */
const deadlyPauseMs = 12_000

type Node = {
  server: RestartingServer
  /** Undefined while it is killed: another program of this machine may have its port by then. */
  current: SpawnedServer | undefined
  http: CuttingProxy
  mqtt: CuttingProxy
}

export class DisturbedService {
  readonly done: Record<Fault, number> = { kill: 0, pause: 0, crash: 0, cut: 0, 'cut-database': 0 }
  readonly adminKey: string
  readonly #nodes: Node[]
  readonly #postgres: PostgresServer | undefined
  readonly #databaseUrl: string
  /** Of nodes that were killed. */
  #errors = ''

  private constructor(nodes: Node[], postgres: PostgresServer | undefined, databaseUrl: string) {
    this.#nodes = nodes
    this.#postgres = postgres
    this.#databaseUrl = databaseUrl
    this.adminKey = nodes[0]?.current?.adminKey ?? ''
  }

  static async open(t: Cleanup, store: StoreName): Promise<DisturbedService> {
    if (store === 'sqlite') {
      const folder = newTemporaryFolder()
      const env = { JOBCAST_ADMIN_KEY: newSecretText('jc').text, ...secretsKey }
      const server = new RestartingServer(() => startProgram(folder, { flags, env }).ready)
      t.after(async () => {
        await wake(server)
        await server.end()
      })
      removeAfter(t, folder)
      return new DisturbedService([await toNode(t, server)], undefined, '')
    }
    const postgres = await startPostgres()
    const { nodes, databaseUrl } = await spawnNodes(t, 3, {
      ...{ server: postgres.url, flags, env: secretsKey },
    })
    t.after(() => postgres.stop())
    return new DisturbedService(
      await Promise.all(nodes.map((each) => toNode(t, each))),
      postgres,
      databaseUrl,
    )
  }

  /** Any node, also one that is killed or stands still. */
  pickNode(random: Random): NodeAddress {
    const { http, mqtt } = random.pick(this.#nodes)
    return { http: http.url, mqtt: mqtt.url.replace('http', 'mqtt') }
  }

  /** A node that runs, at its own address. */
  get running(): Promise<SpawnedServer> {
    return (this.#nodes[0] as Node).server.running()
  }

  get errors(): string {
    return this.#errors + this.#nodes.map(({ current }) => current?.output.errors ?? '').join('')
  }

  /** Faults that the store can have, as often as they are to be picked. */
  get possible(): Fault[] {
    const ofAll: Fault[] = ['kill', 'kill', 'pause', 'cut', 'cut']
    return this.#postgres ? [...ofAll, 'pause', 'crash', 'crash', 'cut-database'] : ofAll
  }

  /** One fault, or two at once on different nodes. Resolves when all nodes run again. */
  async disturb(faults: readonly Fault[], random: Random): Promise<void> {
    const nodes = random.some(this.#nodes, faults.length)
    const given = faults.map((fault, index) => ({
      fault,
      node: nodes[index] ?? (nodes[0] as Node),
      ms: this.#nodes.length > 1 && random.chance(0.1) ? deadlyPauseMs : 100 + random.below(longestPauseMs),
      byte: random.below(3000),
    }))
    await Promise.all(given.map((each) => this.#giveFault(each)))
  }

  async #giveFault(given: { fault: Fault; node: Node; ms: number; byte: number }): Promise<void> {
    const { fault, node, ms, byte } = given
    this.done[fault]++
    switch (fault) {
      case 'kill': {
        this.#errors += node.current?.output.errors ?? ''
        node.current = undefined
        node.current = await node.server.killAndStart()
        return
      }
      case 'pause':
        await standStill(node.server, ms)
        return
      case 'crash':
        await this.#postgres?.restart()
        return
      case 'cut':
        node.http.cutAll()
        node.mqtt.cutAll()
        // The next ones break in the midst of an answer.
        node.http.cutNext(byte, 0, byte * 10)
        node.mqtt.cutNext(byte)
        return
      case 'cut-database':
        await cutHearing(this.#databaseUrl)
    }
  }
}

async function toNode(t: Cleanup, server: RestartingServer): Promise<Node> {
  const current = await server.running()
  const node = { server, current } as Node
  node.http = await openCuttingProxy(t, () => node.current?.http)
  node.mqtt = await openCuttingProxy(t, () => node.current?.mqtt)
  return node
}
