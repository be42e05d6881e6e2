// Callers, devices, followers and a webhook receiver at a service that is disturbed, until all is over and everything has
// ended: a history, what the API says in the end, and how much of everything there was.

import assert from 'node:assert/strict'
import type { Run } from '@jobcast/contract'
import { type Api, buildApi } from '@jobcast/testkit/call-api'
import { seededRandom } from '@jobcast/testkit/seeded-random'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { WebhookReceiver } from '@jobcast/testkit/webhook-receiver'
import { type DeviceStep, type Way, WorkingDevice } from '../nodes/working-device.ts'
import { deviceIdsUpTo } from '../support/seed-data.ts'
import { checkHistory } from './check-history.ts'
import { type Cleanup, DisturbedService, type Fault, type StoreName } from './disturbed-service.ts'
import type { Final, History } from './history.ts'
import { HistoryCaller } from './history-caller.ts'
import { HistoryFollower } from './history-follower.ts'
import { readFinal } from './read-final.ts'

export type Scale = {
  callers: number
  devices: Record<Way, number>
  followers: number
  /** So many executions may be unfinished at a time; then callers wait. */
  maxOpen: number
  /** So many executions end between two faults, at least. */
  executionsPerFault: number
  /** The part of events that the webhook receiver refuses at first; each delays the end by five seconds. */
  refusedPosts: number
}

export const fullScale: Scale = {
  callers: 10,
  devices: { mqtt: 24, 'web-socket': 4, http: 8 },
  followers: 4,
  maxOpen: 300,
  executionsPerFault: 60,
  refusedPosts: 0.05,
}

export type HistoryOptions = {
  store: StoreName
  seed: number
  scale: Scale
  /** The next faults, those of one list at once; undefined when all is over. */
  nextFaults: (possible: Fault[]) => Fault[] | undefined
  /** What it does next, for whoever watches. */
  onProgress?: (what: string) => void
}

export type Outcome = { problems: string[]; figures: Record<string, number>; history: History; final: Final }

const failsafeMs = 240_000
/** Until everybody has what is stored: far above what it takes, a retry of a webhook included. */
const settleMs = 90_000

export async function recordHistory(t: Cleanup, options: HistoryOptions): Promise<Outcome> {
  const { store, seed, scale, nextFaults, onProgress = () => undefined } = options
  // Each has choices of its own: how fast one is does not change those of another.
  let part = 0
  const newRandom = () => seededRandom(seed * 1000 + part++)
  const random = newRandom()
  const service = await DisturbedService.open(t, store)
  const { adminKey } = service
  const nodePicker = () => {
    const own = newRandom()
    return () => ({ ...service.pickNode(own), adminKey })
  }
  const ways = Object.entries(scale.devices).flatMap(([way, count]) => Array<Way>(count).fill(way as Way))
  const deviceIds = deviceIdsUpTo(ways.length)
  const jobs = Array.from({ length: scale.callers }, (_, index) => `job-${index}`)
  const tokens = await seedService(await service.running, jobs, deviceIds)
  const receiver = await openReceiver(t, seed, scale.refusedPosts)
  const webhookAfter = await putWebhook(await service.running, receiver)

  const problems: string[] = []
  const steps: DeviceStep[] = []
  const count = { ended: 0, open: 0, isOver: false }
  const fleet = ways.map((way, index) => {
    const deviceId = deviceIds[index] as string
    const pickNode = nodePicker()
    return new WorkingDevice({
      deviceId,
      token: tokens.get(deviceId) as string,
      way,
      pickNode,
      isGone: () => false,
      onEnded: () => void count.ended++,
      onStep: (step) => void steps.push(step),
      endAs: ({ jobId, executionNumber }) =>
        isChosen(seed, jobId, executionNumber, 0.1) ? 'FAILED' : 'SUCCEEDED',
    })
  })
  t.after(() => fleet.map((device) => device.stop()))
  for (const device of fleet) {
    device.live().catch((error) => problems.push(`device ${device.deviceId}: ${error.message}`))
  }
  const followers = Array.from({ length: scale.followers }, () => {
    return new HistoryFollower({ pickNode: nodePicker(), random: newRandom() })
  })
  t.after(() => followers.map((follower) => follower.stop()))
  const following = followers.map((follower) => follower.followUntilStopped())

  t.after(() => {
    count.isOver = true
  })
  const isOver = () => count.isOver
  const progress = () => JSON.stringify({ ...count, ...service.done, problems })
  const wait = (isSo: () => boolean | Promise<boolean>, intervalMs = 10) =>
    waitUntil(progress, isSo, { timeoutMs: failsafeMs, intervalMs })
  const callers = jobs.map((jobName) => {
    const mayCall = async () => void (await wait(() => count.isOver || count.open < scale.maxOpen))
    return new HistoryCaller({
      jobName,
      deviceIds,
      random: newRandom(),
      pickNode: nodePicker(),
      mayCall,
      isOver,
    })
  })
  const calling = callers.map((caller) => caller.callUntilOver())
  const counting = countOpen(nodePicker(), count)

  for (let faults = nextFaults(service.possible); faults; faults = nextFaults(service.possible)) {
    const enough = count.ended + scale.executionsPerFault
    await wait(() => count.ended >= enough)
    onProgress(`${faults.join(' and ')}, after ${count.ended} executions`)
    await service.disturb(faults, random)
  }
  const enough = count.ended + scale.executionsPerFault
  await wait(() => count.ended >= enough)
  count.isOver = true
  onProgress('the last calls')
  await Promise.all([...calling, counting])
  onProgress('everything ends')

  const direct = await service.running
  let final: Final | undefined
  const isFinal = async () => {
    final = await readFinal(direct, webhookAfter)
    return final !== undefined
  }
  await wait(isFinal, 200)
  assert.ok(final)
  onProgress('everybody gets what is stored')
  const newest = final.log.at(-1)?.eventId ?? 0
  const wanted = final.log.filter(({ eventId }) => eventId > webhookAfter)
  const hasAll = () => {
    const accepted = new Set(receiver.accepted.map(({ event }) => event.eventId))
    return wanted.every(({ eventId }) => accepted.has(eventId))
  }
  const settled = { timeoutMs: settleMs, intervalMs: 100 }
  // Whoever lacks something then is found out by the checks.
  await waitUntil('', () => followers.every(({ upTo }) => upTo >= newest), settled).catch(() => undefined)
  const isDelivered = await waitUntil('', hasAll, settled).then(
    () => true,
    () => false,
  )
  if (!isDelivered) problems.push(`deliveries that are not done: ${await pendingDeliveries(direct)}`)
  for (const each of [...fleet, ...followers]) each.stop()
  await Promise.all(following)

  const history: History = {
    calls: callers.flatMap(({ calls }) => calls),
    steps,
    followers: followers.map(({ seen }) => seen),
    posts: receiver.received,
  }
  problems.push(...followers.flatMap((follower) => follower.problems), ...checkHistory(history, final))
  if (service.errors !== '') problems.push(`a node has written to stderr: ${service.errors}`)
  const { kill, pause, crash, cut, 'cut-database': cutDatabase } = service.done
  const answers = history.calls.flatMap((call) => call.answers)
  const figures = {
    kills: kill,
    pauses: pause,
    crashes: crash,
    cuts: cut + cutDatabase,
    answers: answers.length,
    unanswered: answers.filter(({ kind }) => kind === 'unknown').length,
    refused: answers.filter(({ kind }) => kind === 'refused').length,
    runs: final.runs.length,
    executions: final.executions.length,
    events: final.log.length,
    resumes: followers.reduce((sum, { resumes }) => sum + resumes, 0),
    posts: history.posts.length,
    problems: problems.length,
  }
  return { problems, figures, history, final }
}

