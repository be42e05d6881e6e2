// The step of action.yml that runs the job: triggers it, waits, writes outputs and a report, and ends with the exit code of the
// command line.

import { callJobcast } from './call-jobcast.mjs'
import { read, triggerArguments } from './inputs.mjs'
import { reportRun, stateOf } from './report.mjs'
import { annotate, mask, setOutputs } from './workflow-commands.mjs'

const maxListed = 50
const unsuccessful = 'FAILED,TIMED_OUT,REJECTED,EXPIRED,CANCELED'

process.exitCode = await main()

async function main() {
  mask(read('API_KEY'))
  const { args, input, problem } = triggerArguments()
  if (problem) return fail(2, problem)
  const triggered = await callJobcast(args, { input })
  if (triggered.code !== 0) return fail(triggered.code, triggered.message)
  const { runId } = triggered.json
  const url = `${read('URL').replace(/\/+$/, '')}/runs/${runId}`
  // Now, so that they are there if the job is canceled.
  setOutputs({ 'run-id': runId, url })

  const waited = await waitFor(runId)
  const got = await callJobcast(['runs', 'get', '--json', '--', String(runId)], { isQuiet: true })
  // A key with TRIGGER alone does not read; it has the run as it was created.
  const run = got.json ?? triggered.json
  setOutputs({ state: stateOf(run), counts: JSON.stringify(present(run.counts)), 'exit-code': waited.code })
  const failed = got.json && waited.code !== 0 ? await listUnsuccessful(runId) : []
  reportRun({ run, url, failed, code: waited.code, message: waited.message })
  return waited.code
}

async function waitFor(runId) {
  if (read('WAIT') !== 'true') return { code: 0 }
  const timeout = read('TIMEOUT')
  const limit = timeout ? [`--timeout=${timeout}`] : []
  return callJobcast(['runs', 'watch', '--json', ...limit, '--', String(runId)])
}

async function listUnsuccessful(runId) {
  const filters = [`--run=${runId}`, `--state=${unsuccessful}`, `--limit=${maxListed}`]
  const { json } = await callJobcast(['executions', 'ls', '--json', ...filters], { isQuiet: true })
  return json ?? []
}

function fail(code, message) {
  annotate('error', 'Jobcast', message)
  setOutputs({ 'exit-code': code })
  return code
}

function present(counts = {}) {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
}
