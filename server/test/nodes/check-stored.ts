// Compares responses of callers, and executions sent to devices, with the database: nothing is lost or duplicated, and every step
// has one event.

import assert from 'node:assert/strict'
import { execute } from '@jobcast/testkit/postgres-server'
import type { TriggerCall, TriggerCaller } from '@jobcast/testkit/trigger-caller'

type Run = { runId: number; executions: { jobExecutionId: number; deviceId: string }[] }
type Begun = { begun: ReadonlySet<number> }

/** All runs must have ended. Gives how much was looked at. */
export async function checkStored(
  databaseUrl: string,
  callers: TriggerCaller[],
  devices: Map<string, Begun>,
) {
  const seen = { runs: 0, unanswered: 0, executions: 0, events: 0 }
  const deviceOf = new Map<number, string>()
  for (const { jobName, calls } of callers) {
    const runs = await runsOf(databaseUrl, jobName)
    seen.runs += runs.length
    seen.unanswered += checkCaller(jobName, calls, runs)
    for (const { executions } of runs) {
      for (const { jobExecutionId, deviceId } of executions) deviceOf.set(jobExecutionId, deviceId)
    }
  }
  seen.executions = deviceOf.size
  const [row] = await execute(databaseUrl, 'SELECT count(*)::int AS count FROM execution')
  assert.equal(row?.count, seen.executions, 'there are executions that belong to no run of a caller')
  checkDevices(deviceOf, devices)
  await checkMoves(databaseUrl)
  seen.events = await checkEvents(databaseUrl)
  return seen
}

/**
 * Each answered call has its run. Of the other runs each is that of one call without an answer; a node that stood still
 * makes it late, so they stand anywhere.
 */
function checkCaller(jobName: string, calls: TriggerCall[], runs: Run[]): number {
  const byId = new Map(runs.map((run) => [run.runId, run]))
  const open: string[] = []
  for (const [index, call] of calls.entries()) {
    const deviceIds = [...new Set(call.deviceIds)]
    if (call.answer === undefined) {
      if (!call.isBad) open.push(deviceIds.join())
      continue
    }
    const where = `call ${index} of ${jobName}`
    const run = byId.get(call.answer.runId)
    assert.ok(run, `${where} was answered, and its run is lost or that of another`)
    byId.delete(run.runId)
    const answered = JSON.parse(call.answer.body) as Run['executions']
    assert.deepEqual(
      run.executions,
      answered.map(({ jobExecutionId, deviceId }) => ({ jobExecutionId, deviceId })),
      `${where} is stored otherwise`,
    )
    assert.equal(textOf(run), deviceIds.join(), `${where} has other devices`)
  }
  for (const run of byId.values()) {
    const index = open.indexOf(textOf(run))
    assert.ok(index >= 0, `run ${run.runId} of ${jobName} is one that nobody asked for, or a second one`)
    open.splice(index, 1)
  }
  return byId.size
}

/** Each execution was handed to its device, and to no other. */
function checkDevices(deviceOf: Map<number, string>, devices: Map<string, Begun>): void {
  const reached = new Set<number>()
  for (const [deviceId, { begun }] of devices) {
    for (const id of begun) {
      assert.equal(deviceOf.get(id), deviceId, `execution ${id} was handed to ${deviceId}`)
      reached.add(id)
    }
  }
  const never = [...deviceOf.keys()].filter((id) => !reached.has(id))
  assert.deepEqual(never, [], 'executions that reached nobody')
}

/** One start and one end each, versions without a gap, and the counts of runs are those of their executions. */
async function checkMoves(databaseUrl: string): Promise<void> {
  const odd = await execute(
    databaseUrl,
    `SELECT execution_id, array_agg(event || ' ' || transition.version_number ORDER BY transition.version_number) AS moves
     FROM execution LEFT JOIN transition USING (execution_id) GROUP BY execution_id
     HAVING array_agg(event || ' ' || transition.version_number ORDER BY transition.version_number)
       IS DISTINCT FROM ARRAY['start 2', 'succeed 3']`,
  )
  assert.deepEqual(odd, [], 'executions that moved otherwise than by one start and one end')
  const wrong = await execute(
    databaseUrl,
    `SELECT run_id, total, succeeded, (SELECT count(*)::int FROM execution WHERE execution.run_id = run.run_id) AS stored
     FROM run WHERE NOT ended OR succeeded <> total
       OR total <> (SELECT count(*) FROM execution WHERE execution.run_id = run.run_id)`,
  )
  assert.deepEqual(wrong, [], 'runs whose counts do not add up')
}

/** Each step of an execution and of a run is one event, in order; a device goes online and offline in turn. */
async function checkEvents(databaseUrl: string): Promise<number> {
  const steps = await execute(
    databaseUrl,
    `SELECT execution_id, array_agg(type ORDER BY event_id) AS types FROM execution LEFT JOIN event USING (execution_id)
     GROUP BY execution_id
     HAVING array_agg(type ORDER BY event_id) <> ARRAY['execution.in_progress', 'execution.succeeded']`,
  )
  assert.deepEqual(steps, [], 'executions whose steps were not told once each')
  const runs = await execute(
    databaseUrl,
    `SELECT run.run_id, array_agg(type ORDER BY event_id) AS types
     FROM run LEFT JOIN event ON event.run_id = run.run_id AND event.execution_id IS NULL GROUP BY run.run_id
     HAVING array_agg(type ORDER BY event_id) <> ARRAY['run.created', 'run.finished']`,
  )
  assert.deepEqual(runs, [], 'runs that were not told to begin and to end once')
  const flips = await execute(
    databaseUrl,
    `SELECT device_no, event_id FROM (
       SELECT device_no, event_id, type, lag(type) OVER (PARTITION BY device_no ORDER BY event_id) AS before
       FROM event WHERE type IN ('device.online', 'device.offline')) AS told
     WHERE type = before OR (before IS NULL AND type = 'device.offline')`,
  )
  assert.deepEqual(flips, [], 'devices that were told to be online, or offline, twice in a row')
  const [row] = await execute(databaseUrl, 'SELECT count(*)::int AS count FROM event')
  return row?.count as number
}

const textOf = ({ executions }: Run) => executions.map(({ deviceId }) => deviceId).join()

async function runsOf(databaseUrl: string, jobName: string): Promise<Run[]> {
  const rows = await execute(
    databaseUrl,
    `SELECT execution.run_id, execution_id, device_id FROM execution
       JOIN device USING (device_no) JOIN run USING (run_id) JOIN job USING (job_no)
     WHERE job_name = '${jobName}' ORDER BY execution_id`,
  )
  const byRun = Map.groupBy(rows, (row) => Number(row.run_id))
  return [...byRun].map(([runId, executions]) => ({
    runId,
    executions: executions.map((row) => ({
      jobExecutionId: Number(row.execution_id),
      deviceId: row.device_id as string,
    })),
  }))
}
