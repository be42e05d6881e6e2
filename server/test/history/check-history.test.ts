// The checks find each kind of fault: a valid history, each time with one fault.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExecState, Execution, JobcastEvent, Run, Transition } from '@jobcast/contract'
import { execStates, executionEventType } from '@jobcast/contract'
import { checkHistory } from './check-history.ts'
import type { Final, History, RecordedCall } from './history.ts'
import { toTriggerAnswer } from './trigger-answer.ts'

type Whole = { history: History; final: Final & { transitions: Map<number, Transition[]> } }

const at = '2026-01-01T00:00:00.000Z'
const moves = [
  { from: null, to: 'PENDING', event: 'trigger', versionNumber: 1 },
  { from: 'PENDING', to: 'IN_PROGRESS', event: 'start', versionNumber: 2 },
  { from: 'IN_PROGRESS', to: 'SUCCEEDED', event: 'succeed', versionNumber: 3 },
] as const

/** Run 1 on a and b without a key, run 2 on a with one; a call that was refused, and one without an answer. */
function goodHistory(): Whole {
  const executions = [execution(1, 1, 'a'), execution(2, 1, 'b'), execution(3, 2, 'a')]
  const transitions = new Map(
    executions.map(({ jobExecutionId: id }) => [id, moves.map((each) => transition(each))]),
  )
  const runs = [run(1, 2), run(2, 1)]
  const log = [
    event('device.online', { deviceId: 'a', transport: 'mqtt' }),
    ...runs.flatMap(({ runId, total, counts }) => [
      event('run.created', { runId, jobName: 'job', total, retryOf: null }),
      ...executions.filter((each) => each.runId === runId).flatMap(eventsOf),
      event('run.finished', { runId, jobName: 'job', total, retryOf: null, counts }),
    ]),
  ].map((each, index) => ({ ...each, eventId: 10 + index }) as JobcastEvent)
  const calls: RecordedCall[] = [
    { jobName: 'job', deviceIds: ['a', 'b', 'a'], key: undefined, answers: [created(1, [1, 'a'], [2, 'b'])] },
    {
      jobName: 'job',
      deviceIds: ['a'],
      key: 'k',
      answers: [{ kind: 'unknown', why: 'cut' }, created(2, [3, 'a']), created(2, [3, 'a'])],
    },
    { jobName: 'job', deviceIds: ['b', 'x'], key: undefined, answers: [refused('J-001', 404)] },
    { jobName: 'job', deviceIds: ['b'], key: undefined, answers: [{ kind: 'unknown', why: 'cut' }] },
  ]
  const steps = executions.flatMap(({ jobExecutionId, deviceId }): History['steps'] => [
    { deviceId, jobExecutionId, attempt: 1, kind: 'handed' },
    { deviceId, jobExecutionId, attempt: 1, kind: 'reported', status: 'SUCCEEDED', answer: 'accepted' },
  ])
  const posts = log.map((each) => ({
    id: `msg_${each.eventId}`,
    body: JSON.stringify(each),
    event: each,
    accepted: true,
  }))
  return {
    history: {
      calls,
      steps,
      followers: [[...log], [...log]],
      posts: [...posts.slice(0, 3), ...posts.slice(1)],
    },
    final: { runs, executions, transitions, log, webhookAfter: 0 },
  }
}

function execution(jobExecutionId: number, runId: number, deviceId: string): Execution {
  const execState: ExecState = 'SUCCEEDED'
  return {
    jobExecutionId,
    runId,
    deviceId,
    execState,
    jobName: 'job',
    attempt: 1,
    versionNumber: 3,
  } as Execution
}

function run(runId: number, total: number): Run {
  const counts = {
    ...Object.fromEntries(execStates.map((state) => [state, 0])),
    SUCCEEDED: total,
  } as Run['counts']
  const unknown = { finishedAt: null, retryOf: null, createdBy: null, createdByName: null, rollout: null }
  const unasked = { where: null, matched: null, note: null, rollbackOf: null, window: null, approvals: [] }
  const given = {
    replaces: false,
    priority: 5,
    version: 1,
    parameters: {},
    scheduleName: null,
    scheduledFor: null,
  }
  const run = { runId, jobName: 'job', launchedAt: '', total, counts, finished: true }
  return { ...run, ...unknown, ...unasked, ...given }
}

