// Every execution ends and none is started twice while agents, connections and the server are killed.
// "npm run test:agent-delivery" runs 10,000 executions.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RestartingServer } from '@jobcast/testkit/restarting-server'
import { type Random, seededRandom } from '@jobcast/testkit/seeded-random'
import { newTemporaryFolder, removeAfter } from '@jobcast/testkit/temporary-folder'
import { testSeed } from '@jobcast/testkit/test-seed'
import { longTest, testSize } from '@jobcast/testkit/test-size'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { within } from '@jobcast/testkit/within'
import { hasInEnvironment, listProcesses } from '../src/process/list-processes.ts'
import { type AgentSettings, type SpawnedAgents, spawnAgents } from './support/spawn-agents.ts'
import { TcpProxy } from './support/tcp-proxy.ts'

const total = testSize('executions', { test: 40, chaos: 800 })
const processes = 2
const agentsPerProcess = 5
const serverKills = Math.ceil(total / 250)
const agentKills = Math.max(2, Math.ceil(total / 50))
const deviceIds = Array.from(
  { length: processes * agentsPerProcess },
  (_, index) => `device-${index}-${testSeed}`,
)
const failsafeMs = 120_000 + 600 * total
/** Runs for a while, so that kills interrupt it. */
const handler = `#!/bin/sh
echo "$JOBCAST_JOB_ID $JOBCAST_ATTEMPT" >>"$1"
echo "::progress 50"
sleep 0.02
`

type Proxies = { http: TcpProxy; mqtt: TcpProxy }

type Scene = {
  server: RestartingServer
  proxies: Proxies
  /** The settings of the agents of each process, and the current processes. */
  settings: AgentSettings[][]
  agents: SpawnedAgents[]
  /** The number of recorded starts. */
  started: () => number
  killed: { servers: number; agents: number; connections: number }
  /** The stderr of agents that have exited. */
  errors: string[]
  isOver: boolean
}

test(`${total} executions all end and none is started twice (seed ${testSeed})`, longTest, async (t) => {
  const random = seededRandom(testSeed)
  const folder = newTemporaryFolder()
  const starts = join(folder, 'starts')
  const scene = await setScene(folder, starts)
  const { server, proxies, agents, killed, errors } = scene
  t.after(async () => {
    for (const agent of agents) await agent.end('SIGKILL')
    await server.end()
    await Promise.all([proxies.http.close(), proxies.mqtt.close()])
  })
  removeAfter(t, folder)

  const trouble = Promise.all([killAgents(scene, random), killServers(scene), cutConnections(scene, random)])
  const runIds = await triggerAll(server, random, starts)
  const failed = Promise.withResolvers<never>()
  trouble.catch(failed.reject)
  const ended = Promise.race([waitForEnds(server, runIds), failed.promise])
  await within(failsafeMs, () => `${scene.started()} starts, ${JSON.stringify(killed)}`, ended)
  scene.isOver = true
  await trouble

  const states = await checkEnds(server, starts)
  for (const agent of agents) {
    await agent.end('SIGTERM')
    errors.push(agent.errors())
  }
  assert.deepEqual(
    errors.filter((text) => text !== ''),
    [],
  )
  assert.deepEqual(leftRunning(), [])
  t.diagnostic(`killed: ${JSON.stringify(killed)}; ${scene.started()} starts; ${JSON.stringify(states)}`)
})

async function setScene(folder: string, starts: string): Promise<Scene> {
  const handlers = join(folder, 'handlers')
  mkdirSync(handlers, { mode: 0o755 })
  writeFileSync(starts, '')
  writeFileSync(join(handlers, 'note'), handler)
  chmodSync(join(handlers, 'note'), 0o755)
  const server = new RestartingServer(join(folder, 'data'))
  const proxies = {
    http: await TcpProxy.open(async () => (await server.running()).http),
    mqtt: await TcpProxy.open(async () => (await server.running()).mqtt),
  }
  const settings = await makeDevices(server, proxies, folder, handlers)
  return {
    server,
    proxies,
    settings,
    agents: settings.map((each) => spawnAgents(each)),
    started: () => readFileSync(starts, 'utf8').split('\n').length - 1,
    killed: { servers: 0, agents: 0, connections: 0 },
    errors: [],
    isOver: false,
  }
}

/** Spread over the whole of it. */
async function killAgents(scene: Scene, random: Random): Promise<void> {
  const { agents, settings, killed, errors } = scene
  for (; killed.agents < agentKills && !scene.isOver; killed.agents++) {
    const share = Math.floor(total / agentKills)
    await untilStarted(scene, killed.agents * share + random.below(share))
    const index = random.below(processes)
    const victim = agents[index] as SpawnedAgents
    await victim.end('SIGKILL')
    errors.push(victim.errors())
    agents[index] = spawnAgents(settings[index] as AgentSettings[])
  }
}

