// Compares the responses to callers with the disk: nothing is lost or duplicated, and each run is complete or absent.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TriggerCall, TriggerCaller } from './trigger-caller.ts'

type Run = { runId: number; total: number; pending: number; executions: Execution[] }
type Execution = { jobExecutionId: number; deviceId: string }

/** Call after the server has ended. Returns how much was checked. */
export function checkAfterCrash(dataFolder: string, callers: TriggerCaller[]) {
  const db = new DatabaseSync(join(dataFolder, 'jobcast.db'), { readOnly: true })
  try {
    assert.equal(db.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok')
    const seen = { runs: 0, executions: 0, unansweredRuns: 0 }
    for (const { jobName, calls } of callers) {
      const runs = runsOf(db, jobName)
      seen.unansweredRuns += checkCaller(jobName, calls, runs)
      seen.runs += runs.length
      for (const run of runs) seen.executions += run.executions.length
    }
    const stored = db.prepare('SELECT count(*) AS n FROM execution').get()
    assert.equal(stored?.n, seen.executions, 'there are executions that belong to no run')
    const subjects = db.prepare(
      "SELECT subject FROM audit_entry WHERE action = 'run.created' ORDER BY subject",
    )
    const runs = db.prepare("SELECT 'run:' || run_id AS subject FROM run ORDER BY subject")
    assert.deepEqual(subjects.all(), runs.all(), 'runs and their entries in the audit differ')
    return seen
  } finally {
    db.close()
  }
}

/**
 * A caller makes its calls one after the other, so its runs are in the order of its calls: each answered call has its run, an
 * unanswered one has one or none, a refused one has none, and there are no others.
 */
function checkCaller(jobName: string, calls: TriggerCall[], runs: Run[]): number {
  const answered = new Set(calls.map((call) => call.answer?.runId))
  let next = 0
  let unansweredRuns = 0
  for (const [index, call] of calls.entries()) {
    if (call.isBad) continue
    const run = runs[next]
    const deviceIds = [...new Set(call.deviceIds)]
    if (call.answer === undefined) {
      const isItsRun = run && !answered.has(run.runId) && sameDevices(run, deviceIds)
      if (!isItsRun) continue
      unansweredRuns++
    } else {
      const where = `call ${index} of ${jobName}`
      assert.equal(run?.runId, call.answer.runId, `${where} was answered, and its run is lost or doubled`)
      assert.deepEqual(run.executions, executionsIn(call.answer.body), `${where} is stored otherwise`)
      assert.ok(sameDevices(run, deviceIds), `${where} has other devices`)
    }
    assert.deepEqual([run.total, run.pending], [deviceIds.length, deviceIds.length])
    next++
  }
  assert.equal(runs[next], undefined, `${jobName} has a run that nobody asked for`)
  return unansweredRuns
}

function sameDevices(run: Run, deviceIds: string[]): boolean {
  const stored = run.executions
  return (
    stored.length === deviceIds.length && stored.every((each, index) => each.deviceId === deviceIds[index])
  )
}

function executionsIn(body: string): Execution[] {
  return JSON.parse(body).map(({ jobExecutionId, deviceId }: Execution) => ({ jobExecutionId, deviceId }))
}

function runsOf(db: DatabaseSync, jobName: string): Run[] {
  const runs = db.prepare(`
    SELECT run_id, total, pending FROM run JOIN job USING (job_no) WHERE job_name = ? ORDER BY run_id`)
  const executions = db.prepare(`
    SELECT execution.run_id, execution_id, device_id FROM execution
    JOIN device USING (device_no) JOIN run USING (run_id) JOIN job USING (job_no)
    WHERE job_name = ? ORDER BY execution_id`)
  const byRun = Map.groupBy(executions.all(jobName), (row) => row.run_id as number)
  return runs.all(jobName).map((row) => ({
    runId: row.run_id as number,
    total: row.total as number,
    pending: row.pending as number,
    executions: (byRun.get(row.run_id as number) ?? []).map((execution) => ({
      jobExecutionId: execution.execution_id as number,
      deviceId: execution.device_id as string,
    })),
  }))
}