const transition = (fields: object) => ({ at, actor: 'device', attempt: 1, ...fields }) as Transition
const event = (type: string, data: object) => ({ eventId: 0, type, timestamp: at, data })
const created = (runId: number, ...executions: [number, string][]) => ({
  kind: 'created' as const,
  runId,
  executions: executions.map(([jobExecutionId, deviceId]) => ({ jobExecutionId, deviceId })),
})
const refused = (code: string, status: number) => ({ kind: 'refused' as const, status, code })

function eventsOf({ jobExecutionId, runId, deviceId }: Execution): object[] {
  return moves.slice(1).map(({ from, to, event: cause, versionNumber }) => {
    const data = { jobExecutionId, runId, jobName: 'job', deviceId, from, execState: to, attempt: 1 }
    return event(executionEventType(to), {
      ...data,
      versionNumber,
      cause,
      actor: 'device',
      statusDetails: {},
    })
  })
}

const eventIn = (log: JobcastEvent[], type: string, of: number) => {
  const isIt = ({ type: each, data }: JobcastEvent) =>
    each === type &&
    ('jobExecutionId' in data ? data.jobExecutionId === of : 'runId' in data && data.runId === of)
  return log.findIndex(isIt)
}
const historyOf = ({ final }: Whole, id: number) => final.transitions.get(id) as Transition[]
const callOf = ({ history }: Whole, index: number) => history.calls[index] as RecordedCall

