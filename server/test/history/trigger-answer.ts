// The outcome of a trigger for a caller: the run, nothing was created, or unknown.

export type TriggerAnswer =
  /** Without executions: the answer does not name them. */
  | { kind: 'created'; runId: number; executions?: { jobExecutionId: number; deviceId: string }[] }
  /** Nothing was created by this request. */
  | { kind: 'refused'; status: number; code: string }
  /** It may have been created: no answer came, or one that says so. */
  | { kind: 'unknown'; why: string }
  /** An answer that the service must never give. */
  | { kind: 'broken'; text: string }

type TriggerReply = { status: number; location: string | null; text: string }

/** Storage errors say whether something was created. */
const nothingCreated = /nothing (?:was|has been) (?:made|created)/i
/** They are given before anything is written. */
const alwaysRefused = new Set(['J-908', 'J-910'])

export function toTriggerAnswer({ status, location, text }: TriggerReply): TriggerAnswer {
  const json = parse(text)
  if (status === 201 && Array.isArray(json)) {
    const runId = Number(location?.split('/').at(-1))
    if (!Number.isSafeInteger(runId)) return { kind: 'broken', text: `201 without its run: ${location}` }
    const executions = json.map(({ jobExecutionId, deviceId }) => ({ jobExecutionId, deviceId }))
    return { kind: 'created', runId, executions }
  }
  if (status === 201 && typeof json === 'object' && json !== null && 'runId' in json)
    return { kind: 'created', runId: Number(json.runId) }
  const code = typeof json === 'object' && json !== null && 'code' in json ? String(json.code) : ''
  if (code === '') return { kind: 'broken', text: `${status} ${text}` }
  if (status >= 400 && status < 500) return { kind: 'refused', status, code }
  if (alwaysRefused.has(code)) return { kind: 'refused', status, code }
  if (code === 'J-909') {
    return nothingCreated.test(text) ? { kind: 'refused', status, code } : { kind: 'unknown', why: text }
  }
  return { kind: 'broken', text: `${status} ${text}` }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
