// The log line of a request, in the format of pino. Built by hand for speed: there is one per request, and only fields that
// differ from the previous line need to be encoded.

import type { ServiceEvent } from './events.ts'
import { escapeUnsafe } from './printable.ts'

type Answered = Extract<ServiceEvent, { kind: 'request-answered' }>

export function requestFields(event: Answered) {
  const { requestId, keyId, ownerId, runId, triedKeyId, address, userAgent } = event
  const { method, route, status, code } = event
  return {
    requestId,
    keyId,
    ownerId,
    runId,
    triedKeyId,
    address,
    userAgent,
    method,
    route,
    status,
    code,
    ms: roundedMs(event.ms),
  }
}

/** `time`: JSON. */
export function requestLine(level: string, time: number | string, event: Answered): string {
  const { requestId, keyId, ownerId, runId, triedKeyId, address, userAgent } = event
  const { method, route, status, code, ms } = event
  return (
    `{"level":"${level}","time":${time}` +
    `,"requestId":${encodeId(requestId)}` +
    (keyId === undefined ? '' : `,"keyId":${encodeKey(keyId)}`) +
    (ownerId === undefined ? '' : `,"ownerId":${encodeOwner(ownerId)}`) +
    (runId === undefined ? '' : `,"runId":${runId}`) +
    (triedKeyId === undefined ? '' : `,"triedKeyId":${encoded(triedKeyId)}`) +
    `,"address":${encodeAddress(address)}` +
    (userAgent === undefined ? '' : `,"userAgent":${encodeAgent(userAgent)}`) +
    `,"method":"${method}","route":${encodeRoute(route)},"status":${status}` +
    (code === undefined ? '' : `,"code":"${code}"`) +
    `,"ms":${roundedMs(ms)},"msg":"request"}\n`
  )
}

const roundedMs = (ms: number) => Math.round(ms * 100) / 100

const [encodeKey, encodeOwner, encodeAddress] = [latest(), latest(), latest()]
const [encodeAgent, encodeRoute] = [latest(), latest()]

function encoded(text: string): string {
  return escapeUnsafe(JSON.stringify(text))
}

/** Our own ids need no escapes; a caller's may. */
function encodeId(requestId: string): string {
  return /^[\w-]+$/.test(requestId) ? `"${requestId}"` : encoded(requestId)
}

/** Caches the encoding of the last text. */
function latest(): (text: string) => string {
  let [text, json] = ['', '""']
  return (next) => {
    if (next !== text) [text, json] = [next, encoded(next)]
    return json
  }
}