/** What is wrong, how it comes to be in the history, and what the checks say of it. */
const faults: [string, (whole: Whole) => void, RegExp][] = [
  ['an answered run is lost', ({ final }) => void final.runs.shift(), /run 1 of job on a,b,a is lost/],
  [
    'an execution of it is lost',
    ({ final }) => void final.executions.shift(),
    /run 1 is not stored as it was answered/,
  ],
  [
    'it has one execution more',
    ({ final }) => void final.executions.push(execution(4, 1, 'c')),
    /run 1 is not stored as it was answered/,
  ],
  [
    'a device gets two executions',
    (whole) => callOf(whole, 0).answers.splice(0, 1, created(1, [1, 'a'], [2, 'a'])),
    /run 1 is not stored as it was answered/,
  ],
  [
    'other devices',
    (whole) => Object.assign(callOf(whole, 0), { deviceIds: ['a', 'c'] }),
    /run 1 has other devices/,
  ],
  [
    'another job',
    ({ final }) => Object.assign(final.runs[0] as Run, { jobName: 'other' }),
    /run 1 is of another job/,
  ],
  [
    'a call without a key makes two runs',
    ({ final }) => {
      final.runs.push(run(3, 2))
      final.executions.push(execution(4, 3, 'a'), execution(5, 3, 'b'))
    },
    /run 3 of job should not exist: its call has another run already/,
  ],
  [
    'a call without an answer makes two runs',
    ({ final }) => {
      final.runs.push(run(3, 1), run(4, 1))
      final.executions.push(execution(4, 3, 'b'), execution(5, 4, 'b'))
    },
    /run 4 of job should not exist/,
  ],
  [
    'a key makes two runs',
    (whole) => callOf(whole, 1).answers.push(created(1, [1, 'a'], [2, 'b'])),
    /key k made two runs: 2 and 1/,
  ],
  [
    'a key makes a second run that nobody was notified of',
    ({ final }) => {
      final.runs.push(run(3, 1))
      final.executions.push(execution(4, 3, 'a'))
    },
    /run 3 of job should not exist/,
  ],
  [
    'two calls have one run',
    (whole) => callOf(whole, 3).answers.push(created(1, [1, 'a'], [2, 'b'])),
    /run 1 answers two calls/,
  ],
  [
    'a refused call makes a run',
    ({ final }) => {
      final.runs.push(run(3, 2))
      final.executions.push(execution(4, 3, 'b'), execution(5, 3, 'x'))
    },
    /run 3 of job should not exist: its call was told that nothing was created/,
  ],
  [
    'storage that created nothing has created something',
    (whole) => {
      const problem = '{"code":"J-909","detail":"Nothing was created; repeat the request."}'
      callOf(whole, 3).answers = [toTriggerAnswer({ status: 503, location: null, text: problem })]
      whole.final.runs.push(run(3, 1))
      whole.final.executions.push(execution(4, 3, 'b'))
    },
    /run 3 of job should not exist: its call was told that nothing was created/,
  ],
  [
    'an internal error',
    (whole) =>
      callOf(whole, 3).answers.push(
        toTriggerAnswer({ status: 500, location: null, text: '{"code":"J-900"}' }),
      ),
    /was answered 500/,
  ],
  [
    'a run counts wrongly',
    ({ final }) => void (final.runs[0] as Run).counts.FAILED++,
    /has 0 FAILED and counts 1/,
  ],
  [
    'a run has another total',
    ({ final }) => void (final.runs[0] as Run).total++,
    /has 2 executions and says 3/,
  ],
  [
    'a run is not finished',
    ({ final }) => Object.assign(final.runs[0] as Run, { finished: false }),
    /run 1 says finished: false/,
  ],
  [
    'an execution is listed twice',
    ({ final }) => void final.executions.push(execution(3, 2, 'a')),
    /execution 3 is listed twice/,
  ],
  [
    'a state goes back',
    (whole) =>
      void historyOf(whole, 1).push(transition({ ...moves[1], from: 'SUCCEEDED', versionNumber: 4 })),
    /execution 1 went back from SUCCEEDED to IN_PROGRESS/,
  ],
  [
    'an attempt starts twice',
    (whole) =>
      void historyOf(whole, 1).splice(
        2,
        0,
        transition({ ...moves[1], from: 'IN_PROGRESS', versionNumber: 3 }),
      ),
    /execution 1 started attempt 1 twice/,
  ],
  [
    'a history has a gap',
    (whole) => void historyOf(whole, 1).splice(1, 1),
    /execution 1 left IN_PROGRESS, where it was not/,
  ],
  [
    'a version comes twice',
    (whole) => Object.assign(historyOf(whole, 1)[2] as Transition, { versionNumber: 2 }),
    /execution 1 has version 2 after 2/,
  ],
  [
    'an end is retried',
    (whole) =>
      void historyOf(whole, 1).push(
        transition({ from: 'SUCCEEDED', to: 'PENDING', event: 'retry', versionNumber: 4 }),
      ),
    /execution 1 was retried from SUCCEEDED/,
  ],
  [
    'a state that its history does not have',
    ({ final }) => Object.assign(final.executions[0] as Execution, { execState: 'FAILED' }),
    /execution 1 is FAILED and its history ends with SUCCEEDED/,
  ],
  [
    'an acknowledged report is lost',
    (whole) => {
      historyOf(whole, 1).pop()
      Object.assign(whole.final.executions[0] as Execution, { execState: 'IN_PROGRESS' })
    },
    /attempt 1 of execution 1 was acknowledged as SUCCEEDED, which is lost/,
  ],
  [
    'handed to another device',
    ({ history }) => Object.assign(history.steps[0] as object, { deviceId: 'b' }),
    /attempt 1 of execution 1 was handed to b, it is of a/,
  ],
  [
    'handed over after its end',
    ({ history }) => void history.steps.splice(2, 0, { ...(history.steps[0] as History['steps'][0]) }),
    /attempt 1 of execution 1 was handed over again after its end was acknowledged/,
  ],
  [
    'handed over without a start',
    (whole) => void historyOf(whole, 1).splice(1, 1),
    /attempt 1 of execution 1 was handed over and never started/,
  ],
  [
    'a follower misses an event',
    ({ history }) => void history.followers[1]?.splice(3, 1),
    /follower 2 missed event 13/,
  ],
  [
    'a follower sees one twice',
    ({ history }) => void history.followers[0]?.splice(3, 0, history.followers[0][2] as JobcastEvent),
    /follower 1 saw event 12 twice/,
  ],
  [
    'a follower sees two in the wrong order',
    ({ history }) =>
      void history.followers[0]?.splice(2, 2, ...(history.followers[0].slice(2, 4).reverse() ?? [])),
    /follower 1 saw event 12 after 13/,
  ],
  [
    'a follower sees what was never stored',
    ({ history, final }) => {
      history.followers[0]?.splice(2, 1, {
        ...(final.log[2] as JobcastEvent),
        timestamp: '2027-01-01T00:00:00.000Z',
      })
    },
    /follower 1 saw event 12 otherwise/,
  ],
  [
    'the log lost what a follower has seen',
    ({ final, history }) => {
      final.log.splice(0, 1)
      history.posts.shift()
    },
    /follower 1 saw event 10, which the log does not have/,
  ],
  [
    'an event is not logged',
    ({ final }) => void final.log.splice(eventIn(final.log, 'execution.in_progress', 1), 1),
    /execution 1 has the events/,
  ],
  [
    'an event is logged twice',
    ({ final }) => {
      const index = eventIn(final.log, 'execution.succeeded', 3)
      final.log.splice(index, 0, { ...(final.log[index] as JobcastEvent) })
    },
    /execution 3 has the events/,
  ],
  [
    'a run ends twice',
    ({ final }) => void final.log.push({ ...(final.log.at(-1) as JobcastEvent), eventId: 99 }),
    /run 2 has the events \[run.created,run.finished,run.finished\]/,
  ],
  [
    'a run ends with other counts',
    ({ final }) => {
      const index = eventIn(final.log, 'run.finished', 1)
      const { data } = final.log[index] as JobcastEvent
      Object.assign(final.log[index] as object, { data: { ...data, counts: { SUCCEEDED: 1 } } })
    },
    /run.finished of run 1 has other counts/,
  ],
  [
    'events of a run that does not exist',
    ({ final }) =>
      void final.log.push({ ...event('run.created', { runId: 7, total: 1 }), eventId: 99 } as JobcastEvent),
    /run 7 has events but does not exist/,
  ],
  [
    'a device is online twice',
    ({ final }) => void final.log.push({ ...(final.log[0] as JobcastEvent), eventId: 99 }),
    /device a has device.online twice in a row/,
  ],
  [
    'a webhook misses an event',
    ({ history }) => {
      history.posts = history.posts.filter(({ event: each }) => each.eventId !== 14)
    },
    /the webhook was never sent event 14/,
  ],
  [
    'a webhook gets two of one execution in the wrong order',
    ({ history }) => {
      const [start, end] = [12, 13].map((id) => history.posts.find(({ event: each }) => each.eventId === id))
      history.posts = [end, start, ...history.posts].filter((each) => each !== undefined)
    },
    /the webhook was sent event 12 of execution 1 after 13/,
  ],
  [
    'a webhook gets an event under two ids',
    ({ history }) =>
      void history.posts.push({ ...(history.posts[0] as History['posts'][0]), id: 'msg_other' }),
    /the webhook was sent event 10 under two ids/,
  ],
  [
    'a webhook gets an event with two contents',
    ({ history }) => void history.posts.push({ ...(history.posts[0] as History['posts'][0]), body: '{}' }),
    /the webhook was sent msg_10 with two bodies/,
  ],
]

