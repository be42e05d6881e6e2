// The service itself: liveness, readiness, version, clock.

import packageJson from '../../package.json' with { type: 'json' }
import { exitCode } from '../errors/exit-code.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

const waitLimitMs = 10_000
/** Beyond this, times in lists and key expiry are confusing. */
const maxSkewMs = 10_000

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
  if (typeof answer === 'string')
    return problem('alive', `no response to /livez: ${answer}`, exitCode.unavailable)
  if (isFine(answer)) return ok('alive', '/livez responds')
  const text = `/livez returned ${answer.status}, but not from Jobcast: is it another service, or a proxy without a backend?`
  return problem('alive', text, exitCode.unavailable)
}

function judgeReady(answer: Answer | string): Finding {
  if (typeof answer === 'string')
    return problem('ready', `no response to /readyz: ${answer}`, exitCode.unavailable)
  if (isFine(answer)) return ok('ready', 'the service can write to its storage')
  const { code, message } = (answer.body ?? {}) as { code?: string; message?: string }
  return problem(
    'ready',
    `the service is not ready: ${message ?? answer.status} (${code ?? '/readyz'})`,
    exitCode.unavailable,
  )
}

function judgeVersion(answer: Answer | string): Finding {
  const { info } = ((typeof answer === 'string' ? {} : answer.body) ?? {}) as { info?: { version?: string } }
  const ours = packageJson.version
  if (info?.version === undefined)
    return warning('version', `this program is ${ours}; the service does not report its version`)
  if (info.version === ours) return ok('version', `${ours}, both the service and this program`)
  return warning('version', `the service is ${info.version}, this program ${ours}`)
}

function judgeClock({ date, askedAt, answeredAt }: Answer): Finding {
  const theirs = Date.parse(date ?? '')
  if (Number.isNaN(theirs))
    return warning('clock', 'the response has no Date header; a proxy may have removed it')
  // The header has a resolution of a second, and was written between request and response.
  const skewMs = theirs < askedAt - 1000 ? askedAt - 1000 - theirs : Math.max(0, theirs - answeredAt)
  if (skewMs <= maxSkewMs) return ok('clock', 'in sync with the service')
  const seconds = Math.round(skewMs / 1000)
  return warning('clock', `differs from the service's by ${seconds} s; is NTP running on both?`)
}

function isFine({ status, body }: Answer): boolean {
  return status === 200 && (body as { status?: unknown } | undefined)?.status === 'ok'
}

/** A string says why there is no response. */
async function ask(address: string, path: string): Promise<Answer | string> {
  const askedAt = Date.now()
  try {
    const response = await fetch(address.replace(/\/+$/, '') + path, {
      signal: AbortSignal.timeout(waitLimitMs),
      redirect: 'manual',
    })
    const answeredAt = Date.now()
    const body: unknown = await response.json().catch(() => undefined)
    return { status: response.status, body, date: response.headers.get('date'), askedAt, answeredAt }
  } catch (error) {
    const { name, message, cause } = error as Error
    if (name === 'TimeoutError') return `nothing received for ${waitLimitMs / 1000} s`
    return cause instanceof Error ? cause.message : message
  }
}
