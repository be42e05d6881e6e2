// A simulated hawkBit device: polls, works on the offered actions, and reports. It does not fetch the files.

import type { DeviceCredential } from '@jobcast/contract'
import { chanceOf } from './chance.ts'
import type { EndStatus, TellFleet } from './fleet-event.ts'
import type { Pattern } from './pattern.ts'
import { planWork, type Step } from './plan-work.ts'
import type { Schedule } from './schedule.ts'

export type DdiDeps = {
  /** Address of the service, without a trailing slash. */
  server: string
  tenant: string
  schedule: Schedule
  seed: number
  tell: TellFleet
  /** Aborted when the fleet stops. */
  stopping: AbortSignal
}

const linksField = '_links'

type Root = {
  config: { polling: { sleep: string } }
  [linksField]: Partial<Record<'deploymentBase' | 'cancelAction' | 'configData', { href: string }>>
}
type Work = { jobId: string; begunAt: number; steps: Step[] }

const retryMs = { base: 1000, cap: 30_000 }

export class DdiDevice {
  readonly #deps: DdiDeps
  readonly #credential: DeviceCredential
  readonly #pattern: Pattern
  readonly #settled = Promise.withResolvers<void>()
  #isOnline = false
  #failures = 0
  #tag = ''
  #sleepMs = retryMs.cap
  #work: Work | undefined

  constructor(deps: DdiDeps, credential: DeviceCredential, pattern: Pattern) {
    this.#deps = deps
    this.#credential = credential
    this.#pattern = pattern
  }

  /** Resolves when the device has polled for the first time, or is refused. */
  get settled(): Promise<void> {
    return this.#settled.promise
  }

  start(): void {
    void this.#poll()
  }

  stop(): void {
    if (this.#isOnline) this.#deps.tell({ kind: 'offline', deviceId: this.#credential.deviceId })
    this.#isOnline = false
    this.#settled.resolve()
  }

  async #poll(): Promise<void> {
    const { deviceId } = this.#credential
    try {
      const reply = await this.#call('GET', '', undefined, this.#tag)
      if (reply.status === 401) {
        this.#deps.tell({ kind: 'refused', deviceId })
        this.stop()
        return
      }
      if (reply.status !== 200 && reply.status !== 304) throw new Error(`the server answered ${reply.status}`)
      if (!this.#isOnline) this.#deps.tell({ kind: 'online', deviceId })
      this.#isOnline = true
      this.#failures = 0
      this.#settled.resolve()
      const sleepMs = reply.status === 304 ? this.#sleepMs : await this.#follow(reply)
      this.#later(sleepMs)
    } catch (error) {
      if (this.#deps.stopping.aborted) return
      this.#deps.tell({ kind: 'connect-failed', deviceId, reason: (error as Error).message })
      this.#later(Math.random() * Math.min(retryMs.cap, retryMs.base * 2 ** this.#failures++))
    }
  }

  #later(ms: number): void {
    this.#deps.schedule.after(ms, () => void this.#poll())
  }

  /** Follows the links of the response and returns how long to sleep. */
  async #follow(reply: Response): Promise<number> {
    const root = (await reply.json()) as Root
    this.#tag = reply.headers.get('etag') ?? ''
    const [hours = 0, minutes = 0, seconds = 0] = root.config.polling.sleep.split(':').map(Number)
    this.#sleepMs = ((hours * 60 + minutes) * 60 + seconds) * 1000
    try {
      await this.#take(root[linksField])
    } catch (error) {
      this.#tag = ''
      throw error
    }
    return this.#sleepMs
  }

  /** On failure clears the tag, so that the next poll offers the same again. */
  async #take({ deploymentBase, cancelAction, configData }: Root[typeof linksField]): Promise<void> {
    if (configData) {
      const { ok } = await this.#call('PUT', '/configData', { data: { simulated: 'true' } })
      if (!ok) this.#tag = ''
    }
    if (cancelAction) await this.#cancel(idOf(cancelAction.href))
    else if (deploymentBase && this.#work === undefined) this.#begin(idOf(deploymentBase.href))
  }

