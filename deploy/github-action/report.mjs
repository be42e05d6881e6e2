// What people see of a run: annotations and the summary of the job.

import { addSummary, annotate, plain } from './workflow-commands.mjs'

/** GitHub shows ten errors of a step. */
const maxAnnotations = 9
const [needsApproval, paused] = [9, 10]

/** As the output `state` has it. */
export function stateOf({ finished, counts = {}, total, rollout }) {
  const isDecided = ['SCHEDULED', 'AWAITING_APPROVAL', 'PAUSED', 'DENIED', 'ABORTED'].includes(rollout?.state)
  if (isDecided) return rollout.state
  if (!finished) return 'RUNNING'
  return counts.SUCCEEDED === total ? 'SUCCEEDED' : 'UNSUCCESSFUL'
}

export function reportRun({ run, url, failed, code, message }) {
  const about = `Run ${run.runId} of ${run.jobName}`
  for (const execution of failed.slice(0, maxAnnotations))
    annotate('error', execution.deviceId, `${execution.execState}: ${reasonOf(execution)}`)
  if (failed.length > maxAnnotations)
    annotate('error', about, `${failed.length - maxAnnotations} or more other devices: ${url}`)
  else if (failed.length === 0 && code !== 0)
    annotate(code === needsApproval ? 'warning' : 'error', about, message)
  addSummary(summaryOf({ run, url, failed, why: [needsApproval, paused].includes(code) ? message : '' }))
}

/** What the device reported; it may be anything. */
function reasonOf({ statusDetails }) {
  const { reason, ...others } = statusDetails ?? {}
  if (typeof reason === 'string') return reason
  return Object.keys(others).length > 0 ? JSON.stringify(others) : 'no reason reported'
}

/** HTML without an empty line, in which Markdown means nothing. */
function summaryOf({ run, url, failed, why }) {
  const counts = Object.entries(run.counts ?? {}).filter(([, count]) => count > 0)
  const shown = counts.map(([state, count]) => `${count} ${state}`).join(', ')
  const title = `<h3>${link(url, `${run.jobName} #${run.runId}`)}</h3>`
  const lines = [title, `<p>${stateOf(run)} on ${run.total} devices: ${html(shown)}</p>`]
  if (why) lines.push(`<p>${html(why)}</p>`)
  if (failed.length > 0) lines.push(tableOf(failed, url))
  return lines.join('\n')
}

function tableOf(failed, url) {
  const base = url.replace(/\/runs\/\d+$/, '')
  const rows = failed.map((execution) => {
    const { jobExecutionId, deviceId, execState } = execution
    const device = link(`${base}/executions/${jobExecutionId}`, deviceId)
    return `<tr><td>${device}</td><td>${html(execState)}</td><td>${html(reasonOf(execution))}</td></tr>`
  })
  const head = '<tr><th>Device</th><th>State</th><th>Reason</th></tr>'
  return `<table>${head}\n${rows.join('\n')}\n</table>`
}

function link(href, text) {
  return `<a href="${html(href)}">${html(text)}</a>`
}

function html(text) {
  const codes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return plain(text).replace(/[&<>"']/g, (each) => codes[each])
}