/** Jobs with and without retries. */
async function seedService(api: Api, jobs: string[], deviceIds: string[]): Promise<Map<string, string>> {
  const tokens = new Map<string, string>()
  for (const [index, job] of jobs.entries()) {
    const body = index % 2 === 0 ? {} : { retry: { max: 1, backoffSeconds: 1, on: ['FAILED'] } }
    assert.equal((await api.call('PUT', `/job/api/jobs/${job}`, { body })).status, 201)
  }
  for (const deviceId of deviceIds) {
    const path = `/job/api/devices/${deviceId}`
    assert.equal((await api.call('PUT', path, { body: {} })).status, 201)
    tokens.set(deviceId, (await api.call('POST', `${path}/credential`)).json.deviceToken)
  }
  return tokens
}

/** Does not accept some events when they come first; a second refusal would delay the next try by minutes. */
async function openReceiver(t: Cleanup, seed: number, refused: number): Promise<WebhookReceiver> {
  const receiver = await WebhookReceiver.open(t)
  const once = new Set<string>()
  receiver.answer = ({ id, event }) => {
    if (once.has(id) || !isChosen(seed, 'webhook', event.eventId, refused)) return 204
    once.add(id)
    return 500
  }
  return receiver
}

/** Gives the newest event before it. */
async function putWebhook(api: Api, { url }: WebhookReceiver): Promise<number> {
  const reply = await api.call('PUT', '/job/api/webhooks/history', { body: { url } })
  assert.equal(reply.status, 201, reply.text)
  const response = await fetch(`${api.http}/job/api/events`, { headers: { 'x-api-key': api.adminKey } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!/^id: \d+\n/m.test(text)) text += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  return Number(/^id: (\d+)/m.exec(text)?.[1])
}

async function pendingDeliveries(api: Api): Promise<string> {
  const { text } = await api.call('GET', '/job/api/webhooks/history/deliveries?state=PENDING&limit=3')
  return text
}

/** Counted by asking: an end whose answer got lost is one all the same. */
async function countOpen(
  pickNode: () => { http: string; adminKey: string },
  count: { open: number; isOver: boolean },
): Promise<void> {
  const isOver = async () => {
    const { http, adminKey } = pickNode()
    const reply = await buildApi(http, adminKey)
      .call('GET', '/job/api/runs?finished=false&limit=200')
      .catch(() => undefined)
    if (reply?.status === 200) count.open = sumOpen(reply.json.items)
    return count.isOver
  }
  await waitUntil('it is over', isOver, { timeoutMs: Number.POSITIVE_INFINITY, intervalMs: 100 })
}

const sumOpen = (runs: Run[]) =>
  runs.reduce((sum, { counts }) => sum + counts.PENDING + counts.IN_PROGRESS + counts.CANCELING, 0)

/** The same for the same seed. */
function isChosen(seed: number, what: string, which: number, part: number): boolean {
  const number = [...`${what} ${which}`].reduce((sum, each) => (sum * 31 + each.charCodeAt(0)) >>> 0, seed)
  return seededRandom(number).chance(part)
}