  #begin(jobId: string): void {
    const chance = chanceOf(this.#deps.seed, `${this.#credential.deviceId} ${jobId} 1`)
    const work = { jobId, begunAt: performance.now(), steps: planWork(this.#pattern, chance) }
    this.#work = work
    this.#deps.tell({ kind: 'started', ...this.#subject(work) })
    this.#continue(work)
  }

  #continue(work: Work): void {
    const step = work.steps.shift()
    if (step === undefined) return
    const waitMs = work.begunAt + step.afterMs - performance.now()
    this.#deps.schedule.after(waitMs, () => void this.#do(work, step))
  }

  async #do(work: Work, step: Step): Promise<void> {
    if (this.#work !== work) return
    const reported = await this.#feedback('deploymentBase', work.jobId, statusOf(step))
    if (this.#work !== work) return
    if (!reported) this.#abandon(work)
    else if (step.kind === 'end') this.#ended(work, step.end.status, step.end.statusDetails.reason)
    else this.#continue(work)
  }

  async #cancel(jobId: string): Promise<void> {
    const work = this.#work
    const status = { execution: 'closed', result: { finished: 'success' } }
    const reported = await this.#feedback('cancelAction', jobId, status)
    if (!reported) this.#tag = ''
    if (work === undefined || this.#work !== work) return
    if (reported) this.#ended(work, 'CANCELED', 'canceled')
    else this.#abandon(work)
  }

  #ended(work: Work, status: EndStatus, reason: string | undefined): void {
    this.#work = undefined
    const ms = performance.now() - work.begunAt
    this.#deps.tell({ kind: 'ended', ...this.#subject(work), status, ms, reason })
  }

  /** The server offers the work again, unless it has ended. */
  #abandon(work: Work): void {
    this.#work = undefined
    this.#tag = ''
    this.#deps.tell({ kind: 'abandoned', ...this.#subject(work) })
  }

  /** Returns whether the server accepted it. */
  async #feedback(kind: string, jobId: string, status: object): Promise<boolean> {
    try {
      return (await this.#call('POST', `/${kind}/${jobId}/feedback`, { id: jobId, status })).ok
    } catch {
      return false
    }
  }

  async #call(method: string, path: string, body?: object, tag = ''): Promise<Response> {
    const { server, tenant, stopping } = this.#deps
    const { deviceId, deviceToken } = this.#credential
    const root = `${server}/${encodeURIComponent(tenant)}/controller/v1/${encodeURIComponent(deviceId)}`
    const reply = await fetch(root + path, {
      method,
      headers: {
        authorization: `TargetToken ${deviceToken}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(tag !== '' && { 'if-none-match': tag }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: stopping,
    })
    // An unread body would keep its connection busy.
    if (method !== 'GET' || reply.status !== 200) await reply.arrayBuffer()
    return reply
  }

  #subject({ jobId }: Work) {
    return { deviceId: this.#credential.deviceId, jobId, document: {} }
  }
}

function idOf(href: string): string {
  return new URL(href).pathname.split('/').at(-1) ?? ''
}

function statusOf(step: Step): object {
  switch (step.kind) {
    case 'write':
      return { execution: 'proceeding', result: { finished: 'none' }, details: [step.text.trim()] }
    case 'progress':
      return {
        execution: 'proceeding',
        result: { finished: 'none', progress: { cnt: step.percent, of: 100 } },
      }
    case 'end': {
      const { status, statusDetails } = step.end
      const finished = status === 'SUCCEEDED' ? 'success' : 'failure'
      const details = statusDetails.reason === undefined ? [] : [statusDetails.reason]
      return { execution: status === 'REJECTED' ? 'rejected' : 'closed', result: { finished }, details }
    }
  }
}