test('finds nothing in a good history', () => {
  const { history, final } = goodHistory()
  assert.deepEqual(checkHistory(history, final), [])
})

for (const [what, damage, expected] of faults) {
  test(`finds: ${what}`, () => {
    const whole = goodHistory()
    damage(whole)
    const problems = checkHistory(whole.history, whole.final)
    assert.ok(
      problems.some((problem) => expected.test(problem)),
      `found only: ${problems.join('; ')}`,
    )
  })
}

test('a call without an answer may have its run or none', () => {
  const { history, final } = goodHistory()
  final.runs.push(run(3, 1))
  final.executions.push(execution(4, 3, 'b'))
  const problems = checkHistory(history, final).filter((problem) => problem.includes('should not exist'))
  assert.deepEqual(problems, [])
})

/** Status, text, and what the caller knows then. */
const answers: [number, string, string][] = [
  [201, '[{"jobExecutionId":1,"deviceId":"a"}]', 'created'],
  [404, '{"code":"J-001"}', 'refused'],
  [409, '{"code":"J-502"}', 'refused'],
  [503, '{"code":"J-908"}', 'refused'],
  [503, '{"code":"J-909","message":"Storage is not available: nothing was made"}', 'refused'],
  [503, '{"code":"J-909","message":"Storage is not available: it may have been made"}', 'unknown'],
  [503, '{"code":"J-909","message":"Storage is not available"}', 'unknown'],
  [500, '{"code":"J-900"}', 'broken'],
  [502, 'Bad gateway', 'broken'],
]
for (const [status, text, kind] of answers) {
  test(`${status} ${text} means: ${kind}`, () => {
    assert.equal(toTriggerAnswer({ status, location: '/job/api/runs/1', text }).kind, kind)
  })
}
