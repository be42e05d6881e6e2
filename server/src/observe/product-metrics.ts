// Product metrics: executions, deliveries of webhooks, refused callers.

import { Counter, Histogram, type Registry } from 'prom-client'
import type { Tell } from './events.ts'

/** Limited, because owners choose the names: further jobs share one label. */
const maxJobs = 100
const otherJobs = 'other'

const delayBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600, 21_600, 86_400]
const webhookBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

/** Errors for callers that are unknown, expired, or lack a permission. */
const authCodes = new Set(['J-802', 'J-803', 'J-804', 'J-808', 'J-809'])
const signInRoute = '/job/api/session'

export function buildProductMetrics(registers: Registry[]): Tell {
  const started = new Counter({
    name: 'jobcast_executions_started_total',
    help: 'Executions that a device has started on this node, by job',
    labelNames: ['job'],
    registers,
  })
  const ended = new Counter({
    name: 'jobcast_executions_ended_total',
    help: 'Executions that ended through this node, by job and final state',
    labelNames: ['job', 'state'],
    registers,
  })
  const startDelay = new Histogram({
    name: 'jobcast_execution_start_delay_seconds',
    help: 'Time from the trigger to the start on the device',
    buckets: delayBuckets,
    registers,
  })
  const duration = new Histogram({
    name: 'jobcast_execution_duration_seconds',
    help: 'Time from the start on the device to the end that it reported',
    labelNames: ['state'],
    buckets: delayBuckets,
    registers,
  })
  const authFailures = new Counter({
    name: 'jobcast_auth_failures_total',
    help: 'Calls refused because of their key, session or permissions, by error code',
    labelNames: ['code'],
    registers,
  })
  const signIns = new Counter({
    name: 'jobcast_sign_ins_total',
    help: 'Sign-ins of browsers',
    labelNames: ['outcome'],
    registers,
  })
  const webhookDuration = new Histogram({
    name: 'jobcast_webhook_attempt_duration_seconds',
    help: 'Time of webhook requests until they were answered or failed',
    buckets: webhookBuckets,
    registers,
  })
  for (const code of authCodes) authFailures.inc({ code }, 0)
  for (const outcome of ['accepted', 'refused']) signIns.inc({ outcome }, 0)
  const labelOf = boundedLabels(maxJobs)

  return (event) => {
    switch (event.kind) {
      case 'execution-started':
        started.inc({ job: labelOf(event.jobName) })
        startDelay.observe(Math.max(0, event.ms) / 1000)
        return
      case 'execution-ended':
        ended.inc({ job: labelOf(event.jobName), state: event.execState })
        if (event.ms !== undefined) duration.observe({ state: event.execState }, Math.max(0, event.ms) / 1000)
        return
      case 'request-answered': {
        const { code, route, method, status } = event
        if (code !== undefined && authCodes.has(code)) authFailures.inc({ code })
        if (route === signInRoute && method === 'POST')
          signIns.inc({ outcome: status < 300 ? 'accepted' : 'refused' })
        return
      }
      case 'webhook-attempted':
        webhookDuration.observe(event.ms / 1000)
    }
  }
}

function boundedLabels(max: number): (name: string) => string {
  const known = new Set<string>()
  return (name) => {
    if (known.has(name)) return name
    if (known.size >= max) return otherJobs
    known.add(name)
    return name
  }
}
