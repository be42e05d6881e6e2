// How many triggers a second an owner gets, and how long they take.

import { Agent, request } from 'node:http'

export type TriggerRate = { perSecond: number; p99Ms: number }

const callers = 4

/** Four callers without a pause, for so long. */
export async function measureTriggers(http: string, apiKey: string, ms: number): Promise<TriggerRate> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  const body = JSON.stringify({ jobName: 'restart', deviceIds: ['honest'] })
  const times: number[] = []
  const begun = performance.now()
  const until = begun + ms
  const callUntilOver = async () => {
    while (performance.now() < until) {
      const sentAt = performance.now()
      const status = await trigger(http, apiKey, agent, body)
      if (status !== 201) throw new Error(`a trigger was answered with ${status}`)
      times.push(performance.now() - sentAt)
    }
  }
  await Promise.all(Array.from({ length: callers }, callUntilOver))
  agent.destroy()
  times.sort((a, b) => a - b)
  const seconds = (performance.now() - begun) / 1000
  return { perSecond: times.length / seconds, p99Ms: times[Math.floor(times.length * 0.99)] ?? Number.NaN }
}

function trigger(http: string, apiKey: string, agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-api-key': apiKey,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    const sent = request(`${http}/job/api/jobs/execute`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
