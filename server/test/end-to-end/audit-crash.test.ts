// Kills the real program at random times while callers make changes: every change has its audit entry, every entry has its
// change, and later seals can be verified. For runs on SQLite `npm test` checks the same in crash.test.ts.

import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AuditEntry } from '@jobcast/contract'
import { AuditVerifier } from '@jobcast/contract/audit'
import type { Api, Reply } from '@jobcast/testkit/call-api'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { temporaryFolder } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { spawnNodes } from '../nodes/spawn-nodes.ts'

const kills = testSize('kills', { test: 2, chaos: 10 })
/** A server is killed after at most so many answers. */
const mostAnswers = 60
const names = ['a', 'b', 'c', 'd', 'e', 'f']

type Named = { requestId: string; reply: Reply | undefined }

/** Changes a group, a device and runs in turn, one call after the other. */
class Changer {
  readonly #name: string
  readonly calls: Named[] = []

  constructor(name: string) {
    this.#name = name
  }

  async changeUntil(isOver: () => boolean, running: () => Promise<Api>): Promise<void> {
    for (let number = 1; !isOver(); number++) {
      const requestId = `${this.#name}-${number}`
      // A killed server sends no response.
      const reply = await this.#change(await running(), number, requestId).catch(() => undefined)
      if (reply) assert.ok(reply.status < 300, `${requestId}: ${reply.text}`)
      this.calls.push({ requestId, reply })
    }
  }

  #change(api: Api, number: number, requestId: string): Promise<Reply> {
    const headers = { 'x-request-id': requestId }
    const put = (path: string, body: object) =>
      api.call('PUT', `/job/api/${path}/${this.#name}`, { body, headers })
    if (number % 3 === 0) return put('groups', { where: `n = ${number}` })
    if (number % 3 === 1) return put('devices', { tags: [`n${number}`] })
    return api.trigger('restart', ['d1'], { headers })
  }
}

async function readAll<T>(api: Api, path: string): Promise<T[]> {
  const items: T[] = []
  for (let cursor = ''; ; ) {
    const { json } = await api.call('GET', `/job/api/${path}?limit=200${cursor}`)
    items.push(...json.items)
    if (!json.nextCursor) return items
    cursor = `&cursor=${json.nextCursor}`
  }
}

/** The entries of one resource form a chain from its creation to its current state. */
function assertChain(entries: AuditEntry[], field: string, now: unknown): void {
  const fieldOf = (state: unknown) => (state === null ? null : (state as Record<string, unknown>)[field])
  let last: unknown = null
  for (const { auditId, before, after } of entries) {
    assert.deepEqual(fieldOf(before), last, `entry ${auditId} does not continue the one before it`)
    last = fieldOf(after)
  }
  assert.deepEqual(last, now)
}

async function assertAudited(api: Api, changers: Changer[]): Promise<void> {
  const entries = (await readAll<AuditEntry>(api, 'audit')).toReversed()
  const byRequest = Map.groupBy(entries, ({ requestId }) => requestId ?? '')
  for (const { requestId, reply } of changers.flatMap(({ calls }) => calls)) {
    const found = byRequest.get(requestId)?.length ?? 0
    assert.ok(reply ? found === 1 : found <= 1, `${requestId} has ${found} entries`)
  }
  const runs = await readAll<{ runId: number }>(api, 'runs')
  const created = entries.filter(({ action }) => action === 'run.created').map(({ subject }) => subject)
  assert.deepEqual(created.toSorted(), runs.map(({ runId }) => `run:${runId}`).toSorted())
  const groups = await readAll<{ groupName: string; where: string }>(api, 'groups')
  const devices = await readAll<{ deviceId: string; tags: string[] }>(api, 'devices')
  for (const name of names) {
    const of = (subject: string) => entries.filter((entry) => entry.subject === subject)
    const group = groups.find(({ groupName }) => groupName === name)
    assertChain(of(`group:${name}`), 'where', group?.where ?? null)
    const device = devices.find(({ deviceId }) => deviceId === name)
    assertChain(of(`device:${name}`), 'tags', device?.tags ?? null)
  }
}

async function assertSealed(api: Api): Promise<void> {
  const [newest] = (await api.call('GET', '/job/api/audit?limit=1')).json.items
  const read = async () => (await api.call('GET', '/job/api/audit/checkpoint')).json
  await waitUntil('all entries are sealed', async () => (await read()).lastAuditId >= newest.auditId)
  const verifier = new AuditVerifier(await read())
  const { text } = await api.call('GET', '/job/api/audit/export')
  for (const line of text.split('\n').slice(0, -1)) verifier.add(line)
  const verdict = verifier.end()
  assert.equal(verdict.kind, 'fits', JSON.stringify(verdict))
}

async function killAgainAndAgain(t: TestContext, server: RestartingServer): Promise<void> {
  const random = seededRandom(testSeed)
  await (await server.running()).putJobAndDevices('restart', ['d1'])
  const changers = names.map((name) => new Changer(name))
  const answers = () => changers.flatMap(({ calls }) => calls).filter(({ reply }) => reply).length
  let isOver = false
  const changing = Promise.all(
    changers.map((changer) =>
      changer.changeUntil(
        () => isOver,
        () => server.running(),
      ),
    ),
  )
  const failed = changing.then(() => new Promise<never>(() => undefined))
  for (let killed = 0; killed < kills; killed++) {
    const enough = answers() + 1 + random.below(mostAnswers)
    const answered = waitUntil('enough calls are answered', () => answers() >= enough, { intervalMs: 1 })
    await Promise.race([answered, failed])
    const { start } = await server.kill()
    await start()
  }
  isOver = true
  await changing
  const api = await server.running()
  await assertAudited(api, changers)
  await assertSealed(api)
  const calls = changers.flatMap((changer) => changer.calls)
  t.diagnostic(`${calls.length} calls, ${answers()} of them answered, ${kills} kills`)
}

test(
  `killed ${kills} times on SQLite, each change has its entry, and each entry its change`,
  longTest,
  async (t) => {
    const server = new RestartingServer(temporaryFolder(t))
    t.after(() => server.end())
    await killAgainAndAgain(t, server)
  },
)

test(
  `killed ${kills} times on PostgreSQL, each change has its entry, and each entry its change`,
  longTest,
  async (t) => {
    const key = join(temporaryFolder(t), 'audit-key.pem')
    const { privateKey } = generateKeyPairSync('ed25519')
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    const { nodes } = await spawnNodes(t, 1, { flags: ['--audit-key', key] })
    await killAgainAndAgain(t, nodes[0] as RestartingServer)
  },
)
