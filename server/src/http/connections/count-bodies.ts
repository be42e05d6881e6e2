// Counts the bytes of incomplete bodies of owners and devices, and rejects bodies beyond the budget.

import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { BodyBudget, BodyOwner, HeldBody } from '../../limits/body-budget.ts'
import type { App } from '../app-type.ts'

/** Up to this size the announced length is counted from the start; for larger bodies, the received bytes are counted. */
const announcedBytes = 64 * 1024

export function countBodies(app: App, bodies: BodyBudget): void {
  app.decorateRequest('heldBody', null)
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
    if (length === '0' || (length === undefined && encoding === undefined)) {
      done()
      return
    }
    const held = bodies.hold(bodyOwnerOf(request))
    request.heldBody = held
    reply.raw.once('close', () => held.release())
    try {
      // Lines are counted by the code that buffers them; files are not buffered.
      if (request.route.takesLines || request.route.takesFile) done()
      else if (length !== undefined && Number(length) <= announcedBytes) {
        held.add(Number(length))
        done()
      } else done(null, countChunks(payload as IncomingMessage, held))
    } catch (refusal) {
      done(refusal as Error)
    }
  })
  // The body is parsed.
  app.addHook('preValidation', (request, _reply, done) => {
    if (!request.route.takesLines) request.heldBody?.release()
    done()
  })
}

function bodyOwnerOf({ caller, device }: FastifyRequest): BodyOwner | undefined {
  if (caller) return { key: caller.keyId, owner: String(caller.ownerNo) }
  if (device) return { key: `${device.ownerNo} ${device.deviceId}`, owner: String(device.ownerNo) }
  return undefined
}

function countChunks(body: IncomingMessage, held: HeldBody): Transform {
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        held.add(chunk.length)
        done(null, chunk)
      } catch (refusal) {
        // The body is not destroyed, because that would close the connection before the response is sent.
        body.unpipe(counted)
        done(refusal as Error)
      }
    },
  })
  body.once('error', (error) => counted.destroy(error))
  return body.pipe(counted)
}
