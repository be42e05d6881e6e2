// Callers, devices, followers and webhook receivers of two owners at a service that is disturbed, until all is over and
// everything has ended: a history of each, what the API says in the end, and how much of everything there was.

import { buildApi } from '@jobcast/testkit/call-api'
import { waitUntil } from '@jobcast/testkit/wait-until'
import { type Cleanup, DisturbedService, type Fault, type StoreName } from './disturbed-service.ts'
import { HistoryOwner, type OwnerScale, randomsOf } from './history-owner.ts'

export type Scale = {
  first: OwnerScale
  second: OwnerScale
  /** So many executions end between two faults, at least. */
  executionsPerFault: number
}

export const fullScale: Scale = {
  first: {
    callers: 8,
    devices: { mqtt: 20, 'web-socket': 4, http: 6 },
    followers: 3,
    maxOpen: 300,
    refusedPosts: 0.05,
    largeRun: 10_050,
    windows: true,
  },
  second: {
    callers: 3,
    devices: { mqtt: 4, 'web-socket': 1, http: 2 },
    followers: 1,
    maxOpen: 60,
    refusedPosts: 0.05,
    largeRun: 0,
    windows: true,
  },
  executionsPerFault: 60,
}

type HistoryOptions = {
  store: StoreName
  seed: number
  scale: Scale
  /** The next faults, those of one list at once; undefined when all is over. */
  nextFaults: (possible: Fault[]) => Fault[] | undefined
  /** What it does next, for whoever watches. */
  onProgress?: (what: string) => void
}

type Outcome = { problems: string[]; figures: Record<string, number> }

const failsafeMs = 240_000

export async function recordHistory(t: Cleanup, options: HistoryOptions): Promise<Outcome> {
  const { store, seed, scale, nextFaults, onProgress = () => undefined } = options
  // Each has choices of its own: how fast one is does not change those of another.
  const newRandom = randomsOf(seed)
  const random = newRandom()
  const service = await DisturbedService.open(t, store)
  const admin = await service.running
  const count = { ended: 0, isOver: false }
  t.after(() => {
    count.isOver = true
  })
  const other = await admin.newOwner('other')
  const approver = async (more: object) => (await admin.newKey(['APPROVE'], more)).apiKey as string
  const keys = [
    { name: 'default', key: service.adminKey, approverKey: await approver({}), scale: scale.first },
    {
      ...{ name: 'other', key: other.key, scale: scale.second },
      approverKey: await approver({ ownerId: other.ownerId }),
    },
  ]
  const owners: HistoryOwner[] = []
  for (const each of keys) {
    const given = { ...each, seed, newRandom, isOver: () => count.isOver, onEnded: () => void count.ended++ }
    const pickNode = service.pickNode.bind(service)
    owners.push(await HistoryOwner.open(t, buildApi(admin.http, each.key), { ...given, pickNode }))
  }
  const progress = () =>
    JSON.stringify({ ...count, ...service.done, problems: owners.flatMap(({ problems }) => problems) })
  const wait = (isSo: () => boolean | Promise<boolean>, intervalMs = 10) =>
    waitUntil(progress, isSo, { timeoutMs: failsafeMs, intervalMs })

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
  const { http } = await service.running
  const apis = keys.map(({ key }) => buildApi(http, key))
  await Promise.all(owners.map((owner, index) => owner.quiet(apis[index] ?? admin)))
  onProgress('everything ends')
  for (const [index, owner] of owners.entries()) await wait(() => owner.readFinal(apis[index] ?? admin), 200)
  onProgress('everybody gets what is stored')
  await Promise.all(owners.map((owner, index) => owner.settle(apis[index] ?? admin)))

  const problems = owners.flatMap((owner) => owner.check())
  if (service.errors !== '') problems.push(`a node has written to stderr: ${service.errors}`)
  return { problems, figures: { ...figuresOf(service, owners), problems: problems.length } }
}

function figuresOf({ done }: DisturbedService, owners: HistoryOwner[]): Record<string, number> {
  const answers = owners.flatMap(({ history }) => history.calls.flatMap((call) => call.answers))
  const runs = owners.flatMap(({ final }) => final?.runs ?? [])
  const sum = (count: (owner: HistoryOwner) => number) =>
    owners.reduce((total, each) => total + count(each), 0)
  return {
    kills: done.kill,
    pauses: done.pause,
    crashes: done.crash,
    cuts: done.cut + done['cut-database'],
    answers: answers.length,
    unanswered: answers.filter(({ kind }) => kind === 'unknown').length,
    refused: answers.filter(({ kind }) => kind === 'refused').length,
    runs: runs.length,
    rollouts: runs.filter(({ rollout }) => rollout !== null).length,
    scheduled: runs.filter(({ scheduleName }) => scheduleName !== null).length,
    windowed: runs.filter(({ window }) => window !== null).length,
    executions: sum(({ final }) => final?.executions.length ?? 0),
    events: sum(({ final }) => final?.log.length ?? 0),
    resumes: sum(({ followers }) => followers.reduce((all, { resumes }) => all + resumes, 0)),
    posts: sum(({ history }) => history.posts.length),
  }
}
