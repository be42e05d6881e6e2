// The service itself: does it live, can it write, which version is it, does its clock agree with ours.

import packageJson from '../../package.json' with { type: 'json' }
import { exitCode } from '../errors/exit-code.ts'
import { bad, type Finding, good, warning } from './finding.ts'

const patienceMs = 10_000
/** Beyond this, times in lists and expiries of keys puzzle people. */
const mostSkewMs = 10_000

type Answer = { status: number; body: unknown; date: string | null; askedAt: number; answeredAt: number }

export async function* checkService(address: string): AsyncGenerator<Finding> {
  const live = await ask(address, '/livez')
  yield judgeLive(live)
  if (typeof live === 'string' || !isFine(live)) return
  yield judgeReady(await ask(address, '/readyz'))
  yield judgeVersion(await ask(address, '/openapi.json'))
  yield judgeClock(live)
}

function judgeLive(answer: Answer | string): Finding {
  if (typeof answer === 'string') return bad('alive', `no answer to /livez: ${answer}`, exitCode.unavailable)
  if (isFine(answer)) return good('alive', '/livez answers')
  const text = `/livez answers ${answer.status}, but not as Jobcast does: another service, or a proxy without one behind it?`
  return bad('alive', text, exitCode.unavailable)
}

function judgeReady(answer: Answer | string): Finding {
  if (typeof answer === 'string') return bad('ready', `no answer to /readyz: ${answer}`, exitCode.unavailable)
  if (isFine(answer)) return good('ready', 'it can write to its storage')
  const { code, message } = (answer.body ?? {}) as { code?: string; message?: string }
  return bad(
    'ready',
    `it cannot serve now: ${message ?? answer.status} (${code ?? '/readyz'})`,
    exitCode.unavailable,
  )
}

function judgeVersion(answer: Answer | string): Finding {
  const { info } = ((typeof answer === 'string' ? {} : answer.body) ?? {}) as { info?: { version?: string } }
  const ours = packageJson.version
  if (info?.version === undefined)
    return warning('version', `this program is ${ours}; the service does not tell`)
  if (info.version === ours) return good('version', `${ours}, the service and this program`)
  return warning('version', `the service is ${info.version}, this program ${ours}`)
}

function judgeClock({ date, askedAt, answeredAt }: Answer): Finding {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs)) return warning('clock', 'the answer has no date; a proxy may have taken it away')
  // The header is in whole seconds, and was written some time between question and answer.
  const skewMs = theirs < askedAt - 1000 ? askedAt - 1000 - theirs : Math.max(0, theirs - answeredAt)
  if (skewMs <= mostSkewMs) return good('clock', 'agrees with that of the service')
  const seconds = Math.round(skewMs / 1000)
  return warning('clock', `${seconds} s apart from that of the service; is one of them not set by NTP?`)
}

function isFine({ status, body }: Answer): boolean {
  return status === 200 && (body as { status?: unknown } | undefined)?.status === 'ok'
}

/** A text is why there is none. */
async function ask(address: string, path: string): Promise<Answer | string> {
  const askedAt = Date.now()
  try {
    const response = await fetch(address.replace(/\/+$/, '') + path, {
      signal: AbortSignal.timeout(patienceMs),
      redirect: 'manual',
    })
    const answeredAt = Date.now()
    const body: unknown = await response.json().catch(() => undefined)
    return { status: response.status, body, date: response.headers.get('date'), askedAt, answeredAt }
  } catch (error) {
    const { name, message, cause } = error as Error
    if (name === 'TimeoutError') return `nothing for ${patienceMs / 1000} s`
    return cause instanceof Error ? cause.message : message
  }
}