async function killServers(scene: Scene): Promise<void> {
  const { server, killed } = scene
  for (; killed.servers < serverKills && !scene.isOver; killed.servers++) {
    await untilStarted(scene, ((killed.servers + 0.7) * total) / serverKills)
    await server.killAndStart()
  }
}

async function cutConnections(scene: Scene, random: Random): Promise<void> {
  const { proxies, killed } = scene
  while (!scene.isOver) {
    await untilStarted(scene, scene.started() + 1 + random.below(10))
    if (random.pick([proxies.http, proxies.mqtt]).cutOne(random.pick)) killed.connections++
  }
}

async function untilStarted(scene: Scene, count: number): Promise<void> {
  const isSo = () => scene.isOver || scene.started() >= count
  await waitUntil(`${count} are started`, isSo, { timeoutMs: failsafeMs, intervalMs: 20 })
}

/** Processes of handlers, by their environment. */
function leftRunning(): number[] {
  const marks = deviceIds.map((deviceId) => `JOBCAST_DEVICE_ID=${deviceId}`)
  return listProcesses()
    .filter(({ pid, isZombie }) => !isZombie && marks.some((mark) => hasInEnvironment(pid, mark)))
    .map(({ pid }) => pid)
}

async function makeDevices(
  server: RestartingServer,
  proxies: Proxies,
  folder: string,
  handlersFolder: string,
): Promise<AgentSettings[][]> {
  const api = await server.running()
  const ways = [
    { by: 'mqtt' as const, url: `ws://${proxies.http.host}/mqtt` },
    { by: 'mqtt' as const, url: `mqtt://${proxies.mqtt.host}` },
    { by: 'http' as const, url: `http://${proxies.http.host}` },
  ]
  const all: AgentSettings[] = []
  for (const [index, deviceId] of deviceIds.entries()) {
    await api.call('PUT', `/job/api/devices/${deviceId}`, { body: {} })
    const { deviceToken } = (await api.call('POST', `/job/api/devices/${deviceId}/credential`)).json
    all.push({
      deviceId,
      token: deviceToken,
      server: ways[index % ways.length] as AgentSettings['server'],
      handlersFolder,
      stateFolder: join(folder, deviceId),
      allowCommands: false,
      backoff: { baseMs: 20, capMs: 200 },
    })
  }
  return Array.from({ length: processes }, (_, index) =>
    all.slice(index * agentsPerProcess, (index + 1) * agentsPerProcess),
  )
}

/** Every second job is retried when it fails. */
async function triggerAll(server: RestartingServer, random: Random, starts: string): Promise<number[]> {
  const runIds: number[] = []
  for (const [name, retry] of [
    ['once', undefined],
    ['twice', { max: 1, backoffSeconds: 0 }],
  ] as const) {
    const document = { handler: 'note', args: [starts] }
    const api = await server.running()
    await api.call('PUT', `/job/api/jobs/${name}`, { body: { document, ...(retry && { retry }) } })
  }
  for (let launched = 0, call = 0; launched < total; call++) {
    const wanted = random.some(deviceIds, Math.min(deviceIds.length, total - launched))
    const headers = { 'idempotency-key': `call-${call}` }
    for (;;) {
      const api = await server.running()
      const reply = await api.trigger(call % 2 ? 'once' : 'twice', wanted, { headers }).catch(() => undefined)
      if (reply === undefined) continue
      assert.equal(reply.status, 201, reply.text)
      runIds.push(Number(reply.headers.get('location')?.split('/').at(-1)))
      break
    }
    launched += wanted.length
  }
  return runIds
}

async function waitForEnds(server: RestartingServer, runIds: number[]): Promise<void> {
  for (const runId of runIds) {
    for (let finished = false; !finished; ) {
      const api = await server.running()
      const reply = await api.call('GET', `/job/api/runs/${runId}?wait=30`).catch(() => undefined)
      finished = reply?.json?.finished ?? false
    }
  }
}

/** Returns the number of executions by state. */
async function checkEnds(server: RestartingServer, starts: string): Promise<Record<string, number>> {
  const lines = readFileSync(starts, 'utf8').trim().split('\n')
  assert.equal(new Set(lines).size, lines.length, 'an attempt was started twice')
  const started = new Set(lines)
  const api = await server.running()
  const states: Record<string, number> = {}
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path = `/job/api/executions?limit=200${cursor && `&cursor=${cursor}`}`
    const page: { items: Stored[]; nextCursor: string | null } = (await api.call('GET', path)).json
    for (const { jobExecutionId, attempt, execState, statusDetails } of page.items) {
      states[execState] = (states[execState] ?? 0) + 1
      if (execState === 'SUCCEEDED') assert.ok(started.has(`${jobExecutionId} ${attempt}`))
      else assert.match(`${execState} ${statusDetails.reason}`, /^FAILED interrupted: /)
    }
    cursor = page.nextCursor
  }
  assert.equal((states.SUCCEEDED ?? 0) + (states.FAILED ?? 0), total)
  return states
}

type Stored = {
  jobExecutionId: number
  attempt: number
  execState: string
  statusDetails: Record<string, string>
}
