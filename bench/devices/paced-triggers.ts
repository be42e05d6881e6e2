// Triggers of one device each at a fixed rate, regardless of response times.

import { connect, type Socket } from 'node:net'
import type { Jobcast } from '../jobcast.ts'
import { triggerRequest } from '../requests.ts'
import { nowMs } from './clock.ts'

export type AnsweredTrigger = { jobExecutionId: number; sentAt: number; answeredAt: number }

const connections = 64
const paceEveryMs = 1

type Idle = (request: Buffer) => void

/** Devices take turns. Resolves when all triggers are answered. */
export async function sendPacedTriggers(
  { port, apiKey }: Pick<Jobcast, 'port' | 'apiKey'>,
  { devices, perSecond, ms }: { devices: number; perSecond: number; ms: number },
): Promise<AnsweredTrigger[]> {
  const requests = Array.from({ length: devices }, (_, index) => triggerRequest(apiKey, index, 1))
  const answered: AnsweredTrigger[] = []
  const idle: Idle[] = []
  const waiting: Buffer[] = []
  const total = Math.floor((perSecond * ms) / 1000)
  const onAnswer = (answer: AnsweredTrigger, send: Idle) => {
    answered.push(answer)
    const next = waiting.shift()
    if (next) send(next)
    else idle.push(send)
  }
  const sockets = Array.from({ length: connections }, () => openCaller(port, idle, onAnswer))
  await Promise.all(sockets.map(({ opened }) => opened))
  const begun = nowMs()
  for (let sent = 0; answered.length < total; ) {
    for (const due = ((nowMs() - begun) * perSecond) / 1000; sent < Math.min(due, total); sent++) {
      const request = requests[sent % devices] as Buffer
      const send = idle.shift()
      if (send) send(request)
      else waiting.push(request)
    }
    await new Promise((resolve) => setTimeout(resolve, paceEveryMs))
  }
  for (const { socket } of sockets) socket.destroy()
  return answered
}

function openCaller(
  port: number,
  idle: Idle[],
  onAnswer: (answer: AnsweredTrigger, send: Idle) => void,
): { socket: Socket; opened: Promise<void> } {
  let sentAt = 0
  let seen = ''
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const send = (request: Buffer) => {
    sentAt = nowMs()
    socket.write(request)
  }
  socket.setEncoding('latin1').on('data', (text: string) => {
    const answeredAt = nowMs()
    seen += text
    if (!seen.endsWith(']')) return
    const id = /^HTTP\/1.1 201 .*"jobExecutionId":(\d+)/s.exec(seen)?.[1]
    if (id === undefined) throw new Error(`not a success: ${seen}`)
    seen = ''
    onAnswer({ jobExecutionId: Number(id), sentAt, answeredAt }, send)
  })
  const opened = new Promise<void>((resolve) => {
    socket.once('connect', () => {
      idle.push(send)
      resolve()
    })
  })
  return { socket, opened }
}
