// Our agents on a broker: broker, service and agents are killed in turn while handlers run. Every execution ends, and none
// is started twice.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Mosquitto, openMosquitto, withoutMosquitto } from '@jobcast/testkit/mosquitto'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { type AgentSettings, spawnAgents } from '../../../../agent/test/support/spawn-agents.ts'
import { whenConnected } from './bridge-under-test.ts'

/** In "npm test", kills.test.ts kills once. */
const rounds = testSize('rounds', { test: 0, chaos: 5 })
const options = { skip: withoutMosquitto, ...longTest }

const deviceIds = ['d1', 'd2', 'd3', 'd4', 'd5', 'd6']
const handler = `#!/bin/sh
echo "$JOBCAST_JOB_ID $JOBCAST_ATTEMPT" >>"$1"
sleep 0.3
`

if (rounds > 0)
  test(`broker, service and agents are killed ${rounds} times each`, options, async (t) => {
    const folder = newTemporaryFolder()
    const starts = join(folder, 'starts')
    writeFileSync(starts, '')
    const broker = await openMosquitto(t)
    const server = new RestartingServer(join(folder, 'data'), '--bridge', broker.url)
    t.after(() => server.end())
    const settings = settingsOf(folder, broker)
    const api = await server.running()
    await whenConnected(api)
    await api.putJobAndDevices('any', deviceIds)
    const document = { handler: 'note', args: [starts] }
    await api.call('PUT', '/job/api/jobs/note', { body: { document } })
    let agents = spawnAgents(settings)
    t.after(() => agents.end('SIGKILL'))
    removeAfter(t, folder)

    const kill = {
      service: () => server.killAndStart(),
      broker: async () => {
        await broker.end('SIGKILL')
        await broker.start()
      },
      agents: async () => {
        await agents.end('SIGKILL')
        assert.equal(agents.errors(), '')
        agents = spawnAgents(settings)
      },
    }
    const linesOf = () => readFileSync(starts, 'utf8').split('\n').slice(0, -1)
    for (let round = 0; round < rounds; round++)
      for (const victim of ['service', 'broker', 'agents'] as const) {
        const before = linesOf().length
        const { headers } = await (await server.running()).trigger('note', deviceIds)
        // Each time when another number of them has started.
        const some = 1 + ((round + victim.length) % deviceIds.length)
        await waitUntil(`${some} have started`, () => linesOf().length >= before + some)
        await kill[victim]()
        await whenFinished(server, headers.get('location') as string)
      }
    const lines = linesOf()
    assert.equal(new Set(lines).size, lines.length, 'an attempt was started twice')
    const states = await checkEnds(server, new Set(lines))
    assert.equal(
      Object.values(states).reduce((sum, count) => sum + count),
      3 * rounds * deviceIds.length,
    )
    t.diagnostic(`${lines.length} starts; ${JSON.stringify(states)}`)
  })

function settingsOf(folder: string, broker: Mosquitto): AgentSettings[] {
  const handlersFolder = join(folder, 'handlers')
  mkdirSync(handlersFolder, { mode: 0o755 })
  writeFileSync(join(handlersFolder, 'note'), handler, { mode: 0o755 })
  return deviceIds.map((deviceId) => ({
    deviceId,
    token: 'any',
    server: { by: 'mqtt', url: broker.url, topicPrefix: '$aws/things' },
    handlersFolder,
    stateFolder: join(folder, deviceId),
    allowCommands: false,
    backoff: { baseMs: 20, capMs: 200 },
  }))
}

async function whenFinished(server: RestartingServer, path: string): Promise<void> {
  for (let finished = false; !finished; ) {
    const { call } = await server.running()
    const reply = await call('GET', `${path}?wait=30`).catch(() => undefined)
    finished = reply?.json?.finished ?? false
  }
}

/** How many ended in each state. One that an agent was killed in has failed, and says why. */
async function checkEnds(server: RestartingServer, started: Set<string>): Promise<Record<string, number>> {
  const { call } = await server.running()
  const states: Record<string, number> = {}
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: Ended[]; nextCursor: string | null } = (
      await call('GET', `/job/api/executions?limit=200${cursor && `&cursor=${cursor}`}`)
    ).json
    for (const { jobExecutionId, attempt, execState, statusDetails } of page.items) {
      states[execState] = (states[execState] ?? 0) + 1
      // Killed before the first line of its handler, it has not noted its start.
      if (execState === 'SUCCEEDED') assert.ok(started.has(`${jobExecutionId} ${attempt}`))
      else assert.match(`${execState} ${statusDetails.reason}`, /^FAILED interrupted: /)
    }
    cursor = page.nextCursor
  }
  return states
}

type Ended = {
  jobExecutionId: number
  attempt: number
  execState: string
  statusDetails: Record<string, string>
}
